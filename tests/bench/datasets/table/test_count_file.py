"""Tables of counts in three forms, and what is refused in each."""

import numpy as np
import pytest

from bench.datasets.checkins.synthetic_checkins import SyntheticCheckIns
from bench.datasets.source import DataError
from bench.datasets.table.adult import Adult
from bench.datasets.table.contingency import PopulationCounts, RecordCounts
from bench.datasets.table.count_file import CountFile
from bench.datasets.table.table_file import TableFile

COUNTS = np.array([[1, 1, 7], [9, 1, 6]])
PRINTED = "job,A,B,C\nx,1,1,7\ny,9,1,6\n"
WITH_TOTALS = "job,A,B,C,Total\nx,1,1,7,9\ny,9,1,6,16\nTotal,10,2,13,25\n"
LISTED = "job,town,n\nx,A,1\nx,B,1\nx,C,7\ny,A,9\ny,B,1\ny,C,6\n"


def source(tmp_path, text, **options):
    path = tmp_path / "t.csv"
    path.write_text(text)
    return CountFile(file=TableFile(path=str(path)), **options)


def test_three_forms_of_one_table(tmp_path):
    rows = "".join(
        f"{job},{town}\n" * int(COUNTS[i, j])
        for i, job in enumerate("xy")
        for j, town in enumerate("ABC")
    )
    printed = source(tmp_path, PRINTED).table
    listed = source(tmp_path, LISTED, columns=["job", "town"], count="n").table
    records = source(tmp_path, "job,town\n" + rows, columns=["job", "town"]).table
    for table in (printed, listed, records):
        assert table.counts.tolist() == COUNTS.tolist()
        assert table.categories == (("x", "y"), ("A", "B", "C"))
    assert printed.columns == ("job", "column")
    assert listed.columns == records.columns == ("job", "town")
    assert listed.name((1, 2)) == "y, C"


def test_totals_of_the_file_are_its_public_totals(tmp_path):
    table = source(tmp_path, WITH_TOTALS, total="Total").table
    assert table.counts.tolist() == COUNTS.tolist()
    assert set(table.totals) == {(), (0,), (1,)}
    listed = LISTED + "all,A,10\nall,B,2\nall,C,13\n"
    found = source(tmp_path, listed, columns=["job", "town"], count="n", total="all").table
    assert found.totals == ((1,),)
    one = "town,n\nA,3\nB,4\nall,7\n"
    found = source(tmp_path, one, columns=["town"], count="n", total="all").table
    assert (found.counts.tolist(), found.totals) == ([3, 4], ((),))


def test_absent_cells_are_zero_only_where_that_is_said(tmp_path):
    text = LISTED.replace("y,B,1\n", "")
    with pytest.raises(DataError, match="every cell must have one row, got no row for job=y, town"):
        source(tmp_path, text, columns=["job", "town"], count="n").table  # noqa: B018
    table = source(tmp_path, text, columns=["job", "town"], count="n", absent="zero").table
    assert table.counts.tolist() == [[1, 1, 7], [9, 0, 6]]
    assert "1 cells without a row are 0" in table.notes


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (PRINTED.replace("7", "-7"), {}, "got the negative -7 in data row 1"),
        (PRINTED.replace("7", "7.5"), {}, "got the fractional 7.5 in data row 1"),
        (PRINTED.replace("9,", ","), {}, "column 'A' has 1 missing values, the first in data row"),
        (PRINTED.replace("7", "seven"), {}, "seven"),
        (WITH_TOTALS.replace("25", "26"), {"total": "Total"}, "the cells of the grand total sum"),
        (WITH_TOTALS.replace(",16", ",17"), {"total": "Total"}, "of job=y sum to 16, the file"),
        (WITH_TOTALS.replace("y,9,1,6,16\n", "x,9,1,6,16\n"), {"total": "Total"}, "several rows"),
        (LISTED + "all,A,10\n", {"columns": ["job", "town"], "count": "n", "total": "all"},
         "every total must have one row, got no row for town=B"),
        (PRINTED, {"total": "Total"}, "no row or column named total='Total'"),
        (LISTED, {"columns": ["job", "job"], "count": "n"}, "columns must be different"),
        (LISTED, {"columns": "job", "count": "n"}, "columns must be a list of columns"),
        (LISTED, {"columns": ["job"]} | {"total": "all"}, "it needs count="),
        (LISTED, {"count": "n"}, "needs columns="),
        (LISTED, {"columns": ["jbo", "town"], "count": "n"}, "did you mean job"),
        (LISTED, {"columns": ["job", "town"], "count": "n", "absent": "none"}, "absent must be"),
        ("job\nx\n", {}, "has one column"),
        ("job,n\nall,3\n", {"columns": ["job"], "count": "n", "total": "all"}, "only totals"),
    ],
)  # fmt: skip
def test_what_is_no_table_of_counts_is_one_clear_line(tmp_path, text, options, message):
    with pytest.raises(ValueError, match=message) as found:
        source(tmp_path, text, **options).table  # noqa: B018
    assert "\n" not in str(found.value)


def test_adult_and_checkins_are_tables_too():
    table = RecordCounts(data=Adult(), columns=["sex", "income"]).table
    assert table.counts.sum() == 45_222
    assert table.counts.shape == (2, 2)
    checkins = PopulationCounts(population=SyntheticCheckIns())
    assert checkins.synthetic
    assert checkins.table.counts.shape == (77, 78)
    assert checkins.table.columns == ("group", "category")
