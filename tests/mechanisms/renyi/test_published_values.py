"""Calibrations on toy laws and on the data sets of Ding, Yang, Zhang (2026).

Count tables from the UCI Machine Learning Repository, all CC BY 4.0: Adult (Becker and Kohavi
1996; education-num over the 45,222 complete rows of both files), Heart Disease (Janosi et al.
1989; Cleveland, oldpeak), Student Performance (Cortez 2008; student-mat.csv, G3).
"""

import math

import pytest

from mechanisms.laws.coupling import comonotone, wasserstein
from mechanisms.laws.finite import FiniteLaw
from mechanisms.renyi.alpha_wasserstein import wasserstein_gaussian_scale, wasserstein_laplace_scale
from mechanisms.renyi.joint_convex import joint_convex_laplace_scale
from mechanisms.renyi.relaxed_kantorovich import relaxed_kantorovich_scale
from mechanisms.renyi.shift_reduction import shift_gaussian_scale, shift_laplace_scale
from mechanisms.renyi.tight_noise import tight_scale
from mechanisms.renyi.w_infinity import w_infinity_laplace_scale


def table(counts):
    return FiniteLaw.of_counts(atoms=list(counts), counts=list(counts.values()))


# fmt: off
ADULT = (  # relationship Husband, Not-in-family
    table(dict(zip(range(1, 17), [19, 100, 205, 447, 283, 441, 452, 153, 6072, 3497, 858, 559, 3451,
                                  1264, 523, 342], strict=True))),
    table(dict(zip(range(1, 17), [34, 57, 92, 160, 139, 267, 298, 110, 3585, 2556, 506, 453, 2357,
                                  783, 172, 133], strict=True))),
)
HEART = (  # fbs 0, 1
    table({0.0: 87, 0.1: 4, 0.2: 10, 0.3: 3, 0.4: 9, 0.5: 4, 0.6: 13, 0.7: 1, 0.8: 11, 0.9: 3,
           1.0: 8, 1.1: 2, 1.2: 14, 1.3: 1, 1.4: 11, 1.5: 5, 1.6: 8, 1.8: 9, 1.9: 4, 2.0: 9, 2.1: 1,
           2.2: 3, 2.3: 1, 2.4: 2, 2.5: 2, 2.6: 6, 2.8: 5, 2.9: 1, 3.0: 4, 3.2: 2, 3.4: 2, 3.5: 1,
           3.6: 4, 3.8: 1, 4.0: 2, 4.2: 2, 4.4: 1, 5.6: 1, 6.2: 1}),
    table({0.0: 12, 0.1: 3, 0.2: 2, 0.5: 1, 0.6: 1, 0.8: 2, 1.0: 6, 1.2: 3, 1.4: 2, 1.6: 3, 1.8: 1,
           1.9: 1, 2.2: 1, 2.3: 1, 2.4: 1, 2.8: 1, 3.0: 1, 3.1: 1, 3.4: 1, 4.0: 1}),
)
STUDENT = (  # guardian mother, father
    table({0: 25, 4: 1, 5: 6, 6: 11, 7: 7, 8: 21, 9: 18, 10: 37, 11: 35, 12: 20, 13: 19, 14: 19,
           15: 26, 16: 11, 17: 4, 18: 7, 19: 5, 20: 1}),
    table({0: 8, 5: 1, 6: 4, 7: 1, 8: 5, 9: 6, 10: 16, 11: 8, 12: 9, 13: 8, 14: 8, 15: 6, 16: 4,
           17: 2, 18: 4}),
)
# fmt: on
POINTS = tuple(FiniteLaw(atoms=[x], weights=[1.0]) for x in (0.0, 1.0))
BERNOULLI = tuple(FiniteLaw(atoms=[0.0, 1.0], weights=[1 - x, x]) for x in (0.3, 0.6))
SIX = (
    FiniteLaw(atoms=range(6), weights=[0.05, 0.1, 0.25, 0.3, 0.2, 0.1]),
    FiniteLaw(atoms=range(6), weights=[0.1, 0.2, 0.3, 0.2, 0.15, 0.05]),
)
RARE = (
    FiniteLaw(atoms=[0.0, 1.0, 10.0], weights=[0.59, 0.4, 0.01]),
    FiniteLaw(atoms=[0.0, 1.0, 10.0], weights=[0.6, 0.4 - 1e-9, 1e-9]),
)

