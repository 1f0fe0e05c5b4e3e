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

from bench.cell import FAILED, Cell, CellResult, Study
from mechanisms.check import whole

ATTEMPTS = 3


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
            yield cell, measured(study, cell)


@dataclass(frozen=True, slots=True)
class Processes:
    """Worker processes on this machine (joblib's loky).

    A killed worker loses the cells under way; they are run again, up to three times a cell.

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
        for attempt in range(ATTEMPTS):
            workers = min(self.workers or cpu_count(), len(left)) if left else 1
            pool = Parallel(
                n_jobs=workers, backend="loky", return_as="generator_unordered", batch_size=1
            )
            tasks = [delayed(_measured_with_key)(study, cell) for cell in left.values()]
            try:
                for key, result in pool(tasks):
                    yield left.pop(key), result
            except TerminatedWorkerError as error:
                if attempt + 1 == ATTEMPTS:
                    for cell in left.values():
                        yield (
                            cell,
                            CellResult(
                                status=FAILED,
                                facts={
                                    "reason": f"worker killed {ATTEMPTS} times",
                                    "traceback": str(error),
                                },
                            ),
                        )
                    return
            if not left:
                return


def _measured_with_key(study: Study, cell: Cell) -> tuple[str, CellResult]:
    return cell.key, measured(study, cell)


def measured(study: Study, cell: Cell) -> CellResult:
    """Measure one cell; an error becomes a failed result with its traceback.

    Linear algebra uses one thread, so that the numbers do not depend on the engine.
    """
    start = time.perf_counter()
    try:
        with threadpool_limits(limits=1):
            result = study.measure(cell)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        result = CellResult(
            status=FAILED, facts={"reason": reason, "traceback": traceback.format_exc()}
        )
    return replace(result, seconds=time.perf_counter() - start)
