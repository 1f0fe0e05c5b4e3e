"""Progress while cells run: a bar in a terminal, lines elsewhere."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from bench.core.cell import FINISHED, AnyCell, CellResult

QUIET_SECONDS = 2.0


class Progress:
    """Show how many cells are done, which one ended last, and how long the rest may take."""

    def __init__(self, total: int, done: int) -> None:
        self._console = Console(stderr=True)
        self._bar = Bar(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
            TimeRemainingColumn(), console=self._console, transient=True,
            disable=not self._console.is_terminal,
        )  # fmt: skip
        self._task = self._bar.add_task("cells", total=total, completed=done)
        self._total, self._done, self._said = total, done, 0.0
        if done:
            self._console.print(f"{done} of {total} cells are recorded already.", highlight=False)

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def advance(self, cell: AnyCell, result: CellResult) -> None:
        """Count one more cell; say it if it failed, or (outside a terminal) every few seconds."""
        self._done += 1
        self._bar.update(self._task, advance=1, description=cell.name[:40])
        line = f"[{self._done}/{self._total}] {cell.name}  {result.seconds:.1f} s"
        if result.status != FINISHED:
            why = result.facts.get("reason", "")
            self._console.print(f"{line}  {result.status}: {why}", markup=False, highlight=False)
        elif not self._console.is_terminal and self._due():
            self._console.print(line, markup=False, highlight=False)

    def _due(self) -> bool:
        now = time.monotonic()
        if self._done < self._total and now - self._said < QUIET_SECONDS:
            return False
        self._said = now
        return True
