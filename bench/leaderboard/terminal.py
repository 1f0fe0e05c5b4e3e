"""What the terminal shows: lists, plans, and the table at the end of a sweep."""

from __future__ import annotations

import math
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench.config.build import unknown
from bench.core.cell import FAILED, NOT_APPLICABLE, AnyCell, Plain
from bench.core.entry_rows import LEDGER
from bench.leaderboard.ranking import FIXED, leaderboard
from bench.store.address import HIDDEN, Address
from bench.study.ledger import HOLDS_MODEL, MISFIT, SUSPECT, VIOLATED
from bench.sweep.experiment import Outcome

FLAGGED = {
    VIOLATED: "bold red", MISFIT: "yellow", SUSPECT: "yellow", HOLDS_MODEL: "cyan",
    FAILED: "bold red", NOT_APPLICABLE: "dim",
}  # fmt: skip
WIDE = 220
FEW = 3  # names in one line
ALWAYS = ("rank", "mechanism", "verdict", "claimed")


def console() -> Console:
    """Return the console for results: the terminal's width, or wide enough for a whole table."""
    wide = shutil.get_terminal_size((WIDE, 50)).columns
    probe = Console()
    return probe if probe.is_terminal else Console(width=max(WIDE, wide))


def print_listing(title: str, names: Mapping[str, str], usage: str) -> None:
    """Print names with one line each."""
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, line in names.items():
        table.add_row(Text(name, style="bold"), Text(line))
    out = console()
    out.print(f"{title}:", highlight=False)
    out.print(table)
    out.print(usage, markup=False, highlight=False)


def print_plan(cells: Sequence[AnyCell], seconds: float | None, workers: int) -> None:
    """Print the cells of a dry run and an estimate of the time, from recorded cells if any."""
    out = console()
    for cell in cells:
        out.print(f"  {cell.name}", markup=False, highlight=False)
    if seconds is None:
        estimate = "no time estimate: no cell of this experiment is recorded yet"
    else:
        total = seconds * len(cells) / workers
        estimate = f"about {total:.0f} s ({seconds:.2f} s a cell, {workers} at a time)"
    out.print(f"{len(cells)} cells; {estimate}.", highlight=False)


def print_tables(
    table: pd.DataFrame,
    show: Sequence[str],
    title: str,
    sort: str | None = None,
    notion: str | None = None,
) -> None:
    """Print the leaderboard of cells, and curves side by side; name metrics that are not there."""
    if table["metric"].isin(LEDGER).any():
        recorded = set(table["metric"])
        print_board(leaderboard(table, [m for m in show if m in recorded], sort, notion), title)
        for metric in sorted(set(show) - recorded):
            line = f"show: {unknown('metric', metric, recorded)}"
            console().print(line, markup=False, highlight=False, style="yellow", soft_wrap=True)
    curves = table[table["x"].notna()]
    metrics = list(dict.fromkeys(curves["metric"]))
    for metric in metrics:  # each may have a parameter of its own
        words = f"{title}: {metric.replace('_', ' ')}" if len(metrics) > 1 else title
        print_frame(pivot(curves[curves["metric"] == metric]), words)


def print_board(board: pd.DataFrame, title: str) -> None:
    """Print a leaderboard: equal columns as a line below it, equal counts in one column."""
    entries = {column: set(board[column].map(format_value)) for column in board.columns}
    same = [c for c, texts in entries.items() if c not in ALWAYS and len(texts) == 1 < len(board)]
    shorter = board.drop(columns=same)
    counts = [column for column in shorter.columns if column.endswith(" n")]
    if counts and all(shorter[counts[0]].equals(shorter[count]) for count in counts):
        shorter = shorter.drop(columns=counts).assign(n=shorter[counts[0]])
    print_frame(shorter, title)
    if same:
        equal = ", ".join(f"{column} {format_value(board[column].iloc[0])}" for column in same)
        console().print(f"On every line: {equal}.", markup=False, highlight=False, soft_wrap=True)


def print_frame(frame: pd.DataFrame, title: str) -> None:
    """Print a data frame as a table; flagged verdicts are coloured."""
    table = Table(title=Text(title), title_justify="left", header_style="bold")
    for column in frame.columns:
        left = column in ("mechanism", "verdict", "scenario", "change")
        table.add_column(
            str(column), justify="left" if left else "right", overflow="fold",
            no_wrap=column == "mechanism",
        )  # fmt: skip
    for _, line in frame.iterrows():
        style = FLAGGED.get(str(line.get("verdict", "")), "")
        table.add_row(*(Text(format_value(v), style=style) for v in line))
    console().print(table)


