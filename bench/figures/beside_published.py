"""Published numbers beside ours: a table, and a picture of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from bench.figures.published_values import read_published


@dataclass(frozen=True, slots=True, kw_only=True)
class BesidePublished:
    """Compare one metric with values of a source.

    Parameters
    ----------
    metric, attack : str
    label : str
        Axis label of the metric, with its unit.
    published : str
        A table of `bench/figures/published`: coordinates of cells (mechanism, epsilon, ...), the
        ``value`` of each, and the source.
    ours : mapping of column to {name in the table: our name, or several}
        See `bench.figures.published_values.read_published`.
    note : str
        Why they may differ.
    log : bool
        Logarithmic axis.
    where : mapping of column to value
        Selects rows, for tables with more axes.
    """

    metric: str
    label: str
    published: str
    ours: Mapping[str, Mapping[str, str | Sequence[str]]] = field(default_factory=dict)
    attack: str = ""
    note: str = ""
    log: bool = False
    where: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._values()  # refuse unknown names before anything runs

    def _values(self) -> tuple[str, list[dict[str, Any]]]:
        source, values = read_published(self.published, self.ours, self.metric)
        return source, values.to_dict("records")

    def table(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the published values with ours: value, interval, ratio; NaN where not run."""
        rows = table[(table["metric"] == self.metric) & (table["statistic"] == "")]
        rows = rows[rows["attack"] == self.attack]
        for column, value in self.where.items():
            rows = rows[rows[column] == value]
        lines = []
        for entry in self._values()[1]:
            found = rows
            for column, value in entry.items():
                if column != "value":
                    found = found[found[column] == value] if column in found else found[:0]
            line = {k: v for k, v in entry.items() if k != "value"}
            ours = found.iloc[0] if len(found) else pd.Series(dtype=float)
            line |= {"published": float(entry["value"]), "ours": ours.get("value", float("nan"))}
            line |= {"lower": ours.get("lower", float("nan"))}
            line |= {"upper": ours.get("upper", float("nan")), "n": ours.get("n", 0)}
            line["ours/published"] = line["ours"] / line["published"]
            lines.append(line)
        return pd.DataFrame(lines)

    def draw(self, table: pd.DataFrame) -> Figure:
        """Draw one line a published value: ours with its interval, theirs hollow."""
        source, published = self._values()
        compared = self.table(table)
        names = [
            " ".join(str(v) if isinstance(v, str) else f"{k}={v:g}" for k, v in entry.items()
                     if k != "value").replace("_", " ")
            for entry in published
        ]  # fmt: skip
        figure = Figure(figsize=(7.5, 0.26 * len(names) + 1.6), layout="constrained")
        axes = figure.add_subplot()
        places = list(range(len(names)))
        axes.hlines(places, compared["lower"], compared["upper"], color="#0072B2", linewidth=2)
        axes.plot(compared["ours"], places, ".", color="#0072B2", label="ours, 95 % interval")
        axes.plot(compared["published"], places, "o", mfc="none", color="#D55E00", label=source)
        axes.set_yticks(places, names, fontsize=7)
        axes.invert_yaxis()
        if self.log:
            axes.set_xscale("log")
        axes.set_xlabel(self.label)
        axes.set_ylabel("cell")
        axes.grid(visible=True, axis="x", alpha=0.25, linewidth=0.5)
        axes.legend(fontsize=7, title=self.note or None, title_fontsize=6.5)
        return figure
