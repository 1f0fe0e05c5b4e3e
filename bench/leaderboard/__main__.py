"""``python -m bench.leaderboard [experiment=NAME] [sort=METRIC] [notion=NAME] [format=FORMAT]``.

Ranks the mechanisms at equal budget from the store, each by its own entry of the ledger or by the
notion asked for; formats are table, csv, html and latex. ``diff=SWEEP_A,SWEEP_B`` shows what
changed between two sweeps.
"""

from __future__ import annotations

import sys
from numbers import Real

import pandas as pd

from bench.config.build import ConfigError, unknown
from bench.config.choices import choose, key_values
from bench.core.entry_rows import LEDGER
from bench.leaderboard.ranking import FIXED, leaderboard
from bench.leaderboard.terminal import pivot, print_frame, print_tables
from bench.store.read_sweep import latest_sweep, table_of
from bench.store.tracking import Store, StoreError, existing_store, tracking_uri

COMPARED = ("value", "lower", "upper", "verdict")
FORMATS = ("table", "csv", "html", "latex")
DEFAULTS = {
    "experiment": None, "sweep": None, "sort": None, "show": None, "format": "table",
    "diff": None, "notion": None, "tracking_uri": None,
}  # fmt: skip


def main(arguments: list[str]) -> int:
    """Run the command line."""
    try:
        words = key_values(arguments, DEFAULTS)
        form = choose("format", words["format"] or "table", FORMATS)
        store = existing_store(tracking_uri(words["tracking_uri"]))
        if words["diff"] is not None:
            show_difference(store, words["diff"], form)
        else:
            sweep = latest_sweep(store, words["experiment"], words["sweep"])
            table = table_of(store, sweep)
            recorded = set(table["metric"])
            asked = words["show"].split(",") if words["show"] else []
            for metric in [*asked, *([words["sort"]] if words["sort"] else [])]:
                if metric not in recorded:
                    raise ConfigError(unknown("metric", metric, recorded))
            show = asked or [m for m in sweep.config["show"] if m in recorded]
            if form == "table":
                title = f"{sweep.title} (sweep {sweep.sweep})"
                print_tables(table, show, title, words["sort"], words["notion"])
            else:
                cells = table["metric"].isin(LEDGER).any()
                board = (
                    leaderboard(table, show, words["sort"], words["notion"])
                    if cells
                    else pivot(table)
                )
                sys.stdout.write(render(board, form))
    except (ConfigError, StoreError, ValueError, KeyError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


def show_difference(store: Store, words: str, form: str) -> None:
    """Show what changed between two sweeps, named ``A,B``."""
    names = words.split(",")
    if len(names) != 2:
        raise ConfigError(f"diff must name two sweeps, diff=A,B, got {words!r}.")
    before, after = (table_of(store, latest_sweep(store, None, n.strip())) for n in names)
    board = difference(before, after)
    if form == "table":
        print_frame(board, f"{names[0]} -> {names[1]}")
    else:
        sys.stdout.write(render(board, form))


def render(board: pd.DataFrame, form: str) -> str:
    """Return the leaderboard as csv, html or latex."""
    if form == "csv":
        return board.to_csv(index=False)
    if form == "html":
        return board.to_html(index=False, na_rep="", border=0) + "\n"
    return latex(board)


def latex(board: pd.DataFrame) -> str:
    """Return a LaTeX tabular (booktabs); special characters are escaped."""
    text = board.to_latex(index=False, escape=True, na_rep="", float_format=str)
    # pandas leaves these two as they are; without T1 fonts they print as other signs.
    return text.replace("<", r"\textless{}").replace(">", r"\textgreater{}")


def difference(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers that differ between two sweeps: changed, gone and new."""
    axes = [c for c in before.columns if c in after.columns and c not in FIXED]
    keys = ["cell", *axes, "notion", "unit", "attack", "metric", "statistic", "x"]

    def index_rows(table: pd.DataFrame) -> dict[tuple[str, ...], tuple[object, ...]]:
        rows = table[keys].map(format_coordinate).itertuples(index=False, name=None)
        numbers = table[list(COMPARED)].itertuples(index=False, name=None)
        return dict(zip(rows, numbers, strict=True))

    old, new = index_rows(before), index_rows(after)
    lines: list[dict[str, object]] = []
    for key in dict.fromkeys([*old, *new]):
        a, b = old.get(key), new.get(key)
        change = "gone" if b is None else "new"
        if a is not None and b is not None:
            before_after = zip(COMPARED, a, b, strict=True)
            differ = [c for c, x, y in before_after if format_coordinate(x) != format_coordinate(y)]
            if not differ:
                continue
            change = f"changed: {', '.join(differ)}"
        named = dict(zip(keys, key, strict=True))
        line: dict[str, object] = {k: named[k] for k in ("cell", "attack", "metric", "statistic")}
        line |= {"before": a and a[0], "after": b and b[0], "change": change}
        lines.append(line)
    columns = ["cell", "attack", "metric", "statistic", "before", "after", "change"]
    return pd.DataFrame(lines, columns=columns)


def format_coordinate(value: object) -> str:
    """Return one text for equal coordinates: a column's type depends on the rest of its table."""
    if value is None or value != value:
        return ""
    return f"{float(value):.12g}" if isinstance(value, Real) else str(value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
