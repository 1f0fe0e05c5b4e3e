"""From plain configuration to objects, with one clear line for what does not fit."""

from __future__ import annotations

import difflib
import inspect
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from hydra.errors import HydraException
from hydra.utils import get_object, instantiate
from omegaconf.errors import OmegaConfBaseException

logging.getLogger("hydra.utils").setLevel(logging.CRITICAL)  # it prints what it raises


class ConfigError(ValueError):
    """A configuration that cannot be built; the message names the offender and what is allowed."""


def build(config: Mapping[str, Any], where: str) -> Any:  # noqa: ANN401
    """Build the object that a configuration node describes by its ``_target_``.

    Parameters
    ----------
    config : mapping
        With ``_target_`` and the class's parameters, nested nodes included.
    where : str
        What the node is, for error messages: "mechanism directional_gaussian".
    """
    check_parameters(config, where)
    try:
        return instantiate(dict(config), _convert_="all")
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(f"{where}: {_cause(error)}") from error


def check_parameters(config: Mapping[str, Any], where: str) -> None:
    """Refuse parameters that the class does not have, and say which ones it has."""
    parameters = parameters_of(config, where)
    given = [str(key) for key in config if not str(key).startswith("_")]
    if "**" not in parameters:
        for key in given:
            if key not in parameters:
                raise ConfigError(f"{where}: {unknown('parameter', key, parameters)}")
    for key in (*given, "_args_"):
        for node in _nodes(config.get(key)):
            check_parameters(node, f"{where}.{key}")


def parameters_of(config: Mapping[str, Any], where: str) -> list[str]:
    """Return the names of the parameters of a node's class; ``**`` stands for any other."""
    if not isinstance(config, Mapping) or not isinstance(config.get("_target_"), str):
        got = sorted(map(str, config)) if isinstance(config, Mapping) else repr(config)
        raise ConfigError(f"{where}: a component needs _target_, got {got}.")
    parameters = _parameters(config["_target_"], where)
    return ["**" if p.kind is p.VAR_KEYWORD else name for name, p in parameters.items()]


def unknown(kind: str, got: object, allowed: Iterable[str]) -> str:
    """Return the line for a name that does not exist, nearest names first.

    Examples
    --------
    >>> unknown("mechanism", "laplce", ["laplace", "gaussian"])
    "unknown mechanism 'laplce'; did you mean laplace? There are: gaussian, laplace."
    """
    names = sorted(allowed)
    near = difflib.get_close_matches(str(got), names, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(near)}?" if near else ";"
    listed = ", ".join(names) if names else "none"
    return f"unknown {kind} {got!r}{hint} {'There' if near else 'there'} are: {listed}."


def _parameters(target: str, where: str) -> Mapping[str, inspect.Parameter]:
    try:
        found = get_object(target)
    except Exception as error:
        cause = error.__cause__ or error  # Hydra's own text has several lines
        raise ConfigError(f"{where}: cannot import {target}: {_line(cause)}.") from error
    try:
        return inspect.signature(found).parameters
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{where}: cannot build {target}: {_line(error)}.") from error


def _nodes(value: object) -> list[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        if "_target_" in value:
            return [value]
        return [node for item in value.values() for node in _nodes(item)]
    if isinstance(value, list | tuple):
        return [node for item in value for node in _nodes(item)]
    return []


def _cause(error: BaseException) -> str:
    while isinstance(error, HydraException) and error.__cause__ is not None:
        error = error.__cause__
    return _line(error)


def _line(error: BaseException) -> str:
    """Return the first line of an error, or its kind where it has no text."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
