"""The secrets of one release of Adult: known values, and worlds against laws."""

import math

import numpy as np
import pytest

from bench.datasets.source import DataError
from bench.datasets.table.adult import Adult
from bench.scenarios.property_subsets import PropertySubsets
from bench.scenarios.secrets.kinds import Attribute, Cell, Corners, Members, RandomShare
from bench.scenarios.secrets.one_release import OneRelease
from bench.scenarios.secrets.side import Independent, Part, Side
from bench.scenarios.statistics import Count, Mean
from mechanisms.distribution.directional import DirectionalGaussian, DirectionalLaplace
from mechanisms.distribution.eigenvector import EigenvectorGaussian
from mechanisms.distribution.expected_value import ExpectedValueGaussian, ExpectedValueLaplace
from mechanisms.group_privacy import GroupGaussian, GroupLaplace
from mechanisms.knowledge import GaussianAnswers, Sensitivity
from mechanisms.leakage.gaussian_tradeoff import classical_constant, gaussian_epsilon
from mechanisms.noise.additive import AdditiveNoise
from mechanisms.noise.gaussian import GaussianNoise
from mechanisms.noise.identity import ExactRelease
from mechanisms.noise.laplace import LaplaceNoise
from mechanisms.noise.noise_sum import NoiseSum
from mechanisms.privacy.assumptions import Priors, Public
from mechanisms.privacy.budget import Epsilon, EpsilonDelta
from mechanisms.privacy.guarantee import NoClaim
from mechanisms.privacy.matching.equal_error import EqualError

DELTA = 0.001
ONE = EpsilonDelta(epsilon=1.0, delta=DELTA)
FAR = 38189  # the largest Mahalanobis distance


@pytest.fixture(scope="module")
def release():
    return PropertySubsets(
        data=Adult(),
        statistics_of=(
            Mean(column="age", bounds=(17, 90)),
            Mean(column="education-num", bounds=(1, 16)),
            Count(column="marital-status", value="Never-married"),
            Count(column="sex", value="Female"),
            Mean(column="hours-per-week", bounds=(1, 99)),
        ),
        properties={"income": Count(column="income", value=">50K")},
        secret="income",
        gap=0.1,
        model="population",
    )


@pytest.fixture(scope="module")
def mechanisms(release):
    answers, sensitivity = release.knowledge(GaussianAnswers), release.knowledge(Sensitivity)
    return {
        "noiseless": ExactRelease(),
        "record": GroupGaussian(group=1).calibrate(sensitivity, budget=ONE),
        "record laplace": GroupLaplace(group=1).calibrate(sensitivity, budget=Epsilon(epsilon=1.0)),
        "group": GroupGaussian(group=10).calibrate(sensitivity, budget=ONE),
        "expected": ExpectedValueGaussian().calibrate(answers, budget=ONE),
        "expected laplace": ExpectedValueLaplace().calibrate(answers, budget=Epsilon(epsilon=1.0)),
        "eigenvector": EigenvectorGaussian().calibrate(answers, budget=ONE),
        "directional": DirectionalGaussian().calibrate(answers, budget=ONE),
        "directional laplace": DirectionalLaplace().calibrate(answers, budget=Epsilon(epsilon=0.2)),
    }


def secret(release, kind, worlds="data"):
    return OneRelease(release=release, secret=kind, worlds=worlds)


def compared(scenario, mechanism, own=False):
    law = scenario.unpooled_law if own else scenario.law
    return [mechanism.leakage(law(i), law(j), 1) for i, j in scenario.pairs]


@pytest.mark.parametrize(
    ("rows", "name", "own", "accuracy", "epsilon"),
    [
        ([FAR], "noiseless", False, 0.654041, 2.35888),
        ([FAR], "noiseless", True, 0.65407, 2.414),
        ([0], "noiseless", True, 0.54594, 0.571),
        ([FAR], "record", False, 0.529517, None),
        ([FAR], "directional laplace", False, 0.652408, None),
    ],
)
def test_membership_of_one_record(release, mechanisms, rows, name, own, accuracy, epsilon):
    (pair,) = compared(secret(release, Members(rows=rows)), mechanisms[name], own)
    digits = len(str(accuracy)) - 2
    assert pair.accuracy().hi == pytest.approx(accuracy, abs=0.6 * 10**-digits)
    if epsilon is not None:
        digits = len(str(epsilon)) - 2
        assert pair.epsilon(DELTA).hi == pytest.approx(epsilon, abs=0.6 * 10**-digits)


