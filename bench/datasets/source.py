"""Where a dataset file is looked for, in one order for all datasets.

A path that the user gives; the folder named by the environment variable ``BENCH_DATA``; then, of
data sets that the package embeds, the embedded copy.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import pooch

DATA_VARIABLE = "BENCH_DATA"
UNREADABLE = (OSError, EOFError, zlib.error)


class DataError(ValueError):
    """A data file is missing, corrupt or not in the stated format."""


class DataAbsentError(DataError):
    """A file that nobody named and that may be absent: what needs it is skipped with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One file of a dataset.

    Parameters
    ----------
    name : str
        File name, with or without ``.gz`` on disk.
    sha256 : str
        Of the unpacked file; the embedded copy and downloads are checked against it. A copy that
        the user names is taken as it is.
    url : str
        Where the original host keeps it.
    """

    name: str
    sha256: str
    url: str

    def read(self, folder: str | None, *, download: bool) -> bytes:
        """Return the unpacked bytes.

        Searched in this order: `folder` (given by the user), the folder named by the environment
        variable ``BENCH_DATA``, a download of the original kept in the user's cache (only with
        ``download=True``), the embedded copy.
        """
        if folder is not None:
            return self._from_folder(Path(folder))
        folder = data_folder(self)
        if folder is not None:
            return self._from_folder(Path(folder))
        if download:
            return self._download()
        embedded = resources.files("bench.datasets") / "data" / f"{self.name}.gz"
        try:
            content = gzip.decompress(embedded.read_bytes())
        except UNREADABLE as error:
            raise DataError(f"the embedded copy of {self.name} is corrupt: {error}.") from error
        return self._check_digest(content, "the embedded copy")

    def path_in(self, folder: Path) -> Path | None:
        """Return where the file is in a folder, or None."""
        candidates = (folder / self.name, folder / f"{self.name}.gz")
        return next((path for path in candidates if path.is_file()), None)

    def _from_folder(self, folder: Path) -> bytes:
        path = self.path_in(folder)
        if path is None:
            raise DataError(f"no file {self.name} or {self.name}.gz in the folder {folder}.")
        return decompress(path)

    def _download(self) -> bytes:
        try:
            cached = pooch.retrieve(
                self.url, known_hash=f"sha256:{self.sha256}", fname=self.name, progressbar=False
            )
        except Exception as error:
            raise DataError(f"cannot download {self.url}: {error}.") from error
        return Path(cached).read_bytes()

    def _check_digest(self, content: bytes, origin: str) -> bytes:
        digest = hashlib.sha256(content).hexdigest()
        if digest != self.sha256:
            raise DataError(f"{origin} of {self.name} is corrupt: sha256 {digest[:12]}...")
        return content


def data_folder(*files: SourceFile) -> str | None:
    """Return the folder that ``BENCH_DATA`` names, if it holds any of a dataset's files.

    All of them are then due there: copies from different places are never mixed.
    """
    folder = _variable()
    held = folder is not None and any(file.path_in(folder) is not None for file in files)
    return str(folder) if held else None


def locate(name: str, asked: str | None, *files: str) -> Path:
    """Return where an optional file is, or an optional folder with some files.

    Parameters
    ----------
    name : str
        Of the file or folder below the folder named by ``BENCH_DATA``.
    asked : str or None
        The user's own file or folder, which goes first.
    files : str
        What a folder must hold; none for a file.

    Raises
    ------
    DataAbsentError, DataError
        If a file is not there that nobody asked for, or that the user asked for.
    """
    inside, what = files or ("",), "folder" if files else "path"
    place: Path | None
    kind: type[DataError]
    if asked is None:
        root = _variable()
        place = _first([] if root is None else [root / name], inside)
        kind, other = DataAbsentError, f", or set {DATA_VARIABLE} to the folder that holds {name}"
    else:
        place, kind, other = Path(asked), DataError, ""
    missing = [file for file in inside if place is None or not (place / file).is_file()]
    if place is None or missing:
        raise kind(f"no file {(place or Path(name)) / missing[0]}: give its {what}{other}.")
    return place


def folder_with(file: str, asked: str | None, name: str) -> str | None:
    """Return the folder asked for, else the one that holds `file`, None if there is none.

    The folder named by ``BENCH_DATA`` may hold it itself, or in a folder of the given name.
    """
    if asked is not None:
        return asked
    root = _variable()
    found = _first([] if root is None else [root, root / name], (file,))
    return None if found is None else str(found)


def _first(places: Sequence[Path], files: Sequence[str]) -> Path | None:
    held = (place for place in places if any((place / file).is_file() for file in files))
    return next(held, None)


def _variable() -> Path | None:
    """Return the folder named by ``BENCH_DATA``."""
    folder = os.environ.get(DATA_VARIABLE)
    if folder and not Path(folder).is_dir():
        raise DataError(f"{DATA_VARIABLE}={folder} is not a folder.")
    return Path(folder) if folder else None


def unsplit(columns: Sequence[str]) -> bool:
    """Whether a table's only column looks like several with another separator."""
    return len(columns) == 1 and any(mark in columns[0] for mark in ";\t|")


def decompress(path: Path) -> bytes:
    """Return a file's content, unpacked if its name ends in ``.gz``."""
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if path.suffix == ".gz" else content
    except UNREADABLE as error:
        raise DataError(f"cannot read {path}: {error}.") from error


def digest_of(*contents: bytes) -> str:
    """Return the sha256 of several files together."""
    total = hashlib.sha256()
    for content in contents:
        total.update(hashlib.sha256(content).digest())
    return total.hexdigest()
