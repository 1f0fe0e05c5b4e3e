"""Every experiment file runs in miniature, and redraws from the store to the same bytes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hydra import compose, initialize_config_module
from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf

from bench.cell import FAILED
from bench.compose import experiment_of, plain
from bench.datasets.source import DataError
from bench.engine import Serial
from bench.figures.__main__ import redraw
from bench.tracking import Store
from bench.words import options

SMALL = {"repetitions": 2, "n_shadow": 20, "n_holdout": 20, "n_test": 20}


def settings_of(name, folder):
    """Compose an experiment as the command does, and make it small."""
    with initialize_config_module("conf", version_base="1.3"):
        config = compose("config", [f"+experiment={name}"], return_hydra_config=True)
    HydraConfig.instance().set_config(config)
    label = config.hydra.runtime.choices.get("scenario")
    OmegaConf.set_struct(config, value=False)
    del config.hydra
    settings = plain(config)
    settings |= {"name": name, "output": str(folder / "outputs")} | SMALL
    settings["study"] |= {k: v for k, v in SMALL.items() if k in settings["study"]}
    grid = settings["study"].get("grid", {})
    settings["study"]["grid"] = {
        axis: values[:: max(1, len(values) - 1)] if isinstance(values, list) else values
        for axis, values in grid.items()
    }
    if "x" in settings["study"]:
        settings["study"]["x"] = settings["study"]["x"][:3]
    return settings, label


def cells_of(experiment):
    """List the cells; an experiment on real files that are not here is skipped."""
    try:
        return experiment.study.cells()
    except DataError as reason:
        if "no file" in str(reason):
            pytest.skip(str(reason))
        raise


@pytest.mark.parametrize("name", options("experiment"))
def test_experiment_runs_small_and_redraws_the_same_bytes(name, tmp_path, blank_store):
    shutil.copy(blank_store, tmp_path / "mlflow.db")
    settings, label = settings_of(name, tmp_path)
    experiment = experiment_of(settings, label)
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    outcome = experiment.run(Serial(), Store(uri), cells_of(experiment), resume=True)
    reasons = [r.facts.get("traceback", "") for _, r in outcome.results if r.status == FAILED]
    assert reasons == []
    drawn = {p.name: p.read_bytes() for p in outcome.files}
    assert {f"{figure}.pdf" for figure in settings["figures"]} <= set(drawn)
    shutil.rmtree(Path(settings["output"]))
    redraw(uri, name, None, settings["output"])
    again = {p.name: p.read_bytes() for p in Path(settings["output"], name).iterdir()}
    assert again == drawn
