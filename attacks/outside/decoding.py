"""Decoding: take noise of deficient rank off answers that lie on a lattice, then classify."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.base import ClassifierMixin

from attacks.base import Target, Transcript, UnsupportedMechanismError, Yields
from attacks.meta_classifier import FittedClassifier, MetaClassifier
from attacks.outside.decoder import Decoder
from attacks.outside.lattice import lattice_of
from mechanisms.base import HasNoiseCovariance, HasRounding
from mechanisms.check import Array, FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """Estimate the answer behind each release and classify it by clean shadow answers.

    Where noise leaves a direction untouched and answers lie on a lattice (means of whole numbers,
    counts), the answer itself is recovered, whatever the noise's size: the claim then rests on a
    continuous model alone. Several releases of one answer are averaged. Against noise of full rank
    the estimate is the linear one, so the attack stays within what the noise allows.

    Parameters
    ----------
    estimator : scikit-learn classifier with ``predict_proba``
        Never fitted itself; a clone is.

    Notes
    -----
    The mechanism's noise covariance and rounding are public; the lattice and the prior are taken
    from the shadow worlds' answers.
    """

    yields: ClassVar[Yields] = "scores"
    trained: ClassVar[bool] = True
    adaptive: ClassVar[bool] = True
    estimator: ClassifierMixin

    def __post_init__(self) -> None:
        MetaClassifier(estimator=self.estimator)

    def fit(self, shadow: Transcript, target: Target, rng: np.random.Generator) -> DecodingAttacker:
        """See the lattice and train the classifier on the shadow worlds' clean answers."""
        decoder = decoder_of(shadow, target)
        clean = Transcript(
            secret=shadow.secret, answers=shadow.answers, releases=shadow.answers[:, None]
        )
        classifier = MetaClassifier(estimator=self.estimator, adaptive=False)
        return DecodingAttacker(decoder=decoder, classifier=classifier.fit(clean, target, rng))


def decoder_of(shadow: Transcript, target: Target) -> Decoder:
    """Return what takes the mechanism's noise off answers like those of the shadow worlds.

    Raises
    ------
    UnsupportedMechanismError
        If the mechanism does not add noise of known covariance to a vector, or the lattice and
        the noise's rank are out of reach.
    """
    mechanism = target.mechanism
    if not isinstance(mechanism, HasNoiseCovariance):
        raise UnsupportedMechanismError("the mechanism tells no covariance of added noise")
    if shadow.answers.ndim != 2:
        raise UnsupportedMechanismError(
            f"answers must be vectors to be decoded, got shape {shadow.answers.shape[1:]}"
        )
    answers = np.asarray(shadow.answers, dtype=np.float64)
    lattice = lattice_of(answers)
    # A lattice answer never is narrower than one step; this keeps the prior regular.
    width = np.where(lattice.step > 0, lattice.step, np.abs(answers).max(axis=0) * 1e-9)
    size = answers.shape[1]
    decoder = Decoder(
        lattice=lattice,
        mean=answers.mean(axis=0),
        spread=np.atleast_2d(np.cov(answers, rowvar=False)) + np.diag(width**2 / 12),
        noise=np.broadcast_to(mechanism.noise_covariance, (size, size)),
        rounding=mechanism.rounding if isinstance(mechanism, HasRounding) else 0.0,
    )
    decoder.enumerated()
    return decoder


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DecodingAttacker:
    """A decoder with a classifier of what it decodes."""

    decoder: Decoder
    classifier: FittedClassifier

    def score(self, releases: Array) -> FloatArray:
        """Return log class probabilities of the decoded answers, columns as the secrets."""
        answers = self.decoder.estimate(np.asarray(releases, dtype=np.float64))
        return self.classifier.score(answers[:, None])
