"""How cells and sweeps are written as MLflow runs, and read back: plain text and numbers."""

from __future__ import annotations

import math
import os
import socket
from dataclasses import dataclass
from typing import Any

from bench.core.cell import FINISHED, AnyCell, CellResult, Plain, RecordedCell
from bench.core.code_fingerprint import code_version
from bench.core.labels import metric_key
from bench.store.tag_codec import unpack

SCHEMA = "2"
LONGEST = 500
LONGEST_TAG = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """A recorded sweep: its summary run.

    Parameters
    ----------
    sweep, experiment, title, run_id, code, schema : str
    keys, runs : list of str
        The cells, in order, and the ids of their runs; sweeps of early versions name no runs.
    config : mapping
        Resolved configuration, figures included.
    ended : int
        Milliseconds since 1970.
    """

    sweep: str
    experiment: str
    title: str
    run_id: str
    code: str
    schema: str
    keys: list[str]
    runs: list[str]
    config: Plain
    ended: int


def owner() -> dict[str, str]:
    """Return the tags that tell whether a run's process still lives."""
    return {"host": socket.gethostname(), "pid": str(os.getpid())}


def alive(pid: int) -> bool:
    """Whether a process of this machine is running."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return pid > 0


def cell_tags(sweep: str, cell: AnyCell, result: CellResult) -> dict[str, str]:
    """Return the short tags by which runs are found and grouped."""
    facts = result.facts
    return {
        "kind": "cell", "sweep": sweep, "schema": SCHEMA, "cell_key": cell.key,
        "code": code_version(), "dataset": cell.digest[:12], "status": result.status,
        "scenario": str(cell.labels.get("scenario", "")),
        "mechanism": str(cell.labels.get("mechanism", "")),
        "notion": facts.get("notion", ""), "verdict": facts.get("verdict", ""),
        "best_attack": facts.get("best_attack", ""), "claim": facts.get("claim", "")[:LONGEST_TAG],
        "reason": facts.get("reason", "")[:LONGEST_TAG], "seconds": f"{result.seconds:.3f}",
        **owner(),
    }  # fmt: skip


def cell_metrics(cell: AnyCell, result: CellResult) -> dict[str, float]:
    """Return the headline numbers under short legal names; not finite ones are left to the rows."""
    metrics = {k: float(v) for k, v in cell.labels.items() if isinstance(v, int | float)}
    own = next((row["unit"] for row in result.rows if row["unit"]), "")
    for row in result.rows:
        if row["statistic"] or row["x"] is not None:
            continue
        other = row["unit"] if row["unit"] != own else ""
        name = metric_key(row["metric"], row["attack"], other)
        metrics[name] = row["value"]
        if row["n"]:
            metrics |= {f"{name}_lo": row["lower"], f"{name}_hi": row["upper"]}
    return {k: float(v) for k, v in metrics.items() if math.isfinite(v)}


def format_parameter(value: object) -> str:
    """Return a parameter's text: short for numbers; what is cut says so (labels keep the whole)."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text)} characters)"


def cell_of(run: Any) -> tuple[RecordedCell, CellResult]:  # noqa: ANN401
    """Read a cell and its result back from its run."""
    tags = run.data.tags
    cell = RecordedCell(
        key=tags.get("cell_key", ""), name=str(run.info.run_name), labels=unpack("labels", tags)
    )
    return cell, CellResult(
        status=tags.get("status", FINISHED),
        rows=unpack("rows", tags),
        facts=unpack("facts", tags),
        seconds=float(tags.get("seconds", "0")),
    )


def sweep_of(run: Any) -> Sweep:  # noqa: ANN401
    """Read a sweep back from its summary run."""
    tags = run.data.tags
    return Sweep(
        sweep=tags["sweep"], experiment=tags["experiment"], title=tags.get("title", ""),
        run_id=run.info.run_id, code=tags.get("code", ""),
        schema=tags.get("schema", ""), keys=unpack("keys", tags),
        runs=unpack("runs", tags) if "runs.000" in tags else [],
        config=unpack("config", tags), ended=int(run.info.end_time),
    )  # fmt: skip
