"""Tables that are written clean, and ways to damage them."""

from __future__ import annotations

import csv
import io

from hypothesis import strategies as st

from bench.datasets.source import DataError
from bench.datasets.table.table_file import TableFile

HEADER = ("id", "age", "label", "time")
LABELS = ("yes", "no", "01", "1", "NA", "a,b", 'say "no"', "Größe", "None", "x y")

ROW = st.tuples(
    st.integers(0, 999),
    st.one_of(st.integers(-99, 999), st.decimals(-99, 999, places=2)),
    st.sampled_from(LABELS),
    st.integers(10**18, 2 * 10**18),
)
ROWS = st.lists(ROW, min_size=1, max_size=8).map(
    lambda rows: [[str(value) for value in row] for row in rows]
)


def csv_of(rows, *, header=HEADER, end="\n", separator=","):
    """Return rows as a spreadsheet would write them."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=end, delimiter=separator)
    if header is not None:
        writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def values(path, **options):
    """Return what a file is read as: numbers, labels, the order of times; or the one line."""
    try:
        table = TableFile(path=str(path), **options).read("age", "label", "time")
        labels = table.labels("label")
        return (
            table.numbers("age").tolist(),
            [labels.names[code] for code in labels.codes],
            table.order("time").argsort(kind="stable").tolist(),
        )
    except (DataError, ValueError) as error:
        return str(error)


def refused(found):
    """Whether a reading was refused, which it is in one line."""
    if not isinstance(found, str):
        return False
    assert "\n" not in found
    assert found.endswith(".")
    return True


def expected(rows):
    """Return what rows are read as, computed without the reader."""
    times = [int(row[3]) for row in rows]
    return (
        [float(row[1]) for row in rows],
        [row[2] for row in rows],
        sorted(range(len(rows)), key=times.__getitem__),
    )
