"""Computed quantities against a parameter: one line a quantity, published values hollow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from bench.figures.against_budget import COLOURS

MARKERS = "osxv^+D"  # lines that coincide stay visible


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstParameter:
    """Draw the quantities of a curve study.

    Parameters
    ----------
    metric : str
    label, axis_label : str
        Axis labels, with units.
    log : sequence of str
        Which of "x", "y" are logarithmic.
    published : mapping of quantity to {"x": [...], "y": [...]}
        Values of the source, drawn as hollow circles.
    source : str
        Where the published values come from.
    floor : float
        Smallest value shown on a logarithmic axis; smaller ones (a 0, say) are left out.
    where : mapping of column to value
        Selects rows, for tables with more axes.
    split : str
        Column whose values make lines of their own, if any.
    """

    metric: str
    label: str
    axis_label: str
    log: Sequence[str] = ()
    published: Mapping[str, Mapping[str, Sequence[float]]] = field(default_factory=dict)
    source: str = ""
    floor: float = 1e-6
    where: Mapping[str, object] = field(default_factory=dict)
    split: str = ""

    def draw(self, table: pd.DataFrame) -> Figure:
        """Draw the figure of a tidy table."""
        for column, value in self.where.items():
            table = table[table[column] == value]
        rows = table[table["metric"] == self.metric]
        keys = ["mechanism", *([self.split] if self.split in rows else [])]
        figure = Figure(figsize=(7.5, 4.6), layout="constrained")
        axes = figure.add_subplot()
        notes: set[str] = set()
        for i, (key, own) in enumerate(rows.groupby(keys, sort=False, dropna=False)):
            colour = COLOURS[i % len(COLOURS)]
            name = str(key[0])
            label = " ".join(str(k).replace("_", " ") for k in key if pd.notna(k))
            finite = own[np.isfinite(own["value"].astype(float))].sort_values("x")
            x, y, low, high = (
                finite[c].to_numpy(dtype=np.float64) for c in ("x", "value", "lower", "upper")
            )
            if "y" in self.log:
                seen = y >= self.floor
                x, y, high = x[seen], y[seen], high[seen]
                low = np.maximum(low[seen], self.floor)
            bounds = (own["method"] == "bracket").any()
            one_sided = bounds and not (own["lower"] > 0).any()  # nothing is known from below
            axes.plot(
                x, y, "--" if one_sided else "-", marker=MARKERS[i % len(MARKERS)], ms=4,
                mfc="none", mew=0.7, color=colour, linewidth=1, label=label,
            )  # fmt: skip
            notes |= {"dashed: upper bound"} if one_sided else set()
            if bounds and not one_sided:
                notes.add("shaded: bracket")
                axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
            if name in self.published:
                points = self.published[name]
                axes.plot(points["x"], points["y"], "o", mfc="none", color=colour, ms=8)
        for axis in self.log:
            getattr(axes, f"set_{axis}scale")("log")
        axes.set_xlabel(self.axis_label)
        axes.set_ylabel(self.label)
        axes.grid(visible=True, alpha=0.25, linewidth=0.5)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(
                fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5),
                title=self._note(notes), title_fontsize=6.5,
            )  # fmt: skip
        return figure

    def _note(self, notes: set[str]) -> str:
        lines = ["computed, no sampling", *sorted(notes)]
        if self.published:
            lines.append(f"hollow: {self.source}")
        return "\n".join(lines)
