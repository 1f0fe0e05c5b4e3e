"""Labels that tables, files and MLflow could not tell apart are refused before anything runs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

LONGEST_NAME = 250
LEDGER = (
    "claimed", "exact", "exact_unpooled", "exact_recorded", "ceiling", "certifiable", "certified",
    "matched",
)  # fmt: skip


def legal(name: str) -> str:
    """Return `name` with what MLflow refuses in metric names replaced by ``_``."""
    return re.sub(r"[^\w\-. :/]", "_", name)[:LONGEST_NAME]


def metric_key(metric: str, attack: str, unit: str = "") -> str:
    """Return under which name MLflow keeps a metric of a cell; other notions add their unit."""
    return legal("/".join(part for part in (metric, attack, unit) if part))


def format_number(value: object) -> str:
    """Return a number in its shortest form that is still exact, anything else as text."""
    if not isinstance(value, float):
        return str(value)
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def check_labels(kind: str, labels: Iterable[object], taken: Sequence[str] = ()) -> None:
    """Refuse labels of one kind that differ in ``_``, ``-``, ``/``, blanks and capitals only.

    Names of cells, legends and files write these alike.

    Parameters
    ----------
    kind : str
        "mechanism", "scenario", ...: for the message.
    labels : iterable of str
    taken : sequence of str
        Names that the harness itself uses.
    """
    first: dict[str, object] = {_folded(name): name for name in taken}
    for label in labels:
        folded = _folded(label)
        if not folded.strip("_"):
            raise ValueError(f"a {kind} needs a label, got {label!r}.")
        if folded in first:
            other = first[folded]
            if other in taken:
                raise ValueError(f"{kind} {label!r}: this name is taken; choose another label.")
            raise ValueError(
                f"{kind} labels {other!r} and {label!r} differ in _, -, /, blanks and capitals "
                "only: tables, figures and the store could not tell them apart."
            )
        first[folded] = label


def _folded(label: object) -> str:
    return re.sub(r"[\s_/-]", "_", unicodedata.normalize("NFKC", str(label))).casefold()


def check_recorded(
    axes: Iterable[str], attacks: Sequence[str], metrics: Mapping[str, tuple[str, str]]
) -> None:
    """Refuse metrics, attacks and axes whose numbers MLflow would keep under one name.

    Parameters
    ----------
    axes : iterable of str
        Coordinates of the cells; numbers among them are metrics in MLflow.
    attacks : sequence of str
        Labels.
    metrics : mapping of label to (name, needs)
        The name in the table of results; a metric that needs releases has one number a cell, any
        other one an attack.
    """
    origins = {name.casefold(): f"the axis {name!r}" for name in axes}
    ledger = [(name, "", f"the ledger's {name!r}") for name in LEDGER]
    ledger += [("certified", a, f"attack {a!r} in the ledger") for a in attacks]
    asked = [
        (name, attack, f"metric {label!r}" + (f" of attack {attack!r}" if attack else ""))
        for label, (name, needs) in metrics.items()
        for attack in (("",) if needs == "releases" else attacks)
    ]
    for name, attack, origin in (*ledger, *asked):
        key = metric_key(name, attack)
        for ending in ("", "_lo", "_hi"):  # ends of intervals
            other = origins.setdefault(f"{key}{ending}".casefold(), origin)
            if other != origin:
                raise ValueError(
                    f"{other} and {origin} are both recorded as {key + ending!r}: rename one."
                )


def check_names(names: Iterable[tuple[str, Mapping[str, object]]]) -> None:
    """Refuse two cells of one scenario and name, of which tables would make one line."""
    first: dict[tuple[object, str], Mapping[str, object]] = {}
    for name, labels in names:
        other = first.setdefault((labels.get("scenario"), name), labels)
        if other is not labels:
            raise ValueError(
                f"two cells would be called {name!r}: {dict(other)} and {dict(labels)}; "
                "rename a label or drop a value."
            )
