from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from attacks.reconstruction.posterior import (
    entry_posterior,
    log_likelihood,
    secret_posterior,
)
from attacks.reconstruction.scores import fraction_reconstructed
from attacks.reconstruction.subset_counts import (
    SubsetReconstruction,
    least_absolute_bits,
    least_squares_bits,
)
from tests.attacks.reconstruction.noises import gaussian, laplace
from tests.attacks.reconstruction.subset_games import SEEDS, accuracies, balanced, upper_end

few = settings(max_examples=25, deadline=None)


@few
@given(st.integers(0, 2**31), st.floats(0.1, 20))
def test_the_dual_finds_the_least_absolute_residuals_of_the_primal(seed, deviation):
    rng = np.random.default_rng(seed)
    n, q = int(rng.integers(1, 12)), int(rng.integers(1, 30))
    queries = rng.integers(0, 2, (q, n)).astype(float)
    counts = queries @ rng.integers(0, 2, n) + deviation * rng.standard_normal(q)
    bits = least_absolute_bits(queries, counts)
    primal = linprog(
        np.concatenate([np.zeros(n), np.ones(2 * q)]),
        A_eq=np.hstack([queries, np.eye(q), -np.eye(q)]),
        b_eq=counts,
        bounds=[(0, 1)] * n + [(0, None)] * (2 * q),
    )
    assert np.abs(counts - queries @ bits).sum() == pytest.approx(primal.fun, abs=1e-6)


@few
@given(st.integers(0, 2**31), st.floats(0.1, 20))
def test_least_squares_meets_its_optimality_conditions(seed, deviation):
    rng = np.random.default_rng(seed)
    n, q = int(rng.integers(1, 12)), int(rng.integers(1, 30))
    queries = rng.integers(0, 2, (q, n)).astype(float)
    counts = queries @ rng.integers(0, 2, n) + deviation * rng.standard_normal(q)
    bits = least_squares_bits(queries, counts)
    slope = queries.T @ (queries @ bits - counts)
    # A step along the slope, cut off at the bounds, leads nowhere.
    assert np.clip(bits - slope / (1 + q), 0, 1) == pytest.approx(bits, abs=1e-3)


def test_128_bits_are_found_at_noise_one_and_nearly_all_at_noise_two():
    """Power control, on 2 seeds; all 20 are in tests/performance."""
    assert (accuracies(128, 1024, gaussian(1.0, 1024), 2, learnt=1) == 1).all()
    assert (accuracies(128, 1024, gaussian(2.0, 1024), 2, learnt=1) >= 0.95).all()


def test_a_tenth_of_epsilon_in_total_protects_balanced_bits():
    """Null control, on 32 bits and 256 counts; 128 bits and 1,024 are in tests/performance."""
    mechanism = laplace(256 / 0.1, 256)  # one row moves 256 counts by at most 1 each
    found = accuracies(32, 256, mechanism, SEEDS, databases=15)
    assert upper_end(found) <= np.exp(0.1) / (1 + np.exp(0.1))


@pytest.mark.parametrize("method", ["linear_program", "least_squares"])
@pytest.mark.parametrize("deviation", [3.0, 300.0])
def test_the_learnt_threshold_never_does_worse_than_the_prior_alone(method, deviation):
    found = accuracies(
        32, 128, gaussian(deviation, 128), 5, databases=20, learnt=20, share=0.8, method=method
    )
    spread = 3 * np.sqrt(0.8 * 0.2 / (5 * 20 * 32))
    assert found.mean() >= 0.8 - spread
    if deviation == 3.0:
        assert found.mean() > 0.8 + spread


def test_no_attack_beats_the_exact_posterior_and_this_one_comes_near():
    rng = np.random.default_rng(4)
    n, q = 8, 24
    mechanism = gaussian(1.5, q)
    attack = SubsetReconstruction(queries=rng.integers(0, 2, (q, n)))
    rows = np.array(list(product((0, 1), repeat=n)))
    truth = rng.integers(0, 2, (200, n))
    releases = attack.released(mechanism, truth, 1, rng)
    logs = log_likelihood(mechanism, releases, rows @ attack.queries.T)
    posterior = secret_posterior(logs, np.full(len(rows), 2.0**-n))
    exact = entry_posterior(posterior, rows, 2).argmax(axis=-1)
    best = fraction_reconstructed(exact, truth)
    worlds = attack.simulated(mechanism, 0.5, size=50, n_releases=1, rng=rng)
    found = fraction_reconstructed(attack.fit(*worlds).guess(releases), truth)
    gap = best - found
    assert gap.mean() >= -2.6 * gap.std() / np.sqrt(200)
    assert found.mean() > best.mean() - 0.08
    assert best.mean() > 0.8


def test_averaged_repetitions_find_what_one_release_does_not():
    rng = np.random.default_rng(8)
    attack = SubsetReconstruction(queries=rng.integers(0, 2, (96, 24)))
    mechanism = gaussian(8.0, 96)
    truth = balanced(20, 24, rng)
    share = []
    for k in (1, 100):
        worlds = attack.simulated(mechanism, 0.5, size=20, n_releases=k, rng=rng)
        guess = attack.fit(*worlds).guess(attack.released(mechanism, truth, k, rng))
        share.append(fraction_reconstructed(guess, truth).mean())
    assert share[0] < 0.75
    assert share[1] > 0.98


def test_the_method_goes_by_size():
    rng = np.random.default_rng(0)
    small = SubsetReconstruction(queries=rng.integers(0, 2, (20, 6)))
    counts = rng.normal(3, 2, (1, 1, 20))
    queries = small.queries
    assert small.fractional(counts)[0] == pytest.approx(least_absolute_bits(queries, counts[0, 0]))
    squares = SubsetReconstruction(queries=queries, method="least_squares")
    assert squares.fractional(counts)[0] == pytest.approx(least_squares_bits(queries, counts[0, 0]))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: SubsetReconstruction(queries=[[0, 2]]), "queries must be 0 or 1"),
        (lambda: SubsetReconstruction(queries=[0, 1]), "queries must be 0 or 1 and of shape"),
        (lambda: SubsetReconstruction(queries=[[0, 1]], method="lp"), "method must be"),
        (
            lambda: SubsetReconstruction(queries=[[0, 1]]).fractional(np.zeros((1, 2))),
            r"releases must have shape \(m, k, 1\)",
        ),
        (
            lambda: SubsetReconstruction(queries=[[0, 1]]).simulated(
                laplace(1.0), 0.5, size=1, n_releases=0, rng=np.random.default_rng(0)
            ),
            "n_releases must be a whole number of at least 1",
        ),
        (
            lambda: SubsetReconstruction(queries=[[0, 1]]).simulated(
                laplace(1.0), 1.5, size=1, n_releases=1, rng=np.random.default_rng(0)
            ),
            r"share must be in \[0, 1\]",
        ),
    ],
)
def test_bad_input_is_refused_in_one_line(build, message):
    with pytest.raises(ValueError, match=message):
        build()