def test_informed_adversary_and_the_worst_corner(release, mechanisms):
    corners = secret(release, Corners(dimension=5))
    worst = {
        name: max(p.epsilon(DELTA).hi for p in compared(corners, mechanisms[name]))
        for name in ("record", "expected", "expected laplace", "eigenvector", "directional")
    }
    assert worst["record"] == pytest.approx(0.633906, abs=1e-6)
    assert worst["expected"] == pytest.approx(0.235638, abs=1e-6)
    assert worst["eigenvector"] == pytest.approx(0.243, abs=5e-4)
    assert worst["directional"] == math.inf
    pure = max(p.epsilon(0.0).hi for p in compared(corners, mechanisms["expected laplace"]))
    assert pure == pytest.approx(0.524814, abs=1e-6)
    assert worst["expected laplace"] <= pure
    known = secret(release, Members(rows=[FAR], others="known", instead=[0]))
    assert all(
        math.isinf(p.epsilon(DELTA).hi) and p.accuracy().hi == 1
        for name in ("noiseless", "directional", "directional laplace")
        for p in compared(known, mechanisms[name])
    )


def test_claims_from_noise_are_those_of_the_corner_and_bound_every_secret(release, mechanisms):
    single = [
        Corners(dimension=5), Members(rows=[FAR]), Members(rows=[0], others="known", instead=[FAR]),
        Attribute(), Cell(statistic=3),
    ]  # fmt: skip
    for name in ("record", "expected", "eigenvector", "record laplace"):
        for kind in single:
            scenario = secret(release, kind)
            claim = scenario.claim(mechanisms[name], 1, DELTA)
            for pair in compared(scenario, mechanisms[name]):
                assert pair.epsilon(DELTA).lo <= claim.bound * (1 + 1e-9)
    corners = secret(release, Corners(dimension=5))
    claim = corners.claim(mechanisms["record"], 1, DELTA)
    exact = max(p.epsilon(DELTA).hi for p in compared(corners, mechanisms["record"]))
    assert claim.bound == pytest.approx(exact, rel=1e-9)
    ten = secret(release, Members(rows=range(10)))
    assert ten.claim(mechanisms["record laplace"], 1, DELTA).bound == pytest.approx(10)
    assert ten.claim(mechanisms["record"], 1, DELTA).bound == pytest.approx(11.03, abs=0.01)
    for name in ("noiseless", "directional", "directional laplace"):
        assert isinstance(corners.claim(mechanisms[name], 1, DELTA), NoClaim)
    assert isinstance(corners.claim(mechanisms["record"], 1, 0.0), NoClaim)


def test_a_scale_read_off_the_records_is_assumed_to_be_public(release, mechanisms):
    scenario = secret(release, Members(rows=[FAR]))
    assert "the model holds the records" in scenario.estimated
    fixed = scenario.claim(mechanisms["record"], 1, DELTA).assumptions
    assert fixed.priors == Priors.ANY
    assert Public.LAWS not in fixed.public
    for name in ("expected", "expected laplace", "eigenvector"):
        assumed = scenario.claim(mechanisms[name], 1, DELTA).assumptions
        assert assumed.priors == Priors.LAWS
        assert Public.LAWS in assumed.public


def test_a_classical_gaussian_inside_a_sum_is_read_exactly(release):
    total = NoiseSum(
        model=GaussianNoise(covariance=np.eye(5), calibration="classical"),
        extra=LaplaceNoise(scales=np.full(5, 1e-6)),  # next to nothing: it claims nothing
    )
    claim = secret(release, Members(rows=range(10))).claim(
        AdditiveNoise(noise=total, claim=None), 1, DELTA
    )
    exact = gaussian_epsilon(10 * float(np.linalg.norm(release.moves)), DELTA)
    assert claim.bound == pytest.approx(exact, rel=1e-9)
    assert exact > 10 * float(np.linalg.norm(release.moves)) * classical_constant(
        DELTA
    )  # the classical reading claims too much


