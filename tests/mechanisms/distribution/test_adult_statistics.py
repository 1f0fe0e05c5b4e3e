"""Five statistics of 100 Adult records, from exact moments: published and derived values.

Moments of the 45,222 complete rows of UCI Adult (Becker and Kohavi, 1996, CC BY 4.0): age,
education-num, never married, female, hours per week, for the rows without and with a property.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from mechanisms.distribution.adversarial_uncertainty import UncertaintyClaim
from mechanisms.distribution.directional import DirectionalGaussian, DirectionalLaplace
from mechanisms.distribution.eigenvector import EigenvectorGaussian
from mechanisms.distribution.expected_value import ExpectedValueGaussian, ExpectedValueLaplace
from mechanisms.distribution.minimum_noise import MinimumNoiseGaussian
from mechanisms.distribution.uncertain_directional import UncertainDirectionalGaussian
from mechanisms.group_privacy import GroupGaussian, replaced_units
from mechanisms.knowledge import GaussianAnswers, Sensitivity
from mechanisms.laws.answer import GaussianLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.noise.additive import spread_along
from mechanisms.noise.gaussian import GaussianNoise, mahalanobis
from mechanisms.noise.identity import Noiseless
from mechanisms.privacy.assumptions import Assumptions, Secrets
from mechanisms.privacy.budget import Epsilon, EpsilonDelta, NoBudget
from mechanisms.privacy.guarantee import Guarantee, NotComparable
from mechanisms.privacy.indistinguishability import Approximate
from mechanisms.privacy.other_secrets import speaks_of, through_coupling, to_group

N = 100
ROWS = {"income": (34014, 11208), "work": (11915, 33307)}
MEANS = {
    "income": (
        [36.7494267067, 9.6307696831, 0.4085670606, 0.3829599577, 39.3720232845],
        [44.0060670949, 11.5985010707, 0.062544611, 0.1489114918, 45.6904889365],
    ),
    "work": (
        [43.1835501469, 10.822156945, 0.2171212757, 0.2741921947, 42.836340747],
        [36.8896328099, 9.8667247125, 0.3606148858, 0.3431110577, 40.2589245504],
    ),
}
# Upper triangles, row by row.
COVARIANCES = {
    "income": (
        [
            [184.0006281075, -1.6885293856, -3.5889743022, -0.1577641573, 13.7989814028],
            [5.8583434701, 0.1066413934, 0.0964217831, 2.4084979399],
            [
                0.2416471219,
                0.0275484511,
                -1.0647401754,
                0.2363085759,
                -1.1413863906,
                143.3797200293,
            ],
        ],
        [
            [106.9259915622, -0.4937715778, -0.3571208203, -0.2933100724, -11.0517491967],
            [5.6048233085, 0.0569689256, 0.0373071931, 1.4220755076],
            [0.0586380144, 0.0133499638, 0.0645103289, 0.1267481681, -0.6751517833, 116.5917110842],
        ],
    ),
    "work": (
        [
            [167.508273949, -0.9141394359, -2.3823102426, -0.4832682835, -3.9526672162],
            [6.8009191343, 0.0110861158, 0.0382754122, 3.1644456977],
            [0.1699938946, 0.0359799221, -0.7907179379, 0.199027539, -1.1955955364, 189.1813718698],
        ],
        [
            [166.8566711766, 0.4662547302, -3.3307325911, -0.4025317886, 19.1182011243],
            [6.1753855461, -0.0121068433, -0.0018894498, 4.3042804924],
            [0.2305787128, 0.0376476637, -1.238724037, 0.2253926269, -1.292619641, 126.3367271566],
        ],
    ),
}
COUNTS = np.array([1.0, 1.0, N, N, 1.0])


def adult(prop, dp):
    """Exact moments of a subset with round(100 p) rows of the property, without replacement."""
    means, covariances = [], []
    for p in (0.5 - dp / 2, 0.5 + dp / 2):
        k = round(p * N)
        mean, covariance = np.zeros(5), np.zeros((5, 5))
        for rows, size, m, triangle in zip(
            (N - k, k), ROWS[prop], MEANS[prop], COVARIANCES[prop], strict=True
        ):
            c = np.zeros((5, 5))
            c[np.triu_indices(5)] = np.concatenate(triangle)
            c = c + c.T - np.diag(np.diag(c))
            mean += rows * np.array(m) / N
            covariance += rows * c * (1 - rows / size) / N**2
        means.append(COUNTS * mean)
        covariances.append(np.outer(COUNTS, COUNTS) * covariance)
    return GaussianAnswers(
        means=np.array(means), covariances=np.array(covariances), pairs=((0, 1), (1, 0))
    )


def laws(answers, *, shared):
    covariances = [answers.shared_covariances()[0]] * 2 if shared else answers.covariances
    return [
        GaussianLaw(mean=m, covariance=c) for m, c in zip(answers.means, covariances, strict=True)
    ]


def mean_error(release):
    """Mean L2 error, by a fixed sample of 200,000 draws (relative error about 0.2 %)."""
    z = release.noise.sample((200_000, 5), np.random.default_rng(11))
    return float(np.linalg.norm(z, axis=1).mean())


CENSUS = Sensitivity(
    l1=0.73 + 0.15 + 1 + 1 + 0.98,
    l2=math.sqrt(0.73**2 + 0.15**2 + 1 + 1 + 0.98**2),
    unit="record",
    size=N,
    dimension=5,
)
BUDGETS = [EpsilonDelta(epsilon=e, delta=1e-3) for e in (0.2, 1.0, 5.0)]


def test_means_and_variances_of_the_subsets():
    answers = adult("income", 0.1)
    assert answers.means == pytest.approx(
        np.array(
            [[40.015, 10.516, 25.286, 27.764, 42.215], [40.741, 10.713, 21.825, 25.423, 42.847]]
        ),
        abs=5e-4 + 5e-4,
    )
    assert answers.covariances[:, 3, 3] == pytest.approx([18.66, 17.56], abs=0.005)


@pytest.mark.parametrize(
    ("prop", "dp", "l1", "l2", "spread", "distance"),
    [
        ("income", 0.1, 7.355, 4.291, 9.101, 1.422),
        ("work", 0.1, 3.107, 1.734, 7.293, 0.642),
        ("work", 0.04, 1.243, 0.693, None, 0.257),
    ],
)
def test_distances_between_the_sides(prop, dp, l1, l2, spread, distance):
    answers = adult(prop, dp)
    shared = answers.shared_covariances()[0]
    assert answers.distance(1) == pytest.approx(l1, abs=1e-3)
    assert answers.distance(2) == pytest.approx(l2, abs=1e-3)
    assert mahalanobis(answers.differences()[0], shared) == pytest.approx(distance, abs=1e-3)
    if spread is not None:
        along = spread_along(shared, answers.common_direction()) ** 2
        assert along == pytest.approx(spread, abs=5e-3)


@pytest.mark.parametrize(
    ("calibration", "errors"),
    [
        (ExpectedValueGaussian(), (172.41, 34.48, 6.90)),
        (EigenvectorGaussian(), (172.31, 34.01, 4.97)),
        (UncertainDirectionalGaussian(), (64.61, 12.70, 0.95)),
    ],
)
def test_mean_errors_at_three_epsilons(calibration, errors):
    for budget, expected in zip(BUDGETS, errors, strict=True):
        release = calibration.calibrate(adult("income", 0.1), budget=budget)
        assert mean_error(release) == pytest.approx(expected, rel=0.01)


def test_mean_errors_in_closed_form():
    answers, budget = adult("income", 0.1), Epsilon(epsilon=1.0)
    # E of a gamma length times a direction, m = 5; a scalar Laplace variable has mean scale.
    gaussian = math.sqrt(2) * math.gamma(3) / math.gamma(2.5)
    assert gaussian == pytest.approx(2.1277, abs=5e-5)
    scale = math.sqrt(
        ExpectedValueGaussian().calibrate(answers, budget=BUDGETS[1]).noise.covariance[0, 0]
    )
    assert scale * gaussian == pytest.approx(34.48, abs=0.05)
    along = DirectionalLaplace().calibrate(answers, budget=budget)
    assert along.noise.scale == pytest.approx(4.291, abs=1e-3)
    cubes = ExpectedValueLaplace().calibrate(answers, budget=budget)
    assert mean_error(cubes) / 7.355 == pytest.approx(2.8656, rel=5e-3)


def test_group_privacy_errors():
    assert CENSUS.l1 == pytest.approx(3.86)
    assert CENSUS.l2 == pytest.approx(1.87505, abs=5e-6)
    for budget, expected in zip(BUDGETS, (7533.2, 1506.6, 301.3), strict=True):
        release = GroupGaussian().calibrate(CENSUS, budget=budget)
        assert mean_error(release) == pytest.approx(expected, rel=0.01)
    record = GroupGaussian(group=1).calibrate(CENSUS, budget=BUDGETS[1])
    assert mean_error(record) == pytest.approx(15.07, rel=0.01)


@pytest.mark.parametrize(("prop", "dp", "error"), [("income", 0.12, 15.33), ("work", 0.28, 14.47)])
def test_where_the_uncertain_directional_mechanism_meets_record_privacy(prop, dp, error):
    release = UncertainDirectionalGaussian().calibrate(adult(prop, dp), budget=BUDGETS[1])
    deviation = math.sqrt(np.trace(release.noise.covariance))
    assert deviation * math.sqrt(2 / math.pi) == pytest.approx(error, abs=0.01)


@pytest.mark.parametrize(
    ("calibration", "ceilings"),
    [
        (ExpectedValueGaussian(), (0.5105, 0.5510, 0.6580)),
        (EigenvectorGaussian(), (0.5106, 0.5527, 0.6955)),
        (UncertainDirectionalGaussian(), (0.5106, 0.5527, 0.7460)),
    ],
)
def test_bayes_ceilings_of_the_property_attack(calibration, ceilings):
    answers = adult("income", 0.1)
    none = Noiseless().calibrate(budget=NoBudget()).leakage(*laws(answers, shared=True), 1)
    assert none.accuracy().hi == pytest.approx(0.7615, abs=1e-4)
    for budget, expected in zip(BUDGETS, ceilings, strict=True):
        release = calibration.calibrate(answers, budget=budget)
        pair = release.leakage(*laws(answers, shared=True), 1)
        assert pair.accuracy().hi == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("dp", "epsilon", "delta"),
    [
        (0.1, 0.1, 0.0071),
        (0.1, 0.2, 0.0024),
        (0.1, 0.5, 0.0002),
        (0.3, 0.5, 0.012),
        (0.3, 1, 0.003),
    ],
)
def test_unequal_covariances_break_delta_where_no_noise_hides_them(dp, epsilon, delta):
    answers = adult("income", dp)
    release = UncertainDirectionalGaussian().calibrate(
        answers, budget=EpsilonDelta(epsilon=float(epsilon), delta=1e-3)
    )
    bracket = release.leakage(*laws(answers, shared=False), 1).delta(float(epsilon))
    assert bracket.hi - bracket.lo < 1e-9
    assert bracket.lo == pytest.approx(delta, rel=0.1, abs=5e-5)
    shared = release.leakage(*laws(answers, shared=True), 1).delta(float(epsilon))
    assert shared.hi <= 1e-3


@pytest.mark.parametrize("calibration", [EigenvectorGaussian(), ExpectedValueGaussian()])
def test_noise_in_every_direction_hides_unequal_covariances_up_to_epsilon_five(calibration):
    for dp in (0.1, 0.4):
        for epsilon in (0.2, 1.0, 5.0):
            answers = adult("income", dp)
            budget = EpsilonDelta(epsilon=epsilon, delta=1e-3)
            release = calibration.calibrate(answers, budget=budget)
            assert release.leakage(*laws(answers, shared=False), 1).delta(epsilon).hi < 1e-3


def test_the_eigenvector_mechanism_misses_delta_at_epsilon_ten():
    answers = adult("income", 0.3)
    release = EigenvectorGaussian().calibrate(
        answers, budget=EpsilonDelta(epsilon=10.0, delta=1e-3)
    )
    delta = release.leakage(*laws(answers, shared=False), 1).delta(10.0).lo
    assert delta == pytest.approx(0.021, abs=2e-3)


def test_the_worked_example_in_two_coordinates():
    covariance = np.array([[22.0, -6.0], [-6.0, 13.0]])
    answers = GaussianAnswers(
        means=np.array([[100.0, 101.0], [99.0, 102.0]]),
        covariances=np.stack([covariance, covariance]),
        pairs=((0, 1), (1, 0)),
    )
    budget = BUDGETS[1]
    isotropic = ExpectedValueGaussian().calibrate(answers, budget=budget)
    assert isotropic.noise.covariance == pytest.approx(28.52 * np.eye(2), abs=5e-3)
    eigen = EigenvectorGaussian().calibrate(answers, budget=budget).noise.covariance
    assert np.linalg.eigvalsh(eigen) == pytest.approx([3.52, 18.52], abs=5e-3)
    assert eigen @ np.array([1, 2]) == pytest.approx(18.52 * np.array([1, 2]), abs=0.02)
    along = UncertainDirectionalGaussian().calibrate(answers, budget=budget).noise.covariance
    assert along == pytest.approx(6.7845 / 2 * np.array([[1, -1], [-1, 1]]), abs=5e-5)
    claim = UncertaintyClaim(
        answers=answers, theorem="t", notion=isotropic.claim.notion, assumptions=Assumptions()
    )
    noiseless = GaussianNoise(covariance=np.zeros((2, 2)), calibration="classical")
    assert claim.guarantee(noiseless, 1).bound > 1
    distance = mahalanobis(answers.differences()[0], covariance)
    assert distance**2 == pytest.approx(0.0920, abs=5e-5)
    c = math.sqrt(2 * math.log(1250))
    assert 1 / c**2 == pytest.approx(0.0701, abs=5e-5)
    traces = [
        np.trace(calibration.calibrate(answers, budget=budget).noise.covariance)
        for calibration in (
            MinimumNoiseGaussian(calibration="classical"),
            UncertainDirectionalGaussian(),
            DirectionalGaussian(),
        )
    ]
    assert traces == pytest.approx([6.1696, 6.7845, 28.5236], abs=5e-5)


def points(difference):
    """Return answers of two databases that are known but for one record."""
    ends = (np.zeros(5), np.asarray(difference, dtype=float))
    return [FiniteLaw(atoms=end[None], weights=[1.0]) for end in ends]


CORNER = [0.73, 0.15, 1.0, 1.0, 0.98]
RECORD = replaced_units("record", 1)


def test_a_guarantee_of_the_property_says_nothing_about_a_record():
    """Noise along one direction hides the property (.5445) and no record at all."""
    release = DirectionalLaplace().calibrate(adult("income", 0.1), budget=Epsilon(epsilon=0.2))
    hidden = release.leakage(*laws(adult("income", 0.1), shared=True), 1)
    assert hidden.accuracy().hi == pytest.approx(0.544464, abs=1e-5)
    assert release.noise.shift_epsilon(np.array([CORNER]), 0.001, 1) == math.inf
    assert isinstance(speaks_of(release.guarantee, RECORD), NotComparable)


def test_a_guarantee_of_a_record_says_less_about_the_property():
    """1.42101 nats of the property where a record has .633906 at delta = .001."""
    wanted = Assumptions(secrets=Secrets.DISTRIBUTIONS)
    release = GroupGaussian(group=1).calibrate(CENSUS, budget=BUDGETS[1])
    record = release.leakage(*points(CORNER), 1).epsilon(0.001)
    assert record.hi == pytest.approx(0.633906, abs=1e-5)
    shown = release.leakage(*laws(adult("income", 0.1), shared=True), 1).epsilon(0.001)
    assert shown.hi == pytest.approx(1.42101, abs=1e-5)
    claim = Guarantee(notion=Approximate(delta=0.001), bound=1.0, theorem="t", assumptions=RECORD)
    assert shown.hi > claim.bound
    assert isinstance(speaks_of(claim, wanted), NotComparable)
    assert isinstance(through_coupling(claim, 10), NotComparable)
    assert isinstance(to_group(claim, 10), NotComparable)  # the delta of ten records exceeds 1
    # Noise for ten records lends its claim: 45 and 55 of 100 couple within ten replacements.
    ten = GroupGaussian(group=10).calibrate(CENSUS, budget=BUDGETS[1])
    lent = through_coupling(replace(claim, assumptions=replaced_units("record", 10)), 10)
    less = ten.leakage(*laws(adult("income", 0.1), shared=True), 1).epsilon(0.001)
    assert less.hi < lent.bound == 1.0


def test_an_average_over_records_says_nothing_to_who_knows_them():
    """The noiseless statistic: finite under the model of the others, infinite given them."""
    exact = Noiseless().calibrate(budget=NoBudget())
    answers = adult("income", 0.1)
    assert exact.leakage(*laws(answers, shared=True), 1).epsilon(0.001).hi < 5
    assert exact.leakage(*points(CORNER), 1).epsilon(0.001).lo == math.inf
    average = ExpectedValueLaplace().calibrate(answers, budget=Epsilon(epsilon=1.0)).guarantee
    assert isinstance(speaks_of(average, RECORD), NotComparable)


def test_many_releases_of_an_average_are_capped_by_the_answer_itself():
    """k = 10,000: distance 1.3268 and not sqrt(k) times that of one release, 25.6."""
    release = ExpectedValueGaussian().calibrate(adult("income", 0.1), budget=BUDGETS[1])
    both = laws(adult("income", 0.1), shared=True)
    once, often = (2 * norm.ppf(release.leakage(*both, k).accuracy().hi) for k in (1, 10_000))
    assert often == pytest.approx(1.3268, abs=1e-4)
    assert 100 * once == pytest.approx(25.6, abs=0.1)
