"""The ledger against the budget: claimed, exact and certified leakage, a panel a mechanism."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.config.build import ConfigError, unknown
from bench.core.entry_rows import one_entry
from bench.core.labels import format_number

TOP = {"claimed": 0.97, "exact": 0.88}  # of a panel's height: where infinite values stand
CLAIMED, EXACT, RECORDED, CERTIFIED = "#7F7F7F", "#0072B2", "#009E73", "#D55E00"
TOLD = {  # verdicts that a panel's title tells, the worst first, and their colours
    "violated": "#B00000", "model misfit": "#D55E00", "suspect": "#D55E00",
    "holds (model)": "#0072B2",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """Draw the numbers of the ledger against one axis.

    Parameters
    ----------
    axis : str
        Column of the horizontal axis.
    axis_label : str
        With its unit.
    label : str
        Axis label of the leakage, with its unit.
    columns : int
        Panels a row.
    split : str
        Column of which each value makes a panel of its own, where a mechanism has several.
    where : mapping of column to value
        Selects rows, for tables with more axes.
    log : sequence of str
        Which of "x", "y" are logarithmic, y above .1.
    """

    axis: str = "epsilon"
    axis_label: str = "budget epsilon (nats)"
    label: str = "leakage (nats)"
    columns: int = 4
    split: str = "order"
    where: Mapping[str, object] = field(default_factory=dict)
    log: Sequence[str] = ()

    def draw(self, table: pd.DataFrame) -> Figure:
        """Draw the figure of a tidy table."""
        table = one_entry(table)
        for column, value in self.where.items():
            if column not in table:
                raise ConfigError(f"where: {unknown('column', column, map(str, table.columns))}")
            table = table[table[column] == value]
        if self.split in table:
            several = table.groupby("mechanism")[self.split].transform("nunique") > 1
            marked = table["mechanism"] + f", {self.split} " + table[self.split].map(format_number)
            table = table.assign(mechanism=table["mechanism"].where(~several, marked))
        names = list(dict.fromkeys(table["mechanism"]))
        rows = math.ceil(len(names) / self.columns)
        figure = Figure(figsize=(2.4 * self.columns, 2.1 * rows + 1.0), layout="constrained")
        panels = figure.subplots(rows, self.columns, squeeze=False)
        for panel, name in zip(panels.flat, names, strict=False):
            self._panel(panel, table[table["mechanism"] == name], name)
        low, high = (
            (table[self.axis].min(), table[self.axis].max()) if self.axis in table else (0, 0)
        )
        if high > low:
            for panel in panels.flat:
                if "x" in self.log and low > 0:
                    panel.set_xscale("log")
                    panel.set_xlim(low * (low / high) ** 0.05, high * (high / low) ** 0.05)
                else:
                    panel.set_xlim(low - 0.05 * (high - low), high + 0.05 * (high - low))
        for panel in panels.flat[len(names) :]:
            panel.set_visible(False)
        for panel in panels.flat[max(0, len(names) - self.columns) : len(names)]:
            panel.set_xlabel(self.axis_label, fontsize=7)  # the last of each column
        figure.supylabel(self.label, fontsize=8)
        drawn = (panel.get_legend_handles_labels() for panel in panels.flat)
        handles = max(drawn, key=lambda found: len(found[1]))  # not every panel has every number
        endless = np.isposinf(table["value"].astype(float)) & table["metric"].isin(TOP)
        note = "arrows: infinite (a claim of inf is unbounded)" if endless.any() else None
        figure.legend(
            *handles, loc="outside lower center", ncols=2, fontsize=7, title=note, title_fontsize=7
        )
        return figure

    def _panel(self, axes: Axes, table: pd.DataFrame, name: str) -> None:
        axes.set_title(name.replace("_", " "), fontsize=7)
        axes.tick_params(labelsize=6)
        axes.grid(visible=True, alpha=0.25, linewidth=0.5)
        styles = {
            "claimed": ("--", CLAIMED, "claimed"),
            "exact": ("-", EXACT, "exact under the model (shaded: bracket)"),
            "exact_recorded": ("-", RECORDED, "exact on records (shaded: 95 %)"),
            "certified": (
                ".",
                CERTIFIED,
                "certified by the attacks (lower bound, 95 %; dotted without budget)",
            ),
        }
        found = [verdict for verdict in TOLD if (table["verdict"] == verdict).any()]
        if found:
            told = f"{axes.get_title()}: {', '.join(found)}"
            axes.set_title(told, fontsize=7, color=TOLD[found[0]])
        exact = table.loc[table["metric"] == "exact", "value"].astype(float)
        if np.isinf(exact).any():
            axes.set_title(f"{axes.get_title()}: exact infinite", fontsize=7)
        for metric, (style, colour, label) in styles.items():
            if metric == "exact_recorded" and not (table["metric"] == metric).any():
                continue
            rows = table[(table["metric"] == metric) & (table["attack"] == "")]
            if self.axis not in rows or rows[self.axis].isna().all():
                for value in rows.loc[np.isfinite(rows["value"].astype(float)), "value"]:
                    axes.axhline(value, linestyle=":", color=colour, linewidth=1)
                rows = rows.iloc[:0]
            else:
                rows = rows.sort_values(self.axis)
            x = rows[self.axis].to_numpy(dtype=np.float64) if self.axis in rows else np.empty(0)
            y = rows["value"].to_numpy(dtype=np.float64)
            axes.plot(x, y, style, color=colour, linewidth=1, ms=4, label=label)
            if metric in TOP:
                if np.isfinite(y).sum() == 1:  # a line of one point would not be seen
                    axes.plot(x, y, "s", color=colour, ms=4, mfc="none", clip_on=False)
                endless = x[np.isposinf(y)]
                if endless.size:
                    axes.plot(
                        endless, np.full(endless.size, TOP[metric]), "^", color=colour, ms=5,
                        mfc="none", transform=axes.get_xaxis_transform(),
                    )  # fmt: skip
            if metric in ("exact", "exact_recorded") and len(rows):
                axes.fill_between(
                    x, rows["lower"].astype(float), rows["upper"].astype(float),
                    color=colour, alpha=0.2, linewidth=0,
                )  # fmt: skip
        if "y" in self.log and axes.dataLim.y1 > 0:
            axes.set_yscale("symlog", linthresh=0.1)  # 0 has a place
        axes.set_ylim(bottom=0)
