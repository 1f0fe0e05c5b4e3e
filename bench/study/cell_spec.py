"""What decides the numbers of a cell of a cross: resolved configuration and seed, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bench.core.cell import Plain, canonical
from bench.study.shared_worlds import Sizes
from mechanisms.privacy.sharing import Share


@dataclass(frozen=True, slots=True, kw_only=True)
class CellSpec:
    """One scenario, mechanism, budget and number of releases, and how they are measured.

    Parameters
    ----------
    scenario, mechanism : mapping
        Configuration with ``_target_``.
    scenario_label, mechanism_label : str
        They name random streams.
    budget : mapping of name to value
    n_releases : int
        Releases of the same answer that the attacker sees.
    missing : str
        Why there is nothing to measure: absent data, a budget without its axes; empty if there is.
    attacks, metrics, notions : mapping of label to configuration
    sizes : Sizes
    seed : int
    delta : float
        At which the leakage of a cell without a claim is measured.
    share : {"each", "together"}
        Whether each release has the budget, or all together.
    """

    scenario: Plain
    scenario_label: str
    mechanism: Plain
    mechanism_label: str
    budget: Plain
    n_releases: int
    missing: str
    attacks: Mapping[str, Plain]
    metrics: Mapping[str, Plain]
    notions: Mapping[str, Plain]
    sizes: Sizes
    seed: int
    delta: float
    share: Share

    @property
    def components(self) -> tuple[Plain, ...]:
        """The configuration of everything that is built for the cell."""
        groups = (self.attacks, self.metrics, self.notions)
        return (self.scenario, self.mechanism, *(c for group in groups for c in group.values()))

    @property
    def release_stream(self) -> str:
        """Name of the random streams of releases."""
        return canonical([self.mechanism_label, self.mechanism, self.budget])
