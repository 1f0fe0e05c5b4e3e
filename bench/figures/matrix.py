"""A heat map with numbers: one line a mechanism, one column a scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from bench.config.build import ConfigError, unknown
from bench.core.entry_rows import one_entry

MARKS = {
    "violated": "!", "model misfit": "!", "suspect": "?", "no claim": "-", "not refuted": "~",
    "not checked": "~", "holds": "", "holds (model)": "m",
}  # fmt: skip
INFINITE = "inf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """Draw what is exactly leaked and what attacks reach, for every secret of one release.

    A cell shows the exact number, and below it the best attack's with its 95 % interval's half
    width or the bound that it certifies; the colour is the larger of the two. A mark tells the
    verdict.

    Parameters
    ----------
    exact, attacked : str
        Metrics of the two numbers.
    label : str
        Of the colours, with their unit.
    columns : mapping of scenario to str
        Their words, in this order; empty draws all.
    low, high : float
        Ends of the colours; what is above is drawn as `high`.
    """

    exact: str
    attacked: str
    label: str
    columns: Mapping[str, str] = field(default_factory=dict)
    low: float = 0.0
    high: float = 1.0

    @property
    def metrics(self) -> Sequence[str]:
        """The metrics that are drawn."""
        return (self.exact, self.attacked)

    def table(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return one line a mechanism and scenario: exact, attacked, interval, n, verdict."""
        rows = one_entry(table)
        known = list(dict.fromkeys(rows["scenario"]))
        for name in self.columns:
            if name not in known:
                raise ConfigError(unknown("scenario", name, known))
        keys = [k for k in ("mechanism", "target", "epsilon", "scenario") if k in rows]
        lines = []
        for at, cell in rows.groupby(keys, sort=False, dropna=False):
            exact = cell[cell["metric"] == self.exact]
            found = cell[(cell["metric"] == self.attacked) & (cell["statistic"].fillna("") == "")]
            found = found[found["attack"].fillna("") != ""].sort_values("value")
            best = found.iloc[-1] if len(found) else None
            lines.append(
                dict(zip(keys, at, strict=True))
                | {
                    "exact": float(exact["value"].iloc[0]) if len(exact) else np.nan,
                    "exact_lower": float(exact["lower"].iloc[0]) if len(exact) else np.nan,
                    "attack": "" if best is None else best["attack"],
                    "attacked": np.nan if best is None else float(best["value"]),
                    "lower": np.nan if best is None else float(best["lower"]),
                    "upper": np.nan if best is None else float(best["upper"]),
                    "n": 0 if best is None else int(best["n"]),
                    "verdict": next(iter(cell["verdict"].dropna()), ""),
                }
            )
        return pd.DataFrame(lines)

    def draw(self, table: pd.DataFrame) -> Figure:
        """Draw the heat map."""
        found = self.table(table)
        columns = dict(self.columns) or {s: s.replace("_", " ") for s in found["scenario"].unique()}
        names = list(dict.fromkeys(found["mechanism"]))
        shown = found.drop_duplicates(["mechanism", "scenario"]).set_index(
            ["mechanism", "scenario"]
        )
        colours = np.full((len(names), len(columns)), np.nan)
        size = (2.6 + 0.95 * len(columns), 1.6 + 0.42 * len(names))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.add_subplot()
        for i, name in enumerate(names):
            for j, scenario in enumerate(columns):
                if (name, scenario) not in shown.index:
                    continue
                cell = shown.loc[(name, scenario)]
                colours[i, j] = np.fmax(cell["exact"], cell["attacked"])
        image = axes.imshow(
            np.minimum(colours, self.high), cmap="Oranges", vmin=self.low, vmax=self.high,
            aspect="auto",
        )  # fmt: skip
        for i, name in enumerate(names):
            for j, scenario in enumerate(columns):
                if (name, scenario) in shown.index:
                    dark = colours[i, j] > self.low + 0.65 * (self.high - self.low)
                    axes.text(
                        j, i, words(shown.loc[(name, scenario)]), ha="center", va="center",
                        fontsize=6, color="white" if dark else "black",
                    )  # fmt: skip
                else:
                    axes.text(j, i, "not\napplicable", ha="center", va="center", fontsize=5.5)
        axes.set_xticks(range(len(columns)), columns.values(), fontsize=7, rotation=30, ha="right")
        axes.set_yticks(range(len(names)), [n.replace("_", " ") for n in names], fontsize=7)
        axes.set_xlabel("secret and adversary", fontsize=8)
        axes.set_ylabel("mechanism", fontsize=8)
        bar = figure.colorbar(image, ax=axes, shrink=0.8)
        bar.set_label(self.label, fontsize=7)
        bar.ax.tick_params(labelsize=6)
        return figure


def words(cell: pd.Series) -> str:
    """Return the text of a cell: exact number with its verdict's mark, and the best attack's."""
    above = "?" if np.isnan(cell["exact"]) else number(cell["exact"])
    if not np.isclose(cell["exact_lower"], cell["exact"], rtol=1e-3, atol=1e-3, equal_nan=True):
        above = f"<= {above}"  # a bracket: its safe end
    below = "" if np.isnan(cell["attacked"]) else f"\n({number(cell['attacked'])})"
    return f"{above}{MARKS.get(cell['verdict'], '')}{below}"


def number(value: float) -> str:
    """Return three digits, or "inf"."""
    return INFINITE if np.isinf(value) else f"{value:.3g}"
