"""Options that name a label or a column: what a user typed against what a file holds."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from numbers import Integral

import numpy as np

from bench.config.build import unknown
from bench.datasets.source import DataError

TRUTH = {True: ("True", "true", "TRUE"), False: ("False", "false", "FALSE")}
LISTED = 200  # labels that an error compares with and names


def label_text(option: str, given: object) -> str:
    """Return an option that names a label as text; refuse what is none of the three kinds.

    The command line and YAML change what is typed (``1.50`` to 1.5, ``1e3`` to 1000.0, ``null`` to
    nothing), so that only texts, whole numbers and true/false can be what the user meant.

    Examples
    --------
    >>> label_text("value", "02139"), label_text("value", 7), label_text("value", True)
    ('02139', '7', 'true')
    >>> label_text("value", 1.5)
    Traceback (most recent call last):
    ...
    ValueError: value must be a string, a whole number or true/false, got 1.5: \
type it as the file has it, in quotes within quotes, value="'1.5'".
    """
    if isinstance(given, bool | np.bool_):
        return str(bool(given)).lower()
    if isinstance(given, str):
        return str(given)
    if isinstance(given, Integral):
        return str(int(given))
    typed = "null" if given is None else given
    raise ValueError(
        f"{option} must be a string, a whole number or true/false, got {given!r}: type it as the "
        f"file has it, in quotes within quotes, {option}=\"'{typed}'\"."
    )


def match_label(option: str, given: object, present: Collection[str]) -> tuple[str | None, str]:
    """Return the label that an option names, None if it is not there, and what is to be told.

    True and false match the one way in which the file writes them.

    Raises
    ------
    ValueError
        If the option is of another kind, or the file writes true or false in several ways.
    """
    text = label_text(option, given)
    if isinstance(given, str) and text in present:
        return text, ""
    for written in TRUTH.values():
        if text not in written:
            continue
        found = [word for word in written if word in present]
        if len(found) > 1:
            raise ValueError(
                f"{option}={given} may be {' or '.join(map(repr, found))}: type it in quotes "
                f"within quotes, {option}=\"'{found[0]}'\"."
            )
        if found:
            same = str(given) == found[0]
            return found[0], "" if same else f"{option}={given} is read as {found[0]!r}"
    return (text if text in present else None), ""


def label_of(option: str, given: object, present: Sequence[str], where: str) -> tuple[str, str]:
    """Return the label that an option names and what is to be told; refuse one that is not there.

    Raises
    ------
    DataError
        With the nearest labels and, for what was no text, how to type it.
    """
    label, note = match_label(option, given, present)
    if label is not None:
        return label, note
    line = unknown("value", label_text(option, given), present[:LISTED]).removesuffix(".")
    more = f", and {len(present) - LISTED} more" if len(present) > LISTED else ""
    hint = "" if isinstance(given, str) else (
        f"; if you typed anything else than {given}, put it in quotes within quotes, "
        f"{option}=\"'...'\""
    )  # fmt: skip
    raise DataError(f"{where}: {line}{more}{hint}.")
