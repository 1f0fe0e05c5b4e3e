"""What is asked for: a largest leakage, or a largest error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from bench.config.build import ConfigError, unknown
from mechanisms.check import positive, within

KINDS = ("accuracy", "epsilon", "error")
DEFAULT = 0.6  # accuracy


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One of three numbers that a release must not exceed.

    Parameters
    ----------
    accuracy : float in (1/2, 1), or None
        Share of worlds in which the best attack on two secrets may be right, at equal priors.
    epsilon : float in (0, inf), or None
        Of (epsilon, delta)-indistinguishability of two secrets, in nats.
    error : float in (0, inf), or None
        Mean L2 error of a release, in units of the query.
    delta : float in [0, 1)
        Of `epsilon`, and of the budgets that have one.
    order : float in (0, inf]
        Of the budgets that have one.
    """

    accuracy: float | None = None
    epsilon: float | None = None
    error: float | None = None
    delta: float = 0.001
    order: float = 2.0

    def __post_init__(self) -> None:
        given = [name for name in KINDS if getattr(self, name) is not None]
        if len(given) != 1:
            got = ", ".join(f"target.{name}={getattr(self, name):g}" for name in given) or "none"
            raise ConfigError(
                f"one of target.accuracy, target.epsilon and target.error must be given, got {got}."
            )
        if self.accuracy is not None:
            within("target.accuracy", self.accuracy, 0.5, 1, ends="()")
        for name in ("epsilon", "error"):
            if getattr(self, name) is not None:
                positive(f"target.{name}", getattr(self, name), infinite=False)
        within("target.delta", self.delta, 0, 1, ends="[)")
        positive("target.order", self.order)

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Target:
        """Return the target of plain settings, an accuracy of .6 where none of the three is given.

        Keys that it does not have are refused.
        """
        names = [field.name for field in fields(cls)]
        for key in settings:
            if key not in names:
                raise ConfigError(f"target: {unknown('key', key, names)}")
        given = any(settings.get(name) is not None for name in KINDS)
        return cls(**dict(settings) | ({} if given else {"accuracy": DEFAULT}))

    @property
    def kind(self) -> str:
        """Which number is asked for: "accuracy", "epsilon" or "error"."""
        return next(name for name in KINDS if getattr(self, name) is not None)

    @property
    def value(self) -> float:
        """The number."""
        return float(getattr(self, self.kind))

    @property
    def allowed_accuracy(self) -> float:
        """Largest accuracy of an attack on two equally likely secrets; 1 for an error.

        (epsilon, delta)-indistinguishability allows ``1 - (1 - delta) / (1 + e^epsilon)``
        (Kairouz, Oh, Viswanath, 2015: the corner of the region of errors).
        """
        if self.accuracy is not None:
            return self.accuracy
        return 1.0 if self.epsilon is None else accuracy_of(self.epsilon, self.delta)

    def __str__(self) -> str:
        """Return the target in words."""
        if self.accuracy is not None:
            return f"no attack is right in more than {self.accuracy:g} of worlds (equal priors)"
        if self.epsilon is not None:
            return f"epsilon at most {self.epsilon:g} at delta={self.delta:g}"
        return f"a mean L2 error of at most {self.error:g}"


def accuracy_of(epsilon: float, delta: float) -> float:
    """Return the largest accuracy that (epsilon, delta)-indistinguishability allows.

    Examples
    --------
    >>> round(accuracy_of(0.1, 0.0), 4), accuracy_of(0.0, 0.0), accuracy_of(math.inf, 0.0)
    (0.525, 0.5, 1.0)
    """
    return (
        1.0
        if epsilon == math.inf
        else 1 - (1 - delta) * math.exp(-epsilon) / (1 + math.exp(-epsilon))
    )


def epsilon_of(accuracy: float, delta: float) -> float:
    """Return the epsilon at which (epsilon, delta)-indistinguishability allows an accuracy.

    Examples
    --------
    >>> round(epsilon_of(accuracy_of(0.7, 0.01), 0.01), 12)
    0.7
    >>> epsilon_of(0.5, 0.1)  # more than the accuracy by delta alone
    0.0
    """
    return max(0.0, math.log(accuracy - delta) - math.log1p(-accuracy)) if accuracy > delta else 0.0
