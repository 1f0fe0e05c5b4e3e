import math

import pytest

from bench.config.build import ConfigError
from bench.leaderboard.terminal import pivot
from bench.quantities.calibrated_noise import CalibratedNoise
from bench.quantities.wasserstein_metric import WassersteinBudget, WassersteinMetric
from bench.scenarios.numeric_column import NumericColumn
from bench.study.curve import Curve
from mechanisms.base import NotApplicableError
from mechanisms.group_privacy import GroupLaplace
from mechanisms.laws.coupling import comonotone
from mechanisms.renyi.alpha_wasserstein import (
    AlphaWassersteinGaussian,
    AlphaWassersteinLaplace,
    wasserstein_gaussian_scale,
    wasserstein_laplace_scale,
)
from mechanisms.renyi.tight_noise import TightNoise, tight_scale
from mechanisms.renyi.w_infinity import WInfinityLaplace
from tests.support.components import Points
from tests.support.laws import SIDES, SOURCES, embedded


def scenario(name):
    file, value, secret = SOURCES[name]
    return NumericColumn(
        path=f"embedded:{file}", value=value, secret=secret, pairs=[list(SIDES[name])],
        count="count",
    )  # fmt: skip


SCENARIOS = {name: scenario(name) for name in SOURCES}
PLAN = comonotone(*embedded("heart"))


def noise(mechanism, **changes):
    return CalibratedNoise(scenarios=SCENARIOS, dataset="heart", mechanism=mechanism, **changes)


def values(quantity, x):
    return [b.hi for b in quantity.curve(x)]


def test_the_variance_of_several_statistics_is_the_trace():
    """As the metric of the same name: two statistics of Laplace scale 6."""
    both = Points(supports=[[[0.0, 1.0]], [[1.0, 0.0]]])
    for of, expected in (("scale", 6.0), ("variance", 2 * 2 * 6.0**2)):
        quantity = CalibratedNoise(
            scenarios={"both": both},
            dataset="both",
            mechanism=GroupLaplace(),
            axis="epsilon",
            of=of,
        )
        assert values(quantity, [1.0]) == pytest.approx([expected])


def test_scales_and_variances_are_those_of_the_calibrations():
    laplace = wasserstein_laplace_scale(PLAN, order=2.0, epsilon=0.3)
    gaussian = wasserstein_gaussian_scale(PLAN, order=2.0, epsilon=0.3)
    at = {"epsilon": 0.3, "order": 2.0}
    for axis, x in (("order", 2.0), ("epsilon", 0.3)):
        changes = {k: v for k, v in at.items() if k != axis} | {"axis": axis}
        assert values(noise(AlphaWassersteinLaplace(), **changes), [x]) == pytest.approx([laplace])
        assert values(noise(AlphaWassersteinGaussian(), **changes), [x]) == pytest.approx(
            [gaussian]
        )
        changes |= {"of": "variance"}
        assert values(noise(AlphaWassersteinLaplace(), **changes), [x]) == pytest.approx(
            [2 * laplace**2]
        )
        assert values(noise(AlphaWassersteinGaussian(), **changes), [x]) == pytest.approx(
            [gaussian**2]
        )


def test_a_pure_budget_is_constant_in_the_order():
    assert values(noise(WInfinityLaplace()), [1.5, 2.0, 9.0]) == pytest.approx([4.4] * 3)


def test_a_ratio_is_over_the_reference_and_infinite_where_that_is_nothing():
    reference = TightNoise(noise="laplace")
    found = values(noise(AlphaWassersteinLaplace(), of="ratio", reference=reference), [2.0])
    least = tight_scale(*embedded("heart"), order=2.0, epsilon=0.5, noise="laplace")
    assert found == pytest.approx([wasserstein_laplace_scale(PLAN, order=2.0, epsilon=0.5) / least])
    private = CalibratedNoise(
        scenarios=SCENARIOS, dataset="adult", mechanism=AlphaWassersteinLaplace(), of="ratio",
        reference=reference,
    )  # fmt: skip
    assert values(private, [2.0]) == [math.inf]
    both = CalibratedNoise(
        scenarios=SCENARIOS, dataset="adult", mechanism=reference, of="ratio", reference=reference
    )
    assert values(both, [2.0, 20.0]) == [1.0, 1.0]


