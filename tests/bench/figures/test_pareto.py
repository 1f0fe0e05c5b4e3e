"""The front of error and leakage: intervals apart, exact numbers as they are."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core.cell import FINISHED, Cell, CellResult, row, tidy
from bench.figures.pareto import Pareto, on_front

PARETO = Pareto(error="l2", label="error")


def table(*cells):
    found = []
    for name, error, acc, ceiling in cells:
        rows = [row("l2", value=error, lower=0.9 * error, upper=1.1 * error, n=100)]
        rows += [row("acc", value=acc, lower=acc - 0.01, upper=acc + 0.01, n=100, attack="a")]
        if ceiling is not None:
            rows.append(row("ceiling", value=ceiling, lower=ceiling, upper=ceiling))
        labels = {"scenario": "s", "mechanism": name}
        cell = Cell(name=name, labels=labels, spec=None, digest="", code="")
        found.append((cell, CellResult(status=FINISHED, rows=rows)))
    return tidy(found)


def front(*cells):
    found = PARETO.table(table(*cells))
    return dict(zip(found["mechanism"], found["on_front"], strict=True))


def test_a_cell_beats_another_only_where_intervals_are_apart():
    assert front(("a", 1.0, 0.55, 0.55), ("b", 2.0, 0.55, 0.55)) == {"a": True, "b": False}
    assert front(("a", 1.0, 0.55, 0.55), ("b", 1.1, 0.55, 0.55)) == {"a": True, "b": True}
    assert front(("a", 1.0, 0.6, None), ("b", 2.0, 0.585, None)) == {"a": True, "b": True}
    assert front(("a", 1.0, 0.6, None), ("b", 2.0, 0.65, None)) == {"a": True, "b": False}


def test_a_ceiling_that_an_attack_exceeds_is_none():
    """Noise that spares a direction of records: the model's .55 is decoded to .76."""
    cells = [("decoded", 1.0, 0.76, 0.55), ("sound", 2.0, 0.56, 0.56)]
    assert front(*cells) == {"decoded": True, "sound": True}
    found = PARETO.table(table(*cells)).set_index("mechanism")
    assert found.loc["decoded", "leakage"] == 0.76
    assert found.loc["decoded", "leakage_by"] == "a"
    assert found.loc["sound", "leakage_by"] == "exact"


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=20))
def test_the_front_of_exact_points_is_that_of_pairwise_comparison(points):
    ends = np.array([[e, e, a / 10, a / 10] for e, a in points], dtype=float)
    expected = [
        not any(f <= e and b <= a and (f, b) != (e, a) for f, b in points) for e, a in points
    ]
    assert on_front(ends).tolist() == expected


def test_it_draws_what_there_is_and_nothing():
    figure = PARETO.draw(table(("a", 1.0, 0.6, None), ("b", 2.0, 0.55, 0.56)))
    assert figure.axes[0].get_title() == "s"
    nothing = tidy([])
    assert PARETO.table(nothing).empty
    assert isinstance(PARETO.draw(nothing).axes, list)


def test_the_table_has_intervals_beside_every_number():
    found = PARETO.table(table(("a", 1.0, 0.6, None)))
    line = found.iloc[0]
    assert (line["error_lower"], line["error_upper"]) == pytest.approx((0.9, 1.1))
    assert (line["leakage_lower"], line["leakage_upper"]) == pytest.approx((0.59, 0.61))
    assert isinstance(found, pd.DataFrame)