TOY = [
    # laws, order, (Theorem 1, Corollary 3.1, W_inf, joint-convex, exact), (Thm 2, Cor 3.1, exact)
    (POINTS, 1.5, (6.0, 1.0159, 2, 1.0159, 1.0159), (1.2247, 1.2247, 1.2247)),
    (POINTS, 2, (4.0, 1.1504, 2, 1.1504, 1.1504), (1.4142, 1.4142, 1.4142)),
    (POINTS, 5, (2.5, 1.5471, 2, 1.5471, 1.5471), (2.2361, 2.2361, 2.2361)),
    (BERNOULLI, 2, (1.7371, 1.1504, 2, 0.6443, 0), (0.9320, 1.4142, 0)),
    (BERNOULLI, 5, (1.6106, 1.5471, 2, 1.0834, 0.2340), (1.7948, 2.2361, 0.3362)),
    (SIX, 2, (2.5671, 1.1504, 2, 0.8549, 0), (1.1329, 1.4142, 0)),
    (SIX, 20, (1.9806, 1.8686, 2, 1.7649, 0.6551), (4.3377, 4.4721, 1.1650)),
    (RARE, 2, (4.3076, 10.3534, 18, 1.9609, 1.0324), (4.3984, 12.7279, 3.1639)),
]


@pytest.mark.parametrize(("laws", "order", "laplace", "gaussian"), TOY)
def test_scales_of_toy_laws(laws, order, laplace, gaussian):
    plan, budget = comonotone(*laws), {"order": order, "epsilon": 0.5}
    largest = plan.distances().max()
    found = (
        wasserstein_laplace_scale(plan, **budget),
        shift_laplace_scale(largest, **budget),
        w_infinity_laplace_scale(plan, epsilon=0.5),
        joint_convex_laplace_scale(plan, **budget),
        tight_scale(*laws, **budget, noise="laplace"),
    )
    assert found == pytest.approx(laplace, abs=5.1e-5)
    found = (
        wasserstein_gaussian_scale(plan, **budget),
        shift_gaussian_scale(largest, **budget),
        tight_scale(*laws, **budget, noise="gaussian"),
    )
    assert found == pytest.approx(gaussian, abs=5.1e-5)


@pytest.mark.parametrize(("laws", "scale"), [(BERNOULLI, 1.2022), (SIX, 1.6045)])
def test_relaxed_kantorovich_scales(laws, scale):
    found = relaxed_kantorovich_scale(comonotone(*laws), epsilon=0.5)
    assert found == pytest.approx(scale, abs=5.1e-5)


ORDERS = (1.1, 1.5, 2, 5)
DATA = [
    # laws, W_1, W_inf, Theorem 1, Corollary 3.1, joint-convex, Theorem 2, exact Laplace
    (
        ADULT, 0.1680, 2.0,
        (4.1657, 1.5663, 1.3366, 1.5943), (1.7517, 2.0317, 2.3008, 3.0943),
        (0.2891, 0.4104, 0.5421, 1.1336), (0.4796, 0.7054, 0.9777, 2.4028), (0, 0, 0, 0),
    ),
    (
        HEART, 0.1145, 2.2,
        (2.7390, 1.0686, 1.0098, 1.5299), (1.9268, 2.2349, 2.5308, 3.4037),
        (0.1569, 0.2809, 0.4306, 1.1210), (0.3487, 0.6651, 0.9842, 2.5624),
        (0.0937, 0.2144, 0.3135, 0.5696),
    ),
    (
        STUDENT, 0.3045, 5.0,
        (7.2013, 2.5547, 2.2579, 3.2962), (4.3792, 5.0793, 5.7519, 7.7357),
        (0.4414, 0.6515, 0.9445, 2.4215), (0.7832, 1.4539, 2.1578, 5.6773),
        (0.0950, 0.1940, 0.2771, 0.5506),
    ),
]  # fmt: skip
NAMES = ["adult", "heart", "student"]


