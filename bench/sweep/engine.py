"""Where cells run. Every engine yields the same results, in the order in which they end."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Protocol

from joblib import cpu_count

from bench.config.build import ConfigError
from bench.core.cell import AnyCell, CellResult
from bench.study.session import Session, Study
from bench.sweep.crew import Crew
from bench.sweep.run_cell import run_cell_safely
from mechanisms.check import positive, whole

Results = Generator[tuple[AnyCell, CellResult], None, None]  # closed where a sweep breaks off


class Engine(Protocol):
    """Runs cells; what ``conf/engine/*.yaml`` builds."""

    def run(self, study: Study, cells: Sequence[AnyCell], session: Session) -> Results:
        """Yield every cell with its result, as results arrive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Serial:
    """One cell after the other, in this process.

    A component that ends its process ends the command; the same command goes on after it.

    Parameters
    ----------
    cell_timeout : None
        Nothing can end a cell that runs in the command's own process.
    """

    cell_timeout: float | None = None

    def __post_init__(self) -> None:
        if self.cell_timeout is not None:
            raise ConfigError(
                "engine.cell_timeout needs a process that can be ended: write engine=processes "
                f"engine.workers=1 with it, got engine=serial cell_timeout={self.cell_timeout!r}."
            )

    def run(self, study: Study, cells: Sequence[AnyCell], session: Session) -> Results:
        """Yield every cell with its result, in the order given."""
        for cell in cells:
            yield cell, run_cell_safely(study, cell, session)


@dataclass(frozen=True, slots=True, kw_only=True)
class Processes:
    """Worker processes on this machine, one cell at a time in each; never in the command's own.

    A cell whose process ends without a result is run again, up to three times in all, alone after
    the others: it may have lacked memory.

    Parameters
    ----------
    workers : int or None
        None: one a core.
    cell_timeout : float in (0, inf), or None
        Seconds that a cell may take, reading its data included; one that takes longer is ended
        and recorded as failed. None: as long as it takes.
    """

    workers: int | None = None
    cell_timeout: float | None = None

    def __post_init__(self) -> None:
        if self.workers is not None:
            whole("workers", self.workers)
        if self.cell_timeout is not None:
            positive("cell_timeout", self.cell_timeout, infinite=False)

    def run(self, study: Study, cells: Sequence[AnyCell], session: Session) -> Results:
        """Yield every cell with its result, as they end."""
        session.clear()  # workers have their own
        size = min(self.workers or cpu_count(), len(cells))
        with Crew(study, size, self.cell_timeout) as crew:
            yield from crew.run(cells)
