"""The curve: a quantity against a parameter, computed or estimated, no worlds and no attacks."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bench.config.build import ConfigError, unknown
from bench.core.cell import FINISHED, NOT_APPLICABLE, Cell, CellResult, Plain, row
from bench.core.code_fingerprint import code_version, fingerprint
from bench.core.intervals import Estimate
from bench.core.labels import check_labels, check_names
from bench.study.cross import cell_name
from bench.study.grid import axis_values, coordinate, product
from bench.study.session import Session
from mechanisms.base import NotApplicableError
from mechanisms.check import FloatArray, finite
from mechanisms.privacy.bracket import Bracket


class Quantity(Protocol):
    """What a curve computes; ``digest`` identifies the data behind it (empty for none).

    A quantity with an attribute ``x`` other than None has its own values of the parameter, one
    whose ``synthetic`` is true says that its data are drawn from a model, one with ``notes`` tells
    what was dropped, merged or assumed while its data were read.
    """

    metric: str

    @property
    def digest(self) -> str:
        """Identity of the data."""

    def curve(self, x: FloatArray) -> Sequence[Bracket | Estimate]:
        """Return one number, bounds, or an estimate from trials for every value of x."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveSpec:
    """A quantity's configuration and label, and the values of its parameter."""

    quantity: Plain
    label: str
    x: Sequence[float]

    @property
    def components(self) -> tuple[Plain]:
        """The configuration of everything that is built for the cell."""
        return (self.quantity,)


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Compute or estimate quantities against a parameter.

    Parameters
    ----------
    quantities : mapping of label to configuration
        Plain nodes with ``_target_``; the labels name rows and legends.
    x : sequence of float
        Values of the parameter.
    grid : mapping of axis to values
        Further parameters of the quantities; each applies to the quantities that have it.
    """

    quantities: Mapping[str, Plain]
    x: Sequence[float]
    grid: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        finite("x", self.x)
        if not self.quantities:
            raise ConfigError("a curve needs quantities, got none.")

    def cells(self, session: Session | None = None) -> list[Cell[CurveSpec]]:
        """List the cells: every quantity at every point of its part of the grid."""
        session = session or Session()
        check_labels("quantity", self.quantities)
        cells, used, packages = [], set(), code_version()
        for label, config in self.quantities.items():
            known = inspect.signature(type(session.build(config, f"quantity {label}"))).parameters
            axes = {
                name: axis_values(name, values)
                for name, values in self.grid.items()
                if name in known
            }
            used |= set(axes)
            for point in product(axes):
                placed = dict(config) | point
                quantity: Quantity = session.build(placed, f"quantity {label}")
                labels: Plain = {"scenario": "", "mechanism": label}
                labels |= {axis: coordinate(value) for axis, value in point.items()}
                spec = CurveSpec(quantity=placed, label=label, x=self._x(quantity))
                cells.append(
                    Cell(
                        name=cell_name(labels), labels=labels, digest=quantity.digest, spec=spec,
                        code=fingerprint(spec.components, packages),
                    )
                )  # fmt: skip
        for name in self.grid:
            if name not in used:
                raise ConfigError(f"grid: {unknown('axis', name, used)}")
        check_names((cell.name, cell.labels) for cell in cells)
        return cells

    def _x(self, quantity: Quantity) -> list[float]:
        own = getattr(quantity, "x", None)
        return list(self.x if own is None else finite("x", own).tolist())

    def run_cell(self, cell: Cell[CurveSpec], session: Session) -> CellResult:
        """Compute one curve."""
        spec = cell.spec
        quantity: Quantity = session.build(spec.quantity, f"quantity {spec.label}")
        cell.check_data(quantity.digest)
        try:
            found = quantity.curve(finite("x", spec.x))
        except NotApplicableError as reason:
            return CellResult(status=NOT_APPLICABLE, facts={"reason": str(reason)})
        rows = [
            number_row(quantity.metric, number, float(at))
            for at, number in zip(spec.x, found, strict=True)
        ]
        facts = {"data": "synthetic"} if getattr(quantity, "synthetic", False) else {}
        notes = getattr(quantity, "notes", ())
        facts |= {"ingestion_notes": "; ".join(notes)} if notes else {}
        return CellResult(status=FINISHED, rows=rows, facts=facts)


def number_row(metric: str, number: Bracket | Estimate, x: float) -> Plain:
    """Return a row of one point: bounds stand at their upper end."""
    if isinstance(number, Estimate):
        return row(
            metric, value=number.value, lower=number.lower, upper=number.upper, n=number.n, x=x,
            method=number.method,
        )  # fmt: skip
    method = "exact" if number.exact else "bracket"
    return row(metric, value=number.hi, lower=number.lo, upper=number.hi, x=x, method=method)
