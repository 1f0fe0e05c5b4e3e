"""Cells: the unit that is computed, recorded, resumed and ranked."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import pandas as pd

from bench.core.code_fingerprint import fingerprint

Plain = dict[str, Any]

FINISHED = "finished"
NOT_APPLICABLE = "not applicable"
FAILED = "failed"

FACT_COLUMNS = ("data", "higher_is_better", "ingestion_notes")  # facts that are columns too
RESERVED = ("cell", "status", *FACT_COLUMNS)  # columns of every cell
ROW_COLUMNS = (
    "notion", "unit", "verdict", "attack", "metric", "statistic", "x", "value", "lower", "upper",
    "n", "method",
)  # fmt: skip


class Spec(Protocol):
    """What decides a cell's numbers: a frozen dataclass of plain values."""

    @property
    def components(self) -> Sequence[Plain]:
        """The configuration of everything that is built for the cell."""


S = TypeVar("S", bound=Spec, covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell(Generic[S]):
    """One point of a study, as plain data that any process can measure.

    Parameters
    ----------
    name : str
        Readable, what identifies the cell first: ``directional-gaussian eps=0.5``.
    labels : mapping
        The cell's coordinates, columns of every table: scenario, mechanism, epsilon, ...
    spec : Spec
        Everything that decides the cell's numbers: resolved configuration and seed.
    digest : str
        Identity of the data.

    code : str
        Fingerprint of the code that computes it.

    Attributes
    ----------
    key : str
        Identity of the cell's numbers: configuration, data and code.
    """

    name: str
    labels: Plain
    spec: S
    digest: str
    code: str = ""
    key: str = field(init=False)

    def __post_init__(self) -> None:
        text = canonical([self.spec, self.labels, self.digest, self.code])
        object.__setattr__(self, "key", hashlib.sha256(text.encode()).hexdigest()[:20])

    def check_data(self, digest: str) -> None:
        """Refuse data other than those that the cell was listed with."""
        if digest != self.digest:
            raise ChangedError(
                f"the data changed while the sweep ran: {digest[:12] or 'none'} was read, not "
                f"{self.digest[:12] or 'none'}; the same command lists the cells anew."
            )

    def check_code(self) -> None:
        """Refuse code other than that which the cell was listed with."""
        code = fingerprint(self.spec.components)
        if code != self.code:
            raise ChangedError(
                f"the code changed while the sweep ran: it is {code}, not {self.code}; the same "
                "command lists the cells anew."
            )


class ChangedError(RuntimeError):
    """Data or code changed after a cell was listed: what it would tell belongs to no cell."""


AnyCell = Cell[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """What was measured in a cell.

    Parameters
    ----------
    status : {"finished", "not applicable", "failed"}
    rows : list of mappings with the keys of ROW_COLUMNS
    facts : mapping of str to str
        Claim, verdict, reasons, traceback.
    seconds : float
        Wall time.
    """

    status: str
    rows: list[Plain] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0


def row(
    metric: str,
    *,
    value: float,
    lower: float,
    upper: float,
    n: int = 0,
    method: str = "exact",
    attack: str = "",
    statistic: str = "",
    x: float | None = None,
) -> Plain:
    """Return one row of the tidy table; rows of the ledger add notion, unit and verdict."""
    return {
        "notion": "", "unit": "", "verdict": "", "attack": attack, "metric": metric,
        "statistic": statistic, "x": x, "value": value, "lower": lower, "upper": upper, "n": n,
        "method": method,
    }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCell:
    """What a store tells of a cell: key, name and coordinates."""

    key: str
    name: str
    labels: Plain


def tidy(results: Iterable[tuple[AnyCell | RecordedCell, CellResult]]) -> pd.DataFrame:
    """Return the tidy table: a row per cell, attack, metric and statistic.

    A cell without rows (not applicable, failed) keeps one row, whose metric is its status: a hole
    is shown, never dropped. Cells are taken one by one, so that they need not be in memory at once.
    """
    table: dict[str, list[Any]] = {name: [] for name in (*RESERVED, *ROW_COLUMNS)}
    axes: dict[str, list[Any]] = {}
    length = 0
    for cell, result in results:
        facts, status = result.facts, result.status
        head = {"cell": cell.name, "status": status}
        head |= {name: facts.get(name, "") for name in FACT_COLUMNS}
        rows = result.rows or [row(status, value=math.nan, lower=math.nan, upper=math.nan)]
        for name in cell.labels:
            axes.setdefault(name, [math.nan] * length)
        for name, column in axes.items():
            column += [cell.labels.get(name, math.nan)] * len(rows)
        for name in RESERVED:
            table[name] += [head[name]] * len(rows)
        for name in ROW_COLUMNS:
            table[name] += [r[name] for r in rows]
        length += len(rows)
    order = ["cell", *axes, *RESERVED[1:], *ROW_COLUMNS]
    return pd.DataFrame(table | axes, columns=order)


def canonical(value: object) -> str:
    """Return the one JSON text of a plain value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=_unplain)


def _unplain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple | list):
        return list(value)
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    raise TypeError(f"a configuration holds plain values only, got {value!r}.")
