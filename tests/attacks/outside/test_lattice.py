import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attacks.base import UnsupportedMechanismError
from attacks.outside.lattice import common_step, lattice_of


@settings(max_examples=60, deadline=None)
@given(
    step=st.sampled_from([1.0, 0.01, 0.25, 1 / 7, 3.0, 1e-4]),
    offset=st.floats(-100, 100),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_step_of_generated_multiples_is_found_with_its_offset(step, offset, seed):
    rng = np.random.default_rng(seed)
    multiples = rng.integers(-300, 300, size=60)
    values = offset + step * multiples
    # By chance all differences may have a common factor: 60 draws do so once in 2^59.
    assert common_step(values) == pytest.approx(step, rel=1e-9)
    lattice = lattice_of(values[:, None])
    assert np.abs(lattice.nearest(values[None], np.array([0])) - values).max() < 1e-9


def test_sums_of_whole_numbers_over_100_lie_on_hundredths_in_spite_of_rounding():
    rng = np.random.default_rng(0)
    ages = rng.integers(17, 91, size=(200, 100))
    means = np.array([float(np.sum(row * 0.01)) for row in ages])
    assert common_step(means) == pytest.approx(0.01, rel=1e-9)
    assert common_step(ages.mean(axis=1)) == pytest.approx(0.01, rel=1e-9)


def test_continuous_numbers_have_no_step():
    rng = np.random.default_rng(1)
    assert all(common_step(rng.normal(40, 1, size=50)) == 0 for _ in range(100))
    mixed = np.append(rng.integers(0, 9, size=50).astype(float), np.pi)
    assert common_step(mixed) == 0


def test_the_range_is_half_as_wide_again_on_either_side_and_a_constant_has_one_value():
    answers = np.stack([np.arange(20.0), np.full(20, 3.5)], axis=1)
    lattice = lattice_of(answers)
    assert lattice.counts.tolist() == [40, 1]
    assert lattice.values(0).min() == pytest.approx(-10)
    assert lattice.values(0).max() == pytest.approx(29)
    assert lattice.values(1).tolist() == [3.5]


def test_too_few_examples_are_refused():
    with pytest.raises(UnsupportedMechanismError, match="10 shadow worlds or more, got 2"):
        lattice_of(np.array([[1.0], [2.0]]))
