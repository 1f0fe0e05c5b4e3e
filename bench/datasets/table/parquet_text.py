"""Text columns of a Parquet file."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench.datasets.source import DataError

ROWS = 1 << 17


@dataclass(frozen=True, kw_only=True)
class ParquetText:
    """A Parquet file, its columns as text, null where a value is missing.

    Parameters
    ----------
    path : str
    content : bytes or None
        The file's bytes where they are at hand.

    Raises
    ------
    DataError
        If the file is damaged, or a column is of a type that has no text.
    """

    path: str
    content: bytes | None
    notes: ClassVar[tuple[str, ...]] = ()

    @cached_property
    def header(self) -> tuple[str, ...]:
        """The names of all columns."""
        with self._file() as file:
            return tuple(file.schema_arrow.names)

    def batches(self, places: Sequence[int]) -> Iterator[pa.Table]:
        """Yield some columns block by block."""
        wanted = [self.header[place] for place in places]
        with self._file() as file:
            for batch in file.iter_batches(batch_size=ROWS, columns=wanted):
                columns = [
                    texts(batch.column(name), f"{self.path}: column {name!r}") for name in wanted
                ]
                yield pa.Table.from_arrays(columns, names=[f"f{place}" for place in places])

    def whole(self, places: Sequence[int]) -> list[pa.Table]:
        """Return all blocks of some columns."""
        return list(self.batches(places))

    @contextmanager
    def _file(self) -> Iterator[pq.ParquetFile]:
        source = self.path if self.content is None else io.BytesIO(self.content)
        try:
            with pq.ParquetFile(source, page_checksum_verification=True) as file:
                yield file
        except FileNotFoundError:
            raise DataError(f"no file {self.path}.") from None
        except (pa.ArrowException, OSError) as error:
            line = str(error).splitlines()[0]
            raise DataError(f"{self.path} is damaged or no Parquet: {line}.") from error


def texts(column: pa.Array, where: str) -> pa.Array:
    """Return a typed column as the text that stands for its values in a CSV.

    Whole numbers of a floating type have no fraction, decimals keep their zeros, truth values are
    ``true`` and ``false``, times are in ISO form.

    Examples
    --------
    >>> texts(pa.array([1.0, 2.5, None]), "x").to_pylist()
    ['1', '2.5', None]
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        return texts(column.dictionary_decode(), where)
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        # The same moment in UTC: zone names are not known on every machine.
        plain = column.cast(pa.timestamp(kind.unit, "UTC")).cast(pa.timestamp(kind.unit))
        return pc.binary_join_element_wise(plain.cast(pa.string()), "Z", "")
    if pa.types.is_duration(kind):
        return column.cast(pa.int64()).cast(pa.string())
    if pa.types.is_nested(kind):
        raise DataError(f"{where} must hold single values, got {kind}.")
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"{where} must hold text, numbers or times, got {kind}.") from error
