"""Meta-classifier property inference: learn from shadow worlds to tell secrets apart."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning

from attacks.base import Shadow, Target, UnsupportedMechanismError
from mechanisms.check import Array, FloatArray, finite


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaClassifier:
    """Train any scikit-learn classifier on shadow releases and their secrets.

    Parameters
    ----------
    estimator : scikit-learn classifier with ``predict_proba``
        Never fitted itself; a clone is.
    adaptive : bool
        Whether to train on releases of the mechanism under attack, or on exact answers, as
        published (which understates leakage).

    References
    ----------
    Ateniese et al. (2015); Chen and Ohrimenko (2023), section 5.3.
    """

    trained: ClassVar[bool] = True
    estimator: ClassifierMixin
    adaptive: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.adaptive, bool):
            raise ValueError(f"adaptive must be true or false, got adaptive={self.adaptive!r}.")
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "predict_proba"):
            kind = self.estimator if isinstance(self.estimator, type) else type(self.estimator)
            raise TypeError(
                "estimator must be a scikit-learn classifier with predict_proba, "
                f"got {'the class ' if kind is self.estimator else ''}{kind.__name__}."
            )

    def fit(self, shadow: Shadow, target: Target, rng: np.random.Generator) -> FittedClassifier:
        """Fit a clone of the estimator; the shadow worlds must hold every secret."""
        k = shadow.releases.shape[1]
        seen = shadow.releases if self.adaptive else np.repeat(shadow.answers[:, None], k, axis=1)
        features = features_of(seen)
        missing = sorted(set(range(target.n_secrets)) - set(np.unique(shadow.secret).tolist()))
        if missing:
            raise ValueError(f"shadow worlds must hold every secret, got none of {missing}.")
        model: Any = clone(self.estimator)
        for name in sorted(model.get_params()):
            # Steps of a pipeline too: an unseeded one draws from numpy's global state.
            if name == "random_state" or name.endswith("__random_state"):
                model.set_params(**{name: int(rng.integers(2**31))})
        with warnings.catch_warnings():
            # An unscaled logistic regression may stop at its iteration limit; it still is the
            # published attack, and its accuracy is measured, not assumed.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(features, shadow.secret)
        return FittedClassifier(model=model, n_secrets=target.n_secrets)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedClassifier:
    """A trained classifier as an attacker."""

    model: Any
    n_secrets: int

    def score(self, releases: Array) -> FloatArray:
        """Return log class probabilities, columns in the order of the secrets."""
        features = features_of(releases)
        if features.shape[1] != self.model.n_features_in_:
            raise UnsupportedMechanismError(
                f"trained on {self.model.n_features_in_} features, "
                f"the release has {features.shape[1]}"
            )
        probabilities = self.model.predict_proba(features)
        scores = np.full((len(releases), self.n_secrets), -np.inf)
        with np.errstate(divide="ignore"):
            scores[:, self.model.classes_.astype(int)] = np.log(probabilities)
        return scores


def features_of(releases: Array) -> FloatArray:
    """Flatten releases ``(n, n_releases, ...)`` into features ``(n, p)``; all must be finite."""
    return finite("releases", releases).reshape(len(releases), -1)