def test_a_share_of_the_population_leaks_less_than_an_exact_count(release, mechanisms):
    noiseless = mechanisms["noiseless"]
    (share,) = compared(secret(release, RandomShare()), noiseless)
    assert share.accuracy().hi == pytest.approx(0.7191, abs=5e-5)
    assert noiseless.leakage(release.law(0), release.law(1), 1).accuracy().hi == pytest.approx(
        0.7615, abs=5e-5
    )


def test_an_attribute_with_the_others_known(release, mechanisms):
    (known,) = compared(secret(release, Attribute(others="known")), mechanisms["noiseless"])
    assert known.accuracy().hi == pytest.approx(0.842111, abs=1e-6)
    assert known.epsilon(DELTA).hi == math.inf


def test_at_equal_error_the_order_turns_round_with_the_secret(release):
    answers = release.knowledge(GaussianAnswers)
    at = {
        name: EqualError(of=of, error=15.0663, delta=DELTA).calibrate(answers, budget=None)
        for name, of in (("iso", ExpectedValueGaussian()), ("along", DirectionalGaussian()))
    }
    property_of = {n: m.leakage(release.law(0), release.law(1), 1).accuracy().hi
                   for n, m in at.items()}  # fmt: skip
    member = secret(release, Members(rows=[FAR]))
    member_of = {n: compared(member, m)[0].accuracy().hi for n, m in at.items()}
    assert property_of == pytest.approx({"iso": 0.602782, "along": 0.544671}, abs=1e-6)
    assert member_of == pytest.approx({"iso": 0.529517, "along": 0.652429}, abs=1e-6)


@pytest.mark.parametrize(
    "kind",
    [
        Members(rows=[FAR]), Members(rows=range(10)), Attribute(), Attribute(others="known"),
        RandomShare(), Corners(dimension=5), Members(rows=[3], others="known", instead=[4]),
    ],
    ids=lambda kind: f"{type(kind).__name__}",
)  # fmt: skip
def test_worlds_have_the_moments_of_their_laws(release, kind):
    scenario = secret(release, kind)
    values = np.arange(len(scenario.secrets)).repeat(2000)
    answers = scenario.draw(values, "test", np.random.default_rng(0)).answers
    for value, side in enumerate(scenario._sides):
        mean, covariance = side.moments()
        drawn = answers[values == value]
        error = np.sqrt(np.diag(covariance) / 2000) + 1e-9
        assert (np.abs(drawn.mean(axis=0) - mean) < 5 * error).all()
        assert np.cov(drawn, rowvar=False) == pytest.approx(covariance, rel=0.35, abs=0.3)


def test_moments_of_parts_equal_enumeration():
    rng = np.random.default_rng(1)
    features = rng.normal(size=(6, 2))
    part = Part(features=features, count=2)
    sums = np.array([features[i] + features[j] for i in range(6) for j in range(6) if i != j])
    assert part.mean == pytest.approx(sums.mean(axis=0))
    assert part.covariance == pytest.approx(np.cov(sums, rowvar=False, ddof=0))
    groups = (features[:4], features[4:])
    mixed = Independent(groups=groups, share=0.3, count=3)
    side = Side(known=np.zeros(2), drawn=(mixed,))
    drawn = side.sample(200_000, rng)
    assert drawn.mean(axis=0) == pytest.approx(mixed.mean, abs=0.02)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda: Members(rows=[]), "different row numbers"),
        (lambda: Members(rows=[1, 1]), "different row numbers"),
        (lambda: Members(rows=[1], others="known"), "instead must name 1 rows"),
        (lambda: Members(rows=[1], others="all"), "others must be"),
        (lambda: Members(rows=[-1]), "row number"),
        (lambda: Attribute(others="some"), "others must be"),
        (lambda: Corners(dimension=11), "at most 10"),
    ],
)
def test_bad_secrets_are_refused(change, says):
    with pytest.raises(ValueError, match=says):
        change()


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (Members(rows=[45222]), "below 45222"),
        (Members(rows=range(100)), "cannot hold 100"),
        (Cell(statistic=5), "below 5"),
        (Corners(dimension=4), "dimension must be 5"),
    ],
)
def test_secrets_that_do_not_fit_the_data_are_refused(release, kind, says):
    with pytest.raises(DataError, match=says):
        secret(release, kind).check()
