"""``python -m bench.publish path=TABLE.csv [columns=A,B] [threshold=5] [OPTION=VALUE ...]``.

May I publish this table with small cells suppressed? The answer ends with the cells that can be
recovered. Without ``columns`` the file is a table as it is printed: the first column names the
rows, the header the columns. Exit code 0: no suppressed cell is recovered; 1: some are; 2: the
table or an option cannot be used.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped]

from attacks.interval.feasible_intervals import CellIntervals
from bench.config.build import ConfigError
from bench.config.choices import key_values
from bench.datasets.table.count_file import CountFile
from bench.datasets.table.table_file import TableFile
from bench.publish.question import Question
from bench.scenarios.cell_counts import check_margin_option
from mechanisms.check import BoolArray
from mechanisms.privacy.guarantee import Guarantee

DEFAULTS: dict[str, str | None] = {
    "path": None, "columns": None, "count": None, "total": None, "absent": "refused",
    "threshold": "5", "margins": "each", "publish_zeros": "false", "secondary": "none",
    "marks": "two", "alpha": "0.2", "share": "0.2", "separator": None, "encoding": "utf-8",
    "decimal": ".",
}  # fmt: skip
RECOVERED, BAD_INPUT = 1, 2
SILENT = 2.0  # seconds before progress is told


def main(arguments: list[str]) -> int:
    """Run the command line."""
    try:
        words = key_values(arguments, DEFAULTS)
        asked, notes = question(words)
        progress = Progress()
        found = asked.attacked(progress)
        progress.end()
    except (ConfigError, ValueError, TypeError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return BAD_INPUT
    lines = [*notes, *described(asked), *cells_told(asked, found)]
    sys.stdout.write("\n".join(lines) + "\n")
    return RECOVERED if any(cells.revealed.any() for cells in found.values()) else 0


def question(words: Mapping[str, str | None]) -> tuple[Question, tuple[str, ...]]:
    """Read the table and the rule; return the question, and what is to be told of the file."""
    if not words["path"]:
        raise ConfigError("path=TABLE.csv must name a table.")
    if words["columns"] == "":
        raise ConfigError("columns must be a list of columns, got columns=.")
    columns = None if words["columns"] is None else words["columns"].strip("[]").split(",")
    file = TableFile(
        path=words["path"], separator=words["separator"], encoding=words["encoding"] or "utf-8",
        decimal=words["decimal"] or ".",
    )  # fmt: skip
    source = CountFile(
        file=file, columns=columns, count=words["count"], total=words["total"],
        absent=words["absent"] or "refused",
    )  # fmt: skip
    margins = typed("margins", words["margins"])
    check_margin_option(margins)
    zeros = typed("publish_zeros", words["publish_zeros"])
    if not isinstance(zeros, bool):
        raise ConfigError(f"publish_zeros must be true or false, got publish_zeros={zeros!r}.")
    options: dict[str, Any] = {
        name: typed(name, words[name]) for name in ("threshold", "alpha", "share")
    }
    table = source.table
    asked = Question(
        table=table, margins=margins, publish_zeros=zeros,
        secondary=words["secondary"], marks=words["marks"], **options,  # type: ignore[arg-type]
    )  # fmt: skip
    return asked, table.notes


def typed(name: str, word: str | None) -> Any:  # noqa: ANN401
    """Return a word of the command line as it is read in every other command."""
    try:
        read: Any = OmegaConf.to_container(OmegaConf.from_dotlist([f"{name}={word}"]))
        return read[name]
    except (OmegaConfBaseException, YAMLError):
        raise ConfigError(f"{name} must be a value or a list, got {name}={word}.") from None


def described(asked: Question) -> list[str]:
    """Return what is published, what that loses, and what is claimed for it."""
    table, rule = asked.table, asked.rule
    marks = asked.published() < 0
    kept = [" x ".join(table.columns[axis] for axis in axes) or "grand" for axes in rule.margins]
    units = int(table.counts.sum())
    lost = int(table.counts[marks].sum())
    small = int(rule.primary(table.counts).sum())
    zeros = "published" if rule.publish_zeros else "suppressed too"
    lines = [
        f"table: {' x '.join(map(str, table.counts.shape))} cells "
        f"({', '.join(table.columns)}), {units} units",
        f"published: counts from {rule.threshold} on, zeros {zeros}; "
        f"totals: {', '.join(kept) or 'none'}",
        f"suppressed: {small} small cells, {int(marks.sum()) - small} complements; "
        f"{lost} units of {units} ({lost / max(units, 1):.2%}) are in them",
    ]
    chosen = asked.suppression()
    if chosen is not None and asked.secondary == "optimal":
        best = "no smaller choice exists" if chosen.optimal else f"within {chosen.gap:.1%} of least"
        lines.append(f"complements: {best}")
    if chosen is not None and chosen.short:
        lines.append(
            f"{len({short.demand.cell for short in chosen.short})} small cells cannot be fully "
            "protected by any suppression while these totals are public"
        )
    claim = rule.guarantee
    if isinstance(claim, Guarantee):
        lines.append(
            f"guarantee: {claim.notion.unit} <= {claim.bound:.4g}, {claim.assumptions.priors} "
            f"({'; '.join(claim.notes)})"
        )
    else:
        lines.append(f"guarantee: none: {claim.reason}")
    return lines


def cells_told(asked: Question, found: Mapping[Any, CellIntervals]) -> list[str]:
    """Return, last, the suppressed cells that can be recovered."""
    table, lines = asked.table, []
    for marks, cells in found.items():
        hidden, told = int(cells.hidden.sum()), cells.revealed
        tells = "tells" if marks == "two" else "cannot tell"
        sees = f"an attacker who {tells} small cells from complements"
        narrow = cells.approximately_revealed(asked.share, table.counts) & ~told
        lines.append(
            f"{sees} recovers {int(told.sum())} of {hidden} suppressed cells exactly, and knows "
            f"{int(narrow.sum())} more within {asked.share:.0%} of their count"
        )
        if not cells.exact.all():
            lines.append("some intervals may be narrower: integer programs ran out of time")
    every = np.any([cells.revealed for cells in found.values()], axis=0)
    if not every.any():
        return [*lines, "No suppressed cell can be recovered."]
    return [*lines, "These suppressed cells can be recovered:", *listed(asked, every)]


def listed(asked: Question, cells: BoolArray) -> list[str]:
    """Return one line a cell, with its count."""
    table = asked.table
    return [
        "  "
        + ", ".join(
            f"{column}={names[i]}"
            for column, names, i in zip(table.columns, table.categories, index, strict=True)
        )
        + f": {table.counts[tuple(index)]}"
        for index in np.argwhere(cells)
    ]


class Progress:
    """Tell how many cells are bounded, where that takes longer than a moment."""

    def __init__(self) -> None:
        self._said = time.monotonic()
        self._told = False

    def __call__(self, done: int, total: int) -> None:
        """Tell it at most every two seconds."""
        now = time.monotonic()
        if now - self._said >= SILENT:
            self._said, self._told = now, True
            sys.stderr.write(f"\r{done} of {total} interval ends")
            sys.stderr.flush()

    def end(self) -> None:
        """End the line."""
        if self._told:
            sys.stderr.write("\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
