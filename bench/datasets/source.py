"""Where a dataset file is looked for, in one order for all datasets."""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
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
        folder = named_folder(self)
        if folder is not None:
            return self._from_folder(Path(folder))
        if download:
            return self._downloaded()
        embedded = resources.files("bench.datasets") / "data" / f"{self.name}.gz"
        try:
            content = gzip.decompress(embedded.read_bytes())
        except UNREADABLE as error:
            raise DataError(f"the embedded copy of {self.name} is corrupt: {error}.") from error
        return self._checked(content, "the embedded copy")

    def path_in(self, folder: Path) -> Path | None:
        """Return where the file is in a folder, or None."""
        candidates = (folder / self.name, folder / f"{self.name}.gz")
        return next((path for path in candidates if path.is_file()), None)

    def _from_folder(self, folder: Path) -> bytes:
        path = self.path_in(folder)
        if path is None:
            raise DataError(f"no file {self.name} or {self.name}.gz in the folder {folder}.")
        try:
            content = path.read_bytes()
            return gzip.decompress(content) if path.suffix == ".gz" else content
        except UNREADABLE as error:
            raise DataError(f"cannot read {path}: {error}.") from error

    def _downloaded(self) -> bytes:
        try:
            cached = pooch.retrieve(
                self.url, known_hash=f"sha256:{self.sha256}", fname=self.name, progressbar=False
            )
        except Exception as error:
            raise DataError(f"cannot download {self.url}: {error}.") from error
        return Path(cached).read_bytes()

    def _checked(self, content: bytes, origin: str) -> bytes:
        digest = hashlib.sha256(content).hexdigest()
        if digest != self.sha256:
            raise DataError(f"{origin} of {self.name} is corrupt: sha256 {digest[:12]}...")
        return content


def named_folder(*files: SourceFile) -> str | None:
    """Return the folder that ``BENCH_DATA`` names, if it holds any of a dataset's files.

    All of them are then due there: copies from different places are never mixed.
    """
    folder = os.environ.get(DATA_VARIABLE)
    if not folder:
        return None
    if not Path(folder).is_dir():
        raise DataError(f"{DATA_VARIABLE}={folder} is not a folder.")
    return folder if any(file.path_in(Path(folder)) is not None for file in files) else None


def folder_with(file: str, asked: str | None) -> str | None:
    """Return the folder asked for, else the one that ``BENCH_DATA`` names if it holds `file`."""
    if asked is not None:
        return asked
    named = os.environ.get(DATA_VARIABLE)
    return named if named and (Path(named) / file).is_file() else None


def digest_of(*contents: bytes) -> str:
    """Return the sha256 of several files together."""
    total = hashlib.sha256()
    for content in contents:
        total.update(hashlib.sha256(content).digest())
    return total.hexdigest()
