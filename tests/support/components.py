"""Small scenarios, mechanisms and quantities that tests put through the spine."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from attacks.base import Transcript
from bench.scenarios.base import look_up_fact
from mechanisms.group_privacy import replaced_units
from mechanisms.knowledge import GaussianAnswers, Sensitivity
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.gaussian_tradeoff import gaussian_epsilon
from mechanisms.leakage.pair import FinitePair, PostProcessed
from mechanisms.noise.additive import AdditiveNoise, TranslationClaim
from mechanisms.noise.laplace import LaplaceNoise
from mechanisms.privacy.assumptions import Assumptions
from mechanisms.privacy.bracket import Bracket
from mechanisms.privacy.budget import Epsilon, EpsilonDelta, NoBudget
from mechanisms.privacy.guarantee import Guarantee, NoClaim
from mechanisms.privacy.indistinguishability import PURE


@dataclass(frozen=True, kw_only=True)
class Points:
    """Every secret has a finite law of answers; by default two points, 0 and 1."""

    supports: Any = ((0.0,), (1.0,))
    weights: Any = ((1.0,), (1.0,))
    synthetic: bool = True
    worlds_from_model: bool = True
    digest: str = "points"

    @property
    def secrets(self):
        return tuple(f"s{i}" for i in range(len(self.supports)))

    @property
    def pairs(self):
        n = len(self.supports)
        return tuple((i, j) for i in range(n) for j in range(i + 1, n))

    def law(self, secret):
        support = np.asarray(self.supports[secret], dtype=float)
        support = support[:, None] if support.ndim == 1 else support
        return FiniteLaw(atoms=support, weights=np.asarray(self.weights[secret]))

    @property
    def statistics(self):
        return tuple(f"c{i}" for i in range(self.law(0).atoms.shape[1]))

    def check(self):
        for secret in range(len(self.supports)):
            self.law(secret)

    def knowledge(self, kind):
        laws = [self.law(i) for i in range(len(self.supports))]
        means = np.stack([law.weights @ law.atoms for law in laws])
        size = means.shape[1]
        facts = {
            GaussianAnswers: GaussianAnswers(
                means=means, covariances=np.zeros((len(laws), size, size)), pairs=self.pairs
            ),
            Sensitivity: Sensitivity(l1=2.0, l2=2.0**0.5, unit="entry", size=3, dimension=size),
        }
        return look_up_fact(facts, kind)

    def draw(self, secret, split, rng):
        answers = np.empty((len(secret), len(self.statistics)))
        for s in range(len(self.supports)):
            where = np.flatnonzero(secret == s)
            answers[where] = self.law(s).sample(len(where), rng)
        return Transcript(secret=secret, answers=answers)


@dataclass(frozen=True, kw_only=True)
class Spread(Points):
    """Offers the covariance of its points too, so that Gaussian calibrations count on it."""

    def knowledge(self, kind):
        laws = [self.law(i) for i in range(len(self.supports))]
        means = np.stack([law.weights @ law.atoms for law in laws])
        spreads = np.stack(
            [
                np.cov(law.atoms, rowvar=False, ddof=0, aweights=law.weights).reshape(1, 1)
                for law in laws
            ]
        )
        fact = GaussianAnswers(means=means, covariances=spreads, pairs=self.pairs)
        return look_up_fact({GaussianAnswers: fact}, kind)


@dataclass(frozen=True, kw_only=True)
class SameEitherWay(Points):
    """A scenario whose secret does not touch the answer: true epsilon 0."""

    supports: Any = ((0.0, 1.0), (0.0, 1.0))
    weights: Any = ((0.5, 0.5), (0.5, 0.5))


@dataclass(frozen=True, kw_only=True)
class Alone(Points):
    """One secret, so nothing to tell apart."""

    supports: Any = ((0.0, 1.0),)
    weights: Any = ((0.5, 0.5),)


@dataclass(frozen=True, kw_only=True)
class LyingLaplace:
    """Adds Laplace noise of half the scale that its claim needs: the planted violation."""

    requires: ClassVar = (GaussianAnswers,)
    accepts: ClassVar = Epsilon

    def calibrate(self, answers, *, budget):
        scale = answers.distance(1) / budget.epsilon / 2
        return AdditiveNoise(
            noise=LaplaceNoise(scales=np.full(answers.means.shape[1], scale)),
            claim=FixedClaim(epsilon=budget.epsilon),
        )


@dataclass(frozen=True, kw_only=True)
class FixedClaim:
    """Claims a number without looking at the noise."""

    epsilon: float

    def guarantee(self, noise, n_releases):
        return Guarantee(notion=PURE, bound=self.epsilon, theorem="none")


@dataclass(frozen=True, kw_only=True)
class NoisyTopK:
    """Ranks the k largest coordinates of a Laplace-noised histogram (post-processing)."""

    requires: ClassVar = (Sensitivity,)
    accepts: ClassVar = Epsilon
    k: int = 2

    def calibrate(self, sensitivity, *, budget):
        scale = sensitivity.size * sensitivity.l1 / budget.epsilon
        noise = LaplaceNoise(scales=np.full(sensitivity.dimension, scale))
        return Ranking(noise=noise, k=self.k, epsilon=budget.epsilon)


@dataclass(frozen=True, kw_only=True, eq=False)
class Ranking:
    sees: ClassVar = "answers"
    noise: LaplaceNoise
    k: int
    epsilon: float

    @property
    def guarantee(self):
        return Guarantee(
            notion=PURE,
            bound=self.epsilon,
            assumptions=replaced_units("entry", 3),
            theorem="post-processing",
        )

    def release(self, x, rng):
        noisy = x + self.noise.sample(x.shape, rng)
        return np.argsort(-noisy, axis=1, kind="stable")[:, : self.k]

    def leakage(self, first, second, n_releases):
        # All of the histogram's mass moves: the claim of the un-ranked histogram bounds it.
        p = np.array([1.0, np.exp(self.epsilon)])
        return PostProcessed(FinitePair(p / p.sum(), p[::-1] / p.sum()))


@dataclass(frozen=True, kw_only=True)
class Suppression:
    """Releases counts of at least the threshold, -1 otherwise: a masked table, no noise."""

    requires: ClassVar = ()
    accepts: ClassVar = NoBudget
    threshold: int = 3

    def calibrate(self, *, budget):
        return Masked(threshold=self.threshold)


@dataclass(frozen=True, kw_only=True)
class Masked:
    sees: ClassVar = "answers"
    threshold: int

    @property
    def guarantee(self):
        return NoClaim(reason="suppression claims nothing here")

    def release(self, x, rng):
        return np.where(x >= self.threshold, x, -1.0)


@dataclass(frozen=True, kw_only=True)
class InPlace(Suppression):
    """Overwrites the answers that it is given, which it must not."""

    def calibrate(self, *, budget):
        return Overwriting(threshold=self.threshold)


@dataclass(frozen=True, kw_only=True)
class Overwriting(Masked):
    def release(self, x, rng):
        x += rng.normal(size=x.shape)
        return x


@dataclass(frozen=True, kw_only=True)
class Killing(Suppression):
    """Ends the process that measures it, like a cell that runs out of memory."""

    def calibrate(self, *, budget):
        os._exit(9)


@dataclass(frozen=True, kw_only=True)
class ThreeBits:
    """Three uniform bits; the secret is the first one. The answer is the database itself."""

    synthetic: bool = True
    worlds_from_model: bool = True
    digest: str = "three-bits"
    secrets: ClassVar = ("x1=0", "x1=1")
    pairs: ClassVar = ((0, 1),)
    statistics: ClassVar = ("x1", "x2", "x3")

    def law(self, secret):
        rows = np.array([[secret, a, b] for a in (0, 1) for b in (0, 1)])
        return FiniteLaw(atoms=rows, weights=np.full(4, 0.25))

    def check(self):
        pass

    def knowledge(self, kind):
        return look_up_fact({}, kind)

    def draw(self, secret, split, rng):
        rows = rng.integers(2, size=(len(secret), 3))
        rows[:, 0] = secret
        return Transcript(secret=secret, answers=rows, database=rows)


@dataclass(frozen=True, kw_only=True)
class XorOrParity:
    """Bai et al. (2026), Example 3, n = 3: each run leaks nothing, two runs may leak all."""

    requires: ClassVar = ()
    accepts: ClassVar = NoBudget

    def calibrate(self, *, budget):
        return XorOrParityRelease()


@dataclass(frozen=True, kw_only=True)
class XorOrParityRelease:
    sees: ClassVar = "database"

    @property
    def guarantee(self):
        return Guarantee(
            notion=PURE,
            bound=0.0,
            theorem="Bai et al. (2026), Example 3",
        )

    def release(self, x, rng):
        kind_a = rng.random(len(x)) < 0.5
        differences = x[:, 1:] ^ x[:, :1]
        parity = x.sum(axis=1) % 2
        out = np.full((len(x), 3), -1)
        out[kind_a, :2] = differences[kind_a]
        out[~kind_a, 2] = parity[~kind_a]
        return out

    def leakage(self, first, second, n_releases):
        def law(answers):
            outputs = {}
            for row, weight in zip(answers.atoms.astype(int), answers.weights, strict=True):
                single = {
                    ("a", row[1] ^ row[0], row[2] ^ row[0]): 0.5,
                    ("b", int(row.sum()) % 2): 0.5,
                }
                joint = {(): 1.0}
                for _ in range(n_releases):
                    joint = {
                        (*seen, o): p * q for seen, p in joint.items() for o, q in single.items()
                    }
                for seen, p in joint.items():
                    outputs[seen] = outputs.get(seen, 0.0) + weight * p
            return outputs

        p, q = law(first), law(second)
        keys = sorted(set(p) | set(q), key=str)
        return FinitePair(
            np.array([p.get(k, 0.0) for k in keys]), np.array([q.get(k, 0.0) for k in keys])
        )


@dataclass(frozen=True, kw_only=True)
class EpsilonOfDistance:
    """A quantity for `Curve`: the epsilon of two Gaussians against their distance."""

    metric: ClassVar = "eps_of_d"
    delta: float = 0.001
    digest: str = ""

    def curve(self, x):
        values = [gaussian_epsilon(float(d), self.delta) for d in x]
        return [Bracket(v, v) for v in values]


@dataclass(frozen=True, kw_only=True)
class Slow:
    """Calibrates to a mechanism that sleeps, or dies, to be interrupted by tests."""

    requires: ClassVar = (GaussianAnswers,)
    accepts: ClassVar = EpsilonDelta
    seconds: float = 0.5

    def calibrate(self, answers, *, budget):
        import time

        time.sleep(self.seconds)
        return AdditiveNoise(
            noise=LaplaceNoise(scales=np.full(answers.means.shape[1], 1 / budget.epsilon)),
            claim=TranslationClaim(
                differences=answers.differences(),
                notion=PURE,
                theorem="Dwork et al. (2006)",
                assumptions=Assumptions(),
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Failing:
    """Raises in calibration: a bug of a mechanism."""

    requires: ClassVar = ()
    accepts: ClassVar = NoBudget

    def calibrate(self, *, budget):
        raise RuntimeError("planted failure")


@dataclass(frozen=True, kw_only=True)
class Quoting(Suppression):
    """Fails with an error that quotes a variable of the environment."""

    variable: str = ""

    def calibrate(self, *, budget):
        raise RuntimeError(f"{self.variable}={os.environ[self.variable]}")


@dataclass(frozen=True, kw_only=True)
class Opaque:
    """Laplace noise of `part` of the scale that its claim needs; its leakage is not computable."""

    requires: ClassVar = (GaussianAnswers,)
    accepts: ClassVar = Epsilon
    part: float = 1.0

    def calibrate(self, answers, *, budget):
        return OpaqueRelease(
            scale=self.part * answers.distance(1) / budget.epsilon, epsilon=budget.epsilon
        )


@dataclass(frozen=True, kw_only=True)
class OpaqueRelease:
    sees: ClassVar = "answers"
    scale: float
    epsilon: float

    @property
    def guarantee(self):
        return Guarantee(notion=PURE, bound=self.epsilon, theorem="none")

    def release(self, x, rng):
        return x + rng.laplace(scale=self.scale, size=x.shape)

    def log_density(self, releases, answers):
        return -np.abs(releases - answers).sum(axis=-1) / self.scale
