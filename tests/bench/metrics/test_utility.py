import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from bench.metrics.base import Names, NotMeasurableError
from bench.metrics.utility import (
    AbsoluteError,
    NoiseVariance,
    NormError,
    RelativeError,
    StatisticVariance,
    errors,
)
from mechanisms.noise.additive import AdditiveNoise, TranslationClaim
from mechanisms.noise.gaussian import GaussianNoise
from mechanisms.noise.identity import ExactRelease
from mechanisms.noise.laplace import DirectionalLaplaceNoise, LaplaceNoise
from mechanisms.privacy.assumptions import Assumptions
from mechanisms.privacy.indistinguishability import PURE
from tests.support.games import released

few = settings(max_examples=50, deadline=None)
NAMES = Names(secrets=("a", "b"), pairs=((0, 1),), statistics=("mean age, years", "# sex=F/M"))
PLAIN = ExactRelease()
EVERY = [AbsoluteError(), RelativeError(), NormError(norm=1, name="l1"), NoiseVariance()]


ANSWERS = np.array([[1.0, -4.0], [2.0, 0.0], [0.0, 5.0]])
RELEASES = np.array([[[2.0, -2.0]], [[0.0, 3.0]], [[1.0, 5.0]]])
GAME = released(answers=ANSWERS, releases=RELEASES)


def values(metric, games, mechanism=PLAIN, names=NAMES):
    return {k: e.value for k, e in metric.estimate(games, names, mechanism).items()}


def test_absolute_errors_by_hand():
    assert values(AbsoluteError(), [GAME]) == pytest.approx(
        {"mean age, years": (1 + 2 + 1) / 3, "# sex=F/M": (2 + 3 + 0) / 3}
    )


def test_relative_errors_by_hand_leave_out_answers_of_zero():
    assert values(RelativeError(), [GAME]) == pytest.approx(
        {"mean age, years": (1 / 1 + 2 / 2) / 2, "# sex=F/M": (2 / 4 + 0) / 2}
    )


def test_norms_by_hand():
    assert values(NormError(norm=1, name="l1"), [GAME])[""] == pytest.approx((3 + 5 + 1) / 3)
    expected = (math.sqrt(5) + math.sqrt(13) + 1) / 3
    assert values(NormError(norm=2, name="l2"), [GAME])[""] == pytest.approx(expected)


def test_a_statistic_that_is_always_zero_has_no_relative_error():
    answers = ANSWERS * [1, 0]
    game = released(answers=answers, releases=RELEASES)
    assert list(values(RelativeError(), [game])) == ["mean age, years"]


def test_a_repetition_of_zeros_only_does_not_hide_the_others():
    zeros = released(answers=ANSWERS * [1, 0], releases=RELEASES)
    found = RelativeError().estimate([zeros, GAME], NAMES, PLAIN)["# sex=F/M"]
    assert found.value == pytest.approx(0.25)
    assert found.n == 2


def test_several_releases_are_averaged_before_the_error():
    releases = np.array([[[0.0, 0.0], [4.0, 2.0]]])
    game = released(answers=np.array([[1.0, 1.0]]), releases=releases)
    assert errors(game[0])[0].tolist() == [[1.0, 0.0]]


@few
@given(st.integers(1, 5), st.integers(1, 4), st.integers(0, 2**31))
def test_norms_bound_each_other_and_sum_the_statistics(n, k, seed):
    rng = np.random.default_rng(seed)
    game = released(answers=rng.normal(size=(n, 2)), releases=rng.normal(size=(n, k, 2)))
    l1 = values(NormError(norm=1, name="l1"), [game])[""]
    l2 = values(NormError(norm=2, name="l2"), [game])[""]
    assert l2 <= l1 * (1 + 1e-12)
    assert l1 <= math.sqrt(2) * l2 * (1 + 1e-12)
    assert sum(values(AbsoluteError(), [game]).values()) == pytest.approx(l1)


@few
@given(st.integers(0, 2**31), st.floats(-100, 100), st.floats(0.01, 100))
def test_errors_ignore_a_shift_and_scale_with_the_unit(seed, shift, unit):
    rng = np.random.default_rng(seed)
    answers, releases = rng.normal(size=(6, 2)), rng.normal(size=(6, 1, 2))
    before = values(AbsoluteError(), [released(answers=answers, releases=releases)])
    moved = released(answers=(answers + shift) * unit, releases=(releases + shift) * unit)
    after = values(AbsoluteError(), [moved])
    assert after == pytest.approx({k: v * unit for k, v in before.items()})


@pytest.mark.parametrize("metric", EVERY, ids=lambda m: m.name)
def test_exact_releases_have_no_error(metric):
    game = released(answers=ANSWERS, releases=np.repeat(ANSWERS[:, None], 3, axis=1))
    assert set(values(metric, [game]).values()) == {0.0}


def test_scalar_answers_and_tables_are_flattened():
    one = Names(secrets=("a", "b"), pairs=((0, 1),), statistics=("count",))
    scalars = released(answers=np.array([1, 2]), releases=np.array([[2], [4]]))
    assert values(AbsoluteError(), [scalars], names=one) == {"count": 1.5}
    tables = released(answers=np.zeros((2, 1, 2)), releases=np.ones((2, 3, 1, 2)))
    assert values(AbsoluteError(), [tables]) == {"mean age, years": 1, "# sex=F/M": 1}


