"""At which budgets a mechanism is worth measuring for a target: from exact numbers where known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from bench.advise.target import Target, epsilon_of
from bench.core.cell import Plain
from bench.scenarios.base import Scenario
from bench.study.target import answer_laws
from mechanisms.base import Calibration, NotApplicableError, NotOfferedError
from mechanisms.check import NotPossibleError
from mechanisms.knowledge import AnswerLaws
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.budget import LARGEST, SMALLEST
from mechanisms.privacy.matching.dial import leakages
from mechanisms.privacy.matching.equal_error import EqualError
from mechanisms.privacy.matching.matched import Matched

# Of the target's distance from no leakage: on records an attack's upper end lies above the exact
# number of the model, so that the target is met by less.
SHARES = (1.0, 0.95, 0.9, 0.8, 0.6, 0.4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """Budgets of one mechanism.

    Parameters
    ----------
    budgets : list of mapping
    found : str
        How: "exact" (by the exact leakage), "error" (by the exact error), "claim", "ladder".
    """

    budgets: Sequence[Plain]
    found: str


def budgets_for(
    calibration: Calibration, scenario: Scenario, target: Target, ladder: Sequence[float]
) -> Points:
    """Return the budgets at which a calibration meets a target, or may.

    Parameters
    ----------
    calibration : Calibration
    scenario : Scenario
    target : Target
    ladder : sequence of float
        Epsilons to try where no exact number tells.

    Raises
    ------
    NotApplicableError, NotOfferedError
        With the reason, where the target cannot be reached or the calibration does not exist.
    """
    names = [field.name for field in fields(calibration.accepts)]
    if "delta" in names and target.delta == 0:
        raise NotApplicableError("its budget needs a delta above 0: target.delta=0.001, say")
    rest: Plain = {name: getattr(target, name) for name in ("delta", "order") if name in names}
    if unknown := set(names) - {"epsilon", *rest}:
        raise NotApplicableError(f"its budget needs {', '.join(sorted(unknown))}: no target's")
    if "epsilon" not in names:
        return Points(budgets=[{}], found="no dial")
    knowledge = [scenario.knowledge(kind) for kind in calibration.requires]
    if target.kind == "error":
        try:
            at = EqualError(of=calibration, error=target.value, **rest).position(*knowledge)
        except NotComputableError:
            return Points(budgets=[{"epsilon": e} | rest for e in ladder], found="ladder")
        return Points(budgets=[{"epsilon": at} | rest], found="error")
    laws = laws_of(scenario)
    if laws is not None and has_exact_number(calibration, knowledge, rest, laws):
        shares = (1.0,) if laws.worlds_from_model else SHARES
        return Points(budgets=by_leakage(calibration, knowledge, laws, target, rest, shares),
                      found="exact")  # fmt: skip
    if not scenario.pairs:  # nothing can be attacked: the claim is all there is
        delta = rest.get("delta", 0.0)
        epsilon = target.epsilon or epsilon_of(target.allowed_accuracy, delta)
        if not SMALLEST <= epsilon <= LARGEST:
            raise NotApplicableError(f"no claim at delta={delta:g} is as strong as the target")
        return Points(budgets=[{"epsilon": epsilon} | rest], found="claim")
    return Points(budgets=[{"epsilon": e} | rest for e in ladder], found="ladder")


def laws_of(scenario: Scenario) -> AnswerLaws | None:
    """Return the laws to compare, or None where there is no pair or no law."""
    if not scenario.pairs:
        return None
    try:
        return answer_laws(scenario)
    except NotOfferedError:
        return None


def has_exact_number(
    calibration: Calibration, knowledge: Sequence[Any], rest: Plain, laws: AnswerLaws
) -> bool:
    """Whether the calibration's leakage is computable; a budget that it refuses tells nothing."""
    try:
        budget = calibration.accepts(epsilon=1.0, **rest)  # type: ignore[call-arg]
        leakages(calibration.calibrate(*knowledge, budget=budget), laws, 1)
    except NotComputableError:
        return False
    except NotPossibleError:
        return True
    return True


def by_leakage(
    calibration: Calibration,
    knowledge: Sequence[Any],
    laws: AnswerLaws,
    target: Target,
    rest: Plain,
    shares: Sequence[float],
) -> list[Plain]:
    """Return the largest budgets whose exact leakage is at most some shares of the target's."""
    floor = 0.5 if target.kind == "accuracy" else 0.0
    pure = target.kind == "epsilon" and target.delta == 0
    name: Any = "accuracy" if target.kind == "accuracy" else "epsilon" + " at delta" * (not pure)
    given = {k: v for k, v in rest.items() if k == "order"}
    if "delta" in rest or name == "epsilon at delta":
        given["delta"] = target.delta
    found: list[Plain] = []
    reason: NotPossibleError | None = None
    for share in shares:
        value = floor + share * (target.value - floor)
        try:
            matched = Matched(of=calibration, target=name, value=value, **given)
            found.append({"epsilon": matched.position(laws, *knowledge)} | rest)
        except NotApplicableError as error:  # another share may be met
            reason = reason or error
    if not found:
        assert reason is not None
        raise reason
    return found
