"""Every calibration of Renyi Pufferfish privacy on scalar answers, against the true divergence."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import laplace

from mechanisms.base import NotApplicableError, guarantee_of
from mechanisms.knowledge import GaussianAnswers, ScalarAnswers
from mechanisms.laws.answer import GaussianLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.noise.gaussian import GaussianNoise
from mechanisms.noise.laplace import LaplaceNoise
from mechanisms.privacy.budget import Epsilon, EpsilonDelta, RenyiEpsilon
from mechanisms.privacy.guarantee import NoClaim
from mechanisms.privacy.indistinguishability import Approximate
from mechanisms.renyi.alpha_wasserstein import AlphaWassersteinGaussian, AlphaWassersteinLaplace
from mechanisms.renyi.best_published import BestPublished
from mechanisms.renyi.gaussian_prior import GaussianPrior
from mechanisms.renyi.joint_convex import JointConvexLaplace
from mechanisms.renyi.kantorovich import KantorovichApproximate, KantorovichGaussianClassical
from mechanisms.renyi.low_order import LowOrderLaplace
from mechanisms.renyi.relaxed_kantorovich import RelaxedKantorovichLaplace
from mechanisms.renyi.scale_claim import ScaleClaim, ZeroNoiseRelease
from mechanisms.renyi.shift_reduction import ShiftReduction
from mechanisms.renyi.tight_noise import TightNoise
from mechanisms.renyi.w_infinity import WInfinityLaplace
from tests.support.laws import COUNTS, answers_of, on_grid

RENYI = {
    "w_alpha_laplace": AlphaWassersteinLaplace(),
    "w_alpha_gaussian": AlphaWassersteinGaussian(),
    "shift_laplace": ShiftReduction(noise="laplace"),
    "shift_gaussian": ShiftReduction(noise="gaussian"),
    "joint_convex": JointConvexLaplace(),
    "best_laplace": BestPublished(noise="laplace"),
    "best_gaussian": BestPublished(noise="gaussian"),
    "tight_laplace": TightNoise(noise="laplace"),
    "tight_gaussian": TightNoise(noise="gaussian"),
}
PURE = {"w_infinity": WInfinityLaplace(), "relaxed": RelaxedKantorovichLaplace()}
APPROXIMATE = {
    "kantorovich_gaussian": KantorovichApproximate(noise="gaussian"),
    "kantorovich_laplace": KantorovichApproximate(noise="laplace"),
    "classical": KantorovichGaussianClassical(),
}
POINTS = FiniteLaw(atoms=[0.0], weights=[1.0]), FiniteLaw(atoms=[1.0], weights=[1.0])
FAR = on_grid([6, 3, 1, 0, 0]), on_grid([0, 1, 2, 3, 4])


def vector(law):
    return FiniteLaw(atoms=law.atoms[:, None], weights=law.weights)


def leaked(mechanism, p, q, k=1):
    claim = guarantee_of(mechanism, k)
    return claim.notion.of_pair(mechanism.leakage(vector(p), vector(q), k))


def scale_of(mechanism):
    if isinstance(mechanism, ZeroNoiseRelease):
        return 0.0
    noise = mechanism.noise
    return (
        float(noise.scales[0]) if isinstance(noise, LaplaceNoise) else noise.covariance[0, 0] ** 0.5
    )


@pytest.mark.parametrize("name", RENYI)
@given(
    first=COUNTS, second=COUNTS, order=st.sampled_from([1.2, 2.0, 6.0]), epsilon=st.floats(0.05, 3)
)
@settings(max_examples=12, deadline=None)
def test_the_true_divergence_meets_a_claim_that_meets_the_budget(
    name, first, second, order, epsilon
):
    p, q = on_grid(first), on_grid(second)
    budget = RenyiEpsilon(order=order, epsilon=epsilon)
    mechanism = RENYI[name].calibrate(answers_of(p, q), budget=budget)
    claim = mechanism.guarantee
    assert claim.bound <= epsilon * (1 + 1e-9) + 1e-9  # the grid's slack
    assert leaked(mechanism, p, q).hi <= claim.bound * (1 + 1e-7) + 1e-12
    # The claim is read from the noise: less noise claims less, and no slack is left unclaimed.
    if scale_of(mechanism) > 0:
        assert claim.bound >= epsilon * (1 - 1e-6)
        less = mechanism.claim.at(0.9 * scale_of(mechanism)).bound
        assert less > epsilon * (1 + 1e-6)


@pytest.mark.parametrize("name", PURE)
@given(first=COUNTS, second=COUNTS, epsilon=st.floats(0.05, 3))
@settings(max_examples=25, deadline=None)
def test_pure_claims_bound_every_order(name, first, second, epsilon):
    p, q = on_grid(first), on_grid(second)
    mechanism = PURE[name].calibrate(answers_of(p, q), budget=Epsilon(epsilon=epsilon))
    claim = mechanism.guarantee
    assert claim.bound == pytest.approx(epsilon if scale_of(mechanism) else 0.0, rel=1e-9)
    pair = mechanism.leakage(vector(p), vector(q), 1)
    assert pair.epsilon(0.0).hi <= claim.bound * (1 + 1e-9) + 1e-12
    assert pair.renyi(3.0).hi <= claim.bound * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("name", APPROXIMATE)
@given(first=COUNTS, second=COUNTS, epsilon=st.floats(0.1, 1), delta=st.floats(0.001, 0.3))
@settings(max_examples=12, deadline=None)
def test_approximate_claims_hold_at_their_delta(name, first, second, epsilon, delta):
    p, q = on_grid(first), on_grid(second)
    budget = EpsilonDelta(epsilon=epsilon, delta=delta)
    mechanism = APPROXIMATE[name].calibrate(answers_of(p, q), budget=budget)
    claim = mechanism.guarantee
    assert claim.notion == Approximate(delta=delta)
    assert claim.bound <= epsilon * (1 + 1e-7)
    pair = mechanism.leakage(vector(p), vector(q), 1)
    assert pair.delta(claim.bound).hi <= delta * (1 + 1e-7)


@given(
    first=COUNTS, second=COUNTS, order=st.sampled_from([1.1, 1.5, 2.0, 5.0, 30.0]),
    epsilon=st.floats(0.02, 4),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_exact_needs_no_more_than_joint_convex_and_that_no_more_than_either_published(
    first, second, order, epsilon
):
    answers = answers_of(on_grid(first), on_grid(second))
    budget = RenyiEpsilon(order=order, epsilon=epsilon)
    names = ("tight_laplace", "joint_convex", "best_laplace")
    scales = [scale_of(RENYI[name].calibrate(answers, budget=budget)) for name in names]
    published = ("w_alpha_laplace", "shift_laplace")
    scales.append(min(scale_of(RENYI[n].calibrate(answers, budget=budget)) for n in published))
    assert all(a <= b * (1 + 1e-9) for a, b in pairwise(scales))


@pytest.mark.parametrize("name", RENYI | PURE | APPROXIMATE)
def test_equal_laws_are_released_as_they_are(name):
    law = on_grid([1, 2, 3, 2, 1])
    calibration = (RENYI | PURE | APPROXIMATE)[name]
    point = {"order": 2.0, "epsilon": 0.5, "delta": 0.01}
    fields = calibration.accepts.__dataclass_fields__
    budget = calibration.accepts(**{k: point[k] for k in fields})
    mechanism = calibration.calibrate(answers_of(law, law), budget=budget)
    assert isinstance(mechanism, ZeroNoiseRelease)
    assert mechanism.guarantee.bound == guarantee_of(mechanism, 7).bound == 0.0
    x = np.ones((3, 1))
    assert (mechanism.release(x, np.random.default_rng(0)) == x).all()


def test_a_column_that_is_private_without_noise_is_released_with_its_true_divergence():
    p, q = on_grid([5, 5, 5, 5, 5]), on_grid([6, 5, 5, 5, 4])
    budget = RenyiEpsilon(order=2.0, epsilon=0.5)
    mechanism = TightNoise(noise="laplace").calibrate(answers_of(p, q), budget=budget)
    assert isinstance(mechanism, ZeroNoiseRelease)
    true = math.log(((np.array([6, 5, 5, 5, 4]) / 25) ** 2 / 0.2).sum())
    assert (
        0
        < mechanism.guarantee.bound
        == pytest.approx(max(true, math.log((0.04 / (np.array([6, 5, 5, 5, 4]) / 25)).sum())))
    )
    assert leaked(mechanism, p, q).hi == pytest.approx(mechanism.guarantee.bound)


@pytest.mark.parametrize("name", RENYI)
def test_the_worst_pair_decides_in_any_order(name):
    near, middle, far = (on_grid(c) for c in ([9, 1, 0, 0, 0], [1, 9, 1, 0, 0], [0, 0, 1, 1, 9]))
    budget = RenyiEpsilon(order=2.0, epsilon=0.5)
    every = RENYI[name].calibrate(answers_of(near, middle, far), budget=budget)
    alone = RENYI[name].calibrate(answers_of(far, near), budget=budget)
    assert scale_of(every) == pytest.approx(scale_of(alone), rel=1e-9)
    assert every.guarantee.bound == pytest.approx(0.5, rel=1e-6)


def test_a_pair_with_an_absent_side_is_skipped_with_a_note():
    p, q = FAR
    answers = ScalarAnswers(laws=(p, q, None), pairs=((0, 1), (0, 2)))
    budget = RenyiEpsilon(order=2.0, epsilon=0.5)
    mechanism = AlphaWassersteinLaplace().calibrate(answers, budget=budget)
    assert (
        mechanism.guarantee.notes[0] == "pair (0, 2) is skipped: one side is absent from the data"
    )
    with pytest.raises(ValueError, match="both sides in the data"):
        ScalarAnswers(laws=(p, None), pairs=((0, 1),))
    with pytest.raises(ValueError, match="pairs must index the 2 laws"):
        ScalarAnswers(laws=(p, q), pairs=((0, 2),))
    plane = FiniteLaw(atoms=[[0.0, 1.0]], weights=[1.0])
    with pytest.raises(ValueError, match="on the line"):
        ScalarAnswers(laws=(plane, plane), pairs=((0, 1),))


def test_the_limits_of_the_order():
    answers = answers_of(*FAR)
    at = lambda name, order: scale_of(  # noqa: E731
        RENYI[name].calibrate(answers, budget=RenyiEpsilon(order=order, epsilon=0.5))
    )
    pure = scale_of(WInfinityLaplace().calibrate(answers, budget=Epsilon(epsilon=0.5)))
    for name in ("w_alpha_laplace", "shift_laplace", "joint_convex", "best_laplace"):
        assert at(name, math.inf) == pytest.approx(pure, rel=1e-9)
        assert at(name, 1e4) == pytest.approx(pure, rel=2e-3)
        if name != "w_alpha_laplace":
            assert at(name, 1.0) == pytest.approx(at(name, 1 + 1e-7), rel=1e-4)
    assert at("w_alpha_gaussian", 1.0) == pytest.approx(at("w_alpha_gaussian", 1 + 1e-7), rel=1e-4)
    assert at("tight_laplace", 1.0) == pytest.approx(at("tight_laplace", 1 + 1e-7), rel=1e-4)
    assert at("tight_laplace", math.inf) <= pure


@pytest.mark.parametrize(
    ("name", "order", "reason"),
    [
        ("w_alpha_laplace", 1.0, "no laplace noise meets epsilon="),
        ("w_alpha_laplace", 0.5, "orders of at least 1, got order=0.5"),
        ("w_alpha_gaussian", math.inf, "no gaussian noise meets epsilon="),
        ("shift_gaussian", math.inf, "no gaussian noise meets epsilon="),
        ("tight_gaussian", math.inf, "no gaussian noise meets epsilon="),
        ("joint_convex", 0.9, "orders of at least 1"),
    ],
)
def test_budgets_that_no_noise_meets_say_so(name, order, reason):
    with pytest.raises(NotApplicableError, match=reason):
        RENYI[name].calibrate(answers_of(*FAR), budget=RenyiEpsilon(order=order, epsilon=0.5))


def test_the_winner_of_the_published_bounds_is_named():
    def winner(laws, order):
        budget = RenyiEpsilon(order=order, epsilon=0.5)
        mechanism = BestPublished(noise="laplace").calibrate(answers_of(*laws), budget=budget)
        return mechanism.guarantee.notes[0]

    assert winner(POINTS, 1.5) == "smallest: shift"
    assert winner(FAR, math.inf) == "smallest: w_infinity"
    rare = on_grid([90, 9, 0, 0, 1]), on_grid([90, 10, 0, 0, 0])
    assert winner(rare, 2.0).startswith("smallest: wasserstein")


@pytest.mark.parametrize("name", [n for n in RENYI if "gaussian" in n])
def test_several_gaussian_releases_leak_what_their_average_does(name):
    budget = RenyiEpsilon(order=2.0, epsilon=0.5)
    mechanism = RENYI[name].calibrate(answers_of(*FAR), budget=budget)
    claims = [guarantee_of(mechanism, k).bound for k in (1, 4)]
    assert claims[1] > claims[0]
    assert leaked(mechanism, *FAR, k=4).hi <= claims[1] * (1 + 1e-7)


@pytest.mark.parametrize("name", ["w_alpha_laplace", "shift_laplace", "joint_convex", "w_infinity"])
def test_two_laplace_releases_stay_within_their_claim(name):
    calibration = (RENYI | PURE)[name]
    budget = Epsilon(epsilon=0.7) if name in PURE else RenyiEpsilon(order=2.0, epsilon=0.7)
    mechanism = calibration.calibrate(answers_of(*FAR), budget=budget)
    scale = scale_of(mechanism)
    grid = np.linspace(-18 * scale, 4 + 18 * scale, 1500)
    step = grid[1] - grid[0]

    def density(law):
        at = laplace.pdf(grid[:, None], law.atoms, scale)
        return np.einsum("ia,ja,a->ij", at, at, law.weights)

    f, g = density(FAR[0]), density(FAR[1])
    found = max(math.log((a * a / b).sum() * step**2) for a, b in ((f, g), (g, f)))
    assert found <= guarantee_of(mechanism, 2).bound
    once = mechanism.leakage(*(vector(law) for law in FAR), 1)
    assert found > 1.3 * once.renyi(2.0).hi


def test_repeated_laplace_noise_at_the_exact_scale_is_unbounded():
    budget = RenyiEpsilon(order=2.0, epsilon=0.5)
    mechanism = TightNoise(noise="laplace").calibrate(answers_of(*FAR), budget=budget)
    assert guarantee_of(mechanism, 2).unbounded


def test_a_claim_is_about_its_own_noise_law():
    claim = ScaleClaim(
        epsilon_at_scale=(lambda s: 1 / s,),
        noise="laplace",
        notion=Approximate(delta=0.0),
        theorem="t",
    )
    noise = GaussianNoise(covariance=np.eye(1), calibration="analytic")
    assert claim.guarantee(noise, 1) == NoClaim(reason="t is about laplace noise")


@given(first=COUNTS, second=COUNTS, order=st.floats(0.1, 0.95), epsilon=st.floats(0.02, 1))
@settings(max_examples=40, deadline=None)
def test_low_orders_hold_and_the_best_coupling_needs_no_more(first, second, order, epsilon):
    pytest.importorskip("ot")
    p, q = on_grid(first), on_grid(second)
    budget = RenyiEpsilon(order=order, epsilon=epsilon)
    plain, best = (
        LowOrderLaplace(optimal=o).calibrate(answers_of(p, q), budget=budget) for o in (False, True)
    )
    assert scale_of(best) <= scale_of(plain) * (1 + 1e-9)
    for mechanism in (plain, best):
        assert mechanism.guarantee.bound <= epsilon * (1 + 1e-7)
        assert leaked(mechanism, p, q).hi <= mechanism.guarantee.bound * (1 + 1e-7) + 1e-10


def test_low_orders_refuse_others():
    with pytest.raises(NotApplicableError, match="orders below 1, got order=2"):
        LowOrderLaplace().calibrate(answers_of(*FAR), budget=RenyiEpsilon(order=2, epsilon=1.0))


@given(first=COUNTS, second=COUNTS, delta=st.sampled_from([0.01, 0.1, 0.3]))
@settings(max_examples=25, deadline=None)
def test_trimming_needs_no_more_noise_and_holds_given_the_events(first, second, delta):
    p, q = on_grid(first), on_grid(second)
    budget = RenyiEpsilon(order=2.0, epsilon=0.5)
    whole = ShiftReduction(noise="laplace").calibrate(answers_of(p, q), budget=budget)
    trimmed = ShiftReduction(noise="laplace", delta=delta).calibrate(
        answers_of(p, q), budget=budget
    )
    assert scale_of(trimmed) <= scale_of(whole) * (1 + 1e-12)
    claim = trimmed.guarantee
    assert claim.bound <= 0.5 * (1 + 1e-9) + 1e-9
    # No test certifies more than is claimed: the optimal ones, at every FPR.
    if scale_of(trimmed) == 0:
        return
    pair = trimmed.leakage(vector(p), vector(q), 1)
    for level in (0.0, 0.2, 0.7, 2.0):
        gap = pair.delta(level).lo
        for fpr in np.linspace(0.01, 0.9, 12):
            tpr = min(1.0, gap + math.exp(level) * fpr)
            if tpr < 1 and attains(trimmed, p, q, fpr, tpr):
                assert claim.notion.of_rates(fpr=fpr, tpr=tpr) <= claim.bound + 1e-9


def attains(mechanism, p, q, fpr, tpr):
    """Whether some threshold test on the release has at most this FPR and at least this TPR."""
    scale = scale_of(mechanism)
    cuts = np.linspace(-8 * scale, 4 + 8 * scale, 400)
    tails = [laplace.sf(cuts[:, None], law.atoms, scale) @ law.weights for law in (p, q)]
    rates = [(tails[0], tails[1]), (1 - tails[0], 1 - tails[1])]
    rates += [(b, a) for a, b in rates]
    return any(((a <= fpr) & (b >= tpr)).any() for a, b in rates)


PRIORS = GaussianAnswers(
    means=np.array([[0.0], [1.0]]), covariances=np.array([[[1.0]], [[2.25]]]), pairs=((0, 1),)
)


@pytest.mark.parametrize(("bound", "variance"), [("wasserstein", 2.9551), ("exact", 2.5542)])
def test_gaussian_priors_have_their_closed_forms(bound, variance):
    budget = RenyiEpsilon(order=2.0, epsilon=0.5)
    mechanism = GaussianPrior(bound=bound).calibrate(PRIORS, budget=budget)
    assert mechanism.variances() == pytest.approx(variance, abs=5.1e-5)
    assert mechanism.guarantee.bound == pytest.approx(0.5, rel=1e-8)
    sides = [
        GaussianLaw(mean=m, covariance=c)
        for m, c in zip([[0.0], [1.0]], [[[1.0]], [[2.25]]], strict=True)
    ]
    for k in (1, 3):
        claim = guarantee_of(mechanism, k).bound
        pair = mechanism.leakage(*sides, k)
        assert pair.renyi(2.0).lo <= claim * (1 + 1e-6)


def test_gaussian_priors_that_are_private_already_need_no_noise_and_bad_ones_say_why():
    same = GaussianAnswers(
        means=np.array([[0.0], [1.0]]), covariances=np.ones((2, 1, 1)), pairs=((0, 1),)
    )
    budget = RenyiEpsilon(order=2.0, epsilon=1.0)
    assert isinstance(GaussianPrior(bound="exact").calibrate(same, budget=budget), ZeroNoiseRelease)
    plane = GaussianAnswers(
        means=np.zeros((2, 2)), covariances=np.stack([np.eye(2)] * 2), pairs=((0, 1),)
    )
    with pytest.raises(NotApplicableError, match="scalar answers, got 2 coordinates"):
        GaussianPrior().calibrate(plane, budget=budget)
    with pytest.raises(NotApplicableError, match=r"order must be in \(1, inf\)"):
        GaussianPrior().calibrate(same, budget=RenyiEpsilon(order=1.0, epsilon=1.0))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ShiftReduction(noise="cauchy"), "noise must be 'laplace' or 'gaussian'"),
        (lambda: ShiftReduction(noise="laplace", delta=1.0), r"delta must be in \[0, 1\)"),
        (lambda: WInfinityLaplace(plan="random"), "plan must be 'comonotone' or 'transport'"),
        (lambda: GaussianPrior(bound="loose"), "bound must be 'wasserstein' or 'exact'"),
    ],
)
def test_bad_parameters_are_one_clear_line(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_the_classical_constant_refuses_large_epsilons():
    with pytest.raises(NotApplicableError, match="epsilon <= 1, got 2"):
        KantorovichGaussianClassical().calibrate(
            answers_of(*FAR), budget=EpsilonDelta(epsilon=2.0, delta=0.01)
        )


def test_a_network_simplex_plan_is_valid_and_may_move_farther_than_w_infinity():
    pytest.importorskip("ot")
    budget = Epsilon(epsilon=0.5)
    plain = WInfinityLaplace().calibrate(answers_of(*FAR), budget=budget)
    for calibration in (
        WInfinityLaplace(plan="transport"),
        RelaxedKantorovichLaplace(plan="transport"),
    ):
        found = calibration.calibrate(answers_of(*FAR), budget=budget)
        assert leaked(found, *FAR).hi <= found.guarantee.bound * (1 + 1e-9)
    strict = WInfinityLaplace(plan="transport").calibrate(answers_of(*FAR), budget=budget)
    assert scale_of(strict) >= scale_of(plain) * (1 - 1e-12)
