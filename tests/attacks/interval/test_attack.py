"""The interval attack of the benchmark: dispatch by rule, totals as public facts, both readers."""

import numpy as np
import pytest

from attacks.base import Target, Transcript, UnsupportedMechanismError
from attacks.interval.attack import IntervalAttack, split_margins
from bench.scenarios.cell_counts import margin_fact
from mechanisms.deterministic.cell_suppression import CellSuppression
from mechanisms.deterministic.rounding import RandomRounding, Rounding
from mechanisms.noise.identity import ExactRelease

RNG = np.random.default_rng(0)
EACH = ((0,), (1,))
SEVEN = np.array([[1, 1, 7, 1, 0], [1, 0, 0, 2, 8]])


class Chosen:
    """Complements chosen by hand."""

    def suppress(self, problem):
        from mechanisms.deterministic.protection import Suppression

        cells = np.zeros(problem.table.shape, dtype=bool)
        cells[0, 1] = cells[1, 0] = True
        return Suppression(complements=cells, cost=2.0, least_cost=0.0, short=())


def bounded(rule, tables, *, marks="two", n_releases=1):
    tables = np.asarray(tables)
    attack = IntervalAttack(marks=marks)
    shadow = Transcript(secret=np.zeros(1, dtype=int), answers=tables[:1])
    fitted = attack.fit(shadow, Target(mechanism=rule, n_secrets=1, laws=None), RNG)
    releases = np.stack([rule.release(tables, RNG) for _ in range(n_releases)], axis=1)
    return fitted.bound(releases, margins=margin_fact(tables, rule.margins))


def test_the_worked_table_is_recovered_and_no_cell_without_totals():
    found = bounded(CellSuppression(threshold=2, margins=EACH), [SEVEN, SEVEN])
    assert found.hidden.sum() == 14
    assert (found.lower == found.upper).all()
    assert (found.lower[0] == SEVEN.ravel()).all()
    alone = bounded(CellSuppression(threshold=2), [SEVEN])
    assert not (alone.lower == alone.upper)[alone.hidden].any()


def test_one_mark_and_two_marks_as_worked_out():
    table = np.array([[1, 5, 7], [9, 1, 6], [8, 9, 4]])
    rule = CellSuppression(threshold=3, margins=EACH, secondary=Chosen())
    corners = [0, 1, 3, 4]
    two, one = (bounded(rule, [table], marks=marks) for marks in ("two", "one"))
    assert np.stack([two.lower, two.upper], axis=-1)[0, corners].tolist() == [
        [0, 2], [4, 6], [8, 10], [0, 2],
    ]  # fmt: skip
    assert np.stack([one.lower, one.upper], axis=-1)[0, corners].tolist() == [
        [0, 6], [0, 6], [4, 10], [0, 6],
    ]  # fmt: skip


@pytest.mark.parametrize("rule", [Rounding(base=3, margins=EACH), RandomRounding(base=5)])
def test_rounded_tables_hide_every_cell_and_hold_the_truth(rule):
    tables = RNG.integers(0, 20, (6, 3, 4))
    for k in (1, 3):
        found = bounded(rule, tables, n_releases=k)
        truth = tables.reshape(6, -1)
        assert found.hidden.all()
        assert ((found.lower <= truth) & (truth <= found.upper)).all()


def test_repeating_random_rounding_narrows_intervals():
    tables = np.full((1, 4, 5), 7)
    once, often = (bounded(RandomRounding(base=5), tables, n_releases=k) for k in (1, 30))
    assert (often.upper - often.lower).sum() < (once.upper - once.lower).sum()


def test_other_rules_and_wrong_totals_are_refused():
    target = Target(mechanism=ExactRelease(), n_secrets=1, laws=None)
    with pytest.raises(UnsupportedMechanismError, match="suppressed and rounded tables"):
        IntervalAttack().fit(None, target, RNG)
    with pytest.raises(ValueError, match="margins must hold 5 totals, got 4"):
        split_margins(np.zeros(4, dtype=int), (2, 3), EACH)
    with pytest.raises(ValueError, match="marks must be 'two' or 'one'"):
        IntervalAttack(marks="three")
