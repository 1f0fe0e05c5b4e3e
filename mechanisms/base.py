"""What the harness asks of a mechanism and of its calibration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from mechanisms.check import Array, FloatArray, NotPossibleError
from mechanisms.laws.answer import AnswerLaw
from mechanisms.leakage.pair import PairLeakage
from mechanisms.privacy.bracket import Bracket
from mechanisms.privacy.budget import Budget
from mechanisms.privacy.composition import repeat
from mechanisms.privacy.guarantee import Guarantee, NoClaim, NotComparable
from mechanisms.privacy.notion import Notion

Sees = Literal["answers", "database"]


class Knowledge:
    """A typed fact that a scenario offers to calibrations (subclasses are frozen values)."""

    __slots__ = ()


class NotOfferedError(NotPossibleError):
    """A scenario cannot offer a fact; the message says which facts it does offer."""


class NotApplicableError(NotPossibleError):
    """A calibration does not exist for this scenario or budget; the message is the reason."""


class Mechanism(Protocol):
    """A calibrated randomised map from answers (or whole databases) to releases.

    ``guarantee`` is derived from the mechanism's own noise. ``release`` maps
    ``(n_trials, *shape)`` to ``(n_trials, *release_shape)``, independently for every trial.
    """

    sees: ClassVar[Sees]

    @property
    def guarantee(self) -> Guarantee | NoClaim:
        """What is claimed for one release."""

    def release(self, x: Array, rng: np.random.Generator) -> Array:
        """Release one noisy answer a trial."""


@runtime_checkable
class HasRepeatedGuarantee(Protocol):
    """A mechanism that knows what several releases of the same answer guarantee together."""

    def repeated_guarantee(self, n_releases: int) -> Guarantee | NoClaim:
        """Return what is claimed for `n_releases` releases of one answer."""


@runtime_checkable
class HasOtherNotions(Protocol):
    """A mechanism that knows its claim in other notions better than a conversion would."""

    def guarantee_in(self, notion: Notion, n_releases: int) -> Guarantee | NotComparable | None:
        """Return the claim in `notion`; None where only converting the number is left."""


@runtime_checkable
class HasDeterminism(Protocol):
    """A mechanism that knows whether its release is a function of the answer alone."""

    @property
    def deterministic(self) -> bool:
        """Whether repeating a release of one answer always shows the same."""


@runtime_checkable
class HasLeakage(Protocol):
    """A mechanism whose exact leakage is computable under some answer laws."""

    def leakage(self, first: AnswerLaw, second: AnswerLaw, n_releases: int) -> PairLeakage:
        """Compare the release laws under two answer laws, or raise NotComputableError."""


@runtime_checkable
class HasNoiseCovariance(Protocol):
    """A mechanism that releases the answer plus independent noise, rounded or not."""

    @property
    def noise_covariance(self) -> FloatArray:
        """Covariance of the noise, shape (m, m); 0 in directions that are released as they are."""


@runtime_checkable
class HasRounding(Protocol):
    """A mechanism that rounds what it releases."""

    @property
    def rounding(self) -> float:
        """Step of the grid that releases are rounded to, in units of the query."""


@runtime_checkable
class HasLogDensity(Protocol):
    """A mechanism with a release density (or mass) given the answer."""

    def log_density(self, releases: Array, answers: Array) -> FloatArray:
        """Log density of releases ``(n, 1, *shape)`` given answers ``(1, a, *shape)``: (n, a)."""


@runtime_checkable
class HasMarginalDensity(Protocol):
    """A mechanism whose release density integrates in closed form over some answer law."""

    def marginal_log_density(self, releases: Array, law: AnswerLaw) -> FloatArray:
        """Log density of ``(n, n_releases, *shape)`` when the answer has law `law`: (n,)."""


@runtime_checkable
class HasPublicFacts(Protocol):
    """A mechanism that publishes facts beside its releases, exactly: totals of a table, say."""

    def public_facts(self, x: Array) -> Mapping[str, Array]:
        """Return named facts, one row for every row of what the mechanism sees."""


class Calibration(Protocol):
    """What ``conf/mechanism/*.yaml`` builds: knowledge and a budget in, a mechanism out."""

    requires: ClassVar[tuple[type[Knowledge], ...]]
    accepts: ClassVar[type[Budget]]

    def calibrate(self, *knowledge: Any, budget: Any) -> Mechanism:  # noqa: ANN401
        """Choose the noise; raise NotApplicableError with the reason where that is impossible."""


@runtime_checkable
class HasNoiselessForm(Protocol):
    """A calibration whose release at an infinite budget is less than the whole answer."""

    def without_noise(self, *knowledge: Any) -> Mechanism:  # noqa: ANN401
        """Return the mechanism without noise."""


@runtime_checkable
class HasTarget(Protocol):
    """A calibration that puts an exact number at a value, whatever the claim."""

    @property
    def target_name(self) -> str:
        """The number and its value, in words."""

    def achieved(self, mechanism: Mechanism, laws: Any, n_releases: int) -> Bracket:  # noqa: ANN401
        """Return the exact number of a calibrated mechanism."""


def guarantee_of(mechanism: Mechanism, n_releases: int) -> Guarantee | NoClaim:
    """Return what `n_releases` releases of one answer guarantee together."""
    if n_releases == 1:
        return mechanism.guarantee
    if isinstance(mechanism, HasRepeatedGuarantee):
        return mechanism.repeated_guarantee(n_releases)
    return repeat(mechanism.guarantee, n_releases)
