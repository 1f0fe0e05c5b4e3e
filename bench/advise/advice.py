"""The recommendation in words: what to use, what it costs, what it assumes, what was ruled out."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.advise.candidate import Candidate, interval
from bench.advise.target import Target
from bench.core.labels import format_number

KEPT = ("scenario", "seed=")  # words of the command that publishing needs too


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What was found for one scenario.

    Parameters
    ----------
    scenario : str
    target : Target
    chosen : Candidate or None
        As measured on fresh worlds; None where nothing meets the target, or `next` is left.
    next : Candidate or None
        What is to be measured on fresh worlds.
    tried : sequence of Candidate
        On fresh worlds, in order.
    shortlist : sequence of Candidate
        The best of each mechanism that met the target in the search, best first.
    searched : sequence of Candidate
    reasons : sequence of (mechanism, reason)
        Why the others could not be measured.
    """

    scenario: str
    target: Target
    chosen: Candidate | None
    next: Candidate | None
    tried: Sequence[Candidate]
    shortlist: Sequence[Candidate]
    searched: Sequence[Candidate]
    reasons: Sequence[tuple[str, str]]

    def text(self, words: Sequence[str] = ()) -> str:
        """Return the recommendation, a paragraph a subject.

        Parameters
        ----------
        words : sequence of str
            The overrides of the command, of which the one that publishes keeps the scenario's.
        """
        head = f"Advice for {self.scenario}. Wanted: {self.target}."
        if self.chosen is None:
            return "\n".join([head, *self._refusal(), *self._ruled_out()])
        return "\n".join([head, *self._use(self.chosen), *self._ruled_out(),
                          *self._publish(self.chosen, words)])  # fmt: skip

    def _refusal(self) -> list[str]:
        tried = ", ".join(f"{c.mechanism} at {at(c)}: {c.why_not()}" for c in self.tried)
        failed = f" On fresh worlds failed: {tried}." if tried else ""
        return [f"Nothing meets it: no mechanism is recommended.{failed}"]

    def _use(self, chosen: Candidate) -> list[str]:
        facts, error = chosen.result.facts, chosen.error
        assert error is not None
        lines = [
            f"Use {chosen.mechanism} at {at(chosen)}.",
            f"It costs: {chosen.utility} {interval(error)}, 95 %, on fresh worlds.",
            f"It leaks: {self._leaks(chosen)}",
            f"It claims: {facts.get('claim', 'nothing')} ({facts.get('theorem', 'no theorem')}).",
            f"Assumed about the data: {facts.get('assumptions', 'nothing is stated')}"
            + (f"; {facts['notes']}" if facts.get("notes") else "")
            + f"; worlds were {facts.get('worlds', 'not drawn')}.",
        ]
        failed = [c for c in self.tried if c is not chosen]
        if failed:
            names = ", ".join(f"{c.mechanism} at {at(c)} ({c.why_not()})" for c in failed)
            lines.append(f"Better in the search, but not on fresh worlds: {names}.")
        others = [c for c in self.shortlist if c.mechanism != chosen.mechanism]
        others = [c for c in others if c.mechanism not in {f.mechanism for f in failed}]
        if others:
            listed = "; ".join(f"{c.mechanism} at {at(c)}, {c.utility} {number(c)}" for c in others)
            lines.append(f"Next in order, in the search: {listed}.")
        return lines

    def _leaks(self, chosen: Candidate) -> str:
        parts = []
        if chosen.exact is not None:
            name = "epsilon" if self.target.kind == "epsilon" else "accuracy of any attack"
            place = "" if chosen.from_model else ", under the model of records"
            parts.append(f"exactly {name} <= {chosen.exact:.4g}{place}")
        if chosen.attack is not None:
            parts.append(
                f"the best attack run, {chosen.attack['attack']}, is right in "
                f"{interval(chosen.attack)} of fresh worlds"
            )
        parts.append(f"chosen by {chosen.evidence}")
        return "; ".join(parts) + "."

    def _ruled_out(self) -> list[str]:
        """Return one line a mechanism that was ruled out, equal reasons together."""
        why: dict[str, list[str]] = {}
        for name, reason in self.reasons:
            why.setdefault(reason, []).append(name)
        met = {c.mechanism for c in self.searched if c.meets()}
        failing: dict[str, Candidate] = {}
        for candidate in self.searched:
            if candidate.mechanism not in met:
                best = failing.setdefault(candidate.mechanism, candidate)
                if candidate.number() < best.number():
                    failing[candidate.mechanism] = candidate
        for name, candidate in failing.items():
            place = f" at {at(candidate)}" if candidate.budget else ""
            why.setdefault(f"{candidate.why_not()}{place}", []).append(name)
        lines = [f"  {', '.join(dict.fromkeys(names))}: {reason}" for reason, names in why.items()]
        return ["Ruled out:", *lines] if lines else []

    def _publish(self, chosen: Candidate, words: Sequence[str]) -> list[str]:
        return [
            "This choice read the private table: worlds, attacks and errors were measured on it. "
            "What the choice itself reveals is not covered by the guarantee, which is that of one "
            "release at a budget fixed beforehand.",
            "To publish one release, once (a second one would compose with it):",
            f"  {publish_command(chosen, words)}",
        ]


def at(candidate: Candidate) -> str:
    """Return a budget in words."""
    named = [f"{name}={value:.6g}" for name, value in candidate.budget.items()]
    return ", ".join(named) or "no budget"


def number(candidate: Candidate) -> str:
    """Return the value that ranks, in short."""
    return "-" if candidate.error is None else f"{candidate.error['value']:.4g}"


def publish_command(chosen: Candidate, words: Sequence[str]) -> str:
    """Return the whole command that publishes one release of a candidate."""
    kept = [word for word in words if word.lstrip("+").startswith(KEPT)]
    if not any(word.startswith("scenario=") for word in kept):
        kept.insert(0, f"scenario={chosen.cell.labels['scenario']}")
    node = f"mechanisms.{chosen.mechanism}"
    settings = [f"{node}.{key}={text(value)}" for key, value in leaves(chosen.cell.spec.mechanism)]
    budget = [f"grid.{name}={format_number(v)}" for name, v in chosen.budget.items()]
    parts = ["+experiment=publish", *kept, f"mechanism=[{chosen.mechanism}]", *settings, *budget]
    return "python -m bench " + " ".join(shlex.quote(part) for part in parts)


def leaves(node: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield the settings of a configuration node, but which classes it builds: (key, value).

    Examples
    --------
    >>> list(leaves({"_target_": "a.B", "group": 1, "of": {"_target_": "a.C", "share": 0.2}}))
    [('group', 1), ('of.share', 0.2)]
    """
    for key, value in node.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}.{below}", leaf) for below, leaf in leaves(value))
        elif not key.startswith("_"):
            yield key, value


def text(value: object) -> str:
    """Return a setting as the command line reads it.

    Examples
    --------
    >>> text(0.2), text(None), text("analytic"), text([1, 2])
    ('0.2', 'null', 'analytic', '[1, 2]')
    """
    return value if isinstance(value, str) else json.dumps(value)
