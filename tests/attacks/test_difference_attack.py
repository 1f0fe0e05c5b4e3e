"""Differencing through the harness's interface: power against exact counts, chance without one."""

import numpy as np
import pytest

from attacks.base import Target, Transcript, UnsupportedMechanismError
from attacks.difference_attack import DifferencingAttack
from bench.datasets.table.adult import Adult
from bench.scenarios.query_pair import QueryPairs
from mechanisms.deterministic.cell_suppression import CellSuppression
from mechanisms.deterministic.rounding import Rounding
from mechanisms.group_privacy import GroupLaplace
from mechanisms.knowledge import Sensitivity
from mechanisms.noise.identity import ExactRelease
from mechanisms.privacy.budget import Epsilon

RNG = np.random.default_rng(0)
ADULT = Adult()
KINDS = {
    "record": {"column": "income", "value": ">50K"},
    "threshold": {"column": "age", "inner": 80.0, "outer": 85.0},
    "category": {"column": "occupation", "value": "Armed-Forces"},
}


def scenario(kind="record", **options):
    return QueryPairs(data=ADULT, kind=kind, **(KINDS[kind] | options))


def accuracy(mechanism, kind="record", n=2000, seed=1, n_releases=1):
    pair = scenario(kind)
    secret = np.repeat([0, 1], n // 2)
    rng = np.random.default_rng(seed)
    shadow, test = (pair.draw(secret, split, rng) for split in ("shadow", "test"))
    target = Target(mechanism=mechanism, n_secrets=2, laws=None)
    attacker = DifferencingAttack().fit(shadow, target, rng)
    seen = [mechanism.release(test.answers, rng) for _ in range(n_releases)]
    score = attacker.score(np.stack(seen, axis=1))
    top = score == score.max(axis=1, keepdims=True)
    return float((top[np.arange(n), secret] / top.sum(axis=1)).mean())


@pytest.mark.parametrize("kind", list(KINDS))
def test_exact_counts_give_the_target_away(kind):
    pair = scenario(kind)
    pair.check()
    drawn = pair.draw(np.array([0, 1, 0, 1]), "test", RNG)
    assert (drawn.answers[:, 0] - drawn.answers[:, 1]).tolist() == [0, 1, 0, 1]
    assert accuracy(ExactRelease(), kind, n=200) == 1.0


def test_large_counts_are_released_by_suppression_and_give_it_away_too():
    assert accuracy(CellSuppression(threshold=5)) > 0.99
    assert accuracy(CellSuppression(threshold=101)) == 0.5  # all suppressed: nothing is told


def test_rounding_leaves_little():
    assert 0.5 <= accuracy(Rounding(base=10)) < 0.65


def test_laplace_noise_leaves_what_the_model_says():
    mechanism = GroupLaplace(group=1).calibrate(
        Sensitivity(l1=2.0, l2=2.0**0.5, unit="record", size=100, dimension=2),
        budget=Epsilon(epsilon=2.0),
    )
    # The difference of two Laplace(1) is nearer to the truth than to the other value with
    # probability 1/2 + (F(.5) - F(-.5)) / 2, density (1 + |z|) e^-|z| / 4.
    z = np.linspace(0, 0.5, 100_001)
    inside = 2 * np.trapezoid((1 + z) * np.exp(-z) / 4, z)
    assert accuracy(mechanism, n=8000) == pytest.approx(0.5 + inside / 2, abs=0.02)
    assert accuracy(mechanism, n_releases=50) > 0.9


def test_answers_that_are_no_pair_are_refused():
    target = Target(mechanism=ExactRelease(), n_secrets=2, laws=None)
    one = Transcript(secret=np.array([0, 1]), answers=np.zeros((2, 1)))
    with pytest.raises(UnsupportedMechanismError, match="outer and inner sum"):
        DifferencingAttack().fit(one, target, RNG)
    free = Transcript(secret=np.array([0, 0, 1]), answers=np.array([[1, 0], [3, 0], [1, 0]]))
    with pytest.raises(UnsupportedMechanismError, match="not the secret's alone"):
        DifferencingAttack().fit(free, target, RNG)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: QueryPairs(data=ADULT, kind="recrod", column="income"), "kind must be"),
        (lambda: scenario("record", value=None), "value must be a label"),
        (lambda: scenario("threshold", inner=90.0), "inner must be below outer"),
        (lambda: scenario("threshold", inner=None), "inner of a threshold pair must be a number"),
        (lambda: scenario("record", size=1), "size must be a whole number of at least 2"),
        (lambda: scenario("threshold", inner=200.0, outer=201.0).check(), "no record between"),
        (lambda: scenario("record", value=">60K").check(), ">60K"),
    ],
)
def test_bad_pairs_are_one_clear_line(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()
