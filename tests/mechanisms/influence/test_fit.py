import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.influence.chain import stationary_law
from mechanisms.influence.fit import fit_chain, row_frequencies, smooth, transition_counts
from mechanisms.influence.markov import chain_curve

# Counts with the proportions of the worked example in Bai et al. (2026), Appendix D.2: five
# states and "others", which is never left.
EXAMPLE_COUNTS = np.array(
    [
        [9, 0, 3, 1, 5, 0],
        [2, 5, 2, 1, 4, 0],
        [3, 1, 39, 11, 29, 0],
        [0, 0, 7, 36, 35, 0],
        [4, 8, 32, 29, 245, 0],
        [0, 0, 0, 0, 0, 0],
    ]
)
EXAMPLE_SMOOTHED = [
    [0.49999, 1e-05, 0.16666, 0.05555, 0.27777, 1e-05],
    [0.14286, 0.35714, 0.14286, 0.07143, 0.28571, 1e-05],
    [0.03614, 0.01205, 0.46987, 0.13253, 0.34939, 1e-05],
    [1e-05, 1e-05, 0.08974, 0.46152, 0.44870, 1e-05],
    [0.01258, 0.02516, 0.10063, 0.09119, 0.77043, 1e-05],
    [0.19999, 0.19999, 0.19999, 0.19999, 0.19999, 1e-05],
]


def sequences_with(counts):
    """Sequences of length 2 that show each transition as often as counted."""
    return [(i, j) for (i, j), n in np.ndenumerate(counts) for _ in range(n)]


def test_the_papers_worked_example_of_smoothing():
    fitted = fit_chain(sequences_with(EXAMPLE_COUNTS), range(6))
    assert fitted.counts.tolist() == EXAMPLE_COUNTS.tolist()
    # Five printed digits, some cut off instead of rounded.
    np.testing.assert_allclose(fitted.chain.transition, EXAMPLE_SMOOTHED, atol=9.9e-6)
    np.testing.assert_allclose(
        fitted.chain.transition[:5], np.array(EXAMPLE_SMOOTHED)[:5], atol=5.1e-6
    )
    assert fitted.never_left == (5,)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.floats(0, 0.01))
def test_smoothing_keeps_rows_lawful_and_proportions(seed, size, smoothing):
    rng = np.random.default_rng(seed)
    matrix = row_frequencies(rng.poisson(0.7, (size, size)))
    smoothed = smooth(matrix, smoothing)
    np.testing.assert_allclose(smoothed.sum(axis=1), 1, atol=1e-12)
    assert (smoothed[matrix == 0] == smoothing).all()
    for before, after in zip(matrix, smoothed, strict=True):
        ratio = after[before > 0] / before[before > 0]
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text("abc", max_size=12), min_size=1, max_size=6))
def test_counts_are_those_of_neighbouring_letters(sequences):
    counts = transition_counts(sequences, "abc")
    for i, one in enumerate("abc"):
        for j, other in enumerate("abc"):
            seen = sum(s[k : k + 2] == one + other for s in sequences for k in range(len(s) - 1))
            assert counts[i, j] == seen


def test_a_fitted_chain_is_irreducible_with_finite_influence():
    fitted = fit_chain(["aab", "abab"], "abc")
    assert stationary_law(fitted.chain.transition).min() > 0
    curve = chain_curve(fitted.chain, 50)
    assert np.isfinite(curve.values[1:]).all()
    assert fitted.never_left == ("c",)


def test_transitions_do_not_cross_sequences():
    assert transition_counts(["ab", "cb"], "abc").sum() == 2
    assert transition_counts(["a", "b"], "abc").sum() == 0


def test_unknown_symbols_are_refused_and_named():
    with pytest.raises(ValueError, match="known states only, got 'x' in sequence 1"):
        fit_chain(["ab", "axb"], "ab")


def test_nothing_to_count_is_refused():
    with pytest.raises(ValueError, match="at least one transition"):
        fit_chain(["a", ""], "ab")
    with pytest.raises(ValueError, match="distinct"):
        fit_chain(["ab"], "aba")


def test_smoothing_that_takes_a_whole_row_is_refused():
    with pytest.raises(ValueError, match="smoothing must leave mass"):
        smooth(np.eye(3), 0.5)
    with pytest.raises(ValueError, match="smoothing must be in"):
        smooth(np.eye(3), -1e-5)
