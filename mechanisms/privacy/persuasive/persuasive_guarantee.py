"""The guarantee as a value, and its composition."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from mechanisms.base import NotApplicableError
from mechanisms.check import within
from mechanisms.privacy.persuasive.receivers import ReceiverClass

PERSUASIVE = "persuasive privacy"


@dataclass(frozen=True, slots=True, kw_only=True)
class PersuasiveGuarantee:
    """(scores, Q_x, kappa, delta)-persuasive privacy.

    For every score, database x and receiver with a prior in Q_x, the score gain exceeds kappa
    with probability at most delta over the mechanism.

    Parameters
    ----------
    scores : str
        Which scores are protected.
    receivers : ReceiverClass
    kappa : float in [0, inf]
        In units of the score; nats for logarithmic ones.
    delta : float in [0, 1)
    theorem : str
        The source: author, year, theorem.
    notes : tuple of str
        Conditions, idealisations, and what rests on a reconstruction.

    References
    ----------
    Bon, Bailie, Rousseau and Robert (2026), Persuasive Privacy, Definition 3.
    """

    notion: ClassVar[str] = PERSUASIVE
    scores: str
    receivers: ReceiverClass
    kappa: float
    delta: float
    theorem: str
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        within("kappa", self.kappa, 0, math.inf)
        within("delta", self.delta, 0, 1, ends="[)")


def compose(
    first: PersuasiveGuarantee, mechanism: object, second: PersuasiveGuarantee
) -> PersuasiveGuarantee:
    """Return what both releases guarantee together: kappas and deltas add up.

    Parameters
    ----------
    first : PersuasiveGuarantee
        Of `mechanism`.
    mechanism : object
        The first mechanism, to which the class of priors must be conjugate: the receiver of the
        second release is the first one's posterior.
    second : PersuasiveGuarantee
        Of the second mechanism given every output of the first.

    Raises
    ------
    NotApplicableError
        If scores or receivers differ, the class is not conjugate, or the deltas reach 1.

    References
    ----------
    Bon, Bailie, Rousseau and Robert (2026), Proposition 3.
    """
    if first.scores != second.scores:
        raise NotApplicableError(
            f"composition needs the same scores, got {first.scores!r} and {second.scores!r}"
        )
    if first.receivers != second.receivers:
        raise NotApplicableError(
            "composition needs the same receivers, "
            f"got {first.receivers.name!r} and {second.receivers.name!r}"
        )
    reason = first.receivers.leaves_class(mechanism)
    if reason is not None:
        raise NotApplicableError(f"the receivers are not conjugate to the first release: {reason}")
    if first.delta + second.delta >= 1:
        raise NotApplicableError(
            f"the deltas add up to {first.delta + second.delta:g}: nothing is promised"
        )
    return PersuasiveGuarantee(
        scores=first.scores,
        receivers=first.receivers,
        kappa=first.kappa + second.kappa,
        delta=first.delta + second.delta,
        theorem="Bon, Bailie, Rousseau and Robert (2026), Proposition 3",
        notes=tuple(dict.fromkeys((*first.notes, *second.notes))),
    )
