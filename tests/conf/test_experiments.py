"""Every experiment file runs in miniature, and redraws from the store to the same marks."""

from __future__ import annotations

import re
import shutil
import zlib
from collections import Counter
from pathlib import Path

import pytest
from hydra import compose, initialize_config_module
from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf

from bench.config.choices import options
from bench.config.compose import experiment_of, plain
from bench.core.cell import FAILED, NOT_APPLICABLE
from bench.figures.__main__ import redraw
from bench.store.tracking import Store
from bench.sweep.engine import Serial

NUMBER = re.compile(rb"-?\d+(\.\d*)?|-?\.\d+")
FEW = {"n_games": 2, "n_bits": 16, "n_queries": 48}  # of a quantity that says how many
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
    if "file" in settings["study"]:
        settings["study"]["file"] = str(folder / "release.csv")
    grid = settings["study"].get("grid", {})
    settings["study"]["grid"] = {
        axis: values[:: max(1, len(values) - 1)] if isinstance(values, list) else values
        for axis, values in grid.items()
    }
    for quantity in settings["study"].get("quantities", {}).values():
        quantity |= {k: v for k, v in FEW.items() if k in quantity}
    if name == "secrets_matrix":  # one of each kind
        few = ("noiseless", "record_gaussian", "directional_gaussian")
        settings["study"]["mechanisms"] = {k: settings["study"]["mechanisms"][k] for k in few}
    if name == "recorded":  # what a user must give
        path = folder / "releases.csv"
        path.write_text("s,x\n" + "".join(f"{i % 2},{i % 7 + i % 2}\n" for i in range(200)))
        settings["study"]["repetitions"] = 1
        scenario = settings["scenario"]
        scenario |= {"path": str(path), "secret": "s", "releases": ["x"]}
    if "x" in settings["study"]:
        settings["study"]["x"] = settings["study"]["x"][:3]
    return settings, label


def marks(name, content):
    """Return what must be the same: the bytes, or of a PDF what it draws.

    The solver of the layout may move its last bits, and objects their places in the file.
    """
    if not name.endswith(".pdf"):
        return content
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL)
    assert streams, f"{name} draws nothing"
    words = b" ".join(zlib.decompressobj().decompress(s) for s in streams).split()
    return Counter(round(float(w), 4) if NUMBER.fullmatch(w) else w for w in words)


@pytest.mark.parametrize("name", options("experiment"))
def test_experiment_runs_small_and_redraws_the_same(name, tmp_path, blank_store):
    shutil.copy(blank_store, tmp_path / "mlflow.db")
    settings, label = settings_of(name, tmp_path)
    experiment = experiment_of(settings, label)
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    outcome = experiment.run(Serial(), Store(uri), experiment.study.cells(), resume=True)
    reasons = [r.facts.get("traceback", "") for _, r in outcome.results if r.status == FAILED]
    assert reasons == []
    drawn = {p.name: p.read_bytes() for p in outcome.files}
    assert {f"{figure}.pdf" for figure in settings["figures"]} <= set(drawn)
    shutil.rmtree(Path(settings["output"]))
    redraw(uri, name, None, settings["output"])
    again = {p.name: p.read_bytes() for p in Path(settings["output"], name).iterdir()}
    assert set(again) == set(drawn)
    assert {n: marks(n, again[n]) for n in again} == {n: marks(n, drawn[n]) for n in drawn}


@pytest.mark.parametrize("name", ["chain_count_real", "topk_activities", "topk_real"])
def test_absent_recordings_are_not_applicable_and_say_why(name, tmp_path, blank_store, nowhere):
    shutil.copy(blank_store, tmp_path / "mlflow.db")
    experiment = experiment_of(*settings_of(name, tmp_path))
    store = Store(f"sqlite:///{tmp_path}/mlflow.db")
    outcome = experiment.run(Serial(), store, experiment.study.cells(), resume=True)
    assert {result.status for _, result in outcome.results} == {NOT_APPLICABLE}
    reasons = {result.facts["reason"] for _, result in outcome.results}
    assert all("no file" in reason and "set BENCH_DATA" in reason for reason in reasons)


@pytest.mark.parametrize("name", ["topk_activities", "capture24_topk"])
def test_the_seed_of_the_configuration_reaches_every_split(name):
    with initialize_config_module("conf", version_base="1.3"):
        config = plain(compose("config", [f"+experiment={name}", "seed=7"]))
    populations = [scenario["population"] for scenario in config["scenarios"].values()]
    assert {p["seed"] for p in populations if "seed" in p} == {7}
