"""The ledger of a sweep: what every cell claims, exactly leaks, and what attacks certify."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure

COLOURS: Mapping[str, str] = {"claimed": "#D55E00", "exact": "#000000", "certified": "#0072B2"}
MARKS: Mapping[str, str] = {"claimed": "|", "exact": "o", "certified": ">"}
WORDS: Mapping[str, str] = {
    "claimed": "claimed (upper bound)",
    "exact": "exact under the model (bar: bracket)",
    "certified": "certified by the best attack (lower bound, 95 %)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerBars:
    """Draw one line a cell, with its three numbers in the unit of the cell's own claim.

    Parameters
    ----------
    label : str
        Axis label, with its unit.
    """

    label: str = "epsilon of the cell's own claim (nats)"

    def draw(self, table: pd.DataFrame) -> Figure:
        """Draw the figure of a tidy table."""
        rows = table[table["metric"].isin(COLOURS) & (table["attack"] == "")]
        cells = list(dict.fromkeys(rows["cell"]))
        place = {cell: -i for i, cell in enumerate(cells)}
        figure = Figure(figsize=(8.5, 1.4 + 0.19 * len(cells)), layout="constrained")
        axes = figure.add_subplot()
        for metric, colour in COLOURS.items():
            own = rows[rows["metric"] == metric]
            heights = [place[cell] for cell in own["cell"]]
            if metric == "exact":
                axes.hlines(heights, own["lower"], own["upper"], color=colour, linewidth=1)
            axes.plot(
                own["value"], heights, MARKS[metric], color=colour, label=WORDS[metric],
                ms=9 if metric == "claimed" else 4, linestyle="none",
            )  # fmt: skip
        axes.set_yticks(list(place.values()), labels=cells, fontsize=6.5)
        axes.set_xlabel(self.label)
        axes.grid(visible=True, axis="both", alpha=0.25, linewidth=0.5)
        figure.legend(fontsize=7, loc="outside lower center", ncols=3)
        return figure
