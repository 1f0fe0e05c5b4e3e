"""The 78 labels of check-ins: which venue categories are merged into which."""

from __future__ import annotations

import functools
import html
import unicodedata
from collections.abc import Mapping
from importlib import resources

from bench.datasets.sequences.sequence_statistics import OTHER


@functools.cache
def merged_labels() -> Mapping[str, str]:
    """Return the common label of every known category, categories as `fold` text.

    The first category of a line is its common label; the last line is "Other".

    References
    ----------
    Bai, He, Gu, Kifer, Maeng (2026), Appendix D.3.
    """
    file = resources.files("bench.datasets") / "data" / "checkin_labels.csv"
    lines = [line.split(",") for line in file.read_text(encoding="utf-8").splitlines()]
    common = {fold(name): line[0] for line in lines[:-1] for name in line}
    return common | {fold(name): OTHER for name in (*lines[-1], OTHER)}


@functools.cache
def common_labels() -> tuple[str, ...]:
    """Return the 77 common labels in the published order, then "Other"."""
    return (*dict.fromkeys(label for label in merged_labels().values() if label != OTHER), OTHER)


def fold(category: str) -> str:
    """Return a category without accents, typographic apostrophes, entities and case.

    Examples
    --------
    >>> fold("Dentist’s Office"), fold("Café"), fold("College &amp; University")
    ("dentist's office", 'cafe', 'college & university')
    """
    text = html.unescape(category).replace("’", "'").replace("`", "'")
    plain = unicodedata.normalize("NFKD", text)
    kept = "".join(c for c in plain if not unicodedata.combining(c))
    return " ".join(kept.casefold().split())
