"""A metric against the budget: one line a mechanism, intervals shaded, published values hollow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from bench.config.build import ConfigError, unknown
from bench.figures.crossing import crossing

COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#7F7F7F",
    "#8C564B", "#9467BD", "#BCBD22", "#17BECF",
)  # fmt: skip
FEW = 8  # values that are told on a logarithmic axis, each one
APART = 1.03  # factor between mechanisms that share a single place


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstBudget:
    """Draw one metric against one axis.

    Parameters
    ----------
    metric : str
    label : str
        Axis label of the metric, with its unit.
    attack : str
        The attack whose rows are drawn; empty for utility metrics.
    beside : str
        Another attack, drawn dotted for comparison; empty for none.
    axis : str
        Column of the horizontal axis.
    axis_label : str
        With its unit.
    ceiling : str or None
        Metric of the computed ceiling, drawn dashed (a band where it is a bracket).
    log : sequence of str
        Which of "x", "y" are logarithmic.
    published : mapping of mechanism to {"x": [...], "y": [...]}
        Values of the source, drawn as hollow circles.
    source : str
        Where the published values come from.
    where : mapping of column to value
        Selects rows, for tables with more axes; a list selects several values.
    crossing : pair of mechanisms, or None
        Mark where the first one's curve rises above the second one's.
    """

    metric: str
    label: str
    attack: str = ""
    beside: str = ""
    axis: str = "epsilon"
    axis_label: str = "epsilon (nats)"
    ceiling: str | None = None
    log: Sequence[str] = ("x",)
    published: Mapping[str, Mapping[str, Sequence[float]]] = field(default_factory=dict)
    source: str = ""
    where: Mapping[str, object] = field(default_factory=dict)
    crossing: tuple[str, str] | None = None

    def table(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the published values beside ours at the nearest point of the axis."""
        lines = []
        rows = self._rows(self._select(table))
        for name, points in self.published.items():
            own = rows[(rows["mechanism"] == name) & (rows["metric"] == self.metric)]
            for x, y in zip(points["x"], points["y"], strict=True):
                line = {"mechanism": name, self.axis: x, "published": y}
                if len(own):
                    gap = own[self.axis].astype(float).sub(x).abs().fillna(0.0)
                    nearest = own.loc[gap.idxmin()]
                    line |= {f"our {self.axis}": nearest[self.axis], "ours": nearest["value"]}
                    line |= {k: nearest[k] for k in ("lower", "upper", "n")}
                lines.append(line)
        if self.crossing is not None:
            value, low, high = crossing(rows, self.metric, self.axis, *self.crossing)
            name = " = ".join(self.crossing)
            lines.append({"mechanism": name, self.axis: value, "lower": low, "upper": high})
        return pd.DataFrame(lines)

    def _select(self, table: pd.DataFrame) -> pd.DataFrame:
        for column, value in self.where.items():
            if column not in table:
                raise ConfigError(f"where: {unknown('column', column, map(str, table.columns))}")
            several = list(value) if isinstance(value, list | tuple) else [value]
            table = table[table[column].isin(several)]
        return table

    def _rows(self, table: pd.DataFrame) -> pd.DataFrame:
        return table[(table["attack"] == self.attack) & (table["statistic"] == "")]

    def draw(self, table: pd.DataFrame) -> Figure:
        """Draw the figure of a tidy table."""
        figure = Figure(figsize=(7.5, 4.6), layout="constrained")
        axes = figure.add_subplot()
        table = self._select(table)
        rows = self._rows(table)
        mechanisms = list(dict.fromkeys(table["mechanism"]))
        found = pd.to_numeric(rows[self.axis], errors="coerce") if self.axis in rows else ()
        places = [float(place) for place in sorted(set(found)) if 0 < place < np.inf]
        for i, name in enumerate(mechanisms):
            colour = COLOURS[i % len(COLOURS)]
            here = table[table["mechanism"] == name]
            if len(places) == 1:  # side by side at the only place
                aside = APART ** (i - (len(mechanisms) - 1) / 2)
                here = here.assign(**{self.axis: here[self.axis].astype(float) * aside})
            own = self._rows(here)
            self._line(axes, own[own["metric"] == self.metric], name.replace("_", " "), colour)
            if self.beside:
                self._beside(axes, here, colour)
            if self.ceiling is not None:
                self._ceiling(axes, here, colour)
            if name in self.published:
                points = self.published[name]
                axes.plot(points["x"], points["y"], "o", mfc="none", color=colour, ms=5)
        if self.crossing is not None:
            value, low, high = crossing(rows, self.metric, self.axis, *self.crossing)
            axes.axvline(value, color="black", linewidth=0.6, linestyle=":")
            axes.axvspan(low, high, color="black", alpha=0.08, linewidth=0)
        if len(places) == 1:
            reach = APART ** len(mechanisms)
            axes.set_xlim(places[0] / reach, places[0] * reach)
        if "x" in self.log and places:
            axes.set_xscale("log")
            if len(places) <= FEW:
                axes.set_xticks(places, [f"{place:g}" for place in places])
                axes.xaxis.set_minor_locator(NullLocator())
        if "y" in self.log and (rows.loc[rows["metric"] == self.metric, "value"] > 0).any():
            axes.set_yscale("log")
        axes.set_xlabel(self.axis_label)
        axes.set_ylabel(self.label)
        axes.grid(visible=True, alpha=0.25, linewidth=0.5)
        if not axes.get_legend_handles_labels()[0]:
            nothing = f"no finished cell has {self.metric} {self.attack}".rstrip()
            axes.text(0.5, 0.5, nothing, ha="center", transform=axes.transAxes)
            return figure
        axes.legend(
            fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), title=self._note(rows),
            title_fontsize=6.5,
        )  # fmt: skip
        return figure

    def _line(self, axes: Axes, rows: pd.DataFrame, label: str, colour: str) -> None:
        rows = rows[rows["value"].notna()]
        if rows.empty:
            return
        if self.axis not in rows or rows[self.axis].isna().all():
            value, low, high = (float(rows[c].iloc[0]) for c in ("value", "lower", "upper"))
            if "y" in self.log and value <= 0:
                label += " (0 is not shown)"
            axes.axhline(value, color=colour, linewidth=1, label=label)
            if np.isfinite([low, high]).all():
                axes.axhspan(low, high, color=colour, alpha=0.15, linewidth=0)
            return
        rows = rows.sort_values(self.axis)
        x = rows[self.axis].to_numpy(dtype=np.float64)
        y, low, high = (rows[c].to_numpy(dtype=np.float64) for c in ("value", "lower", "upper"))
        if "y" in self.log:
            seen = y > 0  # what is exact has no place on a logarithmic axis
            label += "" if seen.all() else " (0 is not shown)"
            x, y, low, high = x[seen], y[seen], low[seen], high[seen]
        axes.plot(x, y, "-", marker=".", color=colour, linewidth=1, label=label)
        if x.size == 1:  # one budget has no area to shade
            axes.vlines(x, low, high, color=colour, alpha=0.4, linewidth=3)
        axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)

    def _beside(self, axes: Axes, table: pd.DataFrame, colour: str) -> None:
        rows = table[(table["attack"] == self.beside) & (table["metric"] == self.metric)]
        if rows.empty or self.axis not in rows or rows[self.axis].isna().all():
            return
        rows = rows.sort_values(self.axis)
        axes.plot(rows[self.axis].astype(float), rows["value"], ":", color=colour, marker="x", ms=4)

    def _ceiling(self, axes: Axes, table: pd.DataFrame, colour: str) -> None:
        rows = table[table["metric"] == self.ceiling]
        if rows.empty or self.axis not in rows or rows[self.axis].isna().all():
            return
        rows = rows.sort_values(self.axis)
        x = rows[self.axis].to_numpy(dtype=np.float64)
        axes.plot(x, rows["upper"], "--", color=colour, linewidth=0.8,
                  marker="_" if x.size == 1 else "")  # fmt: skip
        if (rows["method"] == "bracket").any():
            axes.plot(x, rows["lower"], ":", color=colour, linewidth=0.8)

    def _note(self, rows: pd.DataFrame) -> str:
        counts = rows.loc[rows["metric"] == self.metric, "n"]
        lines = ["shaded: 95 % intervals" + (f", n = {int(counts.max())}" if len(counts) else "")]
        if len(counts) and counts.max() == 0:
            lines = ["computed, no sampling"]
        if self.beside:
            lines.append(f"dotted, crosses: {self.beside.replace('_', ' ')}")
        if self.ceiling is not None:
            lines.append("dashed: Bayes ceiling under the model\n(dotted: its lower bracket)")
        if self.crossing is not None:
            lines.append("dotted line: crossing, with interval")
        if self.published:
            lines.append(f"hollow: {self.source}")
        return "\n".join(lines)
