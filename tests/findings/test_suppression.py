"""What totals reveal of suppressed cells of UCI Adult, and what complements cost."""

import numpy as np
import pandas as pd
import pytest

from attacks.interval.cell_limits import suppressed_cells
from attacks.interval.feasible_intervals import interval_attack
from bench.datasets.table.adult import Adult
from mechanisms.deterministic.cell_suppression import CellSuppression
from mechanisms.deterministic.greedy_suppression import GreedySuppression
from mechanisms.deterministic.marks import with_one_mark

MARGINS = ((0,), (1,))
UNUSED = np.random.default_rng(0)


@pytest.fixture(scope="module")
def adult():
    records, names = Adult().records, ("occupation", "education", "native-country")
    return pd.DataFrame({name: records.text(name).to_pandas() for name in names})


def attacked(table, *, one_mark=False, **options):
    mechanism = CellSuppression(**options)
    release = mechanism.release(table[None], UNUSED)[0]
    cells = suppressed_cells(
        with_one_mark(release) if one_mark else release,
        threshold=mechanism.threshold,
        publish_zeros=mechanism.publish_zeros,
    )
    found = interval_attack(cells, mechanism.public_margins(table))
    assert (found.lower <= table).all()
    assert (table <= found.upper).all()
    assert found.exact.all()
    return mechanism.primary(table), found


@pytest.mark.parametrize(
    ("rows", "columns", "zeros", "small", "revealed"),
    [
        ("occupation", "education", False, 47, 14),
        ("occupation", "education", True, 28, 24),
        ("native-country", "occupation", False, 353, 40),
        ("native-country", "occupation", True, 207, 1),
    ],
)
def test_margins_reveal_small_cells(adult, rows, columns, zeros, small, revealed):
    table = pd.crosstab(adult[rows], adult[columns]).to_numpy()
    options = {"threshold": 5, "publish_zeros": zeros}
    primary, alone = attacked(table, **options)
    assert primary.sum() == small
    assert not alone.revealed.any()
    _, found = attacked(table, margins=MARGINS, **options)
    assert found.revealed.sum() == revealed


@pytest.mark.parametrize(
    ("zeros", "complements", "lost"), [(False, 15, 0.0585), (True, 13, 0.0293)]
)
def test_complements_hide_them_again_at_a_price(adult, zeros, complements, lost):
    table = pd.crosstab(adult["occupation"], adult["education"]).to_numpy()
    options = {"threshold": 5, "publish_zeros": zeros, "margins": MARGINS}
    for one_mark in (False, True):
        primary, found = attacked(
            table, secondary=GreedySuppression(), one_mark=one_mark, **options
        )
        assert not found.revealed.any()
        # Linear programs have several cheapest corners: solvers may choose others.
        assert abs(found.hidden.sum() - primary.sum() - complements) <= 4
        assert table[found.hidden].sum() / table.sum() == pytest.approx(lost, abs=0.02)
    assert table[primary].sum() / table.sum() == pytest.approx(0.0012, abs=1e-4)


@pytest.mark.parametrize(
    ("threshold", "two_marks", "one_mark"),
    [(2, 0.8125, 0.5625), (3, 0.3846, 0.3333), (5, 0.2979, 0.2979), (10, 0.0441, 0.0441)],
)
def test_a_smaller_threshold_reveals_more_of_what_it_suppresses(
    adult, threshold, two_marks, one_mark
):
    table = pd.crosstab(adult["occupation"], adult["education"]).to_numpy()
    for mark, share in ((False, two_marks), (True, one_mark)):
        _, found = attacked(table, threshold=threshold, margins=MARGINS, one_mark=mark)
        assert found.revealed.sum() / found.hidden.sum() == pytest.approx(share, abs=1e-4)
