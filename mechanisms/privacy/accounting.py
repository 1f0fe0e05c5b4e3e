"""Releases of differentially private noise, accounted by the law of their privacy loss.

Google's ``dp-accounting`` composes the loss of independent releases numerically; discretisation
errs upwards. It is an extra: ``pip install privacy-notions-bench[accounting]``.
"""

from __future__ import annotations

import math
from types import ModuleType

from mechanisms.check import positive, whole, within

THEOREM = "privacy loss distribution of the releases (dp-accounting)"
POINTS = 200_000  # of the discretised loss of all releases together


def laplace_epsilon(shift: float, delta: float, n_releases: int = 1) -> float:
    """Return epsilon at delta of Laplace releases of two answers `shift` scales apart.

    Parameters
    ----------
    shift : float in (0, inf)
        L1 distance of the answers over the scale. In several coordinates a move along one of them
        is worst, by a chain of moves (Dong, Roth and Su, 2022, Theorem 2.14).
    delta : float in (0, 1)
    n_releases : int
        Independent releases of the same answer.

    Returns
    -------
    float
        An upper bound, never above basic composition ``n_releases * shift``.

    Raises
    ------
    ImportError
        If dp-accounting is not installed.
    """
    positive("shift", shift, infinite=False)
    within("delta", delta, 0, 1, ends="()")
    whole("n_releases", n_releases)
    loss = _accountant().from_laplace_mechanism(
        1 / shift,
        value_discretization_interval=2 * shift * n_releases / POINTS,
        pessimistic_estimate=True,
    )
    found = float(loss.self_compose(n_releases).get_epsilon_for_delta(delta))
    return min(math.nextafter(n_releases * shift, math.inf), max(0.0, found))


def _accountant() -> ModuleType:
    try:
        from dp_accounting.pld import privacy_loss_distribution
    except ImportError as error:
        raise ImportError(
            "accounting needs dp-accounting: pip install privacy-notions-bench[accounting]"
        ) from error
    return privacy_loss_distribution
