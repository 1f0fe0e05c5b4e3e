"""Metrics of suppressed tables, by hand."""

import numpy as np
import pytest

from attacks.base import Intervals, Transcript
from bench.metrics.base import Found, Names, NotMeasurableError
from bench.metrics.cells import (
    CellError,
    CellsSuppressed,
    CountMassLost,
    ShareApproximatelyRevealed,
    ShareRevealed,
)
from bench.metrics.utility import AbsoluteError, NoiseVariance, NormError, RelativeError
from mechanisms.deterministic.cell_suppression import CellSuppression
from mechanisms.deterministic.rounding import RandomRounding, Rounding

RNG = np.random.default_rng(0)
NAMES = Names(secrets=("the table",), pairs=(), statistics=())
TABLE = np.array([[1, 6], [0, 9]])


def worlds(tables, releases=None):
    tables = np.asarray(tables)
    extra = {} if releases is None else {"releases": releases[:, None]}
    return Transcript(secret=np.zeros(len(tables), dtype=int), answers=tables, **extra)


def found(lower, upper, hidden, tables):
    output = Intervals(
        lower=np.asarray(lower, dtype=float), upper=np.asarray(upper, dtype=float),
        hidden=np.asarray(hidden),
    )  # fmt: skip
    return [Found(worlds=worlds(tables), output=output)]


def test_shares_count_hidden_cells_alone():
    lower, upper = [[1, 6, 0, 8]] * 2, [[1, 6, 3, 10]] * 2
    hidden = [[True, False, True, True]] * 2
    games = found(lower, upper, hidden, [TABLE, TABLE])
    revealed = ShareRevealed().estimate(games, NAMES, RNG)[""]
    assert (revealed.value, revealed.method) == (pytest.approx(1 / 3), "exact")
    nearly = ShareApproximatelyRevealed(share=0.3).estimate(games, NAMES, RNG)[""]
    assert nearly.value == pytest.approx(2 / 3)  # the interval [8, 10] of the count 9
    assert ShareApproximatelyRevealed(share=0.2).estimate(games, NAMES, RNG)[""].value < 0.5


def test_worlds_that_differ_have_an_interval():
    lower, upper = [[1, 6, 0, 9], [0, 6, 0, 9]], [[1, 6, 0, 9], [2, 6, 0, 9]]
    games = found(lower, upper, [[True, False, False, False]] * 2, [TABLE, TABLE])
    share = ShareRevealed().estimate(games, NAMES, RNG)[""]
    assert (share.value, share.n) == (0.5, 2)
    assert share.lower < 0.1
    assert share.upper > 0.9


def test_nothing_hidden_and_one_world_are_not_measurable():
    none = found([[1, 6, 0, 9]], [[1, 6, 0, 9]], [[False] * 4], [TABLE])
    with pytest.raises(NotMeasurableError, match="no cell is hidden"):
        ShareRevealed().estimate(none, NAMES, RNG)
    one = found([[1, 6, 0, 9]], [[1, 6, 0, 9]], [[True] * 4], [TABLE])
    with pytest.raises(NotMeasurableError, match="n_test=2"):
        ShareRevealed().estimate(one, NAMES, RNG)
    with pytest.raises(ValueError, match="share must be in"):
        ShareApproximatelyRevealed(share=1.0)


def test_what_suppression_loses():
    rule = CellSuppression(threshold=7)
    tables = np.stack([TABLE, TABLE])
    games = [[worlds(tables, rule.release(tables, RNG))]]
    assert CellsSuppressed().estimate(games, NAMES, rule)[""].value == 3
    assert CountMassLost().estimate(games, NAMES, rule)[""].value == pytest.approx(7 / 16)
    assert CellError().estimate(games, NAMES, rule)[""].value == 7
    assert CellError().estimate(games, NAMES, rule)[""].method == "exact"


def test_rounding_suppresses_nothing_and_errs():
    tables = np.repeat(TABLE[None], 400, axis=0)
    for rule, error in ((Rounding(base=5), 1 + 1 + 0 + 1), (RandomRounding(base=5), 0)):
        games = [[worlds(tables, rule.release(tables, RNG))]]
        assert CellsSuppressed().estimate(games, NAMES, rule)[""].value == 0
        assert CountMassLost().estimate(games, NAMES, rule)[""].value == 0
        found = CellError().estimate(games, NAMES, rule)[""]
        if error:
            assert found.value == error
        else:  # 2 x (x mod 5) (5 - x mod 5) / 5 in each cell
            assert found.lower < 2 * (1 * 4 + 1 * 4 + 0 + 4 * 1) / 5 < found.upper


@pytest.mark.parametrize(
    "metric", [AbsoluteError(), RelativeError(), NormError(norm=1, name="l1"), NoiseVariance()]
)
def test_marks_are_no_numbers(metric):
    rule = CellSuppression(threshold=7)
    tables = np.stack([TABLE, TABLE])
    games = [[worlds(tables, rule.release(tables, RNG))]]
    with pytest.raises(NotMeasurableError, match="suppressed cells have no error"):
        metric.estimate(games, NAMES, rule)
