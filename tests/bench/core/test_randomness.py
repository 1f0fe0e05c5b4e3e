import itertools
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from bench.core.randomness import rng_for

few = settings(max_examples=60, deadline=None)
names = st.lists(st.text(st.characters(exclude_characters="\x1f"), max_size=6), max_size=4)


def first(*spelt, n=4):
    return rng_for(*spelt).random(n).tolist()


@few
@given(st.integers(0, 2**64), names)
def test_a_stream_is_a_function_of_its_name(seed, path):
    assert first(seed, *path) == first(seed, *path)


@few
@given(st.integers(0, 2**40), names, names)
def test_different_names_are_different_streams(seed, one, other):
    # No name at all and one empty name spell the same.
    if (one or [""]) != (other or [""]):
        assert first(seed, *one) != first(seed, *other)


def test_how_names_are_cut_matters():
    spelt = [("ab", "c"), ("a", "bc"), ("abc",), ("c", "ab"), ("a", "b", "c"), ("abc", "")]
    assert len({tuple(first(0, *path)) for path in spelt}) == len(spelt)


@few
@given(st.integers(0, 2**32), st.integers(0, 2**32))
def test_different_seeds_are_different_streams(one, other):
    if one != other:
        assert first(one, "worlds") != first(other, "worlds")


def test_streams_do_not_disturb_each_other_or_the_global_state():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    alone = first(0, "b")
    rng_for(0, "a").random(1000)
    assert first(0, "b") == alone
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


def test_streams_are_the_same_in_every_process():
    code = "from bench.core.randomness import rng_for; print(rng_for(7, 'worlds', 3).random())"
    for salt in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": salt, "PYTHONPATH": "."},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert float(done.stdout) == rng_for(7, "worlds", 3).random()


def test_recorded_runs_can_be_drawn_again():
    # Changing these changes every number of every recorded run.
    drawn = rng_for(0, "worlds", 0).integers(2**32, size=3).tolist()
    assert drawn == [4026904494, 4044060935, 2404378999]


def test_neighbouring_streams_are_uniform_and_uncorrelated():
    draws = np.array([rng_for(0, "worlds", r).random(400) for r in range(40)])
    assert kstest(draws.ravel(), "uniform").pvalue > 1e-7
    correlations = [np.corrcoef(a, b)[0, 1] for a, b in itertools.combinations(draws, 2)]
    # 780 pairs at 6 standard errors: about 2e-6.
    assert np.abs(correlations).max() < 6 / np.sqrt(400)


@pytest.mark.parametrize("seed", [-1, 0.5, "x", None])
def test_a_seed_that_is_no_natural_number_is_refused(seed):
    with pytest.raises((ValueError, TypeError)):
        rng_for(seed, "worlds")
