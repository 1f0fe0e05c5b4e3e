"""Figures of curves and of the ledger: what is drawn, and that holes do not break them."""

import math

import pandas as pd

from bench.core.cell import Cell, CellResult, row, tidy
from bench.figures.against_parameter import AgainstParameter
from bench.figures.ledger import Ledger


def table(cells):
    """Return the tidy table of (labels, status, rows) triples."""
    return tidy([
        (
            Cell(name=str(labels), labels=labels, spec={}, digest=""),
            CellResult(status=status, rows=rows, facts={"verdict": verdict}),
        )
        for labels, status, verdict, rows in cells
    ])  # fmt: skip


def point(x, value, lower=None):
    low = value if lower is None else lower
    method = "exact" if lower is None else "bracket"
    return row("influence", value=value, lower=low, upper=value, x=x, method=method)


CURVES = table([
    ({"scenario": "", "mechanism": "exact"}, "finished", "", [point(1, 2.0), point(2, 0.0)]),
    ({"scenario": "", "mechanism": "bound"}, "finished", "", [point(1, math.inf, 0.0),
                                                             point(2, 1.0, 0.0)]),
    ({"scenario": "", "mechanism": "absent"}, "not applicable", "", []),
])  # fmt: skip


def settings(**changes):
    return {"metric": "influence", "label": "a(b) (nats)", "axis_label": "b"} | changes


def test_bounds_are_dashed_infinite_values_left_out_and_axes_named():
    figure = AgainstParameter(**settings()).draw(CURVES)
    (axes,) = figure.axes
    exact, bound = axes.get_lines()
    assert exact.get_ydata().tolist() == [2.0, 0.0]
    assert (bound.get_linestyle(), bound.get_xdata().tolist()) == ("--", [2.0])
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("b", "a(b) (nats)")
    assert "upper bound" in axes.get_legend().get_title().get_text()


def test_logarithmic_axes_leave_out_what_is_below_the_floor():
    figure = AgainstParameter(**settings(log=["y"], floor=0.1)).draw(CURVES)
    assert figure.axes[0].get_lines()[0].get_xdata().tolist() == [1.0]
    assert figure.axes[0].get_yscale() == "log"


def test_published_values_are_hollow_beside_ours():
    published = {"exact": {"x": [1], "y": [2.1]}}
    figure = AgainstParameter(**settings(published=published, source="A (2020)")).draw(CURVES)
    assert len(figure.axes[0].get_lines()) == 3
    assert "A (2020)" in figure.axes[0].get_legend().get_title().get_text()


def ledger(epsilon, claimed, exact, certified, **labels):
    rows = [row("exact", value=exact, lower=exact, upper=exact)]
    rows += [row("certified", value=certified, lower=0.0, upper=math.inf)]
    if claimed is not None:
        rows += [row("claimed", value=claimed, lower=claimed, upper=claimed)]
    budget = {} if epsilon is None else {"epsilon": epsilon}
    verdict = "violated" if claimed is not None and exact > claimed else "holds"
    rows = [r | {"notion": "n", "unit": "epsilon", "verdict": verdict} for r in rows]
    return {"scenario": "s", "mechanism": "m", **budget, **labels}, "finished", verdict, rows


def test_every_mechanism_has_a_panel_and_flags_are_in_its_title():
    cells = [ledger(1.0, 1.0, 0.5, 0.1), ledger(2.0, 2.0, 2.5, 0.2),
             ledger(None, None, math.inf, 0.3, mechanism="noiseless")]  # fmt: skip
    figure = Ledger(columns=2).draw(table(cells))
    first, second = figure.axes
    assert "violated" in first.get_title()
    claimed, exact, certified = first.get_lines()
    assert claimed.get_ydata().tolist() == [1.0, 2.0]
    assert exact.get_ydata().tolist() == [0.5, 2.5]
    assert certified.get_ydata().tolist() == [0.1, 0.2]
    assert second.get_title() == "noiseless: exact infinite"
    assert second.get_xlim() == first.get_xlim()
    assert first.get_xlabel() == "budget epsilon (nats)"


def test_infinite_values_are_arrows_and_a_lone_finite_one_is_marked():
    cells = [ledger(None, 0.0, 0.0, 0.1, n_releases=1),
             ledger(None, math.inf, math.inf, 4.8, n_releases=2),
             ledger(None, math.inf, math.inf, 5.6, n_releases=10)]  # fmt: skip
    figure = Ledger(axis="n_releases", log=["x"]).draw(table(cells))
    axes = figure.axes[0]
    arrows = [line for line in axes.get_lines() if line.get_marker() == "^"]
    assert [line.get_xdata().tolist() for line in arrows] == [[2, 10], [2, 10]]
    assert len([line for line in axes.get_lines() if line.get_marker() == "s"]) == 2
    assert axes.get_xscale() == "log"
    assert "arrows: infinite" in figure.legends[0].get_title().get_text()
    assert axes.get_title() == "m: exact infinite"


def test_orders_of_one_mechanism_have_panels_of_their_own():
    cells = [ledger(1.0, 1.0, 0.5, 0.1, order=2.0), ledger(1.0, 1.0, 0.7, 0.1, order=8.0),
             ledger(1.0, 1.0, 0.4, 0.1, mechanism="pure")]  # fmt: skip
    titles = [axes.get_title() for axes in Ledger(columns=3).draw(table(cells)).axes]
    assert titles == ["m, order 2", "m, order 8", "pure"]
    assert isinstance(table(cells), pd.DataFrame)
