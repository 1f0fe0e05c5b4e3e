"""The whole game of 128 bits and 1,024 noisy counts: minutes on a busy machine, hence opt-in."""

import numpy as np
import pytest

from tests.attacks.reconstruction.noises import gaussian, laplace
from tests.attacks.reconstruction.subset_games import SEEDS, accuracies, upper_end

pytestmark = pytest.mark.performance


def test_all_of_128_bits_are_found_at_noise_one():
    assert (accuracies(128, 1024, gaussian(1.0, 1024), SEEDS) == 1).all()


def test_nearly_all_of_128_bits_are_found_at_noise_two():
    found = accuracies(128, 1024, gaussian(2.0, 1024), SEEDS)
    assert (found >= 0.95).sum() >= SEEDS - 1


def test_a_tenth_of_epsilon_in_total_protects_balanced_bits():
    """Eight databases a seed: with one, the interval alone is wider than the margin."""
    mechanism = laplace(1024 / 0.1, 1024)  # one row moves 1,024 counts by at most 1 each
    found = accuracies(128, 1024, mechanism, SEEDS, databases=8)
    assert upper_end(found) <= np.exp(0.1) / (1 + np.exp(0.1))
