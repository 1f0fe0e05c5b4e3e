"""Influence under a prior of which only bounds are known.

Two readings of "only bounds l <= p <= u are known" (Bai, He, Gu, Kifer, Maeng 2026, Section
6.3.2). ``"joint"``: they bound the joint probabilities P(x_L, s), and the masses of the secrets
are free. ``"conditional"``: they bound the conditionals P(x_L | s), or the masses are known. The
conditional formula is *not* valid where the joint is what is bounded.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from mechanisms.check import FloatArray, one_of, whole, within
from mechanisms.influence.curve import InfluenceCurve
from mechanisms.privacy.assumptions import Condition

UncertaintyOn = Literal["joint", "conditional"]
UncertaintyTable = Literal["user", "database"]


def uncertainty_penalty(spread: float, uncertainty_on: UncertaintyOn = "joint") -> float:
    """Return what ``l = (1 - t) p`` and ``u = (1 + t) p`` add to a nominal influence, in nats.

    ``log((1 + t) / (1 - t))`` for conditionals; twice that for the joint, an upper bound that is
    approached for kept assignments of small probability, as those of many kept entries are.

    Parameters
    ----------
    spread : float in [0, 1)
        Relative uncertainty t.
    uncertainty_on : {"joint", "conditional"}
        What the bounds bound.

    Examples
    --------
    >>> round(uncertainty_penalty(0.2, "conditional"), 4), round(uncertainty_penalty(0.2), 4)
    (0.4055, 0.8109)
    """
    within("spread", spread, 0, 1, ends="[)")
    one_of("uncertainty_on", uncertainty_on, ("joint", "conditional"))
    once = float(np.log1p(spread) - np.log1p(-spread))
    return 2 * once if uncertainty_on == "joint" else once


def uncertain_curve(
    curve: InfluenceCurve,
    spread: float,
    uncertainty_on: UncertaintyOn = "joint",
    *,
    database: int | None = None,
) -> InfluenceCurve:
    """Return an upper bound on the curve when the prior is known within a factor ``1 +- spread``.

    The nominal curve plus `uncertainty_penalty` at every b below `curve.entries`: the bound does
    not decay in b. An epsilon at or below it leaves only group privacy of all entries.

    Parameters
    ----------
    curve : InfluenceCurve
        Of one user's entries, the longest user's.
    spread, uncertainty_on
        As in `uncertainty_penalty`.
    database : int or None
        None: what is bounded is each user's own table, and users stay independent of each other
        under every prior, so that setting aside all of a user's entries leaves nothing. A number:
        what is bounded is the table of the whole database of so many entries (as Bai et al. 2026
        write it); users may then be tied, and only setting all of them aside leaves nothing.
    """
    shift = uncertainty_penalty(spread, uncertainty_on)
    entries = curve.entries if database is None else whole("database", database, low=curve.entries)

    def shifted(rows: FloatArray) -> FloatArray:
        if entries > curve.entries:
            # The nominal curve is 0 from the user's own entries on: there the shift remains.
            held = np.repeat(rows[..., -1:], curve.entries + 1 - rows.shape[-1], axis=-1)
            rows = np.concatenate([rows, held], axis=-1)
            rows[..., -1] = 0.0
        return np.where(np.arange(rows.shape[-1]) >= entries, 0.0, rows + shift)

    note = describe_uncertainty(spread, uncertainty_on, database=database)
    return InfluenceCurve(
        values=shifted(curve.values),
        entries=entries,
        direction=curve.direction if spread == 0 else "upper bound",
        pairs=None if curve.pairs is None else shifted(curve.pairs),
        assumption="; ".join(filter(None, [curve.assumption, note])),
    )


def describe_uncertainty(
    spread: float, uncertainty_on: UncertaintyOn, *, database: int | None
) -> str:
    """Say which probabilities of which table are known how well."""
    table = "each user's own table" if database is None else "the table of the whole database"
    return f"{uncertainty_on} probabilities of {table} are known within a factor 1 +- {spread:g}"


def several_users(users: int, database: int | None) -> tuple[str, ...]:
    """Return the condition under which one user's entries tell nothing of another's."""
    return (Condition.USERS_INDEPENDENT,) if users > 1 and database is None else ()


def chain_conditions(
    users: int, database: int | None, spread: float, uncertainty_on: UncertaintyOn
) -> tuple[str, ...]:
    """Return what quilts of an uncertain class of chains take for granted."""
    known = (describe_uncertainty(spread, uncertainty_on, database=database),) if spread else ()
    return (*known, *several_users(users, database))
