import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.composition import (
    composed_points_epsilon,
    separately_analysed_epsilon,
)
from mechanisms.influence.curve import InfluenceCurve
from mechanisms.influence.markov import chain_curve

few = settings(max_examples=50, deadline=None)
epsilons = st.lists(st.floats(0, 3), min_size=1, max_size=6)


def random_curve(seed):
    rng = np.random.default_rng(seed)
    entries = int(rng.integers(1, 12))
    values = np.concatenate([[np.inf], np.sort(rng.exponential(2, entries - 1))[::-1], [0.0]])
    return InfluenceCurve(values=values, entries=entries, direction="exact")


@few
@given(st.integers(0, 2**31), epsilons)
def test_paying_the_penalty_once_is_never_worse_and_sums_never_better(seed, runs):
    curve = random_curve(seed)
    joint = curve.pufferfish_epsilon(sum(runs))
    separate = separately_analysed_epsilon(curve, runs)
    assert joint <= separate + 1e-9
    assert separate <= sum(curve.pufferfish_epsilon(e) for e in runs) + 1e-9


@few
@given(st.integers(0, 2**31), epsilons, st.integers(0, 2**31))
def test_no_choice_of_points_beats_one_point_for_all(seed, runs, choice):
    curve, rng = random_curve(seed), np.random.default_rng(choice)
    sizes = rng.integers(1, curve.entries + 1, len(runs)).tolist()
    chosen = composed_points_epsilon([curve.at(b) for b in sizes], sizes, runs)
    assert curve.pufferfish_epsilon(sum(runs)) <= chosen + 1e-9


def test_one_release_composes_to_itself_and_several_pay_the_largest_penalty():
    curve = chain_curve(MarkovChain(transition=[[0.6, 0.4], [0.2, 0.8]]), 60)
    assert separately_analysed_epsilon(curve, [0.2]) == curve.pufferfish_epsilon(0.2)
    assert composed_points_epsilon([0.5, 0.2], [3, 5], [0.1, 0.2]) == pytest.approx(1.8)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (([0.1], [1, 2], [0.1]), "one entry a release, got 1, 2 and 1"),
        (([-0.1], [1], [0.1]), "must not be negative"),
        (([0.1], [1.5], [0.1]), "sizes must be a whole number"),
        (([], [], []), "penalties must not be empty"),
        (([np.inf], [1], [0.1]), "penalties must be finite"),
    ],
)
def test_bad_points_are_refused_in_one_line(points, message):
    with pytest.raises(ValueError, match=message):
        composed_points_epsilon(*points)
