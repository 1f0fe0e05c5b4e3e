"""The store: MLflow. The only module that imports it.

Runs are flat: one run a cell, one summary run a sweep. Everything needed to redraw a table or a
figure lies in the runs' tags, so that moving the artifact folder loses nothing.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from filelock import FileLock

from bench.core.cell import FAILED, Cell, CellResult, Plain, code_version
from bench.store.run_schema import (
    SCHEMA,
    Sweep,
    alive,
    cell_metrics,
    cell_tags,
    format_parameter,
    owner,
    result_of,
    sweep_of,
)
from bench.store.tag_codec import pack, unpack

DEFAULT_URI = "sqlite:///mlflow.db"
PAGE = 1000
BATCH = 90


class StoreError(RuntimeError):
    """The store cannot be reached, read or written; one line says why."""


def tracking_uri(asked: str | None) -> str:
    """Return the store's address: as asked, MLflow's own variable, or SQLite in this folder."""
    return asked or os.environ.get("MLFLOW_TRACKING_URI") or DEFAULT_URI


class Store:
    """One MLflow store; only the parent process of a sweep opens it.

    Parameters
    ----------
    uri : str
        Any MLflow tracking address. A SQLite store is initialised and written under a file lock,
        so that several sweeps can share it.

    Raises
    ------
    StoreError
        If the store cannot be reached.
    """

    def __init__(self, uri: str) -> None:
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
        os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "WARNING")
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "20")
        os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
        self.uri = uri
        self._lock = store_lock(uri)
        with self._translate_errors("open"):
            from mlflow import MlflowClient

            self._client: Any = MlflowClient(tracking_uri=uri)
            self._client.search_experiments(max_results=1)

    @contextlib.contextmanager
    def _translate_errors(self, verb: str) -> Iterator[None]:
        try:
            with self._lock:
                yield
        except StoreError:
            raise
        except Exception as error:
            detail = " ".join(str(error).split())[:300]
            raise StoreError(f"cannot {verb} the store {self.uri}: {detail}") from error

    def experiment_id(self, name: str, *, create: bool = True) -> str | None:
        """Return the id of the MLflow experiment of this name; make it if need be."""
        with self._translate_errors("open"):
            found = self._client.get_experiment_by_name(name)
            if found is None and create:
                return self._create_experiment(name)
            return None if found is None else str(found.experiment_id)

    def _create_experiment(self, name: str) -> str:
        try:
            return str(
                self._client.create_experiment(name, artifact_location=artifact_folder(self.uri))
            )
        except Exception:
            found = self._client.get_experiment_by_name(name)  # somebody else was faster
            if found is None:
                raise
            return str(found.experiment_id)

    def read_finished(self, experiment_id: str, keys: list[str] | None) -> dict[str, CellResult]:
        """Return the latest finished result of each cell, all of them or those of `keys`."""
        wanted = None if keys is None else set(keys)
        latest: dict[str, Any] = {}
        query = "tags.kind = 'cell' AND attributes.status = 'FINISHED'"
        if wanted is not None and len(wanted) == 1:
            query += f" AND tags.cell_key = '{next(iter(wanted))}'"
        for run in self._search(experiment_id, query):
            key = run.data.tags.get("cell_key", "")
            if wanted is not None and key not in wanted:
                continue
            if key not in latest or run.info.end_time > latest[key].info.end_time:
                latest[key] = run
        return {key: result_of(run.data.tags) for key, run in latest.items()}

    def record(
        self, experiment_id: str, sweep: str, cell: Cell, result: CellResult, *, again: bool
    ) -> None:
        """Record one cell as one run.

        Without `again`, not if a run of the same key is finished already: another sweep on the
        same store may have been faster.
        """
        with self._translate_errors("write to"):
            if not again and self.read_finished(experiment_id, [cell.key]):
                return
            tags = cell_tags(sweep, cell, result)
            again_next_time = result.status == FAILED or "retry" in result.facts
            run = self._client.create_run(experiment_id, run_name=cell.name, tags=tags)
            self._fill(
                run.info.run_id,
                params={k: format_parameter(v) for k, v in cell.labels.items()},
                metrics=cell_metrics(cell, result),
                tags=pack("rows", result.rows) | pack("facts", result.facts)
                | pack("labels", cell.labels),
                status="FAILED" if again_next_time else "FINISHED",
            )  # fmt: skip

    def record_sweep(
        self,
        experiment_id: str,
        *,
        sweep: str,
        experiment: str,
        title: str,
        keys: list[str],
        config: Plain,
        tags: dict[str, str],
    ) -> str:
        """Record the summary run of a sweep; return its run id."""
        with self._translate_errors("write to"):
            head = {"kind": "sweep", "sweep": sweep, "experiment": experiment, "schema": SCHEMA,
                    "code": code_version(), "title": title, **owner(), **tags}  # fmt: skip
            run = self._client.create_run(experiment_id, run_name=f"sweep {sweep}", tags=head)
            run_id = str(run.info.run_id)
            self._fill(
                run_id, params={}, metrics={"cells": float(len(keys))},
                tags=pack("keys", keys) | pack("config", config), status="FINISHED",
            )  # fmt: skip
            return run_id

    def attach(self, run_id: str, files: list[Path]) -> None:
        """Add files to a run."""
        with self._translate_errors("write to"):
            for path in files:
                self._client.log_artifact(run_id, str(path))

    def _fill(
        self,
        run_id: str,
        *,
        params: dict[str, str],
        metrics: dict[str, float],
        tags: dict[str, str],
        status: str,
    ) -> None:
        """Write a run in batches and end it, whatever happens: no run stays RUNNING."""
        from mlflow.entities import Metric, Param, RunTag

        done = False
        try:
            now = int(time.time() * 1000)
            points = [Metric(k, v, now, 0) for k, v in metrics.items()]
            entries = [RunTag(k, v) for k, v in tags.items()]
            texts = [Param(k, v) for k, v in params.items()]
            for i in range(max(1, *(math.ceil(len(x) / BATCH) for x in (points, entries, texts)))):
                part = slice(i * BATCH, (i + 1) * BATCH)
                self._client.log_batch(run_id, points[part], texts[part], entries[part])
            done = True
        finally:
            self._client.set_terminated(run_id, status=status if done else "KILLED")

    def sweeps(self, experiment: str | None = None) -> list[Sweep]:
        """Return the recorded sweeps, latest first, of one experiment or of all."""
        with self._translate_errors("read"):
            experiments = self._client.search_experiments()
        found = []
        for entry in experiments:
            for run in self._search(
                str(entry.experiment_id), "tags.kind = 'sweep' AND attributes.status = 'FINISHED'"
            ):
                if experiment in (None, run.data.tags.get("experiment")):
                    found.append(sweep_of(run))
        return sorted(found, key=lambda s: s.ended, reverse=True)

    def results(self, sweep: Sweep) -> list[tuple[Plain, str, CellResult]]:
        """Return (labels, name, result) of a sweep's cells, in order; a lost cell is an error."""
        experiment_id = self.experiment_id(sweep.experiment, create=False)
        wanted = set(sweep.keys)
        latest: dict[str, Any] = {}
        assert experiment_id is not None
        for run in self._search(experiment_id, "tags.kind = 'cell'"):
            key = run.data.tags.get("cell_key", "")
            if key in wanted and run.info.status in ("FINISHED", "FAILED"):
                rank = (run.info.status == "FINISHED", run.info.end_time)
                held = latest.get(key)
                if held is None or rank > (held.info.status == "FINISHED", held.info.end_time):
                    latest[key] = run
        missing = [key for key in sweep.keys if key not in latest]
        if missing:
            raise StoreError(f"sweep {sweep.sweep} has lost {len(missing)} of its cells.")
        return [
            (unpack("labels", latest[k].data.tags), latest[k].info.run_name,
             result_of(latest[k].data.tags))
            for k in sweep.keys
        ]  # fmt: skip

    def close_orphans(self, experiment_id: str) -> int:
        """End runs that a killed process of this machine left RUNNING; return how many."""
        orphans = [
            run
            for run in self._search(experiment_id, "attributes.status = 'RUNNING'")
            if run.data.tags.get("host") == socket.gethostname()
            and not alive(int(run.data.tags.get("pid", "0")))
        ]
        with self._translate_errors("write to"):
            for run in orphans:
                self._client.set_terminated(run.info.run_id, status="KILLED")
        return len(orphans)

    def _search(self, experiment_id: str, query: str) -> Iterator[Any]:
        token = None
        while True:
            with self._translate_errors("read"):
                page = self._client.search_runs(
                    [experiment_id], filter_string=query, max_results=PAGE, page_token=token
                )
            yield from page
            token = page.token
            if not token:
                return