@pytest.mark.parametrize("metric", EVERY, ids=lambda m: m.name)
def test_releases_of_another_shape_are_not_measurable(metric):
    ranking = released(answers=np.zeros((4, 2)), releases=np.zeros((4, 1, 3)))
    with pytest.raises(NotMeasurableError, match=r"shape \(3,\) .* shape \(2,\)"):
        metric.estimate([ranking], NAMES, PLAIN)


@pytest.mark.parametrize("names", [("one",), ("one", "two", "three")])
def test_statistics_that_do_not_match_the_answers_are_refused(names):
    wrong = Names(secrets=("a", "b"), pairs=((0, 1),), statistics=names)
    with pytest.raises(ValueError, match=r"zip\(\)|names"):
        AbsoluteError().estimate([GAME], wrong, PLAIN)


@pytest.mark.parametrize("metric", EVERY, ids=lambda m: m.name)
def test_releases_that_are_not_finite_are_refused(metric):
    game = released(answers=ANSWERS, releases=np.full((3, 1, 2), math.inf))
    with pytest.raises(ValueError, match=r"^values must be finite"):
        metric.estimate([game], NAMES, PLAIN)


@pytest.mark.parametrize("metric", EVERY, ids=lambda m: m.name)
def test_releases_with_missing_entries_have_no_error(metric):
    releases = RELEASES.copy()
    releases[1, 0, 0] = math.nan
    with pytest.raises(NotMeasurableError, match=r"^missing entries of a release"):
        metric.estimate([released(answers=ANSWERS, releases=releases)], NAMES, PLAIN)


@pytest.mark.parametrize("metric", EVERY, ids=lambda m: m.name)
@pytest.mark.parametrize("cut", [1, 2])
def test_blocks_of_a_game_are_one_game(metric, cut):
    (whole,) = GAME
    blocks = [whole.rows(slice(0, cut)), whole.rows(slice(cut, 3))]
    assert metric.estimate([blocks], NAMES, PLAIN) == metric.estimate([GAME], NAMES, PLAIN)


@pytest.mark.parametrize("norm_", [0, 3, 2.5, None, "2"])
def test_other_norms_are_refused(norm_):
    with pytest.raises(ValueError, match=r"^norm must be 1 or 2, got norm="):
        NormError(norm=norm_, name="l")


NOISES = {
    "laplace": (LaplaceNoise(scales=np.array([1.0, 3.0])), [2.0, 18.0]),
    "gaussian": (
        GaussianNoise(covariance=np.array([[4.0, 1.0], [1.0, 9.0]]), calibration="analytic"),
        [4.0, 9.0],
    ),
    "directional": (
        DirectionalLaplaceNoise(scale=2.0, direction=np.array([0.6, 0.8])),
        [8 * 0.36, 8 * 0.64],
    ),
}


def adding(noise):
    claim = TranslationClaim(
        differences=np.array([[0.6, 0.8]]), theorem="t", notion=PURE, assumptions=Assumptions()
    )
    return AdditiveNoise(noise=noise, claim=claim)


class Hiding:
    """The same mechanism, which does not say what it knows of its noise."""

    def __init__(self, inner):
        self.release = inner.release


@pytest.mark.parametrize("name", NOISES)
def test_the_noise_variance_is_exact_where_the_mechanism_knows_it(name):
    noise, expected = NOISES[name]
    trace = NoiseVariance().estimate([GAME], NAMES, adding(noise))
    each = StatisticVariance().estimate([GAME], NAMES, adding(noise))
    assert {e.method for e in (*trace.values(), *each.values())} == {"exact"}
    assert [each[s].value for s in NAMES.statistics] == pytest.approx(expected)
    assert trace.keys() == {""}
    assert trace[""].value == pytest.approx(sum(expected))


@pytest.mark.parametrize("name", NOISES)
def test_the_measured_noise_variance_agrees_with_the_exact_one(name):
    noise, expected = NOISES[name]
    rng, n = np.random.default_rng(0), 20_000
    answers = rng.normal(size=(n, 2))
    mechanism = adding(noise)
    # Three releases: the variance is that of the first, not of their average.
    releases = np.stack([mechanism.release(answers, rng) for _ in range(3)], axis=1)
    game = released(answers=answers, releases=releases)
    found = {
        statistic: estimate
        for metric in (NoiseVariance(), StatisticVariance())
        for statistic, estimate in metric.estimate([game], NAMES, Hiding(mechanism)).items()
    }
    wanted = dict(zip(NAMES.statistics, expected, strict=True)) | {"": sum(expected)}
    for statistic, estimate in found.items():
        deviation = (estimate.upper - estimate.lower) / 2 / norm.isf(0.025)
        # Three comparisons a law at 6 standard errors: about 1e-8 of false alarms.
        assert abs(estimate.value - wanted[statistic]) < 6 * deviation
        assert deviation < 0.03 * wanted[statistic]
