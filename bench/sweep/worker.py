"""A worker process: it measures the cells that it is sent, and ends when the command ends."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

from bench.core.cell import AnyCell, CellResult
from bench.study.session import Session, Study
from bench.sweep.run_cell import failed_with, run_cell_safely

READY = "ready"
PR_SET_PDEATHSIG = 1
PATIENCE = 5.0  # seconds for a worker to end by itself

CONTEXT = multiprocessing.get_context("spawn")  # forked workers would share locks and threads


@dataclass(slots=True, kw_only=True)
class Worker:
    """The command's side of a worker.

    Parameters
    ----------
    process : SpawnProcess
    pipe : Connection
        Cells go out, results come in.
    ready : bool
        Whether it has started.
    cell : Cell or None
        What it is at.
    since : float
        When it was sent the cell, on the monotonic clock.
    """

    process: SpawnProcess
    pipe: Connection
    ready: bool = False
    cell: AnyCell | None = None
    since: float = 0.0

    def send(self, cell: AnyCell) -> None:
        """Hand out a cell; where the worker has ended meanwhile, `ended` will tell."""
        self.cell, self.since = cell, time.monotonic()
        with contextlib.suppress(OSError):
            self.pipe.send(cell)

    def received(self) -> CellResult | None:
        """Return a result that has arrived, if any; note that the worker is ready.

        Raises
        ------
        EOFError
            If the worker has ended.
        """
        try:
            alive = self.process.is_alive()
            message = self.pipe.recv() if self.pipe.poll() else None
        except (EOFError, OSError) as error:
            raise EOFError from error
        except Exception as error:  # a component told something that cannot be read here
            return failed_with(error)
        if message is None and not alive:
            raise EOFError
        if message == READY:
            self.ready, message = True, None
        return message

    def kill(self) -> None:
        """End the worker and what it started, now."""
        kill_group(self.process.pid)
        self.process.kill()
        self.process.join()
        self.pipe.close()


def start_worker(study: Study) -> Worker:
    """Start a worker; it says when it is ready."""
    here, there = CONTEXT.Pipe()
    process = CONTEXT.Process(target=serve, args=(there, study), name="bench worker")
    with blocked_interrupts():
        process.start()
    there.close()
    return Worker(process=process, pipe=here)


def dismiss(workers: list[Worker]) -> None:
    """Let idle workers end by themselves, and end those that do not."""
    for worker in workers:
        worker.pipe.close()
    deadline = time.monotonic() + PATIENCE
    for worker in workers:
        worker.process.join(max(0.0, deadline - time.monotonic()))
        worker.kill()


def serve(pipe: Connection, study: Study) -> None:
    """Measure cells until the pipe is closed."""
    end_with_the_command()
    session = Session()
    try:
        pipe.send(READY)
        while True:
            cell = pipe.recv()
            result = run_cell_safely(study, cell, session)
            try:
                pipe.send(result)
            except OSError:
                raise
            except Exception as error:  # a component told something that cannot be sent
                pipe.send(failed_with(error))
    except (EOFError, OSError):
        return


def end_with_the_command() -> None:
    """See to it that this process ends when the command does, however that ends.

    A thread waits for the command's end. On Linux the system also sends a signal, which reaches
    a worker that is busy in compiled code and lets no thread run.
    """
    command = multiprocessing.parent_process()
    if command is None:
        raise RuntimeError("a worker is started by a command.")
    if hasattr(os, "setsid"):
        os.setsid()  # Ctrl-C is for the command; what a component starts is ended with its worker
    threading.Thread(target=_wait_for_the_end, args=(command,), daemon=True).start()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if not command.is_alive():
            os._exit(1)


def _wait_for_the_end(command: multiprocessing.process.BaseProcess) -> None:
    command.join()
    kill_group(os.getpid())
    os._exit(1)


def kill_group(pid: int | None) -> None:
    """End a worker and the processes below it, where the system has groups of processes."""
    if pid is not None and hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)


@contextlib.contextmanager
def blocked_interrupts() -> Iterator[None]:
    """Start processes that Ctrl-C in the terminal does not reach."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
