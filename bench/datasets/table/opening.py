"""A file's bytes: unpacked and told apart by their first bytes, whatever their name says."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from bench.datasets.source import DataError

CONVERT = "convert it to CSV or TSV (plain, .gz or .zip) or to Parquet"
DAMAGED = (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError)
GZIP, ZIP, PARQUET = b"\x1f\x8b", b"PK", b"PAR1"
MAGIC = {
    b"\xd0\xcf\x11\xe0": "an Excel workbook", b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive", b"7z\xbc\xaf": "a 7z archive", b"Rar!": "a rar archive",
    b"SQLite format 3": "a SQLite database", b"ARROW1": "an Arrow file", b"ORC": "an ORC file",
    b"\x89HDF": "an HDF5 file", b"\x93NUMPY": "a NumPy array", b"<stata_dta>": "a Stata file",
    b"$FL2": "an SPSS file", b"Obj\x01": "an Avro file", b"%PDF": "a PDF", b"RDX": "an R file",
    b"\x80\x04\x95": "a Python pickle", b"\x80\x05\x95": "a Python pickle",
}  # fmt: skip
ENDINGS = {
    (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"): "a workbook",
    (".json", ".jsonl", ".ndjson", ".geojson"): "a JSON file",
    (".xml", ".html", ".htm"): "a page of markup",
    (".feather", ".arrow", ".ipc"): "an Arrow file",
    (".dta", ".sav", ".zsav", ".por", ".sas7bdat", ".xpt"): "a file of a statistics package",
    (".rds", ".rda", ".rdata", ".pkl", ".pickle", ".npy", ".npz", ".mat"): "a file of a language",
    (".h5", ".hdf5", ".hdf", ".orc", ".avro", ".db", ".sqlite"): "a database or container",
    (".bz2", ".xz", ".zst", ".7z", ".rar", ".tar", ".tgz", ".z"): "an archive of another kind",
}  # fmt: skip


@contextmanager
def open_unpacked(
    path: str, content: bytes | None = None, *, packed: bool = True
) -> Iterator[IO[bytes]]:
    """Give a file's unpacked bytes; a damaged archive is found while they are read.

    Parameters
    ----------
    path : str
        A plain file, one packed by gzip, or a zip archive of one file.
    content : bytes or None
        The file's bytes where they are at hand; `path` then only names them.
    packed : bool
        Whether the bytes may be an archive.

    Raises
    ------
    DataError
        If there is no such file, or it is of a kind that is not read.
    """
    refuse_ending(path)
    with _raw(path, content) as raw:
        start = _start(raw)
        if not packed:
            yield raw
        elif start.startswith(ZIP):
            with _member(path, raw) as member:
                yield member
        elif start.startswith(GZIP):
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield unpacked  # type: ignore[misc]
        elif path.lower().endswith((".gz", ".zip")):
            raise DataError(f"{path} is damaged: it does not begin as its ending says.")
        else:
            refuse_kind(path, start)
            yield raw


def refuse_ending(path: str) -> None:
    """Refuse what a file's name says is no table that can be read."""
    name = path.lower()
    name = name.removesuffix(".gz") if name.endswith(".tar.gz") else name
    for endings, kind in ENDINGS.items():
        if name.endswith(endings):
            raise DataError(f"{path} is {kind}: {CONVERT}.")


def refuse_kind(path: str, start: bytes) -> None:
    """Refuse what the first bytes say is no table that can be read."""
    for magic, kind in MAGIC.items():
        if start.startswith(magic):
            raise DataError(f"{path} is {kind}: {CONVERT}.")


def is_parquet(path: str, content: bytes | None = None) -> bool:
    """Whether a file is named or begins as Parquet does."""
    if path.lower().endswith((".parquet", ".pq")):
        return True
    if content is None and not Path(path).is_file():
        return False
    with _raw(path, content) as raw:
        return _start(raw).startswith(PARQUET)


def _raw(path: str, content: bytes | None) -> IO[bytes]:
    if content is not None:
        return io.BytesIO(content)
    try:
        return Path(path).open("rb")
    except FileNotFoundError:
        raise DataError(f"no file {path}.") from None
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}.") from error


def _start(raw: IO[bytes]) -> bytes:
    start = raw.read(16)
    raw.seek(0)
    return start


def _member(path: str, raw: IO[bytes]) -> IO[bytes]:
    """Open the one file of a zip archive."""
    try:
        archive = zipfile.ZipFile(raw)
        names = [name for name in archive.namelist() if not name.endswith("/")]
        if "[Content_Types].xml" in names or "mimetype" in names:
            raise DataError(f"{path} is a workbook: {CONVERT}.")
        names = [name for name in names if not name.startswith("__MACOSX/")]
        if len(names) != 1:
            listed = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
            raise DataError(f"{path} must hold one file, got {len(names)}: {listed or 'none'}.")
        return archive.open(names[0])
    except DAMAGED as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} is damaged or locked: {error}.") from error