@pytest.mark.parametrize("case", DATA, ids=NAMES)
def test_scales_on_the_papers_data(case):
    laws, w1, w_inf, theorem_1, corollary, joint, theorem_2, _ = case
    plan = comonotone(*laws)
    assert wasserstein(*laws, order=1) == pytest.approx(w1, abs=5.1e-5)
    assert wasserstein(*laws, order=math.inf) == pytest.approx(w_inf, abs=1e-12)
    assert w_infinity_laplace_scale(plan, epsilon=0.5) == pytest.approx(2 * w_inf, abs=1e-12)
    for calibrate, expected in (
        (wasserstein_laplace_scale, theorem_1),
        (joint_convex_laplace_scale, joint),
        (wasserstein_gaussian_scale, theorem_2),
    ):
        found = [calibrate(plan, order=a, epsilon=0.5) for a in ORDERS]
        assert found == pytest.approx(expected, abs=5.1e-5)
    found = [shift_laplace_scale(w_inf, order=a, epsilon=0.5) for a in ORDERS]
    assert found == pytest.approx(corollary, abs=5.1e-5)


@pytest.mark.parametrize("case", DATA, ids=NAMES)
def test_exact_laplace_scales_on_the_papers_data(case):
    found = [tight_scale(*case[0], order=a, epsilon=0.5, noise="laplace") for a in ORDERS]
    assert found == pytest.approx(case[-1], abs=5.1e-5)


VARIANCES = [
    # laws, Theorem 1 Laplace, Gaussian, joint-convex Laplace, at epsilon 0.1 and order 1.5
    (ADULT, (64.5, 1.57, 2.02)),
    (HEART, (27.9, 0.829, 0.632)),
    (STUDENT, (192.9, 4.18, 4.34)),
]


@pytest.mark.parametrize(("laws", "expected"), VARIANCES, ids=NAMES)
def test_gaussian_noise_saves_power_only_against_the_slack_of_theorem_1(laws, expected):
    plan, budget = comonotone(*laws), {"order": 1.5, "epsilon": 0.1}
    found = (
        2 * wasserstein_laplace_scale(plan, **budget) ** 2,
        wasserstein_gaussian_scale(plan, **budget) ** 2,
        2 * joint_convex_laplace_scale(plan, **budget) ** 2,
    )
    assert found == pytest.approx(expected, rel=6e-3)


@pytest.mark.parametrize("laws", [ADULT, HEART, STUDENT], ids=NAMES)
def test_joint_convex_laplace_beats_theorem_2_at_half(laws):
    plan, budget = comonotone(*laws), {"order": 1.5, "epsilon": 0.5}
    laplace = 2 * joint_convex_laplace_scale(plan, **budget) ** 2
    assert laplace < wasserstein_gaussian_scale(plan, **budget) ** 2


def test_theorem_1_loses_to_corollary_3_1_near_order_1_and_wins_at_order_2():
    for laws in (ADULT, HEART, STUDENT):
        plan = comonotone(*laws)
        largest = plan.distances().max()
        for order, wins in ((1.1, False), (2, True)):
            budget = {"order": order, "epsilon": 0.5}
            theorem, corollary = (
                wasserstein_laplace_scale(plan, **budget),
                shift_laplace_scale(largest, **budget),
            )
            assert (theorem < corollary) == wins


def test_w_infinity_hangs_on_single_records():
    # The training file, all 32,561 rows, then its 30,162 complete ones: W_inf 1, then 2.
    # fmt: off
    every = (
        [14, 70, 149, 333, 202, 313, 311, 103, 4279, 2474, 596, 380, 2433, 886, 385, 265],
        [21, 50, 70, 138, 111, 210, 211, 97, 2517, 1797, 351, 331, 1665, 517, 123, 96],
    )
    complete = (
        [11, 62, 124, 296, 187, 296, 291, 92, 4058, 2368, 580, 368, 2300, 831, 360, 239],
        [20, 44, 62, 106, 93, 185, 186, 82, 2351, 1690, 328, 310, 1573, 492, 117, 87],
    )
    # fmt: on
    for counts, expected in ((every, 1), (complete, 2)):
        laws = [FiniteLaw.of_counts(atoms=range(1, 17), counts=c) for c in counts]
        assert wasserstein(*laws, order=math.inf) == expected