def test_a_value_without_a_calibration_says_which():
    with pytest.raises(NotApplicableError, match="at order=1: no laplace noise meets"):
        noise(AlphaWassersteinLaplace()).curve([1.0])


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"dataset": "hart"}, ConfigError, "unknown dataset 'hart'; did you mean heart"),
        ({"axis": "delta"}, ValueError, "axis must be 'order' or 'epsilon', got axis='delta'"),
        ({"of": "power"}, ValueError, "of must be 'scale', 'variance' or 'ratio', got of='power'"),
        ({"of": "ratio"}, ValueError, "go together"),
        ({"epsilon": 0.0}, ValueError, r"epsilon must be in \(0, inf\]"),
    ],
)
def test_bad_parameters_are_one_clear_line(changes, error, said):
    settings = {"scenarios": SCENARIOS, "dataset": "heart", "mechanism": AlphaWassersteinLaplace()}
    with pytest.raises(error, match=said):
        CalibratedNoise(**(settings | changes))
    with pytest.raises(ConfigError, match="unknown dataset"):
        WassersteinMetric(scenarios=SCENARIOS, dataset="x", scale=1.0)
    with pytest.raises(ValueError, match=r"scale must be in \(0, inf\)"):
        WassersteinMetric(scenarios=SCENARIOS, dataset="heart", scale=0.0)


@pytest.mark.parametrize("order", [1.2, 2.0, 5.0])
def test_the_metric_meets_its_bound_at_the_scale_of_theorem_1(order):
    scale = wasserstein_laplace_scale(PLAN, order=order, epsilon=0.5)
    bound = values(WassersteinBudget(epsilon=0.5), [order])
    assert bound == pytest.approx([math.exp((order - 1) * 0.5 / order)])
    metric = WassersteinMetric(scenarios=SCENARIOS, dataset="heart", scale=scale)
    assert values(metric, [order]) == pytest.approx(bound, rel=1e-9)
    smaller = WassersteinMetric(scenarios=SCENARIOS, dataset="heart", scale=0.9 * scale)
    assert values(smaller, [order])[0] > bound[0] * 1.001


def test_a_quantity_may_have_its_own_values_of_the_parameter_for_each_axis(run):
    target = "bench.quantities.calibrated_noise.CalibratedNoise"
    config = {
        "_target_": target, "dataset": "heart", "of": "variance",
        "scenarios": {"heart": {
            "_target_": "bench.scenarios.numeric_column.NumericColumn",
            "path": "embedded:heart_oldpeak.csv", "value": "oldpeak", "secret": "fbs",
            "pairs": [[0, 1]], "count": "count",
        }},
        "mechanism": {"_target_": "mechanisms.renyi.alpha_wasserstein.AlphaWassersteinLaplace"},
        "at": {"epsilon": [0.1, 0.2, 0.4]},
    }  # fmt: skip
    outcome, _ = run(Curve(quantities={"q": config}, x=[2.0], grid={"axis": ["order", "epsilon"]}))
    points = outcome.table.groupby("axis")["x"].apply(list).to_dict()
    assert points == {"order": [2.0], "epsilon": [0.1, 0.2, 0.4]}
    wide = pivot(outcome.table)
    assert wide.columns.tolist() == ["axis", "x", "q"]
    assert wide["x"].tolist() == [2.0, 0.1, 0.2, 0.4]


def test_group_privacy_of_one_record_scales_with_its_range():
    assert values(noise(GroupLaplace()), [2.0]) == pytest.approx([6.2 / 0.5])
