"""How fast repeated runs of a mechanism that leaks nothing once reveal the whole database."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from scipy.stats import t

from attacks.reconstruction.runs import run_until_revealed
from bench.core.intervals import Estimate, clopper_pearson, exact
from bench.core.randomness import rng_for
from bench.quantities.collapse_example import CollapseExample, chosen_example
from bench.quantities.points import whole_points
from mechanisms.base import NotApplicableError
from mechanisms.check import FloatArray, one_of, whole
from mechanisms.collapse.listed import worst_epsilon

LEVEL = 0.99
FORMS = ("closed", "simulated")
Form = Literal["closed", "simulated"]


@dataclass(frozen=True, kw_only=True)
class LeakageOfRuns:
    """Exact Pufferfish epsilon of x runs on one database, in nats; inf where it is unbounded.

    Parameters
    ----------
    examples : mapping of label to CollapseExample
    example : str
        Which of `examples`.
    n_releases : sequence of int
        Values of x; all tables of outputs are listed, so few.
    """

    metric: ClassVar[str] = "epsilon"
    digest: ClassVar[str] = ""
    examples: Mapping[str, CollapseExample]
    example: str
    n_releases: Sequence[int]

    def __post_init__(self) -> None:
        chosen_example(self.examples, self.example)
        whole_points("n_releases", self.n_releases)

    @property
    def x(self) -> Sequence[int]:
        """Numbers of runs."""
        return self.n_releases

    def curve(self, x: FloatArray) -> list[Estimate]:
        """Return epsilon at every number of runs; computed, by listing all outputs."""
        mechanism = chosen_example(self.examples, self.example).mechanism
        return [exact(worst_epsilon(mechanism, int(n))) for n in x]


@dataclass(frozen=True, kw_only=True)
class ProbabilityOfReveal:
    """Probability that x runs reveal the whole database: by closed form, or share of trials.

    Parameters
    ----------
    examples, example, n_releases
        As in `LeakageOfRuns`.
    form : {"closed", "simulated"}
        Simulated: databases drawn from the prior, each attacked until the attack is certain of
        it; the interval is that of Clopper and Pearson, 99 %, at each x by itself.
    n_trials : int
        Databases.
    seed : int
    """

    metric: ClassVar[str] = "revealed"
    digest: ClassVar[str] = ""
    examples: Mapping[str, CollapseExample]
    example: str
    n_releases: Sequence[int]
    form: Form = "closed"
    n_trials: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        chosen_example(self.examples, self.example)
        one_of("form", self.form, FORMS)
        whole("n_trials", self.n_trials)
        whole_points("n_releases", self.n_releases)

    @property
    def x(self) -> Sequence[int]:
        """Numbers of runs."""
        return self.n_releases

    def curve(self, x: FloatArray) -> list[Estimate]:
        """Return the probability at every number of runs."""
        example = chosen_example(self.examples, self.example)
        if self.form == "closed":
            return [exact(example.mechanism.revealed_within(int(n))) for n in x]
        rng = rng_for(self.seed, "reveal", self.example)
        databases = example.draw(self.n_trials, rng)
        cap = int(x.max())
        found = run_until_revealed(example.mechanism, example.attack, databases, cap, rng)
        shares = found.revealed_within()[x.astype(int)]
        low, high = clopper_pearson((shares * self.n_trials).round(), self.n_trials, LEVEL)
        return [
            Estimate(
                value=float(value), lower=float(below), upper=float(above), n=self.n_trials,
                method="Clopper-Pearson, 99 %",
            )
            for value, below, above in zip(shares, low, high, strict=True)
        ]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ExpectedRuns:
    """Expected number of runs until the database is revealed, x being simulated databases.

    Parameters
    ----------
    examples, example, seed
        As in `ProbabilityOfReveal`.
    form : {"closed", "simulated"}
        Simulated: every database is run until it is revealed, fresh ones at every x; the interval
        is Student's, 99 %.
    n_trials : sequence of int of at least 2
        Values of x.
    cap : int
        Runs after which a database counts as never revealed; then there is no mean.
    """

    metric: ClassVar[str] = "expected_runs"
    digest: ClassVar[str] = ""
    examples: Mapping[str, CollapseExample]
    example: str
    n_trials: Sequence[int]
    form: Form = "closed"
    cap: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        chosen_example(self.examples, self.example)
        one_of("form", self.form, FORMS)
        whole_points("n_trials", self.n_trials, low=2)
        whole("cap", self.cap)

    @property
    def x(self) -> Sequence[int]:
        """Numbers of databases."""
        return self.n_trials

    def curve(self, x: FloatArray) -> list[Estimate]:
        """Return the expectation, or its estimate from every number of databases.

        Raises
        ------
        NotApplicableError
            If it is infinite, or a database was not revealed within the cap.
        """
        example = chosen_example(self.examples, self.example)
        expected = example.mechanism.expected_runs()
        if math.isinf(expected):
            why = "; ".join(example.notes) or "some database is never revealed"
            raise NotApplicableError(f"the expected number of runs is infinite: {why}")
        if self.form == "closed":
            return [exact(expected) for _ in x]
        return [self._simulated(example, int(n)) for n in x]

    def _simulated(self, example: CollapseExample, n: int) -> Estimate:
        rng = rng_for(self.seed, "runs", self.example, n)
        found = run_until_revealed(
            example.mechanism, example.attack, example.draw(n, rng), self.cap, rng
        )
        if found.mean is None:
            raise NotApplicableError(
                f"{found.not_yet_revealed:.2%} of {n} databases are not revealed within "
                f"{self.cap} runs, so there is no mean"
            )
        error = float(found.runs.std(ddof=1)) / math.sqrt(n)
        half = float(t.ppf((1 + LEVEL) / 2, n - 1)) * error
        return Estimate(
            value=found.mean, lower=max(1.0, found.mean - half), upper=found.mean + half, n=n,
            method="Student t over trials, 99 %",
        )  # fmt: skip
