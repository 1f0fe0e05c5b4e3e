"""A metric mechanism by mechanism where there is no axis: a point and its interval each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from bench.figures.against_budget import COLOURS


@dataclass(frozen=True, slots=True, kw_only=True)
class ByMechanism:
    """Draw one metric, a line of the figure a mechanism and a colour a scenario.

    Parameters
    ----------
    metric : str
    label : str
        Axis label of the metric, with its unit.
    attack : str
        The attack whose rows are drawn; empty for utility metrics.
    """

    metric: str
    label: str
    attack: str = ""

    def draw(self, table: pd.DataFrame) -> Figure:
        """Draw the figure of a tidy table; what has no value is told beside its name."""
        names, scenarios = (list(dict.fromkeys(table[c])) for c in ("mechanism", "scenario"))
        chosen = (table["metric"] == self.metric) & (table["attack"] == self.attack)
        rows = table[chosen & (table["statistic"] == "") & table["value"].notna()]
        figure = Figure(figsize=(7.5, 1.3 + 0.5 * len(names)), layout="constrained")
        axes = figure.add_subplot()
        for i, scenario in enumerate(scenarios):
            here = rows[rows["scenario"] == scenario]
            at = [names.index(name) + 0.3 * _aside(i, len(scenarios)) for name in here["mechanism"]]
            value, low, high = (here[c].to_numpy(np.float64) for c in ("value", "lower", "upper"))
            axes.errorbar(
                value, at, xerr=np.stack([value - low, high - value]), fmt="o", ms=4, mfc="none",
                lw=0, elinewidth=1, capsize=2, color=COLOURS[i % len(COLOURS)], label=scenario,
            )  # fmt: skip
            missing = [name for name in names if name not in set(here["mechanism"])]
            for name in missing:
                place = names.index(name) + 0.3 * _aside(i, len(scenarios))
                axes.text(
                    0.01, place, f"{scenario}: none", fontsize=6.5, va="center",
                    color=COLOURS[i % len(COLOURS)], transform=axes.get_yaxis_transform(),
                )  # fmt: skip
        axes.set_yticks(range(len(names)), [name.replace("_", " ") for name in names], fontsize=8)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlim(left=min(0.0, float(rows["lower"].min())) if len(rows) else 0.0)
        axes.set_xlabel(self.label)
        axes.set_ylabel("mechanism")
        axes.grid(visible=True, alpha=0.25, linewidth=0.5)
        counts = f", n = {int(rows['n'].max())}" if len(rows) else ""
        axes.legend(
            fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5),
            title=f"95 % intervals{counts}", title_fontsize=6.5,
        )  # fmt: skip
        return figure


def _aside(i: int, n: int) -> float:
    """Return where the i-th of n scenarios stands within its line, from -1 to 1.

    Examples
    --------
    >>> [_aside(i, 2) for i in range(2)], _aside(0, 1)
    ([-0.5, 0.5], 0.0)
    """
    return (2 * i - n + 1) / n
