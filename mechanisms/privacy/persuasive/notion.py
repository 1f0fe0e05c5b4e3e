"""Persuasive privacy in the ledger: its evidence is records and receivers, not pairs of secrets."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field

from mechanisms.base import Knowledge, NotOfferedError
from mechanisms.check import FloatArray, within
from mechanisms.privacy.bracket import Bracket, NotComputable, NotComputableError
from mechanisms.privacy.guarantee import Guarantee, NotComparable
from mechanisms.privacy.notion import PlayedCell
from mechanisms.privacy.persuasive.loss_quantile import certified_kappa, realised_kappa
from mechanisms.privacy.persuasive.receiver_class import ReceiverClass

PERSUASIVE = "persuasive privacy"
NONE_ADMITTED = "no receiver of the scenario belongs to the class that the claim is about"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gains:
    """What the receivers of a scenario gain by a mechanism, over its records.

    Parameters
    ----------
    exact : float or None
        The largest over receivers and records of the smallest kappa that the gain exceeds with
        probability at most delta; None where nobody can compute it.
    reason : str
        Why there is none.
    realised : tuple of arrays of shape (cases, n)
        Gains that the played releases gave. Of a randomised mechanism a row holds n independent
        releases of one case: one database, record and receiver.
    deterministic : bool
        Whether the release is a function of the database: then what was realised is all there is.
    """

    exact: float | None
    reason: str = ""
    realised: tuple[FloatArray, ...] = ()
    deterministic: bool

    @property
    def cases(self) -> int:
        """Number of records and receivers that share the error."""
        return sum(len(rows) for rows in self.realised)


class Receivers(Knowledge):
    """The receivers of a scenario, who know its mechanism and have priors on its database."""

    __slots__ = ()

    @abstractmethod
    def gains(self, cell: PlayedCell, admitted: ReceiverClass | None, delta: float) -> Gains:
        """Return what they gain, or raise NotComputableError with the reason.

        Parameters
        ----------
        cell : PlayedCell
        admitted : ReceiverClass or None
            Only receivers of this class count; None counts all.
        delta : float in [0, 1)
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Persuasive:
    """The smallest kappa that a receiver's gain exceeds with probability at most delta.

    Parameters
    ----------
    delta : float in [0, 1)
    scores : str
        Which scores are protected; empty where the scenario's receivers say.
    receivers : ReceiverClass or None
        The class that the number is about; None takes every receiver of the scenario.

    Notes
    -----
    *exact* is the worst over the scenario's receivers in the class and over the records of its
    worlds. *certified* is the realised gain itself where the release is deterministic, with no
    interval: nothing was sampled. For randomised releases it is a one-sided bound; its error is
    split over records and receivers.

    References
    ----------
    Bon, Bailie, Rousseau and Robert (2026), Persuasive Privacy, Definition 3.
    """

    delta: float = 0.0
    scores: str = ""
    receivers: ReceiverClass | None = field(default=None)

    def __post_init__(self) -> None:
        within("delta", self.delta, 0, 1, ends="[)")

    @property
    def name(self) -> str:
        """Name of the definition."""
        return PERSUASIVE

    @property
    def unit(self) -> str:
        """Kappa in units of logarithmic scores, with delta and whose gain it is."""
        whose = "all receivers" if self.receivers is None else "the claim's receivers"
        return f"kappa in nats, {whose}" + (f", delta={self.delta:g}" if self.delta else "")

    def evidence(self, cell: PlayedCell) -> Gains:
        """Ask the scenario's receivers, or raise NotComputableError."""
        try:
            # An abstract type is asked for: any kind of receivers serves.
            receivers: Receivers = cell.knowledge(Receivers)  # type: ignore[type-abstract]
        except NotOfferedError as reason:
            raise NotComputableError(str(reason)) from reason
        return receivers.gains(cell, self.receivers, self.delta)

    def exact(self, evidence: Gains) -> Bracket | NotComputable:
        """Return the worst gain under the receivers' priors."""
        if evidence.exact is None:
            return NotComputable(evidence.reason)
        return Bracket(evidence.exact, evidence.exact)

    def certify(self, evidence: Gains, error: float) -> float:
        """Return the realised gain, or its one-sided bound for randomised releases."""
        if not evidence.realised:
            return 0.0
        if evidence.deterministic:
            return max(realised_kappa(rows) for rows in evidence.realised)
        shares = ((rows, error * len(rows) / evidence.cases) for rows in evidence.realised)
        return max(certified_kappa(rows, delta=self.delta, error=share) for rows, share in shares)

    def converted(self, guarantee: Guarantee) -> Guarantee | NotComparable:
        """Return what another guarantee says of these receivers: nothing that is proved."""
        said = guarantee.notion
        if not isinstance(said, Persuasive):
            return NotComparable(
                reason=f"{said.name} bounds receivers with two-point priors on neighbours (Bon et "
                "al., 2026, Proposition 6), not these"
            )
        if said.delta > self.delta:
            return NotComparable(reason=f"delta={said.delta:g} does not shrink to {self.delta:g}")
        whose = "no stated class" if said.receivers is None else said.receivers.name
        return NotComparable(reason=f"the claim is about {whose}, not about other receivers")


def worst(values: list[float]) -> float:
    """Return the largest gain, at least 0; refuse to compute without a receiver."""
    if not values:
        raise NotComputableError(NONE_ADMITTED)
    largest = max(0.0, *values)
    if math.isnan(largest):
        raise NotComputableError("a gain is not a number")
    return largest
