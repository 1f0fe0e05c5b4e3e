import numpy as np
import pytest

from mechanisms.noise.identity import ExactRelease
from mechanisms.noise.laplace import DirectionalLaplaceNoise, LaplaceNoise
from mechanisms.noise.rank import noised_directions


@pytest.mark.parametrize("rank", [0, 1, 2, 5])
@pytest.mark.parametrize("deviation", [1e-3, 1e4])
def test_the_rank_is_the_number_of_directions_that_samples_vary_in(rank, deviation):
    rng = np.random.default_rng(rank)
    basis = np.linalg.qr(rng.normal(size=(5, 5)))[0][:, :rank]
    covariance = deviation**2 * basis @ basis.T
    values, vectors, found = noised_directions(covariance)
    assert found == rank
    loud = vectors[:, 5 - rank :]
    assert loud @ loud.T == pytest.approx(basis @ basis.T, abs=1e-9)
    assert values[5 - rank :] == pytest.approx(np.full(rank, deviation**2))


def test_laws_tell_their_rank_by_their_covariance():
    along = DirectionalLaplaceNoise(scale=3.0, direction=np.array([0.6, 0.8]))
    assert noised_directions(along.covariance)[2] == 1
    assert noised_directions(LaplaceNoise(scales=np.array([1.0, 200.0])).covariance)[2] == 2
    assert noised_directions(ExactRelease().noise_covariance)[2] == 0