def format_value(value: object) -> str:
    """Return a table entry: short numbers, nothing for a missing value."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def print_outcome(outcome: Outcome, title: str, show: list[str], uri: str) -> None:
    """Print the table of a sweep, what failed, and where to look."""
    out, summary = console(), outcome.summary
    print_tables(outcome.table, show, title)
    if outcome.table["metric"].isin(LEDGER).any():
        units = sorted(summary.units)
        lines = (
            "claimed (upper bound), exact (under the model), exact_recorded (on records), "
            f"certified (lower bound, 95 %), in {' | '.join(units)}.",
            "Intervals are 95 %; an attack metric is the largest over the cell's attacks.",
        )
        out.print("\n".join(lines), markup=False, highlight=False)
    for name, advice in summary.suspect:
        line = f"suspect: {name}: {advice}."
        out.print(line, markup=False, highlight=False, style="yellow", soft_wrap=True)
    for told, names in (*summary.model_alone.items(), *summary.assumed.items()):
        out.print(f"{told}: {listed(names)}.", markup=False, highlight=False, soft_wrap=True)
    if summary.synthetic:
        out.print("The data are synthetic.", style="yellow")
    for scenario, told in sorted(summary.notes):
        out.print(f"reading {scenario}: {told}.", markup=False, highlight=False, soft_wrap=True)
    print_unfinished(summary.unfinished, out)
    for path in outcome.files:
        if path.suffix in (".pdf", ".csv"):
            out.print(f"written: {path}", markup=False, highlight=False, soft_wrap=True)
    print_where(uri, outcome.experiment_id, outcome.sweep, out)


def print_words(text: str) -> None:
    """Print paragraphs as they are: commands in them can be copied."""
    out = console()
    out.print()
    out.print(text, markup=False, highlight=False, soft_wrap=True)


def listed(names: Iterable[str]) -> str:
    """Return the first few of some names, and how many more there are.

    Examples
    --------
    >>> listed(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    first = list(names)
    more = f" and {len(first) - FEW} more" if len(first) > FEW else ""
    return ", ".join(first[:FEW]) + more


def print_unfinished(reasons: Mapping[tuple[str, str], Sequence[str]], out: Console) -> None:
    """Print why cells have no numbers, one line a status and reason, with the cells' names."""
    for (status, reason), names in reasons.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        line = f"{status}: {names[0]}{more}: {reason}"
        out.print(line, markup=False, highlight=False, style=FLAGGED[status], soft_wrap=True)


def pivot(table: pd.DataFrame) -> pd.DataFrame:
    """Return curves side by side: a line a point, a column a quantity.

    A point is a value of the parameter and of every axis that varies. Estimates carry their
    interval and n.
    """
    rows = table[table["x"].notna()]
    axes = [c for c in rows.columns if c not in (*FIXED, "scenario", "mechanism")]
    axes = [c for c in axes if len(set(rows[c].dropna())) > 1]
    # Quantities without an axis get lines of their own.
    rows = rows.fillna(dict.fromkeys(axes, ""))
    if (rows["n"] > 0).any():
        rows = rows.assign(value=[estimate_text(line) for line in rows.to_dict("records")])
    wide = rows.pivot_table(
        index=[*axes, "x"], columns="mechanism", values="value", sort=False, dropna=True,
        aggfunc="first",
    )  # fmt: skip
    return wide.reset_index().rename_axis(columns=None)


def estimate_text(line: Plain) -> str:
    """Return a number, with its interval and n where it is estimated."""
    if not line["n"]:
        return f"{line['value']:.4g}"
    return f"{line['value']:.4g} [{line['lower']:.4g}, {line['upper']:.4g}], n {line['n']:.0f}"


def print_where(uri: str, experiment_id: str, sweep: str, out: Console) -> None:
    """Print the command and the link that open MLflow on the experiment."""
    fragment = f"#/experiments/{experiment_id}/runs?workflowType=machine_learning"
    address = Address(uri)
    if uri.startswith(("http://", "https://")):
        lines = [f"MLflow: {address.page}/{fragment}"]
    else:
        hidden = f"  (write your own in place of {HIDDEN})" if address.secrets else ""
        lines = [
            f"MLflow: mlflow ui --backend-store-uri {shlex.quote(address.shown)} --port 5000"
            f"{hidden}",
            f"  then open http://127.0.0.1:5000/{fragment}",
        ]
    lines.append(f"sweep {sweep}: python -m bench.leaderboard | python -m bench.figures")
    out.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)


def missing_folder(path: Path) -> str | None:
    """Return why figures cannot be written to a folder, or None."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        return f"cannot write to the folder {path}: {error.strerror}."
    return None
