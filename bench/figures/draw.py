"""Draw an experiment's figures and tables: a pure function of the tidy table, byte for byte."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from bench.config.build import build
from bench.core.cell import Plain


class FigureOf(Protocol):
    """What ``conf/figure/*.yaml`` builds: selection and drawing, no statistics."""

    def draw(self, table: pd.DataFrame) -> Figure:
        """Draw the figure of a tidy table."""


@runtime_checkable
class HasTable(Protocol):
    """A figure that also is a table."""

    def table(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the figure's numbers."""


def draw_all(
    table: pd.DataFrame, figures: Mapping[str, Plain], title: str, folder: Path
) -> list[Path]:
    """Write the tidy table (CSV and parquet) and every figure (PDF and PNG); return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    csv, parquet = folder / "table.csv", folder / "table.parquet"
    table.to_csv(csv, index=False)
    mixed = [c for c in table.columns if table[c].dtype == object]
    texts = {c: table[c].map(str, na_action="ignore") for c in mixed}
    table.assign(**texts).to_parquet(parquet, index=False)
    paths = [csv, parquet]
    for name, config in figures.items():
        drawing: FigureOf = build(config, f"figure {name}")
        words = wrap_title(rows_drawn(table, drawing), title)
        with mpl.rc_context({"svg.hashsalt": name, "pdf.compression": 6}):
            figure = drawing.draw(table)
            if words:
                figure.suptitle(words, fontsize=9, parse_math=False)
            stem = name.replace("/", "_")
            pdf, png = folder / f"{stem}.pdf", folder / f"{stem}.png"
            figure.savefig(pdf, metadata={"CreationDate": None, "Producer": None})
            figure.savefig(png, dpi=150, metadata={"Software": None})
        paths += [pdf, png]
        if isinstance(drawing, HasTable):
            compared = drawing.table(table)
            if len(compared):
                paths.append(folder / f"{stem}.csv")
                compared.to_csv(paths[-1], index=False)
    return paths


def rows_drawn(table: pd.DataFrame, drawing: FigureOf) -> pd.DataFrame:
    """Return the rows of a figure's `metrics`, or all rows where it does not name them."""
    metrics = getattr(drawing, "metrics", ())
    return table[table["metric"].isin(metrics)] if metrics else table


def wrap_title(table: pd.DataFrame, title: str) -> str:
    """Return the title, wrapped; it says so where the data are synthetic."""
    synthetic = "data" in table and (table["data"] == "synthetic").any()
    return textwrap.fill(f"{title} (synthetic data)" if synthetic else title, 95)
