"""The leaderboard table: one line a cell, mechanisms ranked at equal budget."""

from __future__ import annotations

import math

import pandas as pd

from bench.cell import FINISHED, Plain

LEDGER = ("claimed", "exact", "exact_own", "certified")
SORT = "_sort"
FIXED = {"cell", "status", "verdict", "attack", "metric", "statistic", "x", "value", "lower",
         "upper", "n", "method"}  # fmt: skip


def leaderboard(table: pd.DataFrame, show: list[str], sort: str | None = None) -> pd.DataFrame:
    """Return one line a cell: rank, coordinates, the ledger, verdict, and the metrics shown.

    Mechanisms are ranked within equal coordinates other than the mechanism. Utility errors rank
    upwards; for an attack metric the strongest attack of each cell is shown, and less is better.
    A cell without the sort metric gets no rank and stands last: a hole is shown, never averaged.

    Parameters
    ----------
    table : tidy table
    show : list of str
        Metrics to show.
    sort : str or None
        Metric to rank by; None takes the last of `show`.
    """
    axes = [c for c in table.columns if c not in FIXED]
    sort = sort or (show[-1] if show else "claimed")
    recorded = set(table["metric"])
    ledger = [m for m in LEDGER if m != "exact_own" or m in recorded]
    shown = [m for m in dict.fromkeys([*show, sort]) if m not in ledger]
    lines = []
    for _, rows in table.groupby("cell", sort=False):
        head: Plain = {axis: rows[axis].iloc[0] for axis in axes}
        head["verdict"] = rows["verdict"].iloc[0] or rows["status"].iloc[0]
        for metric in (*ledger, *shown):
            head[metric], head[f"{metric} n"] = cell_text(rows, metric)
        head[SORT] = headline(rows, sort)
        lines.append(head)
    budget = [axis for axis in axes if axis != "mechanism"]
    board = ranked(pd.DataFrame(lines), budget)
    dull = [a for a in budget if len(set(board[a].dropna().map(str))) <= 1]
    empty = [c for c in board.columns if c.endswith(" n") and (board[c] == "").all()]
    return board.drop(columns=[SORT, *dull, *empty]).reset_index(drop=True)


def ranked(board: pd.DataFrame, budget: list[str]) -> pd.DataFrame:
    """Return the lines of every budget in order of rank.

    A cell without an axis (a pure budget has no delta, the noiseless release no epsilon) competes
    at every value of it.
    """
    points = board[budget].drop_duplicates()
    whole = points[points.notna().all(axis=1)]
    groups = []
    for point in (whole if len(whole) else points).to_dict("records"):
        fits = pd.Series(data=True, index=board.index)
        for axis, value in point.items():
            fits &= board[axis].isna() | (board[axis] == value) | pd.isna(value)
        group = board[fits].copy()
        places = group[SORT].rank(method="min")
        group.insert(0, "rank", ["" if math.isnan(p) else str(int(p)) for p in places])
        for axis, value in point.items():
            group[axis] = value
        groups.append(group.sort_values(SORT, kind="stable", na_position="last"))
    return pd.concat(groups)


def headline(rows: pd.DataFrame, metric: str) -> float:
    """Return the cell's number for a metric: over attacks the largest, NaN where there is none."""
    chosen = headline_row(rows, metric)
    return math.nan if chosen is None else float(chosen["value"])


def headline_row(rows: pd.DataFrame, metric: str) -> Plain | None:
    """Return the row that stands for a metric: no statistic, the strongest attack."""
    found = rows[(rows["metric"] == metric) & (rows["statistic"] == "")]
    if found.empty:
        return None
    plain = found[found["attack"] == ""]
    found = plain if not plain.empty else found
    return found.loc[found["value"].idxmax()].to_dict() if found["value"].notna().any() else None


def cell_text(rows: pd.DataFrame, metric: str) -> tuple[str, str]:
    """Return a number with its interval, and its n; a hole is ``-``."""
    found = headline_row(rows, metric)
    if found is None:
        missing = {"claimed": "none", "certified": "-"}.get(
            metric, "not computable" if metric in LEDGER else "-"
        )
        return (missing if rows["status"].iloc[0] == FINISHED else "-"), ""
    value, low, high = found["value"], found["lower"], found["upper"]
    if metric == "certified":
        return f">= {value:.3g}", ""
    if found["method"] == "bracket":
        return f"[{low:.4g}, {high:.4g}]", ""
    if not found["n"]:
        return f"{value:.4g}", ""
    return f"{value:.4g} [{low:.4g}, {high:.4g}]", str(int(found["n"]))
