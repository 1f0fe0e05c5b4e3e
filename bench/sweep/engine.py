"""Where cells run. Every engine yields the same results, in the order in which they end."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from joblib import Parallel, cpu_count, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError
from threadpoolctl import threadpool_limits

from bench.core.cell import FAILED, Cell, CellResult, Study
from mechanisms.check import whole

ATTEMPTS = 3
UNDER_WAY = 2  # cells a worker that are handed out at a time


class Engine(Protocol):
    """Runs cells; what ``conf/engine/*.yaml`` builds."""

    def run(self, study: Study, cells: list[Cell]) -> Iterator[tuple[Cell, CellResult]]:
        """Yield every cell with its result, as results arrive."""


@dataclass(frozen=True, slots=True)
class Serial:
    """One cell after the other, in this process."""

    def run(self, study: Study, cells: list[Cell]) -> Iterator[tuple[Cell, CellResult]]:
        """Yield every cell with its result, in the order given."""
        for cell in cells:
            yield cell, run_cell_safely(study, cell)


@dataclass(frozen=True, slots=True)
class Processes:
    """Worker processes on this machine (joblib's loky).

    A killed worker loses the cells under way. Each of them then runs alone, up to three times; the
    others go on together.

    Parameters
    ----------
    workers : int or None
        None: one a core.
    """

    workers: int | None = None

    def __post_init__(self) -> None:
        if self.workers is not None:
            whole("workers", self.workers)

    def run(self, study: Study, cells: list[Cell]) -> Iterator[tuple[Cell, CellResult]]:
        """Yield every cell with its result, as they end."""
        left = {cell.key: cell for cell in cells}
        while left:
            workers = min(self.workers or cpu_count(), len(left))
            pool = Parallel(
                n_jobs=workers, backend="loky", return_as="generator_unordered", batch_size=1,
                pre_dispatch=UNDER_WAY * workers,
            )  # fmt: skip
            tasks = [delayed(_run_with_key)(key, study, cell) for key, cell in left.items()]
            try:
                for key, result in pool(tasks):
                    yield left.pop(key), result
            except TerminatedWorkerError:
                # Cells start in order: those under way are the first that are left.
                for key in list(left)[: UNDER_WAY * workers]:
                    cell = left.pop(key)
                    yield cell, run_alone(study, cell)


def run_alone(study: Study, cell: Cell) -> CellResult:
    """Measure one cell in a worker of its own, again if it is killed."""
    for _ in range(ATTEMPTS):
        try:
            pool = Parallel(n_jobs=2, backend="loky")  # one job would run in this process
            return pool([delayed(run_cell_safely)(study, cell)])[0]
        except TerminatedWorkerError as error:
            message = str(error)
    facts = {"reason": f"worker killed {ATTEMPTS} times", "traceback": message}
    return CellResult(status=FAILED, facts=facts)


def _run_with_key(key: str, study: Study, cell: Cell) -> tuple[str, CellResult]:
    return key, run_cell_safely(study, cell)


def run_cell_safely(study: Study, cell: Cell) -> CellResult:
    """Measure one cell; an error becomes a failed result with its traceback.

    Linear algebra uses one thread, so that the numbers do not depend on the engine.
    """
    start = time.perf_counter()
    try:
        with threadpool_limits(limits=1):
            result = study.run_cell(cell)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        result = CellResult(
            status=FAILED, facts={"reason": reason, "traceback": traceback.format_exc()}
        )
    return replace(result, seconds=time.perf_counter() - start)
