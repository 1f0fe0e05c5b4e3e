"""What a privacy notion is to the harness, and what notions about pairs of secrets share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from mechanisms.leakage.pair import PairLeakage
from mechanisms.privacy.bracket import Bracket, NotComputable, NotComputableError

if TYPE_CHECKING:
    from mechanisms.base import Knowledge, Mechanism
    from mechanisms.check import Array

K = TypeVar("K", bound="Knowledge")


class PlayedCell(Protocol):
    """A cell after its game was played: all that a notion may collect its evidence from.

    ``answers`` and ``database`` are those of the fresh worlds, one row a world; ``releases`` has
    shape ``(n_worlds, n_releases, *release_shape)``.
    """

    @property
    def mechanism(self) -> Mechanism:
        """The calibrated mechanism."""

    @property
    def n_releases(self) -> int:
        """How many releases of one answer the attacker sees."""

    @property
    def pairs(self) -> PairEvidence:
        """What is known about the scenario's secret pairs."""

    @property
    def answers(self) -> Array:
        """The exact answers of the fresh worlds."""

    @property
    def database(self) -> Array | None:
        """Their records, where the scenario draws any."""

    @property
    def releases(self) -> Array:
        """What the mechanism released in them."""

    def knowledge(self, kind: type[K]) -> K:
        """Return a typed fact of the scenario, or raise NotOfferedError with the reason."""


class Notion(Protocol):
    """A definition of privacy whose leakage is one number; less of it is more private.

    ``name`` is the definition, ``unit`` the number with its parameters, as tables show it:
    "epsilon at delta=0.001". Two notions of the same unit measure the same number. A notion reads
    evidence of its own kind: pairs of secrets, or records and receivers, or anything else.
    """

    @property
    def name(self) -> str:
        """Name of the definition."""

    @property
    def unit(self) -> str:
        """The number, with its parameters."""

    def evidence(self, cell: PlayedCell) -> Any:  # noqa: ANN401
        """Collect what `exact` and `certify` read, or raise NotComputableError with the reason."""

    def exact(self, evidence: Any) -> Bracket | NotComputable:  # noqa: ANN401
        """Return the leakage under the scenario's model."""

    def certify(self, evidence: Any, error: float) -> float:  # noqa: ANN401
        """Return a lower bound on the leakage, false with probability at most `error`."""


class CountedTest(Protocol):
    """A test of one secret against another, counted on fresh worlds."""

    def rectangle(self, error: float) -> tuple[float, float]:
        """Return (fpr, tpr): above the true FPR and below the true TPR but for this error."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairEvidence:
    """What is known about the secret pairs of a cell.

    Parameters
    ----------
    compared : tuple of PairLeakage
        The exact comparison of the release laws of every pair; empty where there is none.
    reason : str
        Why there is none.
    tests : mapping of attack to tuple of CountedTest
        One test an attack and pair; all notions are certified from its one rectangle.
    ways : int
        Number of tests that share the error, those of other attacks included.
    """

    compared: tuple[PairLeakage, ...] = ()
    reason: str = ""
    tests: Mapping[str, tuple[CountedTest, ...]] = field(default_factory=dict)
    ways: int = 1

    def of(self, attack: str) -> PairEvidence:
        """Return the evidence of one attack; its share of the error stays."""
        return replace(self, tests={attack: self.tests[attack]})


class PairNotion(ABC):
    """A notion that compares the release laws of two secrets, whatever the number.

    A subclass says how it reads the exact comparison of one pair, and one (FPR, TPR) rectangle.
    """

    __slots__ = ()

    @abstractmethod
    def of_pair(self, pair: PairLeakage) -> Bracket:
        """Read the exact comparison of a pair; may raise NotComputableError."""

    @abstractmethod
    def of_rates(self, fpr: float, tpr: float) -> float:
        """Return a lower bound from a test with at most this FPR and at least this TPR.

        It is nonincreasing in `fpr` and nondecreasing in `tpr`, so that it holds on the whole
        rectangle between these rates and (0, 1).
        """

    def evidence(self, cell: PlayedCell) -> PairEvidence:
        """Take the comparisons and tests of the cell's secret pairs."""
        return cell.pairs

    def exact(self, evidence: PairEvidence) -> Bracket | NotComputable:
        """Return the number of the worst pair, or the first reason why there is none."""
        if not evidence.compared:
            return NotComputable(evidence.reason)
        try:
            brackets = [self.of_pair(pair) for pair in evidence.compared]
        except NotComputableError as error:
            return NotComputable(str(error))
        worst = brackets[0]
        for bracket in brackets[1:]:
            worst = worst.join(bracket)
        return worst

    def certify(self, evidence: PairEvidence, error: float) -> float:
        """Return the best bound of any test: the error is shared by all (Bonferroni)."""
        tests = [test for found in evidence.tests.values() for test in found]
        share = error / evidence.ways
        bounds = [self.of_rates(fpr, tpr) for fpr, tpr in (test.rectangle(share) for test in tests)]
        return max(bounds, default=0.0)
