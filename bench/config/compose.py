"""From a composed configuration to an experiment; what Hydra lets pass is refused here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from bench.config.build import ConfigError, build, unknown
from bench.config.choices import GROUPS, choose, options
from bench.core.cell import Plain
from bench.core.labels import check_labels
from bench.study.session import Study
from bench.sweep.engine import Engine
from bench.sweep.experiment import Experiment

KEYS = {
    "name", "title", "seed", "repetitions", "n_shadow", "n_holdout", "n_test", "delta", "share",
    "grid", "scenario", "scenarios", "mechanisms", "attacks", "metrics", "notions", "figures",
    "show", "quantities", "x", "tracking_uri", "output", "resume", "dry_run", "list", "run_id",
    "study", "engine", "target", "utility", "file",
}  # fmt: skip

MAPPINGS = (
    "grid", "scenarios", "mechanisms", "attacks", "metrics", "notions", "figures", "quantities",
    "target",
)  # fmt: skip
TEXTS = ("name", "title", "output", "tracking_uri", "utility", "file")


def plain(config: DictConfig) -> Plain:
    """Resolve a composed configuration into plain data; refuse unknown top-level keys."""
    resolved = OmegaConf.to_container(config, resolve=True)
    assert isinstance(resolved, dict)
    settings: Plain = {str(k): v for k, v in resolved.items()}
    for key in settings:
        if key not in KEYS:
            raise ConfigError(unknown("key", key, KEYS))
    for key in MAPPINGS:
        if not isinstance(settings[key] or {}, dict):
            raise ConfigError(f"{key} must map names to values, got {key}={settings[key]!r}.")
        settings[key] = settings[key] or {}
    for key in TEXTS:
        if not isinstance(settings[key], str | None):
            raise ConfigError(f"{key} must be text, got {key}={settings[key]!r}.")
    if settings["output"] is None:
        raise ConfigError("output must be a folder, got output=None.")
    if settings["name"] and Path(settings["name"]).name != settings["name"]:
        raise ConfigError(f"name must not be a path, got name={settings['name']!r}.")
    show = settings["show"]
    if not isinstance(show, list) or not all(isinstance(metric, str) for metric in show):
        raise ConfigError(f"show must be a list of metrics, show=[acc,l2], got show={show!r}.")
    for key in ("resume", "dry_run"):
        if not isinstance(settings[key], bool):
            raise ConfigError(f"{key} must be true or false, got {key}={settings[key]!r}.")
    return settings


def experiment_of(settings: Plain, scenario_label: str | None) -> Experiment:
    """Build the experiment that plain settings describe."""
    study_config = dict(settings["study"])
    if settings.get("scenario"):
        placed = {str(scenario_label): settings["scenario"]}
        further = dict(study_config.get("scenarios") or {})
        check_labels("scenario", [*placed, *further])
        study_config["scenarios"] = placed | further
    study: Study = build_shallow(study_config)
    check_labels("figure", settings["figures"], taken=("table",))
    recorded = {k: settings[k] for k in settings if k not in ("list", "dry_run", "run_id")}
    return Experiment(
        name=settings["name"],
        title=settings["title"],
        study=study,
        figures=settings["figures"],
        config=recorded,
        output=Path(settings["output"]) / settings["name"],
    )


def build_shallow(config: Mapping[str, Any]) -> Study:
    """Build a study, whose components stay plain data until a cell is measured."""
    shallow = {**config, "_recursive_": False}
    return build(shallow, "study")


def engine_of(settings: Plain) -> Engine:
    """Build the engine."""
    return build(settings["engine"], "engine")


def listing(kind: str, folders: Sequence[str] = ()) -> dict[str, str]:
    """Return the components of a kind ("mechanisms", "mechanism") with one line each.

    `folders` are searched beside the package.
    """
    names = {f"{group}s": group for group in GROUPS} | {"studies": "study"}
    group = names.get(kind, kind)
    choose("list", group, GROUPS)
    return options(group, folders)
