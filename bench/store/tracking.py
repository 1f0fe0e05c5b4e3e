"""The store: MLflow. The only module that imports it.

Runs are flat: one run a cell, one summary run a sweep. Everything needed to redraw a table or a
figure lies in the runs' tags, so that moving the artifact folder loses nothing.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import math
import os
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from filelock import FileLock

from bench.core.cell import FAILED, FINISHED, AnyCell, CellResult, Plain
from bench.core.code_fingerprint import code_version
from bench.store.address import Address, hide_addresses, scrub
from bench.store.run_schema import (
    SCHEMA,
    alive,
    cell_metrics,
    cell_tags,
    format_parameter,
    owner,
)
from bench.store.tag_codec import pack

DEFAULT_URI = "sqlite:///mlflow.db"
PAGE = 200  # runs, whole, in memory at a time
FINISHED_RUN = "attributes.status = 'FINISHED'"
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
        os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "20")
        os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
        self._address = Address(uri)
        self._address.check()
        self.uri = self._address.shown
        self._lock = store_lock(uri)
        with self._translate_errors("open"):
            from mlflow import MlflowClient

            self._quiet()
            self._client: Any = MlflowClient(tracking_uri=self._address.for_mlflow)
            self._client.search_experiments(max_results=1)

    def _quiet(self) -> None:
        """Keep the address's secrets out of the lines that MLflow logs."""

        def clean(record: logging.LogRecord) -> bool:
            record.msg, record.args = self._address.scrub(record.getMessage()), None
            return True

        if self._address.secrets:
            for handler in logging.getLogger("mlflow").handlers:
                handler.addFilter(clean)

    @contextlib.contextmanager
    def _translate_errors(self, verb: str) -> Iterator[None]:
        try:
            with self._lock, self._address.given_to_mlflow():
                yield
        except StoreError:
            raise
        except Exception as error:
            detail = " ".join(self._address.scrub(str(error)).split())[:300]
            told = StoreError(f"cannot {verb} the store {self.uri}: {detail}")
            raise told from (None if self._address.secrets else error)

    def clean(self, result: CellResult) -> CellResult:
        """Return a result whose texts hold no address's user and password.

        What a cell that did not finish tells (an error, a traceback) may quote any variable; what
        others tell is left alone but for addresses, so that a short password garbles nothing.
        """
        secrets = () if result.status == FINISHED else self._address.secrets
        facts = {name: scrub(text, secrets) for name, text in result.facts.items()}
        return dataclasses.replace(result, facts=facts)

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

    def record(
        self, experiment_id: str, sweep: str, cell: AnyCell, result: CellResult, *, again: bool
    ) -> str:
        """Record one cell as one run; return the run's id.

        Without `again`, not if a run of the same key is finished already: another sweep on the
        same store may have been faster. Its id is returned then.
        """
        with self._translate_errors("write to"):
            query = f"tags.kind = 'cell' AND {FINISHED_RUN} AND tags.cell_key = '{cell.key}'"
            for run in () if again else self.search(experiment_id, query, newest=1):
                return str(run.info.run_id)
            result = self.clean(result)
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
            return str(run.info.run_id)

    def record_sweep(
        self,
        experiment_id: str,
        *,
        sweep: str,
        experiment: str,
        title: str,
        runs: dict[str, str],
        config: Plain,
        tags: dict[str, str],
    ) -> str:
        """Record the summary run of a sweep; return its run id.

        `runs` maps the key of each cell, in order, to the id of its run.
        """
        with self._translate_errors("write to"):
            head = {"kind": "sweep", "sweep": sweep, "experiment": experiment, "schema": SCHEMA,
                    "code": code_version(), "title": scrub(title)}  # fmt: skip
            head |= owner() | tags
            run = self._client.create_run(experiment_id, run_name=f"sweep {sweep}", tags=head)
            run_id = str(run.info.run_id)
            self._fill(
                run_id, params={}, metrics={"cells": float(len(runs))},
                tags=pack("keys", list(runs)) | pack("runs", list(runs.values()))
                | pack("config", hide_addresses(config)),
                status="FINISHED",
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

    def close_orphans(self, experiment_id: str) -> int:
        """End runs that a killed process of this machine left RUNNING; return how many."""
        orphans = [
            run
            for run in self.search(experiment_id, "attributes.status = 'RUNNING'")
            if run.data.tags.get("host") == socket.gethostname()
            and not alive(int(run.data.tags.get("pid", "0")))
        ]
        with self._translate_errors("write to"):
            for run in orphans:
                self._client.set_terminated(run.info.run_id, status="KILLED")
        return len(orphans)

    def experiment_ids(self) -> list[str]:
        """Return the ids of all MLflow experiments."""
        with self._translate_errors("read"):
            return [str(entry.experiment_id) for entry in self._client.search_experiments()]

    def search(self, experiment_id: str, query: str, *, newest: int | None = None) -> Iterator[Any]:
        """Yield the runs that a query finds, page by page; or the newest ones alone."""
        token = None
        while True:
            with self._translate_errors("read"):
                page = self._client.search_runs(
                    [experiment_id], filter_string=query, page_token=token,
                    max_results=newest or PAGE,
                    order_by=["attributes.end_time DESC"] if newest else None,
                )  # fmt: skip
            yield from page
            token = page.token
            if newest or not token:
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
