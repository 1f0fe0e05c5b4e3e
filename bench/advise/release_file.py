"""One release as a file, and beside it what it guarantees."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench.config.build import ConfigError
from bench.scenarios.base import TrueAnswer
from mechanisms.base import HasNoiseCovariance, Mechanism, NotApplicableError
from mechanisms.check import Array

BITS = 10  # a step is at most 2^-10 of the noise's size, and at least half of that


def refuse_second(path: Path) -> None:
    """Refuse an output that holds a release: another one would compose with it."""
    for file in (path, beside(path)):
        if file.exists():
            raise ConfigError(
                f"{file} holds a release already: a second one would compose with it, and both "
                "together guarantee less. Another output: file=..."
            )


def beside(path: Path) -> Path:
    """Return the file of the guarantee.

    Examples
    --------
    >>> beside(Path("out/release.csv")).name
    'release.guarantee.txt'
    """
    return path.with_name(f"{path.stem}.guarantee.txt")


def on_grid(released: Array, recorded: TrueAnswer, mechanism: Mechanism) -> tuple[Array, str]:
    """Return a release on a grid that does not depend on the data, and the grid in words.

    Rounding is post-processing: the guarantee holds for what is rounded. Counts are rounded to
    whole numbers, other coordinates to a power of two of at least 2^-11 of the noise's size, so
    that the last bits of floating-point sums, which may name the answer, are not released
    (Mironov, 2012).

    Parameters
    ----------
    released : array of shape (1, *shape)
    recorded : TrueAnswer
    mechanism : Mechanism

    Raises
    ------
    NotApplicableError
        If the size of the noise, and with it a grid, is not known.
    """
    if np.issubdtype(np.asarray(released).dtype, np.integer):
        return released, "whole numbers, as they are drawn"
    if isinstance(mechanism, HasNoiseCovariance):
        size = np.sqrt(np.diag(mechanism.noise_covariance))
        fine = np.exp2(np.floor(np.log2(np.where(size > 0, size, 1.0))) - BITS)
        fine = np.broadcast_to(fine, released.shape[-1:])
    elif recorded.whole.all():
        fine = np.full(released.shape[-1], 1.0)
    else:
        raise NotApplicableError("the size of its noise is not known, so no grid can be stated")
    step = np.where(np.broadcast_to(recorded.whole, fine.shape), np.maximum(fine, 1.0), fine)
    steps = ", ".join(f"{s:g}" for s in dict.fromkeys(step.tolist()))
    return step * np.rint(released / step), f"multiples of {steps}"


def release_text(
    released: Array, statistics: Sequence[str], recorded: TrueAnswer, *, ranked: bool
) -> str:
    """Return a release as CSV.

    A line a statistic, in two dimensions a line a group and statistic, of rankings a line a group
    and place.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    rows = np.atleast_2d(released[0])
    groups = recorded.groups or ("",) * len(rows)
    names = range(1, rows.shape[-1] + 1) if ranked else statistics
    head = ["place", "label"] if ranked else ["statistic", "value"]
    writer.writerow(["group", *head] if recorded.groups else head)
    for group, row in zip(groups, rows, strict=True):
        for name, value in zip(names, row.tolist(), strict=True):
            line = [name, statistics[int(value)] if ranked else repr(value)]
            writer.writerow([group, *line] if recorded.groups else line)
    return out.getvalue()


def write_once(path: Path, text: str, guarantee: str) -> None:
    """Write a release and its guarantee; an existing file is never written over."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for file, content in ((beside(path), guarantee), (path, text)):
        with file.open("x", encoding="utf-8") as out:
            out.write(content)
