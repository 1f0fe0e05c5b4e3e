"""Where a value stands: what errors and notes name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A column of a file.

    Examples
    --------
    >>> str(Place("people.csv", "age")), Place("people.csv", "age").column
    ("people.csv: column 'age'", "column 'age'")
    """

    path: str
    name: str

    @property
    def column(self) -> str:
        """The column alone, for notes that name their file once."""
        return f"column {self.name!r}"

    def __str__(self) -> str:
        return f"{self.path}: {self.column}"
