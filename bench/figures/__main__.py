"""``python -m bench.figures [experiment=NAME] [run_id=ID]``: redraw from the store alone."""

from __future__ import annotations

import sys
from pathlib import Path

from bench.config.build import ConfigError
from bench.config.choices import key_values
from bench.figures.draw import draw_all
from bench.store.read_sweep import latest_sweep, table_of
from bench.store.tracking import StoreError, existing_store, tracking_uri


def redraw(uri: str, experiment: str | None, run_id: str | None, output: str) -> int:
    """Redraw the figures and tables of the latest (or the named) sweep."""
    store = existing_store(uri)
    sweep = latest_sweep(store, experiment, run_id)
    table = table_of(store, sweep)
    folder = Path(output) / sweep.experiment
    for path in draw_all(table, sweep.config["figures"], sweep.title, folder):
        sys.stdout.write(f"written: {path}\n")
    return 0


def main(arguments: list[str]) -> int:
    """Run the command line."""
    defaults = {"experiment": None, "run_id": None, "tracking_uri": None, "output": "outputs"}
    try:
        words = key_values(arguments, defaults)
        uri = tracking_uri(words["tracking_uri"])
        return redraw(uri, words["experiment"], words["run_id"], words["output"] or "outputs")
    except (ConfigError, StoreError, ValueError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
