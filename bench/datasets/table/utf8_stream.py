"""A file's text as a stream in UTF-8, checked and counted while it is read."""

from __future__ import annotations

import codecs
import re
from typing import IO

from bench.datasets.source import DataError
from bench.datasets.table.opening import DAMAGED, refuse_kind

BLOCK = 4 << 20
MIXED = "utf-8+latin-1"  # bytes that are no UTF-8 are latin-1
CONTROLS = re.compile("[\x80-\x9f]")
WIDEST = 4  # bytes of UTF-8 that one byte of another encoding may become


def _as_latin_1(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error(MIXED, _as_latin_1)


class BlankBeforeQuoteError(Exception):
    """A blank stands between a separator and a quote: the file is read again without it."""


class Utf8Stream:
    """What the parser reads from: every byte is in the stated encoding, or an error is raised.

    Parameters
    ----------
    source : binary stream
    path : str
        For errors.
    separator, encoding : str
    watch : bool
        Whether to stop at a blank between a separator and a quote.
    """

    closed = False

    def __init__(
        self, source: IO[bytes], path: str, separator: str, encoding: str, *, watch: bool
    ) -> None:
        self._source, self._path, self._separator = source, path, separator.encode()
        mixed = encoding == MIXED
        self._encoding = encoding if mixed else codecs.lookup(encoding).name.removesuffix("-sig")
        self._decoder = (
            codecs.getincrementaldecoder("utf-8")(errors=MIXED)
            if mixed
            else codecs.getincrementaldecoder(self._encoding)()
        )
        # Follows a file in another encoding, until it is seen to be no UTF-8.
        self._also_utf8: codecs.IncrementalDecoder | None = (
            None if mixed or self._encoding == "utf-8" else codecs.getincrementaldecoder("utf-8")()
        )
        self._widest = 1 if self._encoding == "utf-8" else WIDEST
        self._ascii, self._begun, self._ended = True, False, False
        self._tail, self._last = b"", b""  # the last line so far, the last byte
        self._waiting = b""
        self._watch_blanks = watch
        self.lines = 0  # line ends so far
        self.quotes = 0

    def start(self) -> str:
        """Return the text of the first block; it is read again by `read`."""
        block = self.read(BLOCK)
        self._waiting = block + self._waiting
        return block.decode("utf-8", errors="ignore")

    def read(self, size: int = BLOCK) -> bytes:
        """Return up to `size` bytes of UTF-8, none at the end."""
        if self._waiting:
            block, self._waiting = self._waiting[:size], self._waiting[size:]
            return block
        block = b""
        while not block and not self._ended:
            block = self._next(max(1, size // self._widest))
        self._watch(block)
        if len(block) > size:
            block, self._waiting = block[:size], block[size:]
        return block

    def _next(self, size: int) -> bytes:
        try:
            raw = self._source.read(size)
        except DAMAGED as error:
            raise DataError(f"{self._path} is damaged: {error}.") from error
        self._ended = not raw
        first, self._begun = not self._begun, True
        if first:
            refuse_kind(self._path, raw)
        plain = raw.isascii()
        self._ascii = self._ascii and plain
        if self._encoding == "utf-8" and plain and not self._decoder.getstate()[0]:
            return raw
        try:
            text = self._decoder.decode(raw, final=not raw)
        except UnicodeDecodeError as error:
            raise self._unreadable(error) from error
        except UnicodeError as error:
            raise DataError(
                f"{self._path} is not {self._encoding.upper()}: {error}; set its encoding."
            ) from error
        self._check_kin(raw, text)
        block = raw if self._encoding == "utf-8" else text.encode()
        return block.removeprefix(codecs.BOM_UTF8) if first else block

    def _check_kin(self, raw: bytes, text: str) -> None:
        """Refuse UTF-8 and Windows' encodings that are taken for latin-1, as any bytes can be."""
        if self._encoding.startswith("iso8859") and CONTROLS.search(text):
            raise DataError(
                f"{self._path} is not {self._encoding}, in which it holds control characters; set "
                "its encoding, such as cp1252."
            )
        if self._also_utf8 is None:
            return
        try:
            self._also_utf8.decode(raw, final=not raw)
        except UnicodeDecodeError:
            self._also_utf8 = None
            return
        if not raw and not self._ascii:
            raise DataError(f"{self._path} is UTF-8, not {self._encoding} as was stated.")

    def _watch(self, block: bytes) -> None:
        if b"\0" in block:
            raise DataError(
                f"{self._path} is no text in {self._encoding}: it holds the byte 0; set its "
                "encoding, such as utf-16, or convert it to CSV or Parquet."
            )
        blank_quote = self._separator + b' "'
        if self._watch_blanks and (
            blank_quote in block or blank_quote in self._tail[-2:] + block[:2]
        ):
            raise BlankBeforeQuoteError
        self.quotes += block.count(b'"')
        self.lines += block.count(b"\n")
        if b"\r" in block or self._last == b"\r":
            split = self._last == b"\r" and block.startswith(b"\n")
            self.lines += block.count(b"\r") - block.count(b"\r\n") - split
        cut = max(block.rfind(b"\n"), block.rfind(b"\r"))
        self._tail = block[cut + 1 :] if cut >= 0 else self._tail + block
        self._last = block[-1:] or self._last

    def _unreadable(self, error: UnicodeDecodeError) -> DataError:
        before = error.object[: error.start].decode(self._encoding, errors="ignore").encode()
        line = self.lines + before.count(b"\n") + 1
        cut = before.rfind(b"\n")
        fields = (before[cut + 1 :] if cut >= 0 else self._tail + before).count(self._separator)
        byte = error.object[error.start] if error.object else 0
        hint = "utf-16" if byte in (0xFE, 0xFF) and line == 1 and not before else "latin-1"
        return DataError(
            f"{self._path} is not {self._encoding.upper()}: byte {byte:#04x} in line {line}, "
            f"field {fields + 1}; set its encoding, such as {hint}."
        )

    @property
    def unfinished(self) -> bool:
        """Whether the last line has no end."""
        return bool(self._tail)

    def readable(self) -> bool:
        """Whether it can be read: yes."""
        return True

    def writable(self) -> bool:
        """Whether it can be written to: no."""
        return False

    def seekable(self) -> bool:
        """Whether it can be read again: no."""
        return False

    def close(self) -> None:
        """Leave closing to whoever opened the source."""
