"""One measured cell as a candidate: what it leaks, by which evidence, and whether that will do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from bench.advise.target import Target, accuracy_of
from bench.core.cell import AnyCell, CellResult, Plain
from bench.core.intervals import LEVEL, clopper_pearson
from bench.study.evidence import CONTINUOUS
from bench.study.ledger import MISFIT, VIOLATED
from mechanisms.privacy.assumptions import Condition

EXACT, RECORDS, ATTACK, CLAIM = (
    "the exact number, under the law that worlds are drawn from",
    "the larger of the model's exact number and the upper end of the best attack on records",
    "the upper end of the best attack",
    "the claim alone: no law of the answer is known here and no attack is run",
)  # fmt: skip
BUDGET = ("epsilon", "delta", "order")
TIED = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidate:
    """A finished cell, read for a target.

    Parameters
    ----------
    cell : Cell
    result : CellResult
    target : Target
    unit : str
        Unit of the ledger's entry at the target's delta.
    utility : str
        Metric that ranks.
    """

    cell: AnyCell
    result: CellResult
    target: Target
    unit: str
    utility: str

    @property
    def mechanism(self) -> str:
        """Label of the mechanism."""
        return str(self.cell.labels["mechanism"])

    @property
    def budget(self) -> Plain:
        """The budget."""
        return budget_of(self.cell)

    def _rows(self, metric: str) -> list[Plain]:
        return [r for r in self.result.rows if r["metric"] == metric and not r["statistic"]]

    @cached_property
    def error(self) -> Plain | None:
        """The row of the utility metric, or None where it was not measured."""
        found = [r for r in self._rows(self.utility) if not math.isnan(r["value"])]
        return found[0] if found else None

    @cached_property
    def cost(self) -> tuple[float, float, float]:
        """Value, lower and upper end of the error, or of minus a metric of which more is better."""
        if self.error is None:
            return (math.inf,) * 3
        value, low, high = (float(self.error[end]) for end in ("value", "lower", "upper"))
        better = self.result.facts.get("higher_is_better", "").split(", ")
        return (-value, -high, -low) if self.utility in better else (value, low, high)

    @cached_property
    def ranked(self) -> tuple[float, float, float]:
        """What ranks: the cost, or at a largest error the leakage; value, lower and upper end."""
        if self.target.kind != "error":
            return self.cost
        found = self.number()
        if self.attack is None or self.evidence == EXACT:
            return (found, found, found * (1 + TIED))
        return (found, min(found, float(self.attack["lower"])), found)

    @cached_property
    def attack(self) -> Plain | None:
        """The row of the attack with the largest upper end, or None where none ran."""
        found = [r for r in self._rows("acc") if r["attack"] and not math.isnan(r["upper"])]
        return max(found, key=lambda r: float(r["upper"]), default=None)

    def attack_upper(self, level: float = LEVEL) -> float:
        """Return the largest upper end over the attacks at a confidence level; 1 without any."""
        rows = [r for r in self._rows("acc") if r["attack"] and not math.isnan(r["upper"])]
        return max(
            (max(r["upper"], clopper_pearson(r["value"] * r["n"], r["n"], level)[1]) for r in rows),
            default=1.0,
        )

    @property
    def from_model(self) -> bool:
        """Whether worlds are drawn from the laws of the exact number."""
        return self.result.facts.get("worlds") == "drawn from the model"

    @cached_property
    def exact(self) -> float | None:
        """The exact number in the target's unit, its safe end; None where it says nothing here.

        So where it is not known, and for noise that spares a direction of records.
        """
        if CONTINUOUS in self.result.facts.get("exact", ""):
            return None
        if self.target.kind == "epsilon":
            rows = [r for m in ("exact", "exact_unpooled", "exact_recorded") for r in self._rows(m)]
            found = [r["upper"] for r in rows if r["unit"] == self.unit]
        else:
            found = [r["upper"] for r in self._rows("ceiling")]
        known = [float(v) for v in found if not math.isnan(v)]
        return max(known) if known else None

    @cached_property
    def claimed(self) -> float:
        """The claimed epsilon at the target's delta; inf where nothing is promised in it."""
        rows = [r for r in self._rows("claimed") if r["unit"] == self.unit]
        found = [float(r["value"]) for r in rows if not math.isnan(r["value"])]
        return min(found, default=math.inf)

    @property
    def broken(self) -> str:
        """Why the claim is worth nothing here, or no text."""
        if not any(math.isfinite(r["value"]) for r in self._rows("claimed")):
            return "it promises nothing about this secret"
        assumed = self.result.facts.get("assumptions", "")
        if Condition.SMALL_EPSILON in assumed and self.budget.get("epsilon", 0.0) > 1:
            return f"its claim is {Condition.SMALL_EPSILON}: calibration=analytic is exact"
        verdict = self.result.facts.get("verdict", "")
        if verdict in (VIOLATED, MISFIT):
            return f"its claim does not hold here (verdict: {verdict})"
        return ""

    @property
    def evidence(self) -> str:
        """What the number rests on, in words."""
        if self.from_model and self.exact is not None:
            return EXACT
        if self.attack is not None:
            return ATTACK if self.exact is None else RECORDS
        return CLAIM

    def number(self, level: float = LEVEL) -> float:
        """Return the leakage that counts: an accuracy, or an epsilon where one is asked for.

        The upper end of an attack's accuracy is no epsilon: `meets` compares it with the accuracy
        that the target allows.
        """
        if self.evidence == CLAIM:
            accuracy = accuracy_of(self.claimed, self.target.delta)
            return self.claimed if self.target.kind == "epsilon" else accuracy
        known = [] if self.exact is None else [self.exact]
        if self.target.kind != "epsilon" and self.evidence != EXACT:
            known.append(self.attack_upper(level))
        return max(known, default=math.inf)

    def meets(self, level: float = LEVEL) -> bool:
        """Whether the cell meets the target, attacks with their upper ends at this level."""
        if self.error is None or self.broken:
            return False
        if self.target.kind == "error":
            return self._error_meets()
        slack = 1e-9 * max(1.0, self.target.value)
        if self.number(level) > self.target.value + slack:
            return False
        if self.evidence in (EXACT, CLAIM):
            return True
        return self.attack_upper(level) <= self.target.allowed_accuracy

    def _error_meets(self) -> bool:
        """Whether the error is at most the target: as computed, or by the interval's upper end."""
        assert self.error is not None
        if self.cell.labels["budget_by"] == "error":
            return True
        return float(self.error["upper"]) <= self.target.value

    def why_not(self) -> str:
        """Return why the cell does not meet the target."""
        if self.error is None:
            return f"{self.utility} was not measured"
        if self.broken:
            return self.broken
        if self.target.kind == "error":
            return f"its error is {interval(self.error)}"
        if self.target.kind == "epsilon" and self.evidence == ATTACK:
            doubt = self.result.facts.get("exact", "")
            return f"no exact epsilon is known here, and attacks bound it from below only ({doubt})"
        leaked = f"it leaks {self.number():.4g} ({self.evidence})"
        if self.attack is not None and self.evidence != EXACT:
            leaked += f"; {self.attack['attack']} is right in {interval(self.attack)}"
        return leaked


