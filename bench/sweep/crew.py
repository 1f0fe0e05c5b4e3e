"""The crew of worker processes: who is at what, who is late, who has died."""

from __future__ import annotations

import signal
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from multiprocessing.connection import wait
from types import TracebackType

from bench.core.cell import FAILED, AnyCell, CellResult
from bench.study.session import Study
from bench.sweep.worker import PATIENCE, Worker, dismiss, start_worker

ATTEMPTS = 3
TICK = 1.0  # seconds after which the crew is looked at, whatever it says


class Crew:
    """Workers that measure cells.

    Parameters
    ----------
    study : Study
    size : int
        Workers at a time.
    cell_timeout : float or None
        Seconds that a cell may take.
    """

    def __init__(self, study: Study, size: int, cell_timeout: float | None) -> None:
        self._study, self._size, self._timeout = study, size, cell_timeout
        self._workers: list[Worker] = []
        self._waiting: deque[AnyCell] = deque()
        self._again: deque[AnyCell] = deque()  # their process ended: alone, after the others
        self._deaths: Counter[str] = Counter()
        self._false_starts = 0

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        if kind is None:
            dismiss(self._workers)
        for worker in self._workers:
            worker.kill()

    def run(self, cells: Sequence[AnyCell]) -> Iterator[tuple[AnyCell, CellResult]]:
        """Yield every cell with its result, as they end.

        Raises
        ------
        ChildProcessError
            If workers end before they have started, again and again.
        """
        self._waiting.extend(cells)
        while True:
            self._hand_out()
            if not self._workers:
                return
            self._sleep()
            ended = [pair for worker in list(self._workers) for pair in self._look_at(worker)]
            self._hand_out()
            yield from ended

    def _hand_out(self) -> None:
        """Give cells to workers that are ready; start workers that are needed, let go the rest."""
        busy = sum(worker.cell is not None for worker in self._workers)
        if self._waiting:
            source, needed = self._waiting, min(self._size, busy + len(self._waiting))
        else:
            source, needed = self._again, 1 if self._again and not busy else busy
        while len(self._workers) < needed:
            self._workers.append(start_worker(self._study))
        for worker in self._workers:
            if source and worker.ready and worker.cell is None and busy < needed:
                worker.send(source.popleft())
                busy += 1
        if not self._waiting and not self._again and not busy:
            dismiss(self._workers)
            self._workers.clear()

    def _sleep(self) -> None:
        """Wait until a worker has something to tell, has ended, or may be late."""
        seconds = TICK
        if self._timeout is not None:
            now = time.monotonic()
            ages = [now - worker.since for worker in self._workers if worker.cell is not None]
            seconds = min([TICK, *(max(0.0, self._timeout - age) for age in ages)])
        signs = [worker.pipe for worker in self._workers]
        wait([*signs, *(worker.process.sentinel for worker in self._workers)], seconds)

    def _look_at(self, worker: Worker) -> Iterator[tuple[AnyCell, CellResult]]:
        """Yield the cell that a worker has ended, if it has, with its result."""
        cell, started = worker.cell, worker.ready
        try:
            result = worker.received()
        except EOFError:
            worker.process.join(PATIENCE)  # it may not have ended yet: its exit code tells why
            self._let_go(worker)
            yield from self._died(worker, cell)
            return
        if worker.ready and not started:
            self._false_starts = 0
        if cell is None:
            return
        if result is not None:
            worker.cell = None
            yield cell, result
        elif self._timeout is not None and time.monotonic() - worker.since > self._timeout:
            self._let_go(worker)
            yield cell, failed(f"no result within {self._timeout:g} s (engine.cell_timeout)")

    def _died(self, worker: Worker, cell: AnyCell | None) -> Iterator[tuple[AnyCell, CellResult]]:
        how = how_ended(worker.process.exitcode)
        if not worker.ready:
            self._false_starts += 1
            if self._false_starts == ATTEMPTS:
                self._size = sum(other.ready for other in self._workers)
                if not self._size:
                    raise ChildProcessError(f"workers end before they have started: {how}.")
        if cell is None:
            return
        self._deaths[cell.key] += 1
        if self._deaths[cell.key] < ATTEMPTS:
            self._again.append(cell)
        else:
            yield cell, failed(f"its process ended {ATTEMPTS} times without a result: {how}")

    def _let_go(self, worker: Worker) -> None:
        worker.kill()
        self._workers.remove(worker)


def failed(reason: str) -> CellResult:
    """Return the result of a cell that no worker has a result of."""
    return CellResult(status=FAILED, facts={"reason": reason, "traceback": reason})


def how_ended(code: int | None) -> str:
    """Return how a process ended.

    Examples
    --------
    >>> how_ended(-9), how_ended(3)
    ('killed by SIGKILL', 'exit code 3')
    """
    if code is not None and code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"exit code {code}"
