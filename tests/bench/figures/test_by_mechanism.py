"""A metric mechanism by mechanism, with what has none."""

import pandas as pd
import pytest

from bench.core.cell import row
from bench.figures.by_mechanism import ByMechanism


def table():
    """Two mechanisms in two scenarios, one of them not applicable in the second."""
    lines = [
        {"scenario": s, "mechanism": m} | row("l2", value=v, lower=v - 1, upper=v + 2, n=50)
        for s, m, v in (("model", "wide", 8.0), ("model", "thin", 3.0), ("records", "wide", 7.0))
    ]
    lines.append(
        {"scenario": "records", "mechanism": "thin"} | row("", value=None, lower=0, upper=0)
    )
    lines.append(
        {"scenario": "model", "mechanism": "wide"}
        | row("acc", value=0.6, lower=0.5, upper=0.7, attack="lr")
    )
    return pd.DataFrame(lines)


def drawn(**settings):
    return ByMechanism(label="error", **settings).draw(table()).axes[0]


def test_points_and_intervals_are_those_of_the_table_and_what_has_none_is_told():
    axes = drawn(metric="l2")
    points = [line for line in axes.lines if line.get_marker() == "o"]
    assert [line.get_xdata().tolist() for line in points] == [[8.0, 3.0], [7.0]]
    places = [line.get_ydata().tolist() for line in points]
    assert [[round(y) for y in found] for found in places] == [[0, 1], [0]]
    assert places[0][0] < places[1][0]
    ends = [c.get_segments()[0][:, 0].tolist() for c in axes.collections]
    assert ends == [[7.0, 10.0], [6.0, 9.0]]
    assert [text.get_text() for text in axes.texts] == ["records: none"]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["wide", "thin"]
    assert axes.get_legend().get_title().get_text() == "95 % intervals, n = 50"
    assert axes.get_xlim()[0] == 0


@pytest.mark.parametrize(("attack", "shown"), [("lr", 1), ("other", 0)])
def test_rows_of_one_attack_are_drawn(attack, shown):
    axes = drawn(metric="acc", attack=attack)
    points = [x for line in axes.lines if line.get_marker() == "o" for x in line.get_xdata()]
    assert points == [0.6] * shown
    assert len(axes.texts) == 4 - shown