def budget_of(cell: AnyCell) -> Plain:
    """Return a cell's budget."""
    return {name: value for name, value in cell.labels.items() if name in BUDGET}


def interval(row: Plain) -> str:
    """Return a number with its interval and n, as text."""
    if not row["n"]:
        return f"{row['value']:.4g}"
    return f"{row['value']:.4g} [{row['lower']:.4g}, {row['upper']:.4g}] (n = {row['n']:.0f})"


def in_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that meet the target, the best of each mechanism, best first.

    At a largest leakage the least error is best, at a largest error the least leakage. Candidates
    whose intervals reach that of the best are as good: the strongest claim comes first, of equal
    claims the first name, so that chance decides nothing. What rests
    on attacks alone comes after all of which an exact number is known: better attacks may exist.
    """
    best: dict[str, Candidate] = {}
    for candidate in sorted((c for c in candidates if c.meets()), key=lambda c: c.ranked):
        best.setdefault(candidate.mechanism, candidate)
    alone = [c for c in best.values() if c.evidence == ATTACK]
    return [*_ties([c for c in best.values() if c not in alone]), *_ties(alone)]


def _ties(left: list[Candidate]) -> list[Candidate]:
    """Return candidates, sorted already, with the strongest claim first where they are as good."""
    order = []
    while left:
        tied = [c for c in left if c.ranked[1] <= left[0].ranked[2]]
        order.append(min(tied, key=lambda c: (float(f"{c.claimed:.6g}"), c.mechanism)))
        left = [c for c in left if c is not order[-1]]
    return order
