"""The lattice that real answers lie on, as calibrations for Gaussian answers learn of it."""

from __future__ import annotations

from collections.abc import Iterable

from mechanisms.base import NotApplicableError
from mechanisms.check import FloatArray
from mechanisms.knowledge import GaussianAnswers


def lattice_steps(knowledge: Iterable[object]) -> FloatArray | None:
    """Return the steps of the lattice that real answers lie on, or None where there is none."""
    known = (fact.steps for fact in knowledge if isinstance(fact, GaussianAnswers))
    return next((steps for steps in known if steps is not None and (steps > 0).any()), None)


def half_a_step(knowledge: Iterable[object]) -> float:
    """Return the L1 length of half a lattice step in every coordinate.

    Rounding to the lattice moves a coordinate by half a step at most, and where the density is
    nearly flat by half a step at worst: nothing less covers the way from lattice to density.
    """
    steps = lattice_steps(knowledge)
    if steps is None:
        raise NotApplicableError(
            "the scenario knows no lattice that its answers lie on: give distance a number"
        )
    return float(steps.sum()) / 2
