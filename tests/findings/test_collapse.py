"""Days until an entry is known, and bits of Adult: docs/findings/collapse.md, 6, 9 and 10."""

import numpy as np
import pytest
from hydra import compose, initialize_config_module

from attacks.reconstruction.daily_count import earliest_day, knows_all_others
from bench.config.build import build
from bench.config.compose import plain
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


def found(experiment, name, at):
    """The estimates of a quantity of an experiment, at these values of its parameter."""
    with initialize_config_module("conf", version_base="1.3"):
        config = plain(compose("config", [f"+experiment={experiment}"]))
    return build(config["quantities"][name], name).curve(np.array(at))


def test_days_until_a_row_of_adults_incomes_is_known():
    days = found("daily_count", "days_knows_all_others", [0.1, 0.5, 1.0])
    assert [e.value for e in days] == [367, 17, 6]
    assert [(e.lower, e.upper) for e in days] == [(341, 403), (15, 18), (5, 6)]
    assert {e.n for e in days} == {1000}


def test_who_knows_the_share_alone_stays_at_the_share():
    true = found("daily_count", "true_share", [1.0])[0].value
    for estimate in found("daily_count", "knows_the_share", [1.0, 10.0, 100.0]):
        assert estimate.value == pytest.approx(true, abs=2e-5)
        assert estimate.value == pytest.approx(0.248, abs=5e-4)


def test_48_incomes_from_192_counts_are_found_in_little_noise_and_not_in_much():
    noise = [e.value for e in found("reconstruction", "noise_counts", [0.1, 0.25, 1.0, 2.0])]
    assert noise[0] == 1
    assert noise[1] == pytest.approx(0.952, abs=5e-4)
    alone = found("reconstruction", "noise_prior", [1.0, 2.0])
    for value, prior in zip(noise[2:], alone, strict=True):
        assert prior.lower <= value <= prior.upper
    total = [e.value for e in found("reconstruction", "epsilon_counts", [300.0, 100.0, 10.0])]
    assert total[0] == 1
    assert total[1] == pytest.approx(0.946, abs=5e-4)
    assert total[2] == found("reconstruction", "epsilon_prior", [10.0])[0].value
