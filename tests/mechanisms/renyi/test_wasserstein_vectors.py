import math

import numpy as np
import pytest
from scipy.optimize import brentq, linprog

from mechanisms.knowledge import FiniteAnswers, ScalarAnswers
from mechanisms.laws.finite import FiniteLaw
from mechanisms.privacy.budget import Epsilon, RenyiEpsilon
from mechanisms.renyi.alpha_wasserstein import AlphaWassersteinGaussian, AlphaWassersteinLaplace
from mechanisms.renyi.wasserstein_vectors import WassersteinVectors, WInfinityVectors

pytest.importorskip("ot")

BUDGET = RenyiEpsilon(order=2.0, epsilon=0.5)
SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [3.0, 2.0]])


def plane(seed):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(4), size=2)
    laws = tuple(FiniteLaw(atoms=SQUARE, weights=w) for w in weights)
    return FiniteAnswers(laws=laws, pairs=((0, 1),))


def least_mean(costs, answers):
    """The optimal transport value, by a linear program."""
    p, q = (law.weights for law in answers.laws)
    rows = np.kron(np.eye(4), np.ones(4)), np.kron(np.ones(4), np.eye(4))
    return linprog(costs.ravel(), A_eq=np.vstack(rows), b_eq=np.concatenate([p, q])).fun


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_the_scale_is_the_root_of_the_optimal_transport_value(seed, noise):
    answers = plane(seed)
    corners = answers.laws[0].atoms
    moved = np.abs(corners[:, None] - corners[None])
    lengths = moved.sum(axis=2) if noise == "laplace" else np.linalg.norm(moved, axis=2)

    def excess(scale):
        exponent = 2 * lengths / scale if noise == "laplace" else (lengths / scale) ** 2
        return math.log(least_mean(np.exp(exponent), answers)) - 0.5

    expected = brentq(excess, 1.2, 60, rtol=1e-12)
    mechanism = WassersteinVectors(noise=noise).calibrate(answers, budget=BUDGET)
    variance = 2 * expected**2 if noise == "laplace" else expected**2
    assert mechanism.variances() == pytest.approx([variance, variance], rel=1e-6)
    assert mechanism.guarantee.bound == pytest.approx(0.5, rel=1e-9)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_the_true_divergence_in_the_plane_meets_the_claim(noise):
    answers = plane(1)
    mechanism = WassersteinVectors(noise=noise).calibrate(answers, budget=BUDGET)
    spread = math.sqrt(mechanism.variances()[0])
    axes = [np.linspace(low - 14 * spread, 3 + 14 * spread, 900) for low in (0, 0)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    densities = []
    for law in answers.laws:
        logs = [mechanism.log_density(points, atom[None]) for atom in law.atoms]
        densities.append(np.exp(logs).T @ law.weights)
    area = (axes[0][1] - axes[0][0]) * (axes[1][1] - axes[1][0])
    for f, g in (densities, densities[::-1]):
        assert f.sum() * area == pytest.approx(1.0, abs=2e-3)
        assert math.log((f * f / g).sum() * area) <= mechanism.guarantee.bound


@pytest.mark.parametrize(
    ("noise", "scalar"),
    [("laplace", AlphaWassersteinLaplace()), ("gaussian", AlphaWassersteinGaussian())],
)
def test_vectors_of_one_coordinate_are_scalars(noise, scalar):
    atoms, weights = np.array([0.0, 1.0, 4.0]), ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])
    vectors = FiniteAnswers(
        laws=tuple(FiniteLaw(atoms=atoms[:, None], weights=np.array(w)) for w in weights),
        pairs=((0, 1),),
    )
    plain = ScalarAnswers(
        laws=tuple(FiniteLaw(atoms=atoms, weights=w) for w in weights), pairs=((0, 1),)
    )
    found = WassersteinVectors(noise=noise).calibrate(vectors, budget=BUDGET)
    expected = scalar.calibrate(plain, budget=BUDGET)
    assert found.variances() == pytest.approx(expected.variances(), rel=1e-9)


def test_w_infinity_counts_l1_moves_whatever_the_ground_distance():
    corners = np.array([[0.0, 0.0], [0.6, 1.3]]), np.array([[1.9, 0.0], [1.3, 1.3]])
    answers = FiniteAnswers(
        laws=tuple(FiniteLaw(atoms=c, weights=np.array([0.5, 0.5])) for c in corners),
        pairs=((0, 1),),
    )
    by = {
        ground: WInfinityVectors(ground=ground).calibrate(answers, budget=Epsilon(epsilon=0.5))
        for ground in ("l1", "l2")
    }
    # Straight moves are (1.9, 0) and (.7, 0), crossed ones (1.3, 1.3) and (1.3, -1.3).
    assert by["l1"].variances() == pytest.approx(2 * (1.9 / 0.5) ** 2)
    assert by["l2"].variances() == pytest.approx(2 * (2.6 / 0.5) ** 2)
    assert by["l1"].guarantee.bound == pytest.approx(0.5)
    with pytest.raises(ValueError, match="ground must be 'l1' or 'l2'"):
        WInfinityVectors(ground="l3")


def test_order_infinity_in_the_plane_is_w_infinity():
    answers = plane(2)
    found = WassersteinVectors(noise="laplace").calibrate(
        answers, budget=RenyiEpsilon(order=math.inf, epsilon=0.5)
    )
    expected = WInfinityVectors().calibrate(answers, budget=Epsilon(epsilon=0.5))
    assert found.variances() == pytest.approx(expected.variances())
