"""Words on the command line: which names exist, and the nearest one to a misspelt name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path

from bench.config.build import ConfigError, unknown

GROUPS = (
    "experiment", "scenario", "mechanism", "attack", "metric", "notion", "figure", "engine", "study"
)  # fmt: skip
SEARCHPATH = ("--config-dir", "-cd", "--config-path", "-cp", "hydra.searchpath")


def options(group: str, folders: Sequence[str] = ()) -> dict[str, str]:
    """Return the names of a configuration group with the first comment of each file."""
    places = [resources.files("conf") / group, *(Path(folder) / group for folder in folders)]
    entries = [entry for place in places if place.is_dir() for entry in place.iterdir()]
    found = {}
    for entry in sorted(entries, key=lambda e: e.name):
        if entry.name.endswith(".yaml"):
            text = entry.read_text(encoding="utf-8")
            found[entry.name.removesuffix(".yaml")] = first_comment(text)
    return found


def first_comment(text: str) -> str:
    """Return the first comment line that is not a package directive."""
    lines = (line.strip("# ").strip() for line in text.splitlines() if line.startswith("#"))
    return next((line for line in lines if not line.startswith("@package")), "")


def check_choices(arguments: Sequence[str]) -> None:
    """Refuse names that no configuration file has, unless further folders are searched."""
    if any(a.startswith(SEARCHPATH) for a in arguments):
        return
    for argument in arguments:
        match = re.fullmatch(r"(\+{0,2})(\w+)=(.*)", argument)
        if match is None or match.group(2) not in GROUPS:
            continue
        plus, group, value = match.groups()
        if group == "experiment" and not plus:
            raise ConfigError(f"write +experiment={value} (with a plus).")
        if "(" in value:  # a sweep over choice(...) or glob(...), which Hydra resolves
            continue
        names = [name.strip(" '\"") for name in value.strip("[]").split(",")]
        allowed = options(group)
        for name in names:
            if name and name not in allowed and name != "null":
                raise ConfigError(unknown(group, name, allowed))


def key_values(
    arguments: Sequence[str], defaults: Mapping[str, str | None]
) -> dict[str, str | None]:
    """Parse ``key=value`` words of the small commands; refuse any other key.

    Examples
    --------
    >>> key_values(["sort=l2"], {"sort": None, "format": "table"})
    {'sort': 'l2', 'format': 'table'}
    """
    values = dict(defaults)
    for argument in arguments:
        key, equals, value = argument.lstrip("+").partition("=")
        if not equals or key not in defaults:
            raise ConfigError(unknown("option", key, [f"{d}=" for d in defaults]))
        values[key] = value
    return values


def choose(kind: str, name: str, allowed: Iterable[str]) -> str:
    """Return `name` if it is allowed; otherwise say which names are."""
    listed = list(allowed)
    if name not in listed:
        raise ConfigError(unknown(kind, name, listed))
    return name
