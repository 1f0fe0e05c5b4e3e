"""Days until a person's entry is known: docs/findings/collapse.md, finding 6."""

import numpy as np
import pytest

from attacks.reconstruction.daily_count import earliest_day, knows_all_others
from tests.attacks.reconstruction.noises import laplace


@pytest.mark.parametrize(
    ("epsilon", "earliest", "median", "interval"),
    [(1.0, 3, 7, (7, 7)), (0.5, 6, 22, (22, 23)), (0.1, 30, 453, (439, 473))],
)
def test_days_until_a_balanced_entry_is_known(epsilon, earliest, median, interval):
    rng = np.random.default_rng(0)
    found = knows_all_others(laplace(1 / epsilon), 0.5, days=20_000, n_trials=2000, rng=rng)
    assert found.not_yet_revealed == 0
    assert found.median == median
    assert found.quantile_interval(0.5) == interval
    assert earliest_day(epsilon, 0.5) == earliest <= found.runs.min()
