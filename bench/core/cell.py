"""Cells: the unit that is computed, recorded, resumed and ranked."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

import pandas as pd

from bench.core.code_fingerprint import PACKAGES, sources_hash

Plain = dict[str, Any]

FINISHED = "finished"
NOT_APPLICABLE = "not applicable"
FAILED = "failed"

NUMERICAL = ("numpy", "scipy", "scikit-learn", "pandas", "POT")

RESERVED = (
    "cell",
    "status",
    "data",
    "higher_is_better",
)  # columns of every cell
ROW_COLUMNS = (
    "notion", "unit", "verdict", "attack", "metric", "statistic", "x", "value", "lower", "upper",
    "n", "method",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One point of a study, as plain data that any process can measure.

    Parameters
    ----------
    name : str
        Readable, what identifies the cell first: ``directional-gaussian eps=0.5``.
    labels : mapping
        The cell's coordinates, columns of every table: scenario, mechanism, epsilon, ...
    spec : mapping
        Everything that decides the cell's numbers: resolved configuration and seed.
    digest : str
        Identity of the data.
    """

    name: str
    labels: Plain
    spec: Plain
    digest: str

    @property
    def key(self) -> str:
        """Identity of the cell's numbers: configuration, data and code."""
        sources = foreign_sources(self.spec)
        text = canonical([self.spec, self.labels, self.digest, code_version(), sources])
        return hashlib.sha256(text.encode()).hexdigest()[:20]


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


class Study(Protocol):
    """What an experiment file builds: it lists cells and measures one cell."""

    def cells(self) -> list[Cell]:
        """List the cells; raise ValueError on a bad parameter before anything is computed."""

    def run_cell(self, cell: Cell) -> CellResult:
        """Measure one cell; a pure function of the cell."""


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


def tidy(results: list[tuple[Cell, CellResult]]) -> pd.DataFrame:
    """Return the tidy table: a row per cell, attack, metric and statistic.

    A cell without rows (not applicable, failed) keeps one row, whose metric is its status: a hole
    is shown, never dropped.
    """
    records = []
    for cell, result in results:
        head = {"cell": cell.name, **cell.labels, "status": result.status}
        head |= {name: result.facts.get(name, "") for name in ("data", "higher_is_better")}
        rows = result.rows or [
            row(result.status, value=float("nan"), lower=float("nan"), upper=float("nan"))
        ]
        records += [head | r for r in rows]
    axes = dict.fromkeys(name for cell, _ in results for name in cell.labels)
    return pd.DataFrame.from_records(records, columns=["cell", *axes, *RESERVED[1:], *ROW_COLUMNS])


def canonical(value: object) -> str:
    """Return the one JSON text of a plain value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=_unplain)


def _unplain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple | list):
        return list(value)
    raise TypeError(f"a configuration holds plain values only, got {value!r}.")


@functools.cache
def code_version() -> str:
    """Return the hash of the packages' sources and of the versions of what computes.

    A recorded cell is reused by the same code only.
    """
    total = hashlib.sha256("".join(map(_version, NUMERICAL)).encode())
    for package in PACKAGES:
        root = resources.files(package)
        for path in sorted(_sources(root, "")):
            total.update(path.encode())
            total.update((root / path).read_bytes())
    return total.hexdigest()[:12]


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


def foreign_sources(spec: object) -> dict[str, str]:
    """Return a hash of the code of every ``_target_`` that lies outside the packages."""
    if isinstance(spec, Mapping):
        found = {}
        target = spec.get("_target_")
        if isinstance(target, str) and target.partition(".")[0] not in PACKAGES:
            found[target] = sources_hash(target)
        for value in spec.values():
            found |= foreign_sources(value)
        return found
    if isinstance(spec, list | tuple):
        return {k: v for value in spec for k, v in foreign_sources(value).items()}
    return {}


def _sources(folder: Any, prefix: str) -> list[str]:  # noqa: ANN401
    found = []
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            found += _sources(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".py"):
            found.append(prefix + entry.name)
    return found
