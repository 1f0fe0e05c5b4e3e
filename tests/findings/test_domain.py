"""Labels read from the protected file are printed: one entry brings one in (outside.md)."""

from __future__ import annotations

import numpy as np
import pytest
from hydra import compose, initialize_config_module

from attacks.base import Target, Transcript
from attacks.outside.domain import Domain
from bench.config.build import build
from bench.config.compose import plain
from bench.scenarios.sequences import of_file
from mechanisms.base import NotApplicableError
from mechanisms.noise.identity import ExactRelease
from mechanisms.privacy.budget import Epsilon
from mechanisms.privacy.indistinguishability import PURE
from tests.bench.study.test_ledger import certify

TOP_K = (
    "top_k_influence_exponential", "top_k_influence_laplace", "top_k_influence_geometric",
    "top_k_influence_permute_and_flip",
)  # fmt: skip
UNION = ("a", "b", "c", "d", "new")


def write(path, last, kinds="abcd", *, read_off=True):
    """Three users with 20 entries each; `last` is the label of one queried entry.

    With `read_off` the labels are those of all rows, the queried ones too.
    """
    rng = np.random.default_rng(0)
    lines = ["user,time,label"]
    for user in range(3):
        labels = rng.choice(list(kinds), size=20)
        if user == 2:
            labels = [*labels[:-1], last]
        lines += [f"u{user},{t},{label}" for t, label in enumerate(labels)]
    path.write_text("\n".join(lines) + "\n")
    labels = sorted({*kinds, last}) if read_off else None
    return of_file(str(path), group=None, labels=labels)


def mechanism(name, scenario, epsilon=1.0):
    with initialize_config_module("conf", version_base="1.3"):
        config = plain(compose("config", [f"+mechanism={name}"]))["mechanisms"][name]
    calibration = build(config, name)
    knowledge = [scenario.knowledge(kind) for kind in calibration.requires]
    return calibration.calibrate(*knowledge, budget=Epsilon(epsilon=epsilon))


def played(name, scenarios, n, seed):
    """Releases under either file, as codes of the labels that are printed."""
    rng = np.random.default_rng(seed)
    parts = []
    for scenario in scenarios:
        seen = np.broadcast_to(scenario.counts, (n, *scenario.counts.shape))
        codes = np.array([UNION.index(label) for label in scenario.statistics])
        released = mechanism(name, scenario).release(seen, rng)
        parts.append(codes[np.asarray(released, dtype=int)].reshape(n, 1, -1))
    secret = np.repeat([0, 1], n)
    return Transcript(
        secret=secret, answers=np.zeros((2 * n, 1)), releases=np.concatenate(parts).astype(float)
    )


def test_labels_of_the_training_part_repair_it(tmp_path):
    files = [write(tmp_path / f"{last}.csv", last, read_off=False) for last in ("a", "new")]
    assert files[0].statistics == files[1].statistics


@pytest.mark.parametrize("name", TOP_K)
def test_a_label_of_one_entry_is_printed_for_a_claim_of_1(name, tmp_path):
    files = [write(tmp_path / f"{last}.csv", last) for last in ("a", "new")]
    for scenario in files:
        assert mechanism(name, scenario).guarantee.bound <= 1.0 + 1e-9
    shadow, held, fresh = (played(name, files, n, i) for i, n in enumerate((500, 2000, 20_000)))
    target = Target(mechanism=ExactRelease(), n_secrets=2, laws=None)
    attacker = Domain().fit(shadow, target, np.random.default_rng(0))
    odds = [s[:, 1] - s[:, 0] for s in (attacker.score(t.releases) for t in (held, fresh))]
    fired = odds[1] > 0
    assert 0.45 <= fired[fresh.secret == 1].mean() <= 0.7
    assert not fired[fresh.secret == 0].any()
    found = certify(fresh.secret, odds[1], (held.secret, odds[0]), PURE, 1)
    assert found.verdict > 6
    assert found.display > 6.5


def test_more_places_than_labels_are_refused_which_tells_that_a_label_is_missing(tmp_path):
    few, more = (write(tmp_path / f"{last}.csv", last, kinds="ab") for last in ("a", "new"))
    name = "top_k_influence_exponential"
    with pytest.raises((NotApplicableError, ValueError)):
        mechanism(name, few)
    assert mechanism(name, more).guarantee.bound <= 1.0 + 1e-9
