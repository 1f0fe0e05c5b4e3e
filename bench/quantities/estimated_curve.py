"""The curve of quantities that are estimated from trials: value, interval and n at every point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bench.config.build import build
from bench.core.cell import FINISHED, NOT_APPLICABLE, Cell, CellResult, row
from bench.core.intervals import Estimate
from bench.study.curve import Curve
from mechanisms.base import NotApplicableError
from mechanisms.check import FloatArray, finite


class EstimatedQuantity(Protocol):
    """What an estimated curve computes; ``digest`` identifies the data behind it.

    A quantity with an attribute ``x`` other than None has its own values of the parameter, one
    whose ``synthetic`` is true says that its data are drawn from a model.
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

    def run_cell(self, cell: Cell) -> CellResult:
        """Compute one curve."""
        quantity: EstimatedQuantity = build(cell.spec["quantity"], f"quantity {cell.spec['label']}")
        try:
            found = quantity.curve(finite("x", cell.spec["x"]))
        except NotApplicableError as reason:
            return CellResult(status=NOT_APPLICABLE, facts={"reason": str(reason)})
        rows = [
            row(
                quantity.metric, value=e.value, lower=e.lower, upper=e.upper, n=e.n,
                x=float(at), method=e.method,
            )
            for at, e in zip(cell.spec["x"], found, strict=True)
        ]  # fmt: skip
        facts = {"data": "synthetic"} if getattr(quantity, "synthetic", False) else {}
        return CellResult(status=FINISHED, rows=rows, facts=facts)
