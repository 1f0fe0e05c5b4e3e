"""UCI Adult (Census Income, 1994)."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from bench.datasets.source import DataError, SourceFile, data_folder, digest_of
from bench.datasets.table.table_file import TableFile
from bench.datasets.table.text_table import TextTable

COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country", "income",
)  # fmt: skip
MISSING = "?"
COMMENT = b"|"
NUMERIC = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
HOST = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult"
TRAIN = SourceFile(
    name="adult.data",
    sha256="5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    url=f"{HOST}/adult.data",
)
TEST = SourceFile(
    name="adult.test",
    sha256="a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    url=f"{HOST}/adult.test",
)


@dataclass(frozen=True)
class Adult:
    """The complete rows of Adult: 45,222 of 48,842, train file before test file.

    Parameters
    ----------
    path : str or None
        Folder with ``adult.data`` and ``adult.test`` (``.gz`` allowed); None uses the folder named
        by ``BENCH_DATA``, else the embedded copy.
    download : bool
        Fetch the originals (sha256 pinned) instead of using the embedded copy.

    References
    ----------
    Becker and Kohavi (1996), UCI Machine Learning Repository, CC BY 4.0.
    """

    path: str | None = None
    download: bool = False

    @cached_property
    def _files(self) -> tuple[bytes, bytes]:
        folder = self.path if self.path is not None else data_folder(TRAIN, TEST)
        return (
            TRAIN.read(folder, download=self.download),
            TEST.read(folder, download=self.download),
        )

    @cached_property
    def digest(self) -> str:
        """The sha256 of both files together."""
        return digest_of(*self._files)

    @cached_property
    def records(self) -> TextTable:
        """The complete rows; columns as named by UCI, income ``<=50K`` or ``>50K``."""
        train, test = self._files
        if test.startswith(COMMENT):
            test = test.partition(b"\n")[2]
        parts = [parse(train, "adult.data"), parse(test, "adult.test")]
        columns = {
            name: pa.chunked_array([c for part in parts for c in part.text(name).chunks])
            for name in COLUMNS
        }
        notes = tuple(note for part in parts for note in part.notes)
        return TextTable(path="UCI Adult", columns=columns, notes=notes)


def parse(content: bytes, name: str) -> TextTable:
    """Parse the complete rows of one file.

    Raises
    ------
    DataError
        If a row has not 15 values, a numeric column holds text, or the last is not the income.
    """
    wrong = f"{name} is not in the format of UCI Adult"
    try:
        table = TableFile(path=name, names=COLUMNS, missing=("",)).read(*COLUMNS, content=content)
        columns = table.columns
        complete = functools.reduce(pc.and_, (pc.not_equal(c, MISSING) for c in columns.values()))
        kept = {column: texts.filter(complete) for column, texts in columns.items()}
        kept["income"] = pc.utf8_rtrim(kept["income"], ".")
        found = TextTable(
            path=name, columns=kept,
            notes=(f"{name}: {int(pc.sum(complete).as_py() or 0)} of {len(table)} rows complete",),
        )  # fmt: skip
        for column in NUMERIC:
            found.numbers(column)
    except DataError as error:
        raise DataError(f"{wrong}: {error}") from error
    if not len(found):
        raise DataError(f"{wrong}: no complete row.")
    if not set(found.labels("income").names) <= {"<=50K", ">50K"}:
        raise DataError(f"{wrong}: no income column at the end.")
    return found
