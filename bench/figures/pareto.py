"""Error against leakage, a panel a scenario: which cells nothing beats in both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.figures.against_budget import COLOURS
from bench.figures.against_parameter import MARKERS

SAME = 1e-6  # exact numbers closer than this are equal: matched ones are met to that
ENDS = ("error_lower", "error_upper", "leakage_lower", "leakage_upper")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pareto:
    """Draw every cell by its error and its leakage, and tell which ones are on the front.

    Leakage is the exact ceiling on any attack's accuracy, or, where there is none or an attack
    exceeds it (its law is not that of the records), the best attack's accuracy with its interval.
    A cell beats another only where it is no worse in both and better in one, intervals apart.

    Parameters
    ----------
    error : str
        Metric of the error.
    label : str
        Its axis label, with its unit.
    """

    error: str
    label: str

    def table(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return one line a cell with both numbers: intervals, and whether it is on the front."""
        lines: list[dict[str, object]] = []
        grouped = table.groupby(["scenario", "cell"], sort=False) if len(table) else ()
        for (scenario, cell), rows in grouped:
            error, leakage = self._error(rows), leakage_of(rows)
            if error is not None and leakage is not None:
                head = {"scenario": scenario, "mechanism": rows["mechanism"].iloc[0], "cell": cell}
                lines.append(head | error | leakage)
        columns = ["scenario", "mechanism", "cell", "error", "leakage", *ENDS, "leakage_by", "n"]
        found = pd.DataFrame(lines, columns=None if lines else columns)
        front = pd.Series(index=found.index, dtype=bool)
        for _, own in found.groupby("scenario", sort=False):
            front[own.index] = on_front(own[list(ENDS)].to_numpy(np.float64))
        return found.assign(on_front=front)

    def _error(self, rows: pd.DataFrame) -> dict[str, float] | None:
        found = rows[(rows["metric"] == self.error) & (rows["statistic"] == "")]
        found = found[found["value"].notna()]
        if found.empty:
            return None
        first = found.iloc[0]
        return {"error": first["value"], "error_lower": first["lower"],
                "error_upper": first["upper"]}  # fmt: skip

    def draw(self, table: pd.DataFrame) -> Figure:
        """Draw the figure of a tidy table."""
        found = self.table(table)
        names = list(dict.fromkeys(found["mechanism"]))
        scenarios = list(dict.fromkeys(found["scenario"]))
        size = (2.6 + 4.2 * max(1, len(scenarios)), 4.2)
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(1, max(1, len(scenarios)), squeeze=False).flat
        for axes, scenario in zip(panels, scenarios, strict=False):
            self._panel(axes, found[found["scenario"] == scenario], names)
            axes.set_title(str(scenario).replace("_", " "), fontsize=8)
        handles, labels = [], []
        for axes in figure.axes:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                if label not in labels:
                    handles.append(handle)
                    labels.append(label)
        if handles:
            figure.legend(
                handles, labels, loc="outside right center", fontsize=6.5, title_fontsize=6.5,
                title="filled: on the front\nbars: 95 % intervals",
            )  # fmt: skip
        return figure

    def _panel(self, axes: Axes, rows: pd.DataFrame, names: list[str]) -> None:
        for i, name in enumerate(names):
            for on, own in rows[rows["mechanism"] == name].groupby("on_front"):
                x, x_low, x_high, y, low, high = (
                    own[c].to_numpy(np.float64)
                    for c in ("error", "error_lower", "error_upper", "leakage", *ENDS[2:])
                )
                colour = COLOURS[i % len(COLOURS)]
                axes.errorbar(
                    x, y, xerr=np.stack([x - x_low, x_high - x]),
                    yerr=np.stack([y - low, high - y]), fmt=MARKERS[i % len(MARKERS)], ms=5,
                    mfc=colour if on else "none", mew=0.8, lw=0, elinewidth=0.7, color=colour,
                    label=name.replace("_", " ") if on or not rows["on_front"].any() else None,
                )  # fmt: skip
            if (
                name in set(rows["mechanism"])
                and not (rows["on_front"] & (rows["mechanism"] == name)).any()
            ):
                axes.plot(
                    [], [], MARKERS[i % len(MARKERS)], ms=5, mfc="none", mew=0.8,
                    color=COLOURS[i % len(COLOURS)], label=name.replace("_", " "),
                )  # fmt: skip
        if (rows["error"] > 0).all():
            axes.set_xscale("log")
        axes.axhline(0.5, color="#7F7F7F", lw=0.7, ls=":")
        axes.set_xlabel(self.label, fontsize=8)
        axes.set_ylabel("accuracy of the best attack, or its ceiling", fontsize=8)
        axes.tick_params(labelsize=7, which="both")
        axes.grid(visible=True, alpha=0.25, linewidth=0.5)


def leakage_of(rows: pd.DataFrame) -> dict[str, object] | None:
    """Return a cell's leakage, its interval and what it rests on, or None where there is none."""
    plain = rows[(rows["statistic"] == "") & rows["value"].notna()]
    attacks = plain[(plain["metric"] == "acc") & (plain["attack"] != "")]
    ceiling = plain[plain["metric"] == "ceiling"]
    best = attacks.loc[attacks["value"].idxmax()] if len(attacks) else None
    if len(ceiling):
        top = ceiling.iloc[0]
        if best is None or best["lower"] <= top["upper"]:
            return {"leakage": top["upper"], "leakage_lower": top["lower"],
                    "leakage_upper": top["upper"], "leakage_by": "exact", "n": 0}  # fmt: skip
    if best is None:
        return None
    return {"leakage": best["value"], "leakage_lower": best["lower"],
            "leakage_upper": best["upper"], "leakage_by": best["attack"],
            "n": int(best["n"])}  # fmt: skip


def on_front(ends: np.ndarray) -> np.ndarray:
    """Return which rows (error lower, upper, leakage lower, upper) no other row beats.

    Examples
    --------
    >>> on_front(np.array([[1, 1, 0.6, 0.6], [2, 2, 0.6, 0.6], [0.9, 1.1, 0.58, 0.7]])).tolist()
    [True, False, True]
    """
    error_low, error_high, low, high = ends.T
    slack = SAME * np.abs(error_low)
    no_worse = (error_high[:, None] <= error_low + slack) & (high[:, None] <= low + SAME)
    better = (error_high[:, None] < error_low - slack) | (high[:, None] < low - SAME)
    beaten: np.ndarray = (no_worse & better).any(axis=0)
    return ~beaten
