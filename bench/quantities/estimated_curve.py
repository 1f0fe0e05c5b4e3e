"""The curve of quantities that are estimated from trials: value, interval and n at every point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bench.core.cell import FINISHED, NOT_APPLICABLE, Cell, CellResult, row
from bench.core.intervals import Estimate
from bench.study.curve import Curve, CurveSpec
from bench.study.session import Session
from mechanisms.base import NotApplicableError
from mechanisms.check import FloatArray, finite


class EstimatedQuantity(Protocol):
    """What an estimated curve computes; ``digest`` identifies the data behind it.

    A quantity with an attribute ``x`` other than None has its own values of the parameter, one
    whose ``synthetic`` is true says that its data are drawn from a model, one with ``notes`` tells
    what was dropped, merged or assumed while its data were read.
    """

    metric: str

    @property
    def digest(self) -> str:
        """Identity of the data."""

    def curve(self, x: FloatArray) -> Sequence[Estimate]:
        """Return one number with its interval for every value of the parameter."""


@dataclass(frozen=True, kw_only=True)
class EstimatedCurve(Curve):
    """Compute `EstimatedQuantity` against a parameter; parameters as in `Curve`."""

    def run_cell(self, cell: Cell[CurveSpec], session: Session) -> CellResult:
        """Compute one curve."""
        spec = cell.spec
        quantity: EstimatedQuantity = session.build(spec.quantity, f"quantity {spec.label}")
        cell.check_data(quantity.digest)
        try:
            found = quantity.curve(finite("x", spec.x))
        except NotApplicableError as reason:
            return CellResult(status=NOT_APPLICABLE, facts={"reason": str(reason)})
        rows = [
            row(
                quantity.metric, value=e.value, lower=e.lower, upper=e.upper, n=e.n,
                x=float(at), method=e.method,
            )
            for at, e in zip(spec.x, found, strict=True)
        ]  # fmt: skip
        facts = {"data": "synthetic"} if getattr(quantity, "synthetic", False) else {}
        notes = getattr(quantity, "notes", ())
        facts |= {"ingestion_notes": "; ".join(notes)} if notes else {}
        return CellResult(status=FINISHED, rows=rows, facts=facts)
