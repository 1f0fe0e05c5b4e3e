"""Receivers of independent cells: gains of every rule by Bayes' rule on the listed outcomes."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.deterministic.calibrations import (
    RoundCells,
    RoundCellsAtRandom,
    RoundingBase,
    RoundingRule,
    SuppressCells,
    SuppressionRule,
)
from mechanisms.deterministic.cell_receivers import CellReceivers
from mechanisms.deterministic.cell_suppression import CellSuppression
from mechanisms.deterministic.greedy_suppression import GreedySuppression
from mechanisms.deterministic.knowledge import CountTable
from mechanisms.deterministic.receiver_strength import GaussianReceivers
from mechanisms.deterministic.rounding import RandomRounding, Rounding
from mechanisms.noise.identity import ExactRelease
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.guarantee import NoClaim
from mechanisms.privacy.persuasive.cell_priors import GeometricPrior, ListedPrior, WindowPrior
from mechanisms.privacy.persuasive.finite_receiver import FiniteKernel
from mechanisms.privacy.persuasive.notion import Persuasive
from mechanisms.privacy.persuasive.scores import LogScore

SEEDS = st.integers(0, 2**32 - 1)


def chance(prior, low, high, table):
    """Return a probability of a prior."""
    return np.exp(prior.log_probability(np.asarray(low), np.asarray(high), np.asarray(table)))


TABLE = np.array([[1, 1, 7, 1, 0], [1, 0, 0, 2, 8]])


def played(mechanism, table, priors, *, worlds=1, n_releases=1, seed=0):
    rng = np.random.default_rng(seed)
    answers = np.broadcast_to(table, (worlds, *table.shape))
    releases = np.stack([mechanism.release(answers, rng) for _ in range(n_releases)], axis=1)
    return SimpleNamespace(
        mechanism=mechanism, n_releases=n_releases, answers=answers, database=None,
        releases=releases, knowledge=lambda _: CellReceivers(priors=tuple(priors)),
    )  # fmt: skip


@given(seed=SEEDS, base=st.integers(2, 5))
@settings(max_examples=40, deadline=None)
def test_random_rounding_gains_are_those_of_bayes_rule(seed, base):
    rng = np.random.default_rng(seed)
    values = np.arange(11)
    pmf = rng.dirichlet(np.ones(values.size))
    outputs = np.arange(0, values.size + base, base)
    share = np.clip(1 - np.abs(values[:, None] - outputs) / base, 0, None)
    kernel = FiniteKernel(points=values[:, None].astype(float), probabilities=share)
    by_rule = kernel.losses([LogScore()], pmf)[0, 0]
    rule = RandomRounding(base=base)
    prior = ListedPrior(pmf=np.tile(pmf, (values.size, 1)))
    gains, probabilities = rule.cell_outcomes(values, prior)
    assert probabilities.sum(axis=-1) == pytest.approx(np.ones(values.size))
    for x in values:
        for side in range(2):
            if probabilities[x, side] > 0:
                at = x // base + side
                assert share[x, at] == pytest.approx(probabilities[x, side])
                assert gains[x, side] == pytest.approx(by_rule[x, at], abs=1e-9)
    delta = float(rng.uniform(0, 0.6))
    notion = Persuasive(delta=delta)
    cell = played(rule, values, [prior], worlds=30, seed=seed)
    evidence = notion.evidence(cell)
    assert notion.exact(evidence).hi == pytest.approx(
        kernel.kappa([LogScore()], pmf[None], delta=delta), abs=1e-9
    )
    assert notion.certify(evidence, 1e-9) <= notion.exact(evidence).hi + 1e-9


@given(seed=SEEDS, threshold=st.integers(2, 6), mean=st.floats(0.2, 50))
@settings(max_examples=60, deadline=None)
def test_suppression_is_certified_exactly_and_never_above_the_claim(seed, threshold, mean):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 12, (3, 4))
    prior = GeometricPrior(mean=mean)
    small = float(chance(prior, 0, threshold - 1, 0))
    assert small == pytest.approx(1 - (mean / (1 + mean)) ** threshold)
    mechanism = CellSuppression(threshold=threshold, alpha=small)
    claim = mechanism.guarantee
    evidence = claim.notion.evidence(played(mechanism, table, [prior]))
    exact = claim.notion.exact(evidence).hi
    assert claim.notion.certify(evidence, 0.05) == exact
    assert exact <= claim.bound + 1e-12
    if (table < threshold).any():
        assert exact == pytest.approx(-math.log(small))
    # A receiver who finds small counts less likely is not in the class.
    with pytest.raises(NotComputableError, match="no receiver"):
        claim.notion.evidence(played(mechanism, table, [GeometricPrior(mean=2 * mean)]))


def test_rounding_meets_its_claim_for_receivers_who_expect_the_multiple():
    table = np.array([10, 20, 33])
    prior = WindowPrior(width=2)  # five counts, of which three round alike
    mechanism = Rounding(base=3, alpha=0.2)
    notion = mechanism.guarantee.notion
    evidence = notion.evidence(played(mechanism, table, [prior]))
    low, high = mechanism.limits_of(table)
    inside = [
        sum(low[i] <= z <= high[i] for z in range(x - 2, x + 3)) / 5 for i, x in enumerate(table)
    ]
    assert notion.exact(evidence).hi == pytest.approx(-math.log(min(inside)))
    assert notion.exact(evidence).hi <= mechanism.guarantee.bound
    strict = Rounding(base=3, alpha=0.9)
    with pytest.raises(NotComputableError, match="no receiver"):
        strict.guarantee.notion.evidence(played(strict, table, [prior]))


def test_totals_leave_no_claim_and_no_exact_number():
    known = CountTable(shape=(2, 5), margins=((0,), (1,)))
    rules = [
        SuppressCells(secondary=GreedySuppression()).calibrate(
            known, budget=SuppressionRule(threshold=2, alpha=0.5)
        ),
        RoundCells().calibrate(known, budget=RoundingRule(base=3, alpha=0.5)),
        RoundCellsAtRandom().calibrate(known, budget=RoundingBase(base=3)),
    ]
    for rule in rules:
        assert isinstance(rule.guarantee, NoClaim)
        with pytest.raises(NotComputableError, match="totals tie the cells together"):
            Persuasive().evidence(played(rule, TABLE, [GeometricPrior(mean=1.0)]))


def test_without_totals_no_complements_are_chosen():
    rule = SuppressCells(secondary=GreedySuppression()).calibrate(
        CountTable(shape=(2, 5)), budget=SuppressionRule(threshold=2, alpha=0.5)
    )
    assert rule.secondary is None
    assert rule.guarantee.bound == pytest.approx(math.log(2))


def test_what_has_no_gain_of_cells_says_why():
    prior = GeometricPrior(mean=1.0)
    with pytest.raises(NotComputableError, match="not known for ExactRelease"):
        Persuasive().evidence(played(ExactRelease(), TABLE, [prior]))
    with pytest.raises(NotComputableError, match="several random releases"):
        Persuasive().evidence(played(RandomRounding(base=3), TABLE, [prior], n_releases=2))
    others = Persuasive(receivers=GaussianReceivers(r1=1.0, r2=2.0))
    with pytest.raises(NotComputableError, match="none of the class"):
        others.evidence(played(CellSuppression(threshold=2), TABLE, [prior]))


@pytest.mark.parametrize("mean", [0.01, 1.0, 1e6])
def test_geometric_cells_are_a_law_with_their_mean(mean):
    prior = GeometricPrior(mean=mean)
    zero = np.array(0)
    assert chance(prior, zero, int(60 * mean) + 60, zero) == pytest.approx(1.0)
    if mean <= 1:
        z = np.arange(200)
        assert (z * chance(prior, z, z, z)).sum() == pytest.approx(mean)
    assert chance(prior, 5, 4, zero) == 0.0


def test_windows_are_cut_at_zero():
    prior, table = WindowPrior(width=3), np.array([0, 1, 10])
    assert chance(prior, table, table, table) == pytest.approx([1 / 4, 1 / 5, 1 / 7])
    everything = np.zeros(3, dtype=int), np.full(3, 100)
    assert chance(prior, *everything, table) == pytest.approx([1, 1, 1])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SuppressionRule(threshold=1, alpha=0.5), "threshold must be a whole number of"),
        (lambda: SuppressionRule(threshold=2, alpha=0.0), r"alpha must be in \(0, 1\]"),
        (lambda: RoundingRule(base=1, alpha=0.5), "base must be a whole number of at least 2"),
        (lambda: RoundingBase(base=1), "base must be a whole number of at least 2"),
        (lambda: CountTable(shape=(2, 2), margins=((2,),)), "axes must be among 0 to 1"),
        (lambda: GeometricPrior(mean=0.0), "mean of a geometric prior must be in"),
        (lambda: WindowPrior(width=0), "width of a window prior must be a whole number"),
    ],
)
def test_bad_rules_and_priors_are_one_clear_line(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_counts_far_above_a_prior_are_not_taken_for_excluded():
    """2^-20001 is no float: the gain of random rounding is still that of its logarithm."""
    table, prior = np.array([20_000]), GeometricPrior(mean=1.0)
    assert prior.log_probability(table, table, table)[0] == pytest.approx(-20_001 * math.log(2))
    gains, _ = RandomRounding(base=4).cell_outcomes(table, prior)
    near = sum(2.0 ** -(step + 1) * (1 - abs(step) / 4) for step in range(-3, 4))
    assert gains[0, 0] == pytest.approx(20_000 * math.log(2) - math.log(near))
