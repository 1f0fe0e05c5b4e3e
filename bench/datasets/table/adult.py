"""UCI Adult (Census Income, 1994)."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from bench.datasets.source import DataError, SourceFile, data_folder, digest_of

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
    def table(self) -> pd.DataFrame:
        """The complete rows; columns as named by UCI, income ``<=50K`` or ``>50K``."""
        train, test = self._files
        if test.startswith(COMMENT):
            test = test.partition(b"\n")[2]
        parts = [parse(train, "adult.data"), parse(test, "adult.test")]
        return pd.concat(parts, ignore_index=True)


def parse(content: bytes, name: str) -> pd.DataFrame:
    """Parse the complete rows of one file.

    Raises
    ------
    DataError
        If a row has not 15 values, a numeric column holds text, or the last is not the income.
    """
    wrong = f"{name} is not in the format of UCI Adult"
    try:
        table = pd.read_csv(
            io.BytesIO(content),
            header=None,
            skipinitialspace=True,
            na_filter=False,
            dtype=str,
            index_col=False,
        )
        if table.shape[1] != len(COLUMNS) or (table.isna() | (table == "")).any(axis=None):
            raise DataError(f"{wrong}: rows must have {len(COLUMNS)} values.")
        table.columns = pd.Index(COLUMNS)
        table = table[~(table == MISSING).any(axis=1)].reset_index(drop=True)
        for column in NUMERIC:
            table[column] = pd.to_numeric(table[column])
    except DataError:
        raise
    except (ValueError, pd.errors.ParserError) as error:
        raise DataError(f"{wrong}: {' '.join(str(error).split())}.") from error
    table["income"] = table["income"].str.rstrip(".")
    if table.empty:
        raise DataError(f"{wrong}: no complete row.")
    if not set(table["income"]) <= {"<=50K", ">50K"}:
        raise DataError(f"{wrong}: no income column at the end.")
    return table
