"""Small databases: worlds, laws, facts, what the mechanisms that collapse need, bad input."""

import math

import numpy as np
import pytest

from bench.datasets.sequences.chains import GivenChain
from bench.scenarios.chain_count import ChainCount
from bench.scenarios.listed_databases import ListedDatabases
from mechanisms.base import NotApplicableError, NotOfferedError
from mechanisms.collapse.calibrate import Cases, Decoy, Parity
from mechanisms.collapse.knowledge import DatabasePrior
from mechanisms.knowledge import FiniteAnswers
from mechanisms.privacy.budget import NoBudget
from tests.attacks.reconstruction.examples import bits

FOUR = {"databases": [[0, 0], [0, 1], [1, 0], [1, 1]], "prior": [0.3, 0.2, 0.3, 0.2],
        "secret": [0, 0, 1, 1]}  # fmt: skip
CASES = Cases(share_if_true=(0.3, 0.6), share_if_false=(0.4, 0.7))


def four(**changes):
    return ListedDatabases(**(FOUR | changes))


def all_bits(n, share=0.5):
    rows, prior = bits(n, share)
    return ListedDatabases(databases=rows.tolist(), prior=prior.tolist())


def chain(length=3, **settings):
    source = GivenChain(transition=[[0.6, 0.4], [0.2, 0.8]])
    return ChainCount(source=source, counted="1", length=length, **settings)


def calibrated(calibration, scenario):
    return calibration.calibrate(scenario.knowledge(DatabasePrior), budget=NoBudget())


@pytest.mark.parametrize("scenario", [four(), all_bits(3, 0.7)])
def test_worlds_are_drawn_from_the_prior_given_the_secret(scenario):
    n = 20_000
    secret = np.repeat(np.arange(len(scenario.secrets)), n)
    worlds = scenario.draw(secret, "test", np.random.default_rng(0))
    assert (worlds.answers == worlds.database).all()
    for value in range(len(scenario.secrets)):
        law = scenario.law(value)
        own = worlds.database[secret == value]
        found = (own[:, None] == law.atoms[None]).all(axis=-1)
        assert found.any(axis=1).all()
        assert np.abs(found.mean(axis=0) - law.weights).max() < 5 * math.sqrt(0.25 / n)


def test_secrets_are_codes_or_the_values_of_every_entry():
    assert four().secrets == ("secret=0", "secret=1")
    assert four().pairs == ((0, 1),)
    every = four(secret="entries")
    assert every.secrets == ("X1=0", "X1=1", "X2=0", "X2=1")
    assert every.pairs == ((0, 1), (2, 3))
    assert every.law(3).weights.tolist() == [0.5, 0.5]
    assert len(every.knowledge(FiniteAnswers).laws) == 4


def test_collapse_mechanisms_are_set_up_for_the_prior():
    assert calibrated(Decoy(), four()).expected_runs() == pytest.approx(3.1667, abs=5e-5)
    assert calibrated(CASES, four()).guarantee.bound == pytest.approx(0.8473, abs=5e-5)
    assert calibrated(Parity(), all_bits(3)).guarantee.bound == 0.0
    assert calibrated(Parity(), all_bits(3, 0.7)).guarantee.bound == pytest.approx(1.6946, abs=5e-5)
    two = calibrated(Parity(allow_two_bits=True), all_bits(2))
    assert two.guarantee.bound == math.inf


@pytest.mark.parametrize(
    ("calibration", "scenario", "reason"),
    [
        (Decoy(), all_bits(3), "a decoy needs one secret of two values for each database"),
        (Parity(), four(), "a parity needs 3 bits or more: of 2 it is the second bit itself"),
        (Parity(), chain(), "independent bits with one share"),
        (CASES, all_bits(2), "case pairs need databases that are rows"),
        (CASES, four(prior=[0.1, 0.4, 0.3, 0.2]), "the class of priors of the claim; .* has 0.8"),
    ],
)
def test_what_a_mechanism_does_not_cover_is_not_applicable(calibration, scenario, reason):
    with pytest.raises(NotApplicableError, match=reason):
        calibrated(calibration, scenario)


def test_short_chains_are_listed_and_long_ones_are_not():
    scenario = chain(4)
    known = scenario.knowledge(DatabasePrior)
    for value in (0, 1):
        law = scenario.database_law(value).listed()
        own = known.secret == value
        assert law.atoms.tolist() == known.databases[own].tolist()
        assert law.weights == pytest.approx(known.prior[own] / known.prior[own].sum())
    mechanism = calibrated(Decoy(), scenario)
    laws = [scenario.database_law(s) for s in (0, 1)]
    assert mechanism.leakage(*laws, 1).epsilon(0.0).hi == pytest.approx(0, abs=1e-12)
    assert mechanism.leakage(*laws, 2).epsilon(0.0).hi == math.inf
    several = chain(2, users=3).knowledge(DatabasePrior)
    assert several.databases.shape == (64, 6)
    assert several.prior.sum() == pytest.approx(1)
    assert chain(4, positions="all").knowledge(DatabasePrior).secret is None
    with pytest.raises(NotOfferedError, match=r"2\^11 sequences are too many to list, 1,024"):
        chain(11).knowledge(DatabasePrior)
    with pytest.raises(NotOfferedError, match="DatabasePrior describes one prior"):
        chain(4, initial_law="any").knowledge(DatabasePrior)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"prior": [0.3, 0.2, 0.3, 0.3]}, "prior must .*sum"),
        ({"prior": [0.5, 0.5]}, r"prior must have one entry a database \(4\), got 2"),
        ({"databases": [[0], [0], [1], [2]]}, "databases must all be different"),
        ({"secret": [0, 0, 2, 2]}, r"secret must hold the codes 0, 1, ..., got \[0, 0, 2, 2\]"),
        ({"secret": [0, 0, 0, 0]}, "must leave a secret two values or more, got one"),
        ({"secret": "rows"}, "secret must be a list or 'entries', got 'rows'"),
        ({"secret": [0, 1]}, r"secret must have one code a database \(4\), got 2"),
        ({"prior": [0.0, 0.0, 0.5, 0.5]}, "prior must give every secret mass, got none for secret"),
    ],
)
def test_bad_input_is_one_clear_line(changes, message):
    with pytest.raises(ValueError, match=message) as found:
        four(**changes)
    assert "\n" not in str(found.value)
