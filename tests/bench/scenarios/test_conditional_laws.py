"""Laws of a number given a secret that do not take the table itself for the model."""

import numpy as np
import pytest
from scipy.stats import gaussian_kde

from bench.datasets.source import DataError
from bench.scenarios.conditional_laws import count_unique, halves, smoothed_law, table_law
from bench.scenarios.numeric_column import NumericColumn
from bench.study.cross import Cross


def test_a_smoothed_law_is_the_kernel_estimate_of_its_bandwidth():
    rng = np.random.default_rng(0)
    values = rng.normal(50, 10, 400)
    law = smoothed_law(values, np.ones(400, dtype=int), -20, 120)
    spread = np.subtract(*np.quantile(values, [0.75, 0.25])) / 1.34
    bandwidth = 0.9 * min(values.std(), spread) * 400**-0.2
    estimate = gaussian_kde(values, bw_method=bandwidth / values.std(ddof=1))(law.atoms)
    assert law.weights == pytest.approx(estimate / estimate.sum(), abs=2e-4)
    assert law.weights @ law.atoms == pytest.approx(values.mean(), abs=0.2)


@pytest.mark.parametrize("counted", [False, True])
def test_no_single_record_moves_a_smoothed_law_much(counted):
    """One record moves the table's law by 1/n at one point, the smoothed one by far less."""
    values = np.linspace(0, 1, 50)
    counts = np.full(50, 2 if counted else 1)
    one, other = (
        smoothed_law(np.append(values, x), np.append(counts, 1), 0, 1) for x in (0.2, 0.8)
    )
    moved = np.abs(one.weights - other.weights).max()
    assert 0 < moved < 0.2 / counts.sum()


def test_a_smoothed_law_needs_two_values():
    with pytest.raises(DataError, match="needs two different values, got 3 alone"):
        smoothed_law(np.array([3.0]), np.array([4]), 3, 3)


def test_halves_hold_every_record_once():
    counts = np.array([0, 1, 2, 1000])
    first, second = halves(counts, np.random.default_rng(0))
    assert (first + second == counts).all()
    assert 420 < first[3] < 580


@pytest.mark.parametrize(
    ("values", "counts", "told"),
    [([1, 2, 3], [1, 1, 1], (3, 3)), ([1, 1, 2, 3], [1, 1, 1, 1], None),
     ([1, 2], [5, 1], None), ([1, 2, 3], [2, 1, 1], None), ([1, 2, 3, 4], [2, 1, 1, 1], (3, 5))],
)  # fmt: skip
def test_mostly_unique_counts_records(values, counts, told):
    assert count_unique(np.array(values, dtype=float), np.array(counts)) == told


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(1)
    rows = [f"{x:.6f},{s}" for s, m in (("a", 0), ("b", 1)) for x in rng.normal(m, 1, 300)]
    file = tmp_path / "t.csv"
    file.write_text("x,s\n" + "\n".join(rows) + "\n")
    return str(file)


def column(path, **changes):
    made = NumericColumn(path=path, value="x", secret="s", pairs=[["a", "b"]], **changes)
    made.check()
    return made


def test_a_column_of_unique_values_is_told_and_other_models_are_offered(path):
    told = "; ".join(column(path).notes)
    assert "600 of 600 records have a x of their own: the model is the table itself" in told
    assert "scenario.model=smoothed or held_out assumes less" in told
    for model in ("smoothed", "held_out"):
        assert "the model is the table itself" not in "; ".join(column(path, model=model).notes)
    with pytest.raises(ValueError, match="model must be 'table', 'smoothed' or 'held_out'"):
        column(path, model="guessed")


def test_worlds_are_drawn_from_the_smoothed_law(path):
    made = column(path, model="smoothed")
    assert made.worlds_from_model
    assert len(made.laws[0].atoms) == 256
    drawn = made.draw(np.repeat([0, 1], 4000), "test", np.random.default_rng(0)).answers
    assert np.isin(drawn, made.laws[0].atoms).all()
    assert drawn[4000:].mean() - drawn[:4000].mean() == pytest.approx(1, abs=0.15)


def test_worlds_are_drawn_from_records_that_the_model_does_not_hold(path):
    made = column(path, model="held_out")
    assert not made.worlds_from_model
    drawn = made.draw(np.zeros(5000, dtype=int), "test", np.random.default_rng(0)).answers
    assert not np.isin(drawn, made.laws[0].atoms).any()
    table = column(path).laws[0]
    both = len(made.laws[0].atoms) + len(np.unique(drawn))
    assert both <= len(table.atoms) == 300
    assert column(path, model="held_out", seed=1).laws[0].atoms.tolist() != (
        made.laws[0].atoms.tolist()
    )


def test_a_claim_on_the_smoothed_law_holds_and_notes_stand_with_the_results(path, run):
    scenario = {
        "_target_": "bench.scenarios.numeric_column.NumericColumn", "path": path, "value": "x",
        "secret": "s", "pairs": [["a", "b"]], "model": "smoothed",
    }  # fmt: skip
    study = Cross(
        scenarios={"mine": scenario},
        mechanisms={"m": {
            "_target_": "mechanisms.distribution.wasserstein.WassersteinLaplace",
        }},
        grid={"epsilon": [1.0]}, n_shadow=20, n_holdout=20, n_test=20,
    )  # fmt: skip
    outcome, store = run(study)
    told = "t.csv: 600 rows; the laws of x are smoothed by a Gaussian kernel"
    assert outcome.table["ingestion_notes"].unique().tolist() == [told]
    assert outcome.results[0][1].facts["ingestion_notes"] == told
    summary = store._client.get_run(outcome.run_id)
    assert summary.data.tags["ingestion_notes"] == f"mine: {told}"


def test_the_table_law_counts_records():
    law = table_law(np.array([2.0, 1.0, 2.0]), np.array([3, 1, 2]))
    assert law.atoms.tolist() == [1.0, 2.0]
    assert law.counts.tolist() == [1, 5]
