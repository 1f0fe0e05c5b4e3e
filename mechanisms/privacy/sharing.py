"""How many releases a budget is for: each has it, or all of them share it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from mechanisms.base import Calibration, Mechanism, NotApplicableError, guarantee_of
from mechanisms.privacy.guarantee import Guarantee

Share = Literal["each", "together"]
SHARES = ("each", "together")
TOLERANCE = 1e-6  # that of verdicts: the slack of snapped noise grows with the releases


@runtime_checkable
class HasSplit(Protocol):
    """A mechanism that knows how strong it must be for several releases to keep its claim."""

    def split_among(self, n_releases: int) -> Mechanism:
        """Return the mechanism of which so many releases claim what one of this claims."""


@runtime_checkable
class HasSharedCalibration(Protocol):
    """A calibration that solves for several releases of one answer itself."""

    def calibrate_together(
        self,
        *knowledge: Any,  # noqa: ANN401
        budget: Any,  # noqa: ANN401
        n_releases: int,
    ) -> Mechanism:
        """Choose the noise so that all releases together meet the budget."""


def calibrate(
    calibration: Calibration, knowledge: Sequence[Any], *, budget: object, n_releases: int,
    share: Share,
) -> Mechanism:  # fmt: skip
    """Calibrate a mechanism, told how many releases of one answer share the budget.

    Parameters
    ----------
    calibration : Calibration
    knowledge : sequence of Knowledge
    budget : Budget
    n_releases : int
    share : {"each", "together"}
        Whether every release has the budget, or all of them together.

    Raises
    ------
    NotApplicableError
        For ``share="together"`` where no composition theorem covers the releases: a budget is
        never divided by their number alone.
    """
    if share == "each" or n_releases == 1:
        return calibration.calibrate(*knowledge, budget=budget)
    if isinstance(calibration, HasSharedCalibration):
        return calibration.calibrate_together(*knowledge, budget=budget, n_releases=n_releases)
    single = calibration.calibrate(*knowledge, budget=budget)
    none = f"no composition theorem covers {n_releases} releases of this mechanism together"
    if not isinstance(single, HasSplit):
        raise NotApplicableError(none)
    mechanism = single.split_among(n_releases)
    once, all_of_them = single.guarantee, guarantee_of(mechanism, n_releases)
    if isinstance(once, Guarantee) and isinstance(all_of_them, Guarantee):
        if all_of_them.unbounded and not once.unbounded:
            raise NotApplicableError(none)
        if not all_of_them.bound <= once.bound * (1 + TOLERANCE):
            raise NotApplicableError(
                f"{n_releases} releases claim {all_of_them.bound:.6g} together where one claims "
                f"{once.bound:.6g}: the theorem does not share a budget"
            )
    return mechanism


def check_share(share: object) -> None:
    """Refuse a way of sharing that there is not."""
    if share not in SHARES:
        raise ValueError(f"share must be one of {', '.join(SHARES)}, got share={share!r}.")
