"""One cell in this process: an error becomes a failed result."""

from __future__ import annotations

import time
import traceback
from dataclasses import replace

from threadpoolctl import threadpool_limits

from bench.core.cell import FAILED, AnyCell, CellResult
from bench.study.session import Session, Study


def run_cell_safely(study: Study, cell: AnyCell, session: Session) -> CellResult:
    """Measure one cell; an error becomes a failed result with its traceback.

    Linear algebra uses one thread, so that the numbers do not depend on the engine.
    """
    start = time.perf_counter()
    try:
        with threadpool_limits(limits=1):
            result = study.run_cell(cell, session)
        cell.check_code()
    except (Exception, SystemExit) as error:  # a component's sys.exit is its own matter
        result = failed_with(error)
    return replace(result, seconds=time.perf_counter() - start)


def failed_with(error: BaseException) -> CellResult:
    """Return the result of a cell that ended with an error."""
    reason = f"{type(error).__name__}: {error}".splitlines()[0]
    text = "".join(traceback.format_exception(error))
    return CellResult(status=FAILED, facts={"reason": reason, "traceback": text})
