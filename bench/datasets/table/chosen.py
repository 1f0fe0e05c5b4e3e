"""Which columns of a file are wanted, and what is checked of them before they are converted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from bench.config.build import unknown
from bench.datasets.source import DataError, unsplit
from bench.datasets.table.label_option import LISTED, label_text, match_label


def places_of(path: str, header: Sequence[str], columns: Sequence[object]) -> list[int]:
    """Return where columns are; refuse one that is not there, and names that repeat."""
    first: dict[str, int] = {}
    for place, name in enumerate(header):
        if name and name in first:
            raise DataError(
                f"{path}: column {name!r} occurs twice, as columns {first[name] + 1} and "
                f"{place + 1}."
            )
        first[name] = place
    places = []
    for column in columns:
        found, _ = match_label("column", column, first)
        if found is None:
            hint = "; set its separator" if unsplit(list(header)) else ""
            line = unknown("column", label_text("column", column), header[:LISTED])
            raise DataError(f"{path}: {line.removesuffix('.')}{hint}.")
        places.append(first[found])
    return list(dict.fromkeys(places))


def refuse_missing(
    path: str, columns: Mapping[str, pa.ChunkedArray], missing: Sequence[str]
) -> None:
    """Refuse missing values: nulls, and the texts that stand for them."""
    stand_for = pa.array([label_text("missing", text) for text in missing], pa.string())
    for name, column in columns.items():
        holes = pc.or_(pc.is_null(column), pc.is_in(column, value_set=stand_for))
        count = pc.sum(holes).as_py() or 0
        if count:
            row = pc.index(holes, pa.scalar(True)).as_py()
            got = column[row].as_py() or "nothing"
            raise DataError(
                f"{path}: column {name!r} has {count} missing values, the first in data row "
                f"{row + 1} ({got}); leave such rows out, or set missing to what stands for one."
            )


def strip_blanks(
    columns: Mapping[str, pa.ChunkedArray], places: Sequence[int]
) -> tuple[dict[str, pa.ChunkedArray], list[str]]:
    """Leave out the blank before every value of a column, where every row has one.

    Returns
    -------
    dict of str to chunked array
    list of str
        Names of the columns that had it.
    """
    found: dict[str, pa.ChunkedArray] = {}
    without: list[str] = []
    for place, (name, column) in zip(places, columns.items(), strict=True):
        # The first column has no separator before it: its blanks are its own.
        blank = place > 0 and pc.all(pc.starts_with(column, " "), skip_nulls=False).as_py()
        found[name] = pc.utf8_slice_codeunits(column, 1) if blank else column
        if blank:
            without.append(name)
    return found, without