def store_lock(uri: str) -> contextlib.AbstractContextManager[Any]:
    """Return the lock of a SQLite store, beside its file; other stores need none."""
    path = sqlite_path(uri)
    if path is None:
        return contextlib.nullcontext()
    if not path.parent.is_dir():
        raise StoreError(f"cannot open the store {uri}: there is no folder {path.parent}.")
    if not os.access(path.parent, os.W_OK):
        raise StoreError(f"cannot open the store {uri}: the folder {path.parent} is not writable.")
    return FileLock(f"{path}.lock")


def sqlite_path(uri: str) -> Path | None:
    """Return the file of a ``sqlite:///`` address, else None."""
    match = re.fullmatch(r"sqlite:///(.+)", uri)
    return Path(match.group(1)).absolute() if match else None


def artifact_folder(uri: str) -> str | None:
    """Return where a SQLite store keeps artifacts: ``mlruns`` beside its file."""
    path = sqlite_path(uri)
    return None if path is None else (path.parent / "mlruns").as_uri()


def existing_store(uri: str) -> Store:
    """Open a store to read it; do not make one."""
    path = sqlite_path(uri)
    if path is not None and not path.is_file():
        raise StoreError(f"there is no store {uri} yet: run an experiment, or name another store.")
    return Store(uri)
