"""The command never tells the password of a tracking address, wherever it was given."""

from __future__ import annotations

import os
import shutil
import sys
from urllib.parse import quote

import pytest

from bench.__main__ import ASKED_ADDRESS, main

PASSWORD = "s3cr#t/p@ss"
ADDRESS = f"postgresql+nothing://user:{quote(PASSWORD, safe='')}@h/db"
SMALL = [
    "+experiment=quickstart", "n_shadow=30", "n_holdout=30", "n_test=30", "grid.epsilon=[1]",
    "scenario.model_subsets=50", "mechanism=[noiseless]", "figure=[]", "attack=[]",
]  # fmt: skip


@pytest.fixture
def command(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["bench", *words])
        code = main()
        told = capfd.readouterr()
        assert ASKED_ADDRESS not in os.environ
        return code, told.out + told.err

    return run


def leaked(folder, told):
    """Return where the password stands: in what was told, or in files that are text."""
    texts = {str(p): p.read_text(errors="replace") for p in folder.rglob("*") if p.is_file()}
    ways = (PASSWORD, quote(PASSWORD), quote(PASSWORD, safe=""), "s3cr")
    return [
        where for where, text in (texts | {"told": told}).items() if any(w in text for w in ways)
    ]


@pytest.mark.parametrize("word", ["tracking_uri={}", "++tracking_uri={}", "tracking_uri='{}'"])
def test_a_store_that_cannot_be_opened(command, tmp_path, word):
    code, told = command(*SMALL, word.format(ADDRESS))
    assert code == 2
    assert "cannot open the store postgresql+nothing://***@h/db" in told
    assert leaked(tmp_path, told) == []


def test_several_runs_and_the_files_that_hydra_writes(command, tmp_path):
    words = ("-m", *SMALL, "seed=0,1", f"tracking_uri={ADDRESS}", "hydra.output_subdir=.hydra")
    code, told = command(*words)
    assert code == 2
    assert (tmp_path / "outputs/multirun/multirun.yaml").is_file()
    assert (tmp_path / "outputs/multirun/.hydra/overrides.yaml").is_file()
    assert leaked(tmp_path, told) == []


def test_a_file_of_ones_own_that_names_it(command, tmp_path):
    own = tmp_path / "own"
    (own / "experiment").mkdir(parents=True)
    lines = ("# @package _global_", "defaults: [quickstart]", f"tracking_uri: {ADDRESS}")
    (own / "experiment/mine.yaml").write_text("\n".join(lines))
    words = ("-m", "--config-dir", str(own), "+experiment=mine", "seed=0,1", *SMALL[1:])
    code, told = command(*words)
    assert code == 2
    shutil.rmtree(own)
    assert (tmp_path / "outputs/multirun/multirun.yaml").is_file()
    assert leaked(tmp_path, told) == []


@pytest.mark.parametrize(
    "words",
    [
        [*SMALL, f"tracking_urii={ADDRESS}"],
        [*SMALL, f"+tracking_urii={ADDRESS}"],
        [*SMALL, f"tracking_uri='{ADDRESS}"],
        [*SMALL, f"tracking_uri={ADDRESS},{ADDRESS}"],
        [*SMALL, f"tracking_uri=[{ADDRESS}]"],
        [*SMALL, f"tracking_uri=http://user:{PASSWORD}@h"],
        [*SMALL, "scenario.gap=7", f"tracking_uri={ADDRESS}"],
    ],
)
@pytest.mark.parametrize("traceback", ["", "1"])
def test_errors_of_the_command_line(command, tmp_path, words, traceback, monkeypatch):
    monkeypatch.setenv("BENCH_TRACEBACK", traceback)
    code, told = command(*words)
    assert code == 2, told
    assert leaked(tmp_path, told) == []


@pytest.mark.parametrize("traceback", ["", "1"])
def test_the_variable_of_the_environment(command, tmp_path, traceback, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", ADDRESS)
    monkeypatch.setenv("BENCH_TRACEBACK", traceback)
    code, told = command(*SMALL)
    assert code == 2
    assert "postgresql+nothing://***@h/db" in told
    assert leaked(tmp_path, told) == []


def test_the_address_asked_for_goes_before_the_variable(command, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "postgresql+other://u:elsewhere@h/other")
    _, told = command(*SMALL, f"tracking_uri={ADDRESS}")
    assert "postgresql+nothing://***@h/db" in told
