import math

import numpy as np
import pytest
from scipy.stats import t as student

from attacks.reconstruction.collapse import UNKNOWN
from attacks.reconstruction.posterior import answer_posterior, entry_posterior
from attacks.reconstruction.runs import run_until_revealed
from mechanisms.collapse.decoy import DecoyDatabase
from mechanisms.laws.finite import FiniteLaw
from tests.attacks.reconstruction.examples import EXAMPLES, drawn

TRIALS = 20_000
REFERENCE = DecoyDatabase(
    databases=[[0], [1], [2], [3]], prior=[0.3, 0.2, 0.3, 0.2], secret=[0, 0, 1, 1]
)


def runs_of(mechanism, rows, k, rng):
    return np.stack([mechanism.release(rows, rng) for _ in range(k)], axis=1)


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_certain_means_that_the_exact_posterior_has_one_database_left(name, k):
    mechanism, attack, (rows, prior) = EXAMPLES[name]
    rng = np.random.default_rng(k)
    truth = drawn(name, 400, rng)
    releases = runs_of(mechanism, truth, k, rng)
    found = attack.reconstruct(releases)
    posterior = answer_posterior(mechanism, releases, FiniteLaw(atoms=rows, weights=prior))
    assert ((posterior.max(axis=1) > 1 - 1e-12) == found.certain).all()
    assert (found.databases[found.certain] == truth[found.certain]).all()
    assert (found.databases[~found.certain] == UNKNOWN).all()
    # Null control: one run reveals nothing. Power control: five reveal most.
    share = found.certain.mean()
    assert share == 0 if k == 1 else share > 0.3
    assert share == pytest.approx(mechanism.revealed_within(k), abs=4 * 0.5 / math.sqrt(400))


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_run_that_reveals_is_the_first_prefix_that_does(name):
    mechanism, attack, _ = EXAMPLES[name]
    rng = np.random.default_rng(0)
    releases = runs_of(mechanism, drawn(name, 100, rng), 6, rng)
    whole = attack.reconstruct(releases).revealed_at
    prefixes = np.stack([attack.reconstruct(releases[:, :k]).certain for k in range(1, 7)], axis=1)
    first = np.where(prefixes.any(axis=1), prefixes.argmax(axis=1) + 1, 0)
    assert (first == whole).all()


@pytest.mark.parametrize("name", ["parity of 3", "cases", "decoy", "reference decoy"])
def test_expected_runs_lie_in_the_interval_of_sequences_run_until_revealed(name):
    rng = np.random.default_rng(11)
    if name == "reference decoy":
        mechanism, attack = REFERENCE, EXAMPLES["decoy"][1]
        truth = REFERENCE.databases[rng.choice(4, TRIALS, p=REFERENCE.prior)]
        assert mechanism.expected_runs() == pytest.approx(3.1667, abs=5e-5)
    else:
        mechanism, attack, _ = EXAMPLES[name]
        truth = drawn(name, TRIALS, rng)
    found = run_until_revealed(mechanism, attack, truth, 1000, rng)
    assert found.not_yet_revealed == 0
    half = student.ppf(0.995, TRIALS - 1) * found.runs.std(ddof=1) / math.sqrt(TRIALS)
    assert abs(found.mean - mechanism.expected_runs()) <= half
    within = found.revealed_within()
    expected = [mechanism.revealed_within(k) for k in range(1, 8)]
    assert within[1:8] == pytest.approx(expected, abs=2.6 * 0.5 / math.sqrt(TRIALS))


def test_what_never_changes_is_never_revealed():
    stuck = DecoyDatabase(databases=[[0], [1], [2]], prior=[0.5, 0.25, 0.25], secret=[0, 1, 1])
    rng = np.random.default_rng(1)
    found = run_until_revealed(stuck, EXAMPLES["decoy"][1], np.full((50, 1), 1), 30, rng)
    assert found.not_yet_revealed == 1
    assert found.mean is None
    assert found.median is None


def test_one_run_leaves_the_posterior_of_every_uniform_bit_at_one_half():
    mechanism, _, (rows, prior) = EXAMPLES["parity of 3"]
    law = FiniteLaw(atoms=rows, weights=prior)
    releases = mechanism.outputs()[:, None]
    bits = entry_posterior(answer_posterior(mechanism, releases, law), law.atoms, 2)
    assert bits == pytest.approx(np.full(bits.shape, 0.5))
