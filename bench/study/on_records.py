"""The exact number on records: the calibrated mechanism on answers as records give them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as t_law

from bench.core.randomness import rng_for
from bench.scenarios.recorded import HasRecorded, Recorded
from bench.study.game import Game
from mechanisms.base import HasLeakage, HasNoiseCovariance, HasRounding, NotOfferedError
from mechanisms.check import FloatArray
from mechanisms.laws.answer import AnswerLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.noise.identity import ExactRelease
from mechanisms.noise.rank import names_answers
from mechanisms.privacy.bracket import Bracket, NotComputable, NotComputableError
from mechanisms.privacy.notion import PairEvidence, PairNotion

DRAWS = 25
FEW = 4  # secrets whose deviations are told
ENDS = float(t_law.ppf(0.975, DRAWS - 1))  # deviations of a 95 % interval from so few draws
SEVERAL = (
    "the law of several statistics on records has no closed form after noise of full rank; "
    "attacks on worlds from records tell"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OnRecords:
    """An exact number on records, with the error that finitely many of them leave.

    Parameters
    ----------
    value : float
        Of the records as they are.
    lower, upper : float
        Ends at 95 %, by drawing units anew (see `interval`).
    n_units : int
    words : str
        Of what it is the exact number, and what it takes for granted.
    """

    value: float
    lower: float
    upper: float
    n_units: int
    words: str


def on_records(game: Game, notion: PairNotion, doubt: str) -> OnRecords | NotComputable | None:
    """Return a notion's exact number on the scenario's records; None where there are no records.

    Parameters
    ----------
    game : Game
    notion : PairNotion
    doubt : str
        Why the model's exact number settles nothing: then the noise spares directions, and where
        what is spared names the answer the number is that of the noiseless release.
    """
    if game.scenario.synthetic or not isinstance(game.scenario, HasRecorded):
        return None
    try:
        recorded = game.scenario.recorded()
        mechanism, words = _release(game, recorded, doubt)
        value = _number(game, mechanism, recorded.laws, notion).hi
    except (NotOfferedError, NotComputableError) as reason:
        return NotComputable(str(reason))
    # One stream for all mechanisms: the same units are drawn for each of them.
    rng = rng_for(game.seed, "records drawn anew", game.stream)
    drawn = np.array([_drawn(game, mechanism, recorded, notion, rng) for _ in range(DRAWS)])
    lower, upper = interval(value, drawn[~np.isnan(drawn)])
    return OnRecords(
        value=value,
        lower=lower,
        upper=upper,
        n_units=recorded.n_units,
        words=f"{words} of {recorded.words}; ends at 95 % by drawing {recorded.unit}s anew"
        + _beside_model(recorded.laws, game.laws() or ()),
    )


def _beside_model(recorded: Sequence[AnswerLaw], model: Sequence[AnswerLaw]) -> str:
    """Tell the answer's deviation under each secret, on records and in the model, if it is one."""
    found, modelled = (
        [deviation(law) for law in laws if isinstance(law, FiniteLaw)] for laws in (recorded, model)
    )
    if len(found) != len(modelled) or not all(d.size == 1 for d in (*found, *modelled)):
        return ""
    seen, said = (", ".join(f"{d[0]:.3g}" for d in side[:FEW]) for side in (found, modelled))
    more = ", ..." if len(found) > FEW else ""
    return f"; deviation of the answer {seen}{more} on records, {said}{more} in the model"


def deviation(law: FiniteLaw) -> FloatArray:
    """Return the standard deviation of each coordinate, shape (m,).

    Examples
    --------
    >>> deviation(FiniteLaw(atoms=[[0.0], [2.0]], weights=[0.5, 0.5])).tolist()
    [1.0]
    """
    points = law.as_vectors
    moved = points.atoms - points.weights @ points.atoms
    return np.sqrt(points.weights @ moved**2)


def _release(game: Game, recorded: Recorded, doubt: str) -> tuple[HasLeakage, str]:
    """Return the mechanism whose leakage is computed, and in words what it sees."""
    mechanism = game.mechanism
    if mechanism.sees != "answers" or not isinstance(mechanism, HasLeakage):
        raise NotComputableError("the release is not a known law of the answer")
    if doubt and isinstance(mechanism, HasNoiseCovariance):
        answers = np.asarray(game.worlds("test").answers, dtype=np.float64)
        step = mechanism.rounding if isinstance(mechanism, HasRounding) else 0.0
        if names_answers(mechanism.noise_covariance, answers, step):
            return ExactRelease(), "the noiseless release, for what is without noise names answers,"
        raise NotComputableError("what the noise spares does not name the answer by itself")
    if recorded.stand_in:
        raise NotComputableError(SEVERAL)
    return mechanism, "the calibrated mechanism on answers"


def _number(
    game: Game, mechanism: HasLeakage, laws: tuple[AnswerLaw, ...], notion: PairNotion
) -> Bracket:
    compared = tuple(
        mechanism.leakage(laws[i], laws[j], game.n_releases) for i, j in game.names.pairs
    )
    found = notion.exact(PairEvidence(compared=compared, reason="there is no pair of secrets"))
    if isinstance(found, NotComputable):
        raise NotComputableError(found.reason)
    return found


def _drawn(
    game: Game,
    mechanism: HasLeakage,
    recorded: Recorded,
    notion: PairNotion,
    rng: np.random.Generator,
) -> float:
    laws = recorded.resampled(rng)
    return math.nan if laws is None else _number(game, mechanism, laws, notion).hi


def interval(value: float, drawn: FloatArray) -> tuple[float, float]:
    """Return the ends at 95 % of a number, from what units drawn anew gave (Efron, 1979).

    Laws counted in few records lie further apart than those behind them, and resampled ones
    further still. The lower end takes that bias off, the upper end keeps it: neither a refutation
    nor a proof profits from few records.

    Examples
    --------
    >>> interval(1.0, np.array([1.2, 1.2]))
    (0.8, 1.2)
    """
    if not drawn.size:
        return 0.0, math.inf
    if not (np.isfinite(drawn).all() and math.isfinite(value)):
        return float(min(value, drawn.min())), math.inf
    bias, half = max(0.0, float(drawn.mean()) - value), ENDS * float(drawn.std(ddof=1))
    return max(0.0, value - bias - half), value + bias + half
