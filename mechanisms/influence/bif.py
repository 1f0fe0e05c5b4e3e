"""Bayesian networks from text in the Bayesian Interchange Format."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from mechanisms.influence.network import BayesianNetwork, ConditionalTable


def parse_bif(text: str) -> BayesianNetwork:
    """Read a network from text in the Bayesian Interchange Format.

    Understood: ``variable`` blocks with discrete types, and ``probability`` blocks with a
    ``table`` row (no parents) or one row per parent configuration.

    Raises
    ------
    ValueError
        If a block cannot be read, or a parent configuration is missing.
    """
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    states: dict[str, list[str]] = {}
    for name, body in re.findall(r"variable\s+(\S+)\s*\{(.*?\}.*?)\}", text, flags=re.DOTALL):
        listed = re.search(r"discrete\s*\[\s*\d+\s*\]\s*\{(.*?)\}", body, flags=re.DOTALL)
        if listed is None:
            raise ValueError(f"variable {name} must be discrete with listed states.")
        states[_name(name)] = _names(listed.group(1))
    blocks = re.findall(r"probability\s*\(([^)]*)\)\s*\{(.*?)\}", text, flags=re.DOTALL)
    if not states or not blocks:
        raise ValueError("text must hold variable and probability blocks, got none.")
    return BayesianNetwork(tables=tuple(_table(head, body, states) for head, body in blocks))


def _table(head: str, body: str, states: Mapping[str, list[str]]) -> ConditionalTable:
    child, _, given = head.partition("|")
    variable, parents = _name(child), tuple(_names(given)) if given.strip() else ()
    unknown = [name for name in (variable, *parents) if name not in states]
    if unknown:
        raise ValueError(
            f"probability of {variable} must name known variables, got {unknown[0]!r}."
        )
    table = np.full(tuple(len(states[name]) for name in (*parents, variable)), np.nan)
    for row in filter(None, (part.strip() for part in body.split(";"))):
        match = re.fullmatch(r"(?:table|\((.*?)\))\s*([\d.eE+\-,\s]+)", row, flags=re.DOTALL)
        labels = _names(match.group(1)) if match and match.group(1) is not None else []
        if match is None or len(labels) != len(parents):
            raise ValueError(f"probability of {variable} must have rows per parents, got {row!r}.")
        try:
            index = tuple(
                states[parent].index(label) for parent, label in zip(parents, labels, strict=True)
            )
            values = [float(value) for value in match.group(2).split(",")]
        except ValueError:
            raise ValueError(f"probability of {variable} has an unreadable row {row!r}.") from None
        if len(values) != len(states[variable]):
            raise ValueError(f"probability of {variable} must list every state, got {row!r}.")
        table[index] = values
    if np.isnan(table).any():
        raise ValueError(f"probability of {variable} must cover all states of its parents.")
    return ConditionalTable(variable=variable, parents=parents, table=table)


def _names(text: str) -> list[str]:
    return [_name(part) for part in text.split(",")]


def _name(text: str) -> str:
    return text.strip().strip('"')
