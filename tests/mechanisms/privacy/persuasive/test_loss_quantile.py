"""Certified and checked losses from samples: coverage, power, and what few releases can say."""

import numpy as np
import pytest
from scipy.stats import binom, norm

from mechanisms.privacy.persuasive.loss_quantile import (
    binomial_lower,
    binomial_upper,
    certified_kappa,
    check_by_sampling,
    fewest_hits,
    realised_kappa,
)


def test_one_sided_limits_invert_the_binomial_tail():
    hits = np.arange(21)
    lower, upper = binomial_lower(hits, 20, 0.05), binomial_upper(hits, 20, 0.05)
    assert binom.sf(hits[1:] - 1, 20, lower[1:]) == pytest.approx(0.05)
    assert binom.cdf(hits[:-1], 20, upper[:-1]) == pytest.approx(0.05)
    assert (lower[0], upper[-1]) == (0.0, 1.0)


def test_the_bound_lies_above_the_truth_no_more_often_than_stated_and_is_tight():
    """Normal losses in 4,000 experiments of 500 releases; exact kappa is the .9 quantile."""
    losses = np.random.default_rng(0).normal(size=(4000, 500))
    exact = norm.isf(0.1)
    found = np.array([certified_kappa(row, delta=0.1, error=0.05) for row in losses])
    too_high = int((found > exact).sum())
    # At most 5 %: 4,000 experiments exceed 5 % + 5 sigma with probability below 1e-6.
    assert too_high / 4000 <= 0.05 + 5 * (0.05 * 0.95 / 4000) ** 0.5
    assert too_high / 4000 > 0.02
    assert found.mean() > 0.8 * exact
    limits = binomial_lower(np.arange(501), 500, 0.05)
    assert fewest_hits(500, 0.1, 0.05) == np.flatnonzero(limits > 0.1)[0]


def test_the_error_is_split_over_records_and_receivers():
    rng = np.random.default_rng(1)
    one = rng.normal(size=400)
    alone = certified_kappa(one, delta=0.1)
    among = certified_kappa(np.stack([one, *rng.normal(-9.0, 1.0, (49, 400))]), delta=0.1)
    assert among < alone  # the same record, now one of fifty
    # One case with losses above delta is enough, wherever it stands.
    cases = np.zeros((2, 3, 400))
    cases[1, 2, :100] = 2.0
    assert certified_kappa(cases, delta=0.1) == 2.0
    assert certified_kappa(cases, delta=0.25) == 0.0


def test_few_releases_certify_nothing_at_small_delta():
    assert certified_kappa(np.full(3, 9.0), delta=0.5, error=0.01) == 0.0
    assert certified_kappa(np.full(3, 9.0), delta=0.0) == 9.0
    assert fewest_hits(3, 0.5, 0.01) is None
    assert realised_kappa(np.array([[0.5, -2.0], [1.5, 1.0]])) == 1.5
    assert realised_kappa(np.array([-1.0])) == 0.0


def test_sampled_checks_hold_fail_and_stay_open():
    def sample(n, rng):
        return rng.normal([[0.0], [-1.0]], 1.0, (2, n))

    def check(kappa, delta, n=4000):
        return check_by_sampling(
            sample, kappa=kappa, delta=delta, n=n, rng=np.random.default_rng(2)
        )

    assert check(norm.isf(0.08), 0.1).verdict == "holds"
    assert check(norm.isf(0.12), 0.1).verdict == "violated"
    assert check(norm.isf(0.1), 0.1, n=50).verdict == "open"
    assert check(9.0, 0.0).verdict == "open"  # no sample proves a probability of 0
    assert check(1.0, 0.0).verdict == "violated"
    seen = check(norm.isf(0.1), 0.1)
    assert (seen.lower < seen.rates).all()
    assert (seen.rates < seen.upper).all()
    assert seen.n == 4000


def test_the_wrong_verdict_is_as_rare_as_stated():
    """At the exact kappa "violated" is wrong; 1,000 checks with an error of 10 %."""
    rng = np.random.default_rng(3)
    wrong = sum(
        check_by_sampling(
            lambda n, r: r.normal(size=(3, n)),
            kappa=norm.isf(0.1),
            delta=0.1,
            n=300,
            error=0.1,
            rng=rng,
        ).verdict
        == "violated"
        for _ in range(1000)
    )
    assert wrong / 1000 <= 0.1 + 5 * (0.1 * 0.9 / 1000) ** 0.5
    assert wrong > 10


@pytest.mark.parametrize(
    ("losses", "message"),
    [(np.array([]), "empty"), (np.array([np.nan]), "NaN"), (np.float64(1.0), "shape")],
)
def test_bad_losses_are_told(losses, message):
    with pytest.raises(ValueError, match=message):
        certified_kappa(losses, delta=0.1)
