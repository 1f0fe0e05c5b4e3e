"""The leaderboard table: one line a cell, mechanisms ranked at equal budget."""

from __future__ import annotations

import math

import pandas as pd

from bench.cell import FINISHED, Plain

LEDGER = ("claimed", "exact", "certified")
RISING = ("acc", "bal_acc", "auc", "tpr", "adv", "hit", "ndcg")
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
    shown = list(dict.fromkeys([*show, sort]))
    lines = []
    for _, rows in table.groupby("cell", sort=False):
        head: Plain = {axis: rows[axis].iloc[0] for axis in axes}
        head["verdict"] = rows["verdict"].iloc[0] or rows["status"].iloc[0]
        for metric in (*LEDGER, *(m for m in shown if m not in LEDGER)):
            head[metric], head[f"{metric} n"] = cell_text(rows, metric)
        head["_sort"] = headline(rows, sort)
        lines.append(head)
    board = pd.DataFrame(lines)
    budget = [axis for axis in axes if axis != "mechanism"]
    keys = [board[axis].astype(object).where(board[axis].notna(), "any") for axis in budget]
    group = list(zip(*keys, strict=True)) if keys else [()] * len(board)
    board.insert(0, "rank", board.groupby(pd.Index(group), sort=False)["_sort"].rank(method="min"))
    board["rank"] = [("" if math.isnan(r) else f"{int(r)}") for r in board["rank"]]
    board["_group"] = pd.factorize(pd.Series(group, dtype=object))[0]
    board = board.sort_values(["_group", "_sort"], kind="stable", na_position="last")
    constant = [a for a in budget if len(set(board[a].map(str))) == 1]
    board = board.drop(columns=["_sort", "_group", *constant])
    empty = [c for c in board.columns if c.endswith(" n") and (board[c] == "").all()]
    return board.drop(columns=empty).reset_index(drop=True)


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
        missing = {"claimed": "none", "exact": "not computable"}.get(metric, "-")
        return (missing if rows["status"].iloc[0] == FINISHED else "-"), ""
    value, low, high = found["value"], found["lower"], found["upper"]
    if metric == "certified":
        return f">= {value:.3g}", ""
    if found["method"] == "bracket":
        return f"[{low:.4g}, {high:.4g}]", ""
    if not found["n"]:
        return f"{value:.4g}", ""
    return f"{value:.4g} [{low:.4g}, {high:.4g}]", str(int(found["n"]))
