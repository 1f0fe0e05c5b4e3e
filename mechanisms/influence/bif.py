"""Bayesian networks from text in the Bayesian Interchange Format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from mechanisms.check import FloatArray
from mechanisms.influence.bif_text import blocks, parts, statements, strip_quotes
from mechanisms.influence.network import BayesianNetwork, ConditionalTable

States = Mapping[str, tuple[str, ...]]


def parse_bif(text: str) -> BayesianNetwork:
    """Read a network from text in the Bayesian Interchange Format.

    Understood: ``variable`` blocks with discrete types; ``probability`` blocks with one row per
    parent configuration, a ``default`` row for those that have none, or one ``table`` (with
    parents the child's state varies slowest, the last parent's fastest); lists separated by commas
    or blanks; names in quotes, states with punctuation; properties and comments, which are left
    out.

    Raises
    ------
    ValueError
        If a block cannot be read, a variable, a state, a block or a row stands twice, or a parent
        configuration is missing.

    References
    ----------
    Cozman (1998), The Interchange Format for Bayesian Networks, version 0.15.
    """
    states: dict[str, tuple[str, ...]] = {}
    tables: dict[str, ConditionalTable] = {}
    found = list(blocks(text))
    for kind, head, body in found:
        if kind == "variable":
            name = strip_quotes(head)
            if name in states:
                raise ValueError(f"variable {name} must stand once, got two blocks.")
            states[name] = _states(name, body)
    for kind, head, body in found:
        if kind == "probability":
            table = _table(head, body, states)
            if table.variable in tables:
                raise ValueError(
                    f"probability of {table.variable} must stand once, got two blocks."
                )
            tables[table.variable] = table
    if not states or not tables:
        raise ValueError("text must hold variable and probability blocks, got none.")
    for name in states:
        if name not in tables:
            raise ValueError(f"variable {name} must have a probability block, got none.")
    return BayesianNetwork(tables=tuple(tables.values()))


def _states(variable: str, body: str) -> tuple[str, ...]:
    types = [s for s in statements(body) if re.match(r"type\b", s)]
    listed = re.fullmatch(r"type\s+discrete\s*\[\s*(\d+)\s*\]\s*\{(.*)\}", types[0], re.DOTALL) if (
        len(types) == 1
    ) else None  # fmt: skip
    if listed is None:
        raise ValueError(f"variable {variable} must be discrete with listed states.")
    size = int(listed[1])
    for names in _lists(listed[2]):
        if len(names) == size:
            if len(set(names)) < size:
                raise ValueError(f"variable {variable} must have distinct states, got {names}.")
            return names
    raise ValueError(f"variable {variable} must list {size} states, got {{{listed[2].strip()}}}.")


def _lists(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the ways to read a list of states: by commas outside brackets, by commas, by blanks."""
    yield tuple(strip_quotes(part) for part in parts(text, ","))
    if '"' not in text:
        yield tuple(part.strip() for part in text.split(",") if part.strip())
    yield tuple(strip_quotes(part) for part in parts(text, ", \t\r\n"))


def _table(head: str, body: str, states: States) -> ConditionalTable:
    child, bar, given = head.partition("|")
    names = [strip_quotes(part) for part in parts(f"{child} {given}", ", \t\r\n")]
    if not names or (bar and len(parts(child, ", \t\r\n")) != 1):
        raise ValueError(f"probability must name one variable before '|', got ({head.strip()}).")
    variable, parents = names[0], tuple(names[1:])
    for name in names:
        if name not in states:
            raise ValueError(f"probability of {variable} must name known variables, got {name!r}.")
    if len(set(names)) < len(names):
        raise ValueError(f"probability of {variable} must name each variable once, got {names}.")
    shape = tuple(len(states[name]) for name in (*parents, variable))
    table, default, whole = np.full(shape, np.nan), None, None
    for row in statements(body):
        if re.match(r"property\b", row):
            continue
        kind = re.match(r"(table|default)\b", row)
        if kind is None:
            index, rest = _configuration(row, variable, parents, states)
            if not np.isnan(table[index]).all():
                raise ValueError(f"probability of {variable} must give each row once, got {row!r}.")
            table[index] = _values(rest, shape[-1], variable, row)
        elif kind[1] == "table" and whole is None:
            size = int(np.prod(shape))
            values = _values(row[5:], size, variable, row)
            # The format lists the child's first state under all configurations, then its second.
            whole = np.moveaxis(values.reshape(shape[-1], *shape[:-1]), 0, -1)
        elif kind[1] == "default" and default is None:
            default = _values(row[7:], shape[-1], variable, row)
        else:
            raise ValueError(f"probability of {variable} must have one {kind[1]}, got two.")
    if whole is not None:
        if default is not None or not np.isnan(table).all():
            raise ValueError(f"probability of {variable} must be a table or rows, got both.")
        table = whole
    missing = np.isnan(table).any(axis=-1)
    if missing.any() and default is None:
        raise ValueError(f"probability of {variable} must cover all states of its parents.")
    if default is not None:
        table[missing] = default
    return ConditionalTable(variable=variable, parents=parents, table=table)


def _values(text: str, size: int, variable: str, row: str) -> FloatArray:
    try:
        values = np.array([float(part) for part in parts(text, ", \t\r\n")])
    except ValueError:
        raise ValueError(f"probability of {variable} has an unreadable row {row!r}.") from None
    if values.size != size or not np.isfinite(values).all():
        raise ValueError(
            f"probability of {variable} must list every state: {size} numbers, got {row!r}."
        )
    return values


def _configuration(
    row: str, variable: str, parents: Sequence[str], states: States
) -> tuple[tuple[int, ...], str]:
    """Return the parents' states that a row names, and what follows them.

    States may hold brackets, commas and blanks: a row is matched against the states there are.
    """
    if not row.startswith("("):
        raise ValueError(f"probability of {variable} must have rows per parents, got {row!r}.")
    found = set(_matches(row, 1, [states[parent] for parent in parents]))
    if len(found) != 1:
        what = "an unreadable row" if not found else "a row of several readings"
        raise ValueError(f"probability of {variable} has {what} {row!r} of rows per parents.")
    index, end = found.pop()
    return index, row[end:]


def _matches(
    row: str, start: int, parents: Sequence[Sequence[str]]
) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the states of all parents from a place on, and the place behind the bracket."""
    gap = re.compile(r"[\s,]*").match(row, start)
    place = gap.end() if gap else start
    if not parents:
        if row.startswith(")", place):
            yield (), place + 1
        return
    for number, state in enumerate(parents[0]):
        for written in (f'"{state}"', state):
            end = place + len(written)
            if row.startswith(written, place) and re.match(r"[\s,)]", row[end : end + 1]):
                for index, behind in _matches(row, end, parents[1:]):
                    yield (number, *index), behind
