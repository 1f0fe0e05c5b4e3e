"""Last bits on Heart: what floats tell, and what a grid leaves (docs/findings/outside.md)."""

from __future__ import annotations

from functools import cache

import pytest
from hydra import compose, initialize_config_module

from bench.config.compose import experiment_of, plain
from bench.study.session import Session


@cache
def cells():
    """The cells of +experiment=last_bits at epsilon .1, by mechanism."""
    with initialize_config_module("conf", version_base="1.3"):
        config = plain(compose("config", ["+experiment=last_bits", "grid.epsilon=[0.1]"]))
    session = Session()
    study = experiment_of(config | {"name": "last_bits"}, "heart_oldpeak").study
    return {cell.labels["mechanism"]: study.run_cell(cell, session) for cell in study.cells()}


def row(mechanism, metric, attack=""):
    found = [r for r in cells()[mechanism].rows if r["metric"] == metric and r["attack"] == attack]
    (only,) = [r for r in found if not r["statistic"]]
    return only


@pytest.mark.parametrize("name", ["w_infinity_laplace_float", "record_laplace_float"])
def test_last_bits_refute_a_claim_of_a_tenth(name):
    found = row(name, "acc", "last_bits")
    assert found["n"] == 20_000
    assert found["value"] == pytest.approx(0.57, abs=0.015)  # the claim allows .525
    assert row(name, "certified", "last_bits")["lower"] > 1.0
    assert row(name, "claimed")["value"] == pytest.approx(0.1)
    assert row(name, "exact")["value"] < 0.01  # the model sees nothing
    assert row(name, "acc", "likelihood_ratio")["upper"] < 0.525
    assert cells()[name].facts["verdict"] == "violated"


@pytest.mark.parametrize("name", ["w_infinity_laplace", "record_laplace"])
def test_a_grid_repairs_them(name):
    assert row(name, "acc", "last_bits")["lower"] <= 0.525
    assert row(name, "acc", "last_bits")["value"] <= 0.525
    assert row(name, "certified", "last_bits")["value"] <= 0.1
    assert row(name, "claimed")["value"] == pytest.approx(0.1, rel=1e-8)
    proved = {"w_infinity_laplace": "holds (model)", "record_laplace": "holds"}
    assert cells()[name].facts["verdict"] == proved[name]  # W-infinity: laws of these records
    assert "releases lie on a grid" in cells()[name].facts["assumptions"]
