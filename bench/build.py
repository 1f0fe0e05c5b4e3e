"""From plain configuration to objects, with one clear line for what does not fit."""

from __future__ import annotations

import difflib
import functools
import inspect
import json
from collections.abc import Iterable, Mapping
from typing import Any

from hydra.errors import HydraException
from hydra.utils import get_object, instantiate


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
    except HydraException as error:
        raise ConfigError(f"{where}: {_cause(error)}") from error


@functools.lru_cache(maxsize=16)
def built_from_text(text: str, where: str) -> Any:  # noqa: ANN401
    """Build from canonical JSON, once a process: the object keeps what it has computed."""
    return build(json.loads(text), where)


def check_parameters(config: Mapping[str, Any], where: str) -> None:
    """Refuse parameters that the class does not have, and say which ones it has."""
    given = [key for key in config if not key.startswith("_")]
    parameters = parameters_of(config, where)
    if "**" not in parameters:
        for key in given:
            if key not in parameters:
                raise ConfigError(f"{where}: {unknown('parameter', key, parameters)}")
    for key in given:
        for node in _nodes(config[key]):
            check_parameters(node, f"{where}.{key}")


def parameters_of(config: Mapping[str, Any], where: str) -> list[str]:
    """Return the names of the parameters of a node's class; ``**`` stands for any other."""
    if "_target_" not in config:
        raise ConfigError(f"{where}: a component needs _target_, got {sorted(config)}.")
    parameters = inspect.signature(_located(str(config["_target_"]), where)).parameters
    return ["**" if p.kind is p.VAR_KEYWORD else name for name, p in parameters.items()]


def unknown(kind: str, got: str, allowed: Iterable[str]) -> str:
    """Return the line for a name that does not exist, nearest names first.

    Examples
    --------
    >>> unknown("mechanism", "laplce", ["laplace", "gaussian"])
    "unknown mechanism 'laplce'; did you mean laplace? There are: gaussian, laplace."
    """
    names = sorted(allowed)
    near = difflib.get_close_matches(got, names, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(near)}?" if near else ";"
    listed = ", ".join(names) if names else "none"
    return f"unknown {kind} {got!r}{hint} {'There' if near else 'there'} are: {listed}."


def _located(target: str, where: str) -> Any:  # noqa: ANN401
    try:
        return get_object(target)
    except Exception as error:
        raise ConfigError(f"{where}: cannot import {target}: {error}") from error


def _nodes(value: object) -> list[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        if "_target_" in value:
            return [value]
        return [node for item in value.values() for node in _nodes(item)]
    if isinstance(value, list | tuple):
        return [node for item in value for node in _nodes(item)]
    return []


def _cause(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error).strip().splitlines()[0]
