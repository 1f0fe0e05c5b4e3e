"""Estimated quantities with their intervals beside computed ones, a panel a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from bench.core.labels import format_number
from bench.figures.against_budget import COLOURS
from bench.figures.against_parameter import MARKERS

TOP = 0.93  # of the panel's height: where infinite values stand


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One metric against its parameter.

    Parameters
    ----------
    metric : str
    label, axis_label : str
        Axis labels, with units.
    log : sequence of str
        Which of "x", "y" are logarithmic.
    limits : (float, float) or None
        Of the vertical axis.
    axis : str
        Column of the horizontal axis.
    attack : str
        Whose rows are drawn; empty for metrics of no attack.
    where : mapping of column to value
        Selects rows, for tables with more axes; a list selects several values.
    """

    metric: str
    label: str
    axis_label: str
    log: Sequence[str] = ()
    limits: Sequence[float] | None = None
    axis: str = "x"
    attack: str = ""
    where: Mapping[str, object] = field(default_factory=dict)

    def rows(self, table: pd.DataFrame) -> pd.DataFrame:
        """Select the rows that are drawn."""
        kept = (table["metric"] == self.metric) & (table["attack"] == self.attack)
        kept &= table["statistic"] == ""
        for column, value in self.where.items():
            several = list(value) if isinstance(value, list | tuple) else [value]
            kept &= table[column].isin(several) if column in table else False
        return table[kept]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """Draw metrics side by side: bars are intervals, lines without bars are computed.

    Parameters
    ----------
    panels : sequence of Panel
    split : str
        Column whose values make lines of their own, if any; equal values have equal colours.
    words : mapping of quantity to str
        Words in the legend, where they are not the quantity's label.
    """

    panels: Sequence[Panel]
    split: str = ""
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that are drawn."""
        return tuple(panel.metric for panel in self.panels)

    def draw(self, table: pd.DataFrame) -> Figure:
        """Draw the figure of a tidy table."""
        size = (max(7.5, 0.6 + 4.2 * len(self.panels)), 4.6)
        figure = Figure(figsize=size, layout="constrained")
        for axes, panel in zip(
            figure.subplots(1, len(self.panels), squeeze=False).flat, self.panels, strict=True
        ):
            self._draw_panel(axes, panel, panel.rows(table))
        return figure

    def _draw_panel(self, axes: Axes, panel: Panel, rows: pd.DataFrame) -> None:
        by_split = self.split if self.split in rows else "mechanism"
        colours = {v: COLOURS[i % len(COLOURS)] for i, v in enumerate(rows[by_split].unique())}
        keys = list(dict.fromkeys(["mechanism", by_split]))
        for i, (key, own) in enumerate(rows.groupby(keys, sort=False, dropna=False)):
            name = self.words.get(str(key[0]), str(key[0]).replace("_", " "))
            parts = [*(_value(by_split, k) for k in key[1:] if pd.notna(k)), name]
            synthetic = (own["data"] == "synthetic").any()
            label = ", ".join([*parts, *["synthetic"] * bool(synthetic)])
            colour = colours[own[by_split].iloc[0]]
            own = own.assign(x=own[panel.axis].astype(float)).sort_values("x")
            self._draw_line(axes, own, label, colour, i)
        for axis in panel.log:
            getattr(axes, f"set_{axis}scale")("log")
        if "x" not in panel.log and (rows[panel.axis] % 1 == 0).all():
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        if np.isposinf(rows["value"].astype(float)).any():
            axes.text(
                0.97, TOP - 0.12, "arrows: infinite", fontsize=8, ha="right",
                transform=axes.transAxes,
            )  # fmt: skip
        if panel.limits is not None:
            axes.set_ylim(*panel.limits)
        axes.set_xlabel(panel.axis_label, fontsize=8)
        axes.set_ylabel(panel.label, fontsize=8)
        axes.tick_params(labelsize=7, which="both")
        axes.grid(visible=True, alpha=0.25, linewidth=0.5)
        if axes.get_legend_handles_labels()[0]:
            note = _note(rows)
            axes.legend(
                fontsize=6.5, loc="upper center", bbox_to_anchor=(0.5, -0.16), title=note,
                title_fontsize=6.5, ncols=1,
            )  # fmt: skip

    def _draw_line(self, axes: Axes, rows: pd.DataFrame, label: str, colour: str, i: int) -> None:
        marker = MARKERS[i % len(MARKERS)]
        x, y, low, high = (
            rows[c].to_numpy(dtype=np.float64) for c in ("x", "value", "lower", "upper")
        )
        shown, endless = np.isfinite(y), np.isposinf(y)
        if (rows["n"] > 0).any():
            ends = np.where(np.isfinite(high), high, y)  # an open end is not drawn
            bars = np.stack([y - low, ends - y])[:, shown]
            axes.errorbar(
                x[shown], y[shown], yerr=bars, fmt=marker, ms=4, mfc="none", mew=0.8, lw=0,
                elinewidth=0.9, capsize=2, color=colour, label=label,
            )  # fmt: skip
        else:
            axes.plot(
                x[shown], y[shown], marker=marker if endless.any() else "", ms=6, mfc="none",
                lw=1, color=colour, label=label,
            )  # fmt: skip
        if endless.any():
            axes.plot(
                x[endless], np.full(endless.sum(), TOP), "^", color=colour, mfc="none",
                ms=6 + 4 * i,  # arrows coincide: different sizes stay visible
                transform=axes.get_xaxis_transform(), clip_on=False,
            )  # fmt: skip


def _value(column: str, value: object) -> str:
    """Return a value that tells lines apart, numbers with what they are."""
    number = isinstance(value, int | float)
    return f"{column} {format_number(value)}" if number else str(value)


def _note(rows: pd.DataFrame) -> str:
    """Return what bars and lines are, and over how many trials."""
    sampled = rows[rows["n"] > 0]
    if sampled.empty:
        return "computed, no sampling"
    counts = sorted(set(sampled["n"].astype(int)))
    n = f"n = {counts[0]:,}" if len(counts) == 1 else f"n from {counts[0]:,} to {counts[-1]:,}"
    level = "99 %" if sampled["method"].str.contains("99 %").all() else "95 %"
    lines = "; lines: computed" if (rows["n"] == 0).any() else ""
    return f"bars: {level} intervals, {n}{lines}"
