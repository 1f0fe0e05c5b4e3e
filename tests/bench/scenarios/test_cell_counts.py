"""Tables of counts as scenarios: the recorded one, one of the user, and those of subsets."""

import numpy as np
import pytest

from attacks.interval.attack import split_margins
from bench.datasets.checkins.synthetic_checkins import SyntheticCheckIns
from bench.datasets.table.adult import Adult
from bench.datasets.table.contingency import PopulationCounts, RecordCounts
from bench.scenarios.cell_counts import CellCounts, cell_counts_file
from bench.scenarios.cell_property import CellProperty
from bench.scenarios.statistics import Count
from mechanisms.base import NotOfferedError
from mechanisms.deterministic.cell_receivers import CellReceivers
from mechanisms.deterministic.knowledge import CountTable
from mechanisms.knowledge import GaussianAnswers, Sensitivity
from mechanisms.privacy.persuasive.notion import Receivers

RNG = np.random.default_rng(0)
ADULT = Adult()


@pytest.fixture(scope="module")
def recorded():
    return RecordCounts(data=ADULT, columns=["occupation", "education"])


def property_of(**options):
    given = {
        "source": RecordCounts(data=ADULT, columns=["marital-status", "sex"]),
        "having": Count(column="income", value=">50K"), "gap": 0.1,
    }  # fmt: skip
    return CellProperty(**(given | options))


def test_every_world_is_the_table_with_its_totals(recorded):
    scenario = CellCounts(source=recorded, margins=[["education"], ["occupation"], []])
    scenario.check()
    drawn = scenario.draw(np.zeros(3, dtype=int), "test", RNG)
    table = recorded.table.counts
    assert (drawn.answers == table).all()
    education, occupation, grand = split_margins(
        drawn.public["margins"][1], table.shape, scenario.margin_axes
    )
    assert (education.lower == table.sum(axis=0)).all()
    assert (occupation.upper == table.sum(axis=1)).all()
    assert grand.lower == 45_222
    assert scenario.notes[-1] == "public totals: education, occupation, the grand total"
    assert len(scenario.statistics) == table.size
    assert scenario.knowledge(CountTable).margins == ((1,), (0,), ())
    assert isinstance(scenario.knowledge(Receivers), CellReceivers)
    assert scenario.knowledge(Sensitivity).l1 == 2
    with pytest.raises(NotOfferedError):
        scenario.knowledge(GaussianAnswers)
    with pytest.raises(NotOfferedError, match="recorded"):
        scenario.law(0)


def test_named_totals(recorded):
    assert CellCounts(source=recorded).margin_axes == ()
    assert CellCounts(source=recorded, margins="each").margin_axes == ((0,), (1,))
    assert CellCounts(source=recorded, margins="given").margin_axes == ()
    drawn = CellCounts(source=recorded).draw(np.zeros(2, dtype=int), "test", RNG)
    assert drawn.public["margins"].shape == (2, 0)


def test_check_ins_are_synthetic_and_say_so():
    population = PopulationCounts(population=SyntheticCheckIns())
    scenario = CellCounts(source=population, margins="each")
    assert scenario.synthetic
    assert "SYNTHETIC" in " ".join(scenario.notes)


def test_a_table_of_the_user(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("job,A,B,all\nx,1,7,8\ny,9,1,10\n")
    scenario = cell_counts_file(path=str(path), total="all", margins="given")
    assert scenario.margin_axes == ((0,),)
    assert scenario.table.counts.tolist() == [[1, 7], [9, 1]]
    with pytest.raises(ValueError, match=r"needs scenario\.path="):
        cell_counts_file(path=None)


def test_tables_of_subsets_hold_as_many_records_with_the_property():
    columns = ["income", "sex"]
    scenario = property_of(source=RecordCounts(data=ADULT, columns=columns), margins="each")
    scenario.check()
    secret = np.array([0, 1, 1, 0])
    drawn = scenario.draw(secret, "test", RNG)
    rich = scenario.table.categories[0].index(">50K")
    assert drawn.answers[:, rich].sum(axis=1).tolist() == [45, 55, 55, 45]
    assert drawn.answers.sum(axis=(1, 2)).tolist() == [100] * 4
    rows, columns = split_margins(drawn.public["margins"][0], (2, 2), ((0,), (1,)))
    assert (rows.lower == drawn.answers[0].sum(axis=1)).all()
    assert (columns.lower == drawn.answers[0].sum(axis=0)).all()
    assert scenario.secrets == ("income=0.45", "income=0.55")
    # Test and shadow records are different people.
    parts = scenario._members
    assert not set(np.concatenate(parts["test"])) & set(np.concatenate(parts["shadow"]))


def test_subset_tables_have_the_shares_of_the_records():
    scenario = property_of()
    drawn = scenario.draw(np.repeat([0, 1], 400), "test", RNG)
    members = scenario._members["test"]
    cells = scenario._cell_of
    for value, share in enumerate(scenario.shares):
        expected = sum(
            part * np.bincount(cells[rows], minlength=14) / len(rows)
            for part, rows in zip((100 * (1 - share), 100 * share), members, strict=True)
        )
        found = drawn.answers[drawn.secret == value].reshape(400, -1)
        error = found.std(axis=0) / 20
        assert (np.abs(found.mean(axis=0) - expected) <= 5 * error + 1e-9).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda r: CellCounts(source=r, margins="some"), "margins must be none, each, given"),
        (lambda r: CellCounts(source=r, margins=["job"]), "margins must be none, each, given"),
        (lambda r: CellCounts(source=r, margins=[["jbo"]]).check(), "unknown column 'jbo'"),
        (lambda r: CellCounts(source=r, typical=[0]), "mean of a geometric prior must be in"),
        (lambda r: CellCounts(source=r, known_within=[0]), "width of a window prior"),
        (lambda _: property_of(gap=0), "gap must be in"),
        (lambda _: property_of(size=7), "gap must give whole numbers"),
        (lambda _: property_of(split=(45_000, 10)).check(), "split|size"),
        (lambda _: property_of(margins=[["x"]]).check(), "unknown column 'x'"),
    ],
)
def test_bad_options_are_one_clear_line(recorded, make, message):
    with pytest.raises(ValueError, match=message) as found:
        make(recorded)
    assert "\n" not in str(found.value)
