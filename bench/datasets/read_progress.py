"""How far the reading of a large file has come, shown on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

LARGE = 64 << 20


@contextmanager
def progress_over(path: Path) -> Iterator[Callable[[int], None]]:
    """Give a function that counts rows; a terminal shows them for a file above 64 MB."""
    if path.stat().st_size < LARGE or not sys.stderr.isatty():
        yield lambda _: None
        return
    text = TextColumn("reading {task.description}: {task.completed:,} rows")
    with Progress(text, BarColumn(), TimeElapsedColumn(), console=Console(stderr=True)) as shown:
        task = shown.add_task(path.name, total=None)
        yield lambda rows: shown.advance(task, rows)
