"""Curves in a grid of panels: one line a quantity, the same colour in every panel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.config.build import ConfigError, unknown
from bench.core.labels import format_number
from bench.figures.against_budget import COLOURS


@dataclass(frozen=True, slots=True, kw_only=True)
class Panels:
    """Draw one metric of a curve study.

    Parameters
    ----------
    metric : str
    label : str
        Axis label of the metric, with its unit.
    axis_label : str or mapping of row value to str
        Axis label of the parameter, with its unit.
    columns, rows : str
        Columns of the table whose values make the panels' columns and rows; empty for one.
    lines : mapping of mechanism to str
        Which quantities are drawn, and their words in the legend; empty draws all.
    split : str
        Column whose values make lines of their own, if any.
    log : sequence of str
        Which of "x", "y" are logarithmic.
    limits : mapping of column value to float
        Published values, drawn as dashed horizontal lines.
    source : str
        Where the published values come from.
    unit : mapping of column value to str
        Unit of the query, by data set, appended to the panel's title.
    """

    metric: str
    label: str
    axis_label: str | Mapping[str, str] = "order (alpha)"
    columns: str = "dataset"
    rows: str = ""
    lines: Mapping[str, str] = field(default_factory=dict)
    split: str = ""
    log: Sequence[str] = ()
    limits: Mapping[str, float] = field(default_factory=dict)
    source: str = ""
    unit: Mapping[str, str] = field(default_factory=dict)

    def draw(self, table: pd.DataFrame) -> Figure:
        """Draw the figure of a tidy table."""
        for name in (self.columns, self.rows):
            if name and name not in table:
                raise ConfigError(f"panels: {unknown('column', name, map(str, table.columns))}")
        table = table[table["metric"] == self.metric]
        if self.lines:
            table = table[table["mechanism"].isin(self.lines)]
        columns, rows = _values(table, self.columns), _values(table, self.rows)
        keys = self._keys(table)
        colours = {key: COLOURS[i % len(COLOURS)] for i, key in enumerate(keys)}
        size = (1.2 + 2.6 * len(columns), 1.1 + 2.1 * len(rows))
        figure = Figure(figsize=size, layout="constrained")
        share: Literal["all", "row"] = "all" if isinstance(self.axis_label, str) else "row"
        panels = figure.subplots(len(rows), len(columns), squeeze=False, sharex=share)
        for i, row in enumerate(rows):
            for j, column in enumerate(columns):
                here = _where(_where(table, self.columns, column), self.rows, row)
                self._panel(panels[i, j], here, colours, column, row)
        handles, labels = [], []
        for panel in panels.flat:
            for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
                if label not in labels:
                    handles.append(handle)
                    labels.append(label)
        figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=7)
        return figure

    def _panel(
        self,
        axes: Axes,
        table: pd.DataFrame,
        colours: Mapping[str, str],
        column: object,
        row: object,
    ) -> None:
        hidden = []
        for key, colour in colours.items():
            own = table[self._key(table) == key].sort_values("x")
            if own.empty:
                continue
            x, y = (own[c].to_numpy(dtype=np.float64) for c in ("x", "value"))
            shown = np.isfinite(y) & ((y > 0) | ("y" not in self.log))
            if not shown.any():
                hidden.append(key)
                continue
            axes.plot(x[shown], y[shown], "-", marker=".", ms=3, lw=1, color=colour, label=key)
        if str(column) in self.limits:
            axes.axhline(
                self.limits[str(column)], color="#7F7F7F", lw=0.9, ls="--", label=self.source
            )
        for name in self.log:
            getattr(axes, f"set_{name}scale")("log")
        parts = [str(column)] if self.columns else []
        parts += [f"{self.rows} {row:g}" if isinstance(row, float) else f"by {row}"] * bool(row)
        axes.set_title(", ".join(parts), fontsize=8)
        words = self.axis_label if isinstance(self.axis_label, str) else self.axis_label[str(row)]
        axes.set_xlabel(words, fontsize=7)
        axes.tick_params(labelbottom=True)
        unit = self.unit.get(str(column), "")
        axes.set_ylabel(f"{self.label}{f' ({unit})' if unit else ''}", fontsize=7)
        axes.tick_params(labelsize=6, which="both")
        axes.grid(visible=True, alpha=0.25, linewidth=0.5)
        if hidden:
            note = "no noise is needed:\n" + "\n".join(hidden)
            axes.text(
                0.98, 0.97, note, fontsize=5.5, ha="right", va="top", transform=axes.transAxes
            )

    def _key(self, table: pd.DataFrame) -> pd.Series:
        """Return the legend's words for every row."""
        words = table["mechanism"].map(lambda name: self.lines.get(name, name.replace("_", " ")))
        if self.split not in table:
            return words
        ends = table[self.split].map(
            lambda v: "" if pd.isna(v) else f", {self.split} {format_number(v)}"
        )
        return words + ends

    def _keys(self, table: pd.DataFrame) -> list[str]:
        return list(dict.fromkeys(self._key(table)))


def _values(table: pd.DataFrame, column: str) -> list[object]:
    return list(dict.fromkeys(table[column].dropna())) if column else [""]


def _where(table: pd.DataFrame, column: str, value: object) -> pd.DataFrame:
    """Select a panel's rows; a quantity without the column is drawn in every panel."""
    if not column:
        return table
    return table[(table[column] == value) | table[column].isna()]
