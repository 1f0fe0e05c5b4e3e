"""The a(b)-influence curve of a prior, and what per-entry differential privacy buys under it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mechanisms.check import FloatArray, IntArray, one_of, positive, whole, within

Direction = Literal["exact", "upper bound"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryBudget:
    """Total per-entry epsilon of any number of releases that meets a Pufferfish budget.

    Attributes
    ----------
    total : float in [0, inf]
        Sum of the per-entry epsilons of all releases; k equal releases get ``total / k`` each.
    high_influence : int
        Size b of the high-influence part at which the budget is met.
    penalty : float
        The influence a(b) there, paid once however many releases share the budget.
    note : str
        Empty, or one line that says why only group privacy of all entries remains.
    """

    total: float
    high_influence: int
    penalty: float
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InfluenceCurve:
    """How much of a secret the low-influence entries tell once b entries are set aside.

    ``values[b]`` is a(b): for every secret pair and prior, some set of at most b entries can be set
    aside so that the remaining entries change the odds of the pair by a factor of at most
    ``exp(a(b))``. A point that holds at b holds at every larger b, so a table that rises is
    lowered to its running minimum. Beyond the table a(b) is held at its last value, and it is 0
    from ``entries`` on, where nothing remains.

    Parameters
    ----------
    values : array of shape (b_max + 1,)
        a(b) for b = 0..b_max in nats, each in [0, inf]; ``b_max <= entries``.
    entries : int
        Number of entries of the data that the prior ties together.
    direction : {"exact", "upper bound"}
        Whether the table is the curve or lies on or above it. Guarantees hold either way.
    pairs : array of shape (n_rows, b_max + 1), optional
        Curves of single secret pairs, or of groups of them; every secret pair lies on or below
        one row, and `values` is at least their pointwise maximum. Each row may use its own b.
    assumption : str
        What is assumed beyond the prior, where anything is; empty otherwise.

    References
    ----------
    Bai, He, Gu, Kifer, Maeng (2026), "Composition for Pufferfish Privacy", Definition 2.

    Examples
    --------
    >>> curve = InfluenceCurve(values=np.array([np.inf, 2.0, 0.5]), entries=4, direction="exact")
    >>> curve.at(1), curve.at(3), curve.at(4)
    (2.0, 0.5, 0.0)
    >>> curve.pufferfish_epsilon(0.5)
    1.5
    """

    values: FloatArray
    entries: int
    direction: Direction
    pairs: FloatArray | None = None
    assumption: str = ""

    def __post_init__(self) -> None:
        whole("entries", self.entries)
        one_of("direction", self.direction, ("exact", "upper bound"))
        values = _check_rows("values", self.values, 1, self.entries)
        object.__setattr__(self, "values", values)
        if self.pairs is None:
            return
        pairs = _check_rows("pairs", self.pairs, 2, self.entries)
        if pairs.shape[1] != values.size:
            raise ValueError(
                f"pairs must have one column per tabulated b ({values.size}), "
                f"got shape {pairs.shape}."
            )
        if (pairs > values).any():
            raise ValueError("pairs must lie on or below values, got a pair above it.")
        object.__setattr__(self, "pairs", pairs)

    @property
    def floor(self) -> float:
        """Smallest tabulated influence before all entries are set aside."""
        before = self.values[: self.entries]
        return float(before.min()) if before.size else 0.0

    def at(self, b: int) -> float:
        """Return a(b) for any b of at least 0."""
        whole("b", b, low=0)
        return 0.0 if b >= self.entries else float(self.values[min(b, self.values.size - 1)])

    def pufferfish_epsilon(self, per_entry_epsilon: float) -> float:
        """Return the Pufferfish epsilon of a per-entry differentially private release.

        Parameters
        ----------
        per_entry_epsilon : float in [0, inf]
            Per-entry epsilon of the release, or the sum over all releases of the same data,
            adaptive ones included: the influence is then paid once.

        Returns
        -------
        float
            ``min over b of a(b) + b * per_entry_epsilon``, per row of `pairs` where there are
            any, an upper bound on the true loss. (Bai et al. 2026, Theorem 3, applied to the
            joint release; never above their Theorem 4.)
        """
        epsilon = within("per_entry_epsilon", per_entry_epsilon, 0, np.inf)
        sizes, rows = self._points()
        # b = 0 releases the data itself: no noise is needed there, also at epsilon = inf.
        spent = np.where(sizes == 0, 0.0, np.maximum(sizes, 1) * epsilon)
        return float((rows + spent).min(axis=1).max())  # Bai et al. 2026, Theorem 3

    def budget(self, epsilon: float) -> EntryBudget:
        """Return the largest total per-entry epsilon that is `epsilon`-Pufferfish.

        Parameters
        ----------
        epsilon : float in (0, inf]
            Pufferfish budget of all releases together.

        Returns
        -------
        EntryBudget
            Largest ``(epsilon - a(b)) / b`` over b with ``a(b) < epsilon`` (of the worst row of
            `pairs` where there are any), rounded down so that `pufferfish_epsilon` of the total
            never exceeds `epsilon`.
        """
        positive("epsilon", epsilon)
        sizes, rows = self._points()
        with np.errstate(divide="ignore", invalid="ignore"):
            totals = np.where(rows < epsilon, (epsilon - rows) / sizes, 0.0)
        if np.isinf(epsilon):
            totals = np.where(np.isinf(rows), 0.0, np.inf)
        totals[(sizes == 0) & (rows <= epsilon)] = np.inf
        row = int(totals.max(axis=1).argmin())
        column = int(totals[row].argmax())
        total = float(totals[row, column])
        while self.pufferfish_epsilon(total) > epsilon:
            total = float(np.nextafter(total, 0.0))
        return EntryBudget(
            total=total,
            high_influence=int(sizes[column]),
            penalty=float(rows[row, column]),
            note=self._note(epsilon),
        )

    def _points(self) -> tuple[IntArray, FloatArray]:
        """Return the sizes b and the rows of points to optimise over, all entries included."""
        rows = self.values[None, :] if self.pairs is None else self.pairs
        sizes = np.arange(self.values.size)
        if self.values.size <= self.entries:
            sizes = np.append(sizes, self.entries)
            rows = np.concatenate([rows, np.zeros((len(rows), 1))], axis=1)
        return sizes, rows

    def _note(self, epsilon: float) -> str:
        if self.floor < epsilon or self.entries == 1:
            return ""
        return (
            f"epsilon={epsilon:g} does not exceed the curve's floor {self.floor:g}: what remains "
            f"is group privacy of all {self.entries} entries."
        )


def independence(entries: int) -> InfluenceCurve:
    """Return the curve of independent entries: per-entry privacy is Pufferfish privacy."""
    return dependent_items(1, entries)


def dependent_items(tied: int, entries: int) -> InfluenceCurve:
    """Return the curve of dependent differential privacy: inf below `tied` entries, then 0.

    Parameters
    ----------
    tied : int
        Size L of the largest set of mutually dependent entries, the entry itself included.
    entries : int
        Number of entries of the data.

    References
    ----------
    Liu, Chakraborty, Mittal (2016); Bai et al. (2026), Section 6.4.
    """
    whole("tied", tied)
    if whole("entries", entries) < tied:
        raise ValueError(f"tied must be at most entries={entries}, got tied={tied}.")
    values = np.zeros(tied + 1)
    values[:tied] = np.inf
    return InfluenceCurve(values=values, entries=entries, direction="exact")


def group_privacy(records: int, attributes: int, entries: int) -> InfluenceCurve:
    """Return the curve of group privacy for `records` records of `attributes` entries each."""
    return dependent_items(whole("records", records) * whole("attributes", attributes), entries)


def _check_rows(name: str, values: object, ndim: int, entries: int) -> FloatArray:
    """Return a read-only running minimum along b; refuse NaN, negative and misshapen tables."""
    table = np.array(values, dtype=np.float64)
    if table.ndim != ndim or table.size == 0 or table.shape[-1] > entries + 1:
        raise ValueError(
            f"{name} must have {ndim} dimension(s) and one entry for each b in 0..b_max with "
            f"b_max <= entries={entries}, got shape {table.shape}."
        )
    if not (table >= 0).all():
        raise ValueError(f"{name} must be in [0, inf], got an entry {table[~(table >= 0)][0]}.")
    if table.shape[-1] == entries + 1:
        table[..., -1] = 0.0
    table = np.minimum.accumulate(table, axis=-1)
    table.flags.writeable = False
    return table
