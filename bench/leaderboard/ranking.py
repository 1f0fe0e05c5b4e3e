"""The leaderboard table: one line a cell, mechanisms ranked at equal budget."""

from __future__ import annotations

import math

import pandas as pd

from bench.core.cell import FINISHED, RESERVED, ROW_COLUMNS, Plain
from bench.core.entry_rows import LEDGER, OPTIONAL, PLACES, one_entry
from bench.study.ledger import MISFIT, VIOLATED

SORT = "_sort"
REFUTED = (VIOLATED, MISFIT)
FIXED = {*RESERVED, *ROW_COLUMNS}


def leaderboard(
    table: pd.DataFrame, show: list[str], sort: str | None = None, notion: str | None = None
) -> pd.DataFrame:
    """Return one line a cell: rank, coordinates, the ledger, verdict, and the metrics shown.

    Mechanisms are ranked within equal coordinates other than the mechanism, errors and attack
    metrics (each the largest over the cell's attacks) from small to large, metrics that are
    ``higher_is_better`` from large to small. A cell whose claim is refuted (*violated*, *model
    misfit*) has no such budget: it comes after all others.
    A cell without the sort metric gets no rank and stands last: a hole is shown, never averaged.

    Parameters
    ----------
    table : tidy table
    show : list of str
        Metrics to show.
    sort : str or None
        Metric to rank by; None takes the last of `show`.
    notion : str or None
        Name or unit of the entry of the ledger to show; None takes each cell's own.
    """
    table = one_entry(table, notion)
    axes = [c for c in table.columns if c not in FIXED]
    sort = sort or (show[-1] if show else "claimed")
    recorded = set(table["metric"])
    ledger = [m for m in LEDGER if m not in OPTIONAL or m in recorded]
    shown = [m for m in dict.fromkeys([*show, sort]) if m not in ledger]
    lines = []
    places = [column for column in PLACES if column in table]
    for _, rows in table.groupby(places, sort=False, dropna=False):
        head: Plain = {axis: rows[axis].iloc[0] for axis in axes}
        entry = rows[rows["metric"].isin(LEDGER)]
        head["verdict"] = "-" if entry.empty else entry["verdict"].iloc[0]
        if rows["status"].iloc[0] != FINISHED:
            head["verdict"] = rows["status"].iloc[0]
        head["unit"] = "" if entry.empty else short_unit(entry["unit"].iloc[0])
        for metric in (*ledger, *shown):
            head[metric], head[f"{metric} n"] = cell_text(rows, metric)
        head[SORT] = headline(rows, sort)
        lines.append(head)
    budget = [axis for axis in axes if axis != "mechanism"]
    columns = [*axes, "verdict", "unit", *ledger, *shown, SORT]
    board = pd.DataFrame(lines, columns=None if lines else columns)
    sorts = set(table["higher_is_better"]) if "higher_is_better" in table else ()
    higher_is_better = any(sort in names.split(", ") for names in sorts)
    board = rank_lines(board, budget, more_is_better=higher_is_better)
    dull = [a for a in budget if len(set(board[a].dropna().map(str))) <= 1]
    empty = [c for c in board.columns if c.endswith(" n") and (board[c] == "").all()]
    if len(set(board["unit"]) - {""}) <= 1:
        empty.append("unit")
    return board.drop(columns=[SORT, *dull, *empty]).reset_index(drop=True)


def short_unit(unit: str) -> str:
    """Return the unit of the ledger in few letters: at which delta or Renyi order.

    Examples
    --------
    >>> short_unit("epsilon at delta=0.001"), short_unit("Renyi epsilon at order=2")
    ('delta=0.001', 'order=2')
    >>> short_unit("epsilon")
    'delta=0'
    """
    return "delta=0" if unit == "epsilon" else unit.rpartition(" at ")[2]


def rank_lines(board: pd.DataFrame, budget: list[str], *, more_is_better: bool) -> pd.DataFrame:
    """Return the lines of every budget in order of rank.

    Budgets are the coordinates that no other cell refines. A cell that lacks a coordinate (a
    pure budget has no delta, the noiseless release no epsilon) competes at every budget that
    refines its own, and is shown there.
    """
    coordinates = [line_coordinates(line, budget) for line in board.to_dict("records")]
    distinct = list(dict.fromkeys(coordinates))
    groups = []
    for point in distinct:
        if any(point < other for other in distinct):
            continue
        group = board[[own <= point for own in coordinates]].copy()
        refuted = group["verdict"].isin(REFUTED)
        places, after = (
            group[SORT].where(kept).rank(method="min", ascending=not more_is_better)
            for kept in (~refuted, refuted)
        )
        places = places.fillna(after + places.count())
        group.insert(0, "rank", ["" if math.isnan(p) else str(int(p)) for p in places])
        for axis, value in point:
            group[axis] = value
        order = places.fillna(math.inf).argsort(kind="stable")
        groups.append(group.iloc[order])
    return pd.concat(groups) if groups else board.assign(rank="")


def line_coordinates(line: Plain, axes: list[str]) -> frozenset[tuple[str, object]]:
    """Return the coordinates that a line has."""
    return frozenset((a, line[a]) for a in axes if line[a] is not None and line[a] == line[a])


def headline(rows: pd.DataFrame, metric: str) -> float:
    """Return the cell's number for a metric: over attacks the largest, NaN where there is none."""
    chosen = headline_row(rows, metric)
    return math.nan if chosen is None else float(chosen["value"])


def headline_row(rows: pd.DataFrame, metric: str) -> Plain | None:
    """Return the row that stands for a metric: no statistic, the largest over attacks."""
    found = rows[(rows["metric"] == metric) & (rows["statistic"] == "")]
    if found.empty:
        return None
    plain = found[found["attack"] == ""]
    found = plain if not plain.empty else found
    if not found["value"].notna().any():
        return found.iloc[0].to_dict()
    return found.loc[found["value"].idxmax()].to_dict()


def cell_text(rows: pd.DataFrame, metric: str) -> tuple[str, str]:
    """Return a number with its interval, and its n; a hole is ``-``, or says what it is."""
    found = headline_row(rows, metric)
    if found is None:
        return "-", ""
    value, low, high = found["value"], found["lower"], found["upper"]
    if math.isnan(value) or found["method"] == "unbounded":
        return str(found["method"]).partition(":")[0], ""
    if metric == "certified":
        return f">= {value:.3g}", ""
    if found["method"] == "bracket":
        return f"[{low:.4g}, {high:.4g}]", ""
    if not found["n"]:
        return f"{value:.4g}", ""
    return f"{value:.4g} [{low:.4g}, {high:.4g}]", str(int(found["n"]))
