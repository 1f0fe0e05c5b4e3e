"""Meta-classifier property inference: learn from shadow worlds to tell secrets apart."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer

from attacks.base import Target, Transcript, UnsupportedMechanismError, Yields
from mechanisms.check import Array, FloatArray, IntArray


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

    Notes
    -----
    Releases are flattened into one feature an entry. A missing entry (NaN, a suppressed cell)
    becomes the mean of the entry's training values (0 where there are none), and every entry that
    was ever missing in training has a further feature that says whether it is missing: which cells
    are suppressed tells of the secret too. Marks that are numbers are taken as numbers.

    References
    ----------
    Ateniese et al. (2015); Chen and Ohrimenko (2023), section 5.3.
    """

    yields: ClassVar[Yields] = "scores"
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

    def fit(self, shadow: Transcript, target: Target, rng: np.random.Generator) -> FittedClassifier:
        """Fit a clone of the estimator; the shadow worlds must hold every secret."""
        k, answers = shadow.n_releases, shadow.answers
        clean = np.broadcast_to(answers[:, None], (len(shadow), k, *answers.shape[1:]))
        entries = entries_of(shadow.releases if self.adaptive else clean)
        encoder = SimpleImputer(add_indicator=True, keep_empty_features=True)
        features = encoder.fit_transform(entries)
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
            try:
                model.fit(features, shadow.secret)
            except IndexError as error:  # a discriminant divides by the spread inside classes
                if varies_inside(features, shadow.secret):
                    raise
                raise UnsupportedMechanismError(
                    "all training releases of a secret are the same: there is no spread to learn"
                ) from error
        return FittedClassifier(encoder=encoder, model=model, n_secrets=target.n_secrets)


def varies_inside(features: FloatArray, secret: IntArray) -> bool:
    """Whether any feature takes two values under one secret."""
    return any(np.ptp(features[secret == s], axis=0).any() for s in np.unique(secret))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedClassifier:
    """A trained classifier as an attacker."""

    encoder: SimpleImputer
    model: Any
    n_secrets: int

    def score(self, releases: Array) -> FloatArray:
        """Return log class probabilities, columns in the order of the secrets."""
        entries = entries_of(releases)
        if entries.shape[1] != self.encoder.n_features_in_:
            raise UnsupportedMechanismError(
                f"trained on {self.encoder.n_features_in_} features, "
                f"the release has {entries.shape[1]}"
            )
        probabilities = self.model.predict_proba(self.encoder.transform(entries))
        scores = np.full((len(releases), self.n_secrets), -np.inf)
        with np.errstate(divide="ignore"):
            scores[:, self.model.classes_.astype(int)] = np.log(probabilities)
        return scores


def entries_of(releases: Array) -> FloatArray:
    """Flatten releases ``(n, n_releases, ...)`` into ``(n, p)``: finite numbers, or NaN.

    Raises
    ------
    UnsupportedMechanismError
        If they are infinite, or no numbers.
    """
    try:
        entries = np.asarray(releases, dtype=np.float64).reshape(len(releases), -1)
    except (TypeError, ValueError):
        raise UnsupportedMechanismError(
            f"a classifier reads numbers, got releases of type {releases.dtype}"
        ) from None
    if np.isinf(entries).any():
        raise UnsupportedMechanismError(
            "a classifier reads finite numbers, got an infinite release"
        )
    if entries.shape[1] == 0:
        raise UnsupportedMechanismError("a classifier needs a release, got none")
    return entries
