"""Mechanisms at a matched leakage: closed forms, direct inversion, and every refusal."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import laplace, norm

from mechanisms.base import NotApplicableError
from mechanisms.distribution.directional import DirectionalGaussian, DirectionalLaplace
from mechanisms.distribution.eigenvector import EigenvectorGaussian
from mechanisms.distribution.expected_value import ExpectedValueGaussian, ExpectedValueLaplace
from mechanisms.distribution.minimum_noise import MinimumNoiseGaussian
from mechanisms.distribution.uncertain_directional import UncertainDirectionalGaussian
from mechanisms.knowledge import AnswerLaws, GaussianAnswers
from mechanisms.laws.answer import GaussianLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.gaussian_tradeoff import gaussian_distance
from mechanisms.leakage.pair import FinitePair
from mechanisms.noise.geometric import GeometricNoise
from mechanisms.noise.identity import Noiseless
from mechanisms.privacy.budget import Epsilon, NoBudget
from mechanisms.privacy.guarantee import NoClaim
from mechanisms.privacy.matching.matched import Matched
from mechanisms.renyi.tight_noise import TightNoise

few = settings(max_examples=25, deadline=None)
SPREAD = np.array([[2.0, 0.6], [0.6, 1.0]])
MEANS = np.array([[0.0, 0.0], [3.0, 1.0]])


def knowledge(means=MEANS, spread=SPREAD, *, records=False):
    means = np.asarray(means, dtype=float)
    spreads = [np.asarray(spread, dtype=float)] * len(means)
    pairs = tuple((0, j) for j in range(1, len(means)))
    laws = AnswerLaws(
        answers=tuple(GaussianLaw(mean=m, covariance=spreads[0]) for m in means),
        pairs=pairs,
        worlds_from_model=not records,
    )  # fmt: skip
    return laws, GaussianAnswers(means=means, covariances=np.stack(spreads), pairs=pairs)


def matched(of, target="accuracy", value=0.6, **settings_):
    if "Gaussian" in type(of).__name__ or target == "epsilon at delta":
        settings_.setdefault("delta", 0.001)
    return Matched(of=of, target=target, value=value, **settings_)


def calibrated(of, target="accuracy", value=0.6, given_=None, **settings_):
    return matched(of, target, value, **settings_).calibrate(
        *(given_ or knowledge()), budget=NoBudget()
    )


def deviation(mechanism):
    return math.sqrt(float(np.linalg.eigvalsh(mechanism.noise_covariance)[-1]))


@few
@given(st.floats(0.501, 0.83), st.sampled_from([0.001, 0.1]))
def test_isotropic_gaussian_noise_meets_an_accuracy_to_the_deviation(accuracy, delta):
    # Phi(d/2) with d^2 = Dl'(S + s^2 I)^-1 Dl: one equation in s, solved independently.
    wanted = 2 * norm.ppf(accuracy)
    gap = MEANS[1] - MEANS[0]

    def excess(s):
        return math.sqrt(gap @ np.linalg.solve(SPREAD + s**2 * np.eye(2), gap)) - wanted

    found = calibrated(ExpectedValueGaussian(), value=accuracy, delta=delta)
    assert deviation(found) == pytest.approx(brentq(excess, 0, 1e6, xtol=1e-12), rel=1e-6)
    leaked = matched(ExpectedValueGaussian(), value=accuracy, delta=delta).achieved(
        found, knowledge()[0], 1
    )
    assert accuracy * (1 - 1e-6) <= leaked.hi <= accuracy


@few
@given(st.floats(0.05, 5), st.sampled_from([1e-5, 0.001, 0.05]))
def test_epsilon_at_a_delta_is_the_direct_inversion_of_the_distance(epsilon, delta):
    # Point masses: the distance allowed is a function of (epsilon, delta) alone.
    given_ = knowledge(spread=np.zeros((2, 2)))
    found = calibrated(ExpectedValueGaussian(), "epsilon at delta", epsilon, given_, delta=delta)
    direct = math.sqrt(10) / gaussian_distance(epsilon, delta)
    assert deviation(found) == pytest.approx(direct, rel=1e-6)


@few
@given(st.floats(0.01, 20))
def test_pure_epsilon_of_laplace_noise_is_a_quotient(epsilon):
    given_ = knowledge(spread=np.zeros((2, 2)))
    found = calibrated(ExpectedValueLaplace(), "epsilon", epsilon, given_)
    assert found.noise.scales == pytest.approx(4 / epsilon, rel=1e-9)
    along = calibrated(DirectionalLaplace(), "epsilon", epsilon, given_)
    assert along.noise.scale == pytest.approx(math.sqrt(10) / epsilon, rel=1e-9)


@few
@given(st.floats(0.505, 0.9))
def test_accuracy_of_laplace_noise_on_a_line_is_its_quantile(accuracy):
    # P[Lap(b) > -d/2] = A with d = 3, scalar answers without spread.
    given_ = knowledge([[0.0], [3.0]], [[0.0]])
    found = calibrated(ExpectedValueLaplace(), value=accuracy, given_=given_)
    assert found.noise.scales[0] == pytest.approx(1.5 / laplace.ppf(accuracy), rel=1e-8)


def test_the_worst_of_several_pairs_is_matched():
    means = [[0.0], [1.0], [4.0]]
    found = calibrated(ExpectedValueGaussian(), given_=knowledge(means, [[1.0]]))
    alone = calibrated(ExpectedValueGaussian(), given_=knowledge([[0.0], [4.0]], [[1.0]]))
    assert deviation(found) == pytest.approx(deviation(alone), rel=1e-9)


def test_several_releases_are_matched_together():
    plan = matched(ExpectedValueGaussian(), value=0.6)
    given_ = knowledge()
    once = plan.calibrate(*given_, budget=NoBudget())
    many = plan.calibrate_together(*given_, budget=NoBudget(), n_releases=9)
    assert deviation(many) == pytest.approx(3 * deviation(once), rel=1e-6)
    assert plan.achieved(many, given_[0], 9).hi == pytest.approx(0.6, rel=1e-9)


def test_a_bracket_has_its_upper_end_at_the_target():
    plan = matched(ExpectedValueLaplace(), value=0.6)
    given_ = knowledge()
    leaked = plan.achieved(plan.calibrate(*given_, budget=NoBudget()), given_[0], 1)
    assert 0.6 * (1 - 1e-5) <= leaked.hi <= 0.6
    assert leaked.lo < leaked.hi - 1e-3


def whole_numbers(*atoms):
    return FiniteLaw(atoms=np.array(atoms, dtype=float)[:, None],
                     weights=np.full(len(atoms), 1 / len(atoms)))  # fmt: skip


POINTS = AnswerLaws(
    answers=(whole_numbers(0, 1), whole_numbers(2, 5)), pairs=((0, 1),), worlds_from_model=False
)


def test_recorded_laws_are_exact_and_need_no_model():
    found = Matched(of=OnWholeNumbers(), target="epsilon", value=0.7)
    mechanism = found.calibrate(POINTS, budget=NoBudget())
    # Enumerated: releases from -300 to 300.
    z = np.arange(-300, 301)
    laws = [
        sum(np.exp(-np.abs(z - a) / mechanism.scale) for a in atoms)  # up to one factor
        for atoms in ((0, 1), (2, 5))
    ]  # fmt: skip
    assert np.abs(np.log(laws[0] / laws[1])).max() == pytest.approx(0.7, rel=1e-6)


@dataclass(frozen=True, kw_only=True)
class OnWholeNumbers:
    """Geometric noise whose scale is 1/epsilon, in steps of `step` if that is given."""

    requires: ClassVar = ()
    accepts: ClassVar = Epsilon
    step: float = 0.0

    def calibrate(self, *, budget):
        scale = 1 / budget.epsilon
        if self.step:
            scale = math.ceil(scale / self.step) * self.step
        return Geometric(scale=scale)


@dataclass(frozen=True, kw_only=True)
class Geometric:
    sees: ClassVar = "answers"
    scale: float
    guarantee: ClassVar = NoClaim(reason="none")

    def leakage(self, first, second, n_releases):
        noise = GeometricNoise(scales=np.array([self.scale]))
        return noise.leakage(first, second, n_releases)


def test_a_discrete_dial_takes_the_nearest_safe_value():
    plan = Matched(of=OnWholeNumbers(step=0.5), target="accuracy", value=0.7)
    found = plan.calibrate(POINTS, budget=NoBudget())
    leaked = {s: plan.achieved(Geometric(scale=s), POINTS, 1).hi for s in np.arange(0.5, 20, 0.5)}
    safe = [s for s, accuracy in leaked.items() if accuracy <= 0.7]
    assert found.scale == min(safe)
    assert leaked[found.scale] < 0.7 < leaked[found.scale - 0.5]


def refused(of, told, target="accuracy", value=0.6, given_=None, **settings_):
    with pytest.raises(NotApplicableError, match=told):
        calibrated(of, target, value, given_, **settings_)


@pytest.mark.parametrize("records", [False, True])
def test_a_target_above_the_noiseless_leakage_is_refused_with_the_range(records):
    top = norm.cdf(math.sqrt(MEANS[1] @ np.linalg.solve(SPREAD, MEANS[1])) / 2)
    told = rf"^accuracy 0\.95 is above the noiseless leakage, {top:.6g}: .* from 0\.500\d* to that$"
    refused(ExpectedValueGaussian(), told, value=0.95, given_=knowledge(records=records))


def test_a_target_below_the_floor_of_a_mechanism_is_refused_with_the_range():
    # Noise along the first difference leaves the second pair as it is, whatever its size.
    @dataclass(frozen=True, kw_only=True)
    class AlongTheFirst(DirectionalGaussian):
        def calibrate(self, answers, *, budget):
            first = GaussianAnswers(
                means=answers.means[:2], covariances=answers.covariances[:2], pairs=((0, 1),)
            )
            return DirectionalGaussian().calibrate(first, budget=budget)

    given_ = knowledge([[0.0, 0.0], [3.0, 0.0], [0.0, 1.0]], np.eye(2))
    floor = norm.cdf(0.5)
    told = rf"^accuracy cannot be as low as 0\.6: it can be matched from {floor:.6g} to 0\.93"
    refused(AlongTheFirst(), told, given_=given_, delta=0.001)
    above = calibrated(AlongTheFirst(), value=0.75, given_=given_, delta=0.001)
    assert deviation(above) > 0


RANK_ONE = [
    DirectionalGaussian(), DirectionalLaplace(), UncertainDirectionalGaussian(),
    MinimumNoiseGaussian(),
]  # fmt: skip


@pytest.mark.parametrize("of", RANK_ONE, ids=lambda of: type(of).__name__)
def test_noise_of_deficient_rank_matches_in_the_model_and_never_on_records(of):
    assert deviation(calibrated(of)) > 0
    told = (
        r"^accuracy cannot be as low as 0\.6: it can be matched from 0\.855904 to 0\.855904; noise "
        r"of rank [01] in 2 coordinates hides nothing of records, .* in the model only"
    )
    refused(of, told, given_=knowledge(records=True))


def test_noise_that_loses_its_rank_is_matched_on_records_below_that():
    # The eigenvector mechanism stops noising a direction once its own spread is enough.
    given_ = knowledge(records=True)
    shared = np.linalg.eigvalsh(SPREAD)
    alone = calibrated(EigenvectorGaussian(), value=0.6, given_=given_)
    assert np.linalg.matrix_rank(alone.noise_covariance) == 2
    # There the noise makes both directions as wide as the wider one is by itself.
    at = math.sqrt(MEANS[1] @ np.linalg.solve(max(shared) * np.eye(2), MEANS[1]))
    edge = norm.cdf(at / 2)
    told = (
        rf"^accuracy 0\.8545 cannot be reached: it can be matched from 0\.5\d* to {edge:.4f}\d*; "
    )
    refused(EigenvectorGaussian(), told, value=0.8545, given_=given_)
    assert deviation(calibrated(EigenvectorGaussian(), value=0.8545)) > 0


def test_scalar_noise_has_full_rank_on_records_too():
    given_ = knowledge([[0.0], [3.0]], [[1.0]], records=True)
    in_model = knowledge([[0.0], [3.0]], [[1.0]])
    for of in RANK_ONE:
        found, expected = (deviation(calibrated(of, given_=g)) for g in (given_, in_model))
        assert found == pytest.approx(expected)


def test_a_number_that_is_not_monotone_is_refused():
    # Uniform noise on 0, ..., w - 1 tells {0, 2} from {1, 3} better at width 3 than at width 2.
    @dataclass(frozen=True, kw_only=True)
    class Uniform:
        requires: ClassVar = ()
        accepts: ClassVar = Epsilon

        def calibrate(self, *, budget):
            return UniformRelease(width=max(1, math.ceil(1 / budget.epsilon)))

    laws = AnswerLaws(
        answers=(whole_numbers(0, 2), whole_numbers(1, 3)), pairs=((0, 1),), worlds_from_model=True
    )
    widths = {w: Matched(of=Uniform(), target="accuracy", value=0.6).achieved(
        UniformRelease(width=w), laws, 1).hi for w in (1, 2, 3, 4)}  # fmt: skip
    assert widths[2] == pytest.approx((1 + 0.25) / 2)
    assert widths[3] == pytest.approx((1 + 1 / 3) / 2)
    plan = Matched(of=Uniform(), target="accuracy", value=0.65)
    told = r"^accuracy is not monotone: .* it can be matched from 0\.5\d* to 1, but not between"
    with pytest.raises(NotApplicableError, match=told):
        plan.calibrate(laws, budget=NoBudget())


@dataclass(frozen=True, kw_only=True)
class UniformRelease:
    sees: ClassVar = "answers"
    guarantee: ClassVar = NoClaim(reason="none")
    width: int

    def leakage(self, first, second, n_releases):
        laws = np.zeros((2, 10 + self.width))
        for row, law in zip(laws, (first, second), strict=True):
            for atom, weight in zip(law.atoms[:, 0], law.weights, strict=True):
                row[int(atom) : int(atom) + self.width] += weight / self.width
        return FinitePair(*laws)


def test_a_mechanism_without_an_exact_number_is_refused():
    two = AnswerLaws(answers=knowledge()[0].answers, pairs=((0, 1),), worlds_from_model=True)
    with pytest.raises(
        NotApplicableError, match=r"^there is no exact number to match: exact leakage"
    ):
        Matched(of=OnWholeNumbers(), target="epsilon", value=0.5).calibrate(two, budget=NoBudget())
    nothing = AnswerLaws(answers=None, databases=(), pairs=((0, 1),), worlds_from_model=True)
    with pytest.raises(NotApplicableError, match=r"no law is known of the answers that it sees"):
        matched(ExpectedValueGaussian()).calibrate(nothing, knowledge()[1], budget=NoBudget())
    alone = AnswerLaws(answers=two.answers, pairs=(), worlds_from_model=True)
    with pytest.raises(NotApplicableError, match=r"there is no pair of secrets"):
        matched(ExpectedValueGaussian()).calibrate(alone, knowledge()[1], budget=NoBudget())


@pytest.mark.parametrize(
    ("settings_", "told"),
    [
        ({"target": "advantage"}, r"^target must be 'accuracy', 'epsilon at delta' or 'epsilon'"),
        ({"value": 0.5}, r"^value must be in \(0\.5, 1\), got value=0\.5"),
        ({"value": 1.0}, r"^value must be in \(0\.5, 1\)"),
        ({"target": "epsilon", "value": -1.0}, r"^value must be in \[0, inf\)"),
        ({"delta": None}, r"^delta must be given, got delta=None"),
        ({"delta": 0.0}, r"^delta must be in \(0, 1\)"),
        ({"order": 2.0}, r"^order must be left out: nothing here has one, got order=2\.0"),
        ({"of": DirectionalLaplace()}, r"^delta must be left out: nothing here has one"),
        ({"of": DirectionalLaplace(), "target": "epsilon at delta", "delta": None, "value": 1.0},
         r"^delta must be given"),
        ({"of": TightNoise(noise="laplace"), "delta": None}, r"^order must be given"),
        ({"of": Noiseless()}, r"^of must be a calibration with an epsilon to turn, got Noiseless"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_when_it_is_built(settings_, told):
    plain = {"of": DirectionalGaussian(), "target": "accuracy", "value": 0.6, "delta": 0.001}
    with pytest.raises(ValueError, match=told):
        Matched(**(plain | settings_))


def test_names_say_number_value_and_delta():
    names = {
        matched(DirectionalGaussian(), value=0.55).target_name,
        matched(DirectionalLaplace(), "epsilon", 1.5).target_name,
        matched(DirectionalLaplace(), "epsilon at delta", 1.0, delta=1e-5).target_name,
    }
    assert names == {"accuracy 0.55", "epsilon 1.5", "epsilon 1 at delta=1e-05"}
