"""Reduced bases and near points against enumeration."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attacks.outside.lattice import Lattice
from attacks.outside.list_decoder import LISTED, ListDecoder, likely_points
from attacks.outside.reduction import LOVASZ, near_points, reduced


@given(seed=st.integers(0, 10**6), size=st.integers(1, 6), digits=st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_a_reduced_basis_spans_the_same_lattice_and_is_reduced(seed, size, digits):
    rng = np.random.default_rng(seed)
    basis = np.concatenate([np.eye(size), 10.0**digits * rng.normal(size=(1, size))])
    change = reduced(basis)
    assert round(abs(np.linalg.det(change.astype(float)))) == 1
    _, r = np.linalg.qr(basis @ change)
    ratios = np.abs(np.triu(r, 1)) / np.abs(np.diag(r))[:, None]
    assert ratios.max(initial=0.0) <= 0.5 + 1e-6
    lengths = np.diag(r) ** 2
    for k in range(1, size):
        assert lengths[k] + r[k - 1, k] ** 2 >= LOVASZ * lengths[k - 1] * (1 - 1e-9)


@given(seed=st.integers(0, 10**6), size=st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_the_nearest_point_is_among_those_listed(seed, size):
    rng = np.random.default_rng(seed)
    basis = rng.normal(size=(size, size))
    change = reduced(basis)
    q, upper = np.linalg.qr(basis @ change)
    targets = rng.normal(scale=2.0, size=(20, size))
    points, distances = near_points(upper, targets @ q, 64)
    away = points @ (basis @ change).T - targets[:, None]
    assert distances == pytest.approx((away**2).sum(axis=-1), abs=1e-9)
    reach = range(-12, 13)
    grid = np.array(list(itertools.product(reach, repeat=size))) @ (basis @ change).T
    nearest = ((grid[None] - targets[:, None]) ** 2).sum(axis=-1).min(axis=1)
    assert (distances.min(axis=1) <= nearest + 1e-9).all()


def whole_lattice(size, step=1.0):
    return Lattice(
        offset=np.zeros(size), step=np.full(size, step), low=np.full(size, -50),
        high=np.full(size, 50),
    )  # fmt: skip


@pytest.mark.parametrize("free", [0, 1])
def test_the_estimate_is_the_posterior_mean_over_all_lattice_points(free):
    """Two whole coordinates and, perhaps, one without a lattice; noise of every direction."""
    rng = np.random.default_rng(free)
    size = 2 + free
    a = rng.normal(size=(size, size))
    noise = 0.3 * a @ a.T + 0.05 * np.eye(size)
    spread = 4 * np.eye(size) + 1.0
    lattice = whole_lattice(size)
    step = np.where(np.arange(size) < 2, 1.0, 0.0)
    lattice = Lattice(offset=lattice.offset, step=step, low=lattice.low, high=lattice.high)
    values, vectors = np.linalg.eigh(noise)
    decoder = ListDecoder(
        lattice=lattice, mean=np.full(size, 0.5), spread=spread, variances=values, vectors=vectors
    )
    y = rng.normal(scale=2.0, size=(15, size))
    found = decoder.estimate(y)
    grid = np.array(list(itertools.product(range(-20, 21), repeat=2)), dtype=float)
    prior, pull = np.linalg.inv(spread), np.linalg.inv(noise)
    for i, release in enumerate(y):
        points = np.concatenate([grid, np.zeros((len(grid), free))], axis=1)
        if free:  # the best value of the last coordinate given the others; its spread is common
            h = prior + pull
            b = pull @ release + prior @ np.full(size, 0.5)
            points[:, 2] = (b[2] - grid @ h[:2, 2]) / h[2, 2]
        away, off = release - points, points - 0.5
        costs = np.einsum("ci,ij,cj->c", away, pull, away)
        costs += np.einsum("ci,ij,cj->c", off, prior, off)
        weights = np.exp(-(costs - costs.min()) / 2)
        assert found[i] == pytest.approx(weights @ points / weights.sum(), abs=0.02)


def test_where_too_many_points_are_likely_there_is_no_list():
    decoder = ListDecoder(
        lattice=whole_lattice(3), mean=np.zeros(3), spread=25 * np.eye(3),
        variances=np.full(3, 9.0), vectors=np.eye(3),
    )  # fmt: skip
    assert decoder.estimate(np.zeros((2, 3))) is None
    assert likely_points(np.eye(1)) == pytest.approx(4.1327, abs=1e-4)
    assert likely_points(1e-3 * np.eye(3)) > LISTED
