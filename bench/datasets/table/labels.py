"""Labels of a column: texts that are the same only where they are written the same."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.datasets.table.label_option import label_of
from bench.datasets.table.place import Place
from mechanisms.check import IntArray

TOLD = 3  # groups of look-alikes that a note names


@dataclass(frozen=True, kw_only=True, eq=False)
class Labels:
    """A column of labels, coded in order of first appearance.

    Parameters
    ----------
    where : Place
        File and column, for errors and notes.
    names : tuple of str
    codes : array of shape (n,)
    """

    where: Place
    names: tuple[str, ...]
    codes: IntArray

    @classmethod
    def of(cls, column: pa.ChunkedArray, where: Place) -> Labels:
        """Code a column of texts."""
        coded = column.dictionary_encode().unify_dictionaries()
        if not coded.num_chunks:
            return cls(where=where, names=(), codes=np.zeros(0, dtype=np.int64))
        codes = [chunk.indices.to_numpy().astype(np.int64) for chunk in coded.chunks]
        names = coded.chunk(0).dictionary.to_pylist()
        return cls(where=where, names=tuple(names), codes=np.concatenate(codes))

    @cached_property
    def counts(self) -> IntArray:
        """Rows of every label."""
        return np.bincount(self.codes, minlength=len(self.names))

    def find(self, option: str, given: object) -> tuple[str, str]:
        """Return the label that an option names, and what is to be told; refuse any other.

        Told is how true and false were matched, and which labels are the same number as a number
        that was typed: the command line and YAML may have changed one into the other.
        """
        frequent = [self.names[i] for i in np.argsort(-self.counts, kind="stable")]
        label, note = label_of(option, given, frequent, str(self.where))
        others = [
            f"{name!r} ({self.counts[i]} rows)"
            for i, name in enumerate(self.names)
            if name != label and isinstance(given, Integral) and is_number(name, int(given))
        ]
        if others and not isinstance(given, bool):
            note = f"{option}={given} is the label {label!r}, not {', '.join(others[:TOLD])}"
        return label, note

    def renamed(self, new: Mapping[str, str]) -> Labels:
        """Return the column with labels replaced; several may become one."""
        names = tuple(dict.fromkeys(new[name] for name in self.names))
        number = {name: i for i, name in enumerate(names)}
        codes = np.array([number[new[name]] for name in self.names], dtype=np.int64)
        return Labels(where=self.where, names=names, codes=codes[self.codes])

    def are(self, label: str) -> np.ndarray:
        """Return which rows have a label."""
        return self.codes == self.names.index(label)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Labels that look alike, each with its number of rows."""
        groups = look_alikes(self.names)
        told = [
            " and ".join(f"{self.names[i]!r} ({self.counts[i]} rows)" for i in group)
            for group in groups[:TOLD]
        ]
        more = f"; and {len(groups) - TOLD} more such groups" if len(groups) > TOLD else ""
        if not told:
            return ()
        return (
            f"{self.where.column}: labels that differ only by white space, case or a final dot are "
            f"kept apart: {'; '.join(told)}{more}",
        )


def is_number(text: str, number: int) -> bool:
    """Whether a label is a way to write a whole number.

    Examples
    --------
    >>> [is_number(text, 8) for text in ("08", "8.0", "0_8", "010", "0x8", "8a", "9")]
    [True, True, True, True, True, False, False]
    """
    plain = text.replace("_", "")
    for base in (10, 8, 16):  # YAML reads 010 as 8
        with contextlib.suppress(ValueError):
            if int(plain, base) == number and (base == 10 or plain.startswith("0")):
                return True
    with contextlib.suppress(ValueError):
        return float(plain) == number
    return False


def look_alikes(names: tuple[str, ...]) -> list[list[int]]:
    """Return the groups of names that differ by white space, case, a final dot or accents' form.

    Examples
    --------
    >>> look_alikes(("yes", "no", "yes ", "No.", "maybe"))
    [[0, 2], [1, 3]]
    """
    text = pc.utf8_normalize(pa.array(names, pa.string()), form="NFC")
    text = pc.utf8_lower(pc.utf8_trim_whitespace(text))
    text = pc.utf8_trim_whitespace(pc.replace_substring_regex(text, r"\.$", ""))
    coded = text.dictionary_encode().indices.to_numpy()
    several = np.flatnonzero(np.bincount(coded, minlength=1) > 1)
    if not several.size:
        return []
    order = np.flatnonzero(np.isin(coded, several))
    groups: dict[int, list[int]] = {}
    for place in order.tolist():
        groups.setdefault(int(coded[place]), []).append(place)
    return list(groups.values())
