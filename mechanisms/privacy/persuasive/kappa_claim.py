"""The guarantee as a value, and its composition."""

from __future__ import annotations

import math

from mechanisms.base import NotApplicableError
from mechanisms.check import within
from mechanisms.privacy.assumptions import Assumptions
from mechanisms.privacy.guarantee import Guarantee
from mechanisms.privacy.persuasive.notion import Persuasive
from mechanisms.privacy.persuasive.receiver_class import ReceiverClass

COMPOSED = "Bon, Bailie, Rousseau and Robert (2026), Proposition 3"


def persuasive_guarantee(
    *,
    scores: str,
    receivers: ReceiverClass,
    kappa: float,
    delta: float,
    theorem: str,
    notes: tuple[str, ...] = (),
) -> Guarantee:
    """Return (scores, Q_x, kappa, delta)-persuasive privacy.

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
    return Guarantee(
        notion=Persuasive(delta=delta, scores=scores, receivers=receivers),
        bound=within("kappa", kappa, 0, math.inf),
        theorem=theorem,
        assumptions=Assumptions(secrets=scores, priors=receivers.name),
        notes=notes,
    )


def compose(first: Guarantee, mechanism: object, second: Guarantee) -> Guarantee:
    """Return what both releases guarantee together: kappas and deltas add up.

    Parameters
    ----------
    first : Guarantee
        Of `mechanism`; persuasive, with stated receivers.
    mechanism : object
        The first mechanism, to which the class of priors must be conjugate: the receiver of the
        second release is the first one's posterior.
    second : Guarantee
        Of the second mechanism given every output of the first.

    Raises
    ------
    NotApplicableError
        If scores or receivers differ, the class is not conjugate, or the deltas reach 1.

    References
    ----------
    Bon, Bailie, Rousseau and Robert (2026), Proposition 3.
    """
    (one, whose), (other, theirs) = (_stated(guarantee) for guarantee in (first, second))
    if one.scores != other.scores:
        raise NotApplicableError(
            f"composition needs the same scores, got {one.scores!r} and {other.scores!r}"
        )
    if whose != theirs:
        raise NotApplicableError(
            f"composition needs the same receivers, got {whose.name!r} and {theirs.name!r}"
        )
    reason = whose.leaves_class(mechanism)
    if reason is not None:
        raise NotApplicableError(f"the receivers are not conjugate to the first release: {reason}")
    if one.delta + other.delta >= 1:
        raise NotApplicableError(
            f"the deltas add up to {one.delta + other.delta:g}: nothing is promised"
        )
    return persuasive_guarantee(
        scores=one.scores,
        receivers=whose,
        kappa=first.bound + second.bound,
        delta=one.delta + other.delta,
        theorem=COMPOSED,
        notes=tuple(dict.fromkeys((*first.notes, *second.notes))),
    )


def _stated(guarantee: Guarantee) -> tuple[Persuasive, ReceiverClass]:
    notion = guarantee.notion
    if not isinstance(notion, Persuasive) or notion.receivers is None:
        raise NotApplicableError(
            f"composition needs persuasive guarantees with stated receivers, got {guarantee.name}"
        )
    return notion, notion.receivers
