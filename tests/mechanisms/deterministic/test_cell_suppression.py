"""Cell suppression: what is released, what is claimed, and exact losses by enumeration."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.deterministic.cell_suppression import CellSuppression
from mechanisms.deterministic.count_table import Margin, counts, dominated, margin_matrix
from mechanisms.deterministic.greedy_suppression import GreedySuppression
from mechanisms.privacy.guarantee import NoClaim
from mechanisms.privacy.persuasive.finite_receiver import FiniteKernel
from mechanisms.privacy.persuasive.scores import SmallCountScore

SEEDS = st.integers(0, 2**32 - 1)
UNUSED = np.random.default_rng(0)


def listed(mechanism, pmf):
    """One cell as a finite kernel: outputs are the released numbers."""
    values = np.arange(pmf.size)
    released = mechanism.release(values[:, None], UNUSED)[:, 0]
    outputs = np.unique(released)
    table = (released[:, None] == outputs).astype(float)
    return FiniteKernel(points=values[:, None].astype(float), probabilities=table)


@given(seed=SEEDS, threshold=st.integers(2, 5), zeros=st.booleans(), sensitive=st.integers(1, 7))
@settings(max_examples=80, deadline=None)
def test_losses_are_those_of_bayes_rule(seed, threshold, zeros, sensitive):
    rng = np.random.default_rng(seed)
    pmf = rng.dirichlet(np.ones(9))
    if sensitive <= zeros:
        sensitive += 1
    mechanism = CellSuppression(threshold=threshold, sensitive_below=sensitive, publish_zeros=zeros)
    kernel = listed(mechanism, pmf)
    score = SmallCountScore(cell=0, high=sensitive, low=int(zeros))
    by_rule = kernel.losses([score], pmf)[0, 0]
    realised = by_rule[np.arange(9), kernel.probabilities.argmax(axis=1)]
    found = mechanism.losses(np.arange(9), np.tile(pmf, (9, 1)))
    assert found == pytest.approx(realised, abs=1e-9)


@given(seed=SEEDS, threshold=st.integers(2, 5), zeros=st.booleans())
@settings(max_examples=80, deadline=None)
def test_kappa_is_never_exceeded_inside_the_class_and_is_met(seed, threshold, zeros):
    rng = np.random.default_rng(seed)
    pmf = rng.dirichlet(np.ones(8), size=(3, 4))
    low = int(zeros)
    alpha = float(pmf[..., low:threshold].sum(axis=-1).min())
    mechanism = CellSuppression(threshold=threshold, alpha=alpha, publish_zeros=zeros)
    table = rng.integers(0, 8, (3, 4))
    losses = mechanism.losses(table, pmf)
    claim = mechanism.guarantee
    assert losses.max() <= claim.bound + 1e-12
    assert claim.notion.delta == 0.0
    worst = np.unravel_index(pmf[..., low:threshold].sum(axis=-1).argmin(), (3, 4))
    table[worst] = low
    assert mechanism.losses(table, pmf)[worst] == pytest.approx(claim.bound)


def test_sensitive_counts_above_the_threshold_break_it():
    """h = 3, r = 6, x = 4, uniform on 0..14: 2.708 where -log alpha is 1.609."""
    flat = np.full((1, 15), 1 / 15)
    wide = CellSuppression(threshold=3, alpha=0.2, sensitive_below=6)
    assert wide.losses(np.array([4]), flat)[0] == pytest.approx(2.708, abs=1e-3)
    assert -math.log(0.2) == pytest.approx(1.609, abs=1e-3)
    assert isinstance(wide.guarantee, NoClaim)
    assert "3 to 5 are sensitive" in wide.guarantee.reason
    assert wide.losses(np.array([2]), flat)[0] == pytest.approx(-math.log(0.2))
    # A threshold at or above r is safe; counts in between are hidden and not sensitive.
    safe = CellSuppression(threshold=6, alpha=0.4, sensitive_below=3)
    assert safe.guarantee.bound == pytest.approx(-math.log(0.4))
    assert safe.losses(np.array([4]), flat)[0] == 0.0


def test_what_is_claimed_and_what_is_not():
    assert CellSuppression(threshold=3, alpha=1.0).guarantee.bound == 0.0
    notes = " ".join(CellSuppression(threshold=3, alpha=0.5).guarantee.notes)
    assert "rests on a reconstruction" in notes
    for mechanism in (
        CellSuppression(threshold=3, alpha=0.5, margins=((0,),)),
        CellSuppression(threshold=3, alpha=0.5, margins=((0,),), secondary=GreedySuppression()),
    ):
        assert isinstance(mechanism.guarantee, NoClaim)
        assert "all seven suppressed cells are recovered" in mechanism.guarantee.reason
    assert "alpha" in CellSuppression(threshold=3).guarantee.reason
    published = CellSuppression(threshold=3, alpha=0.5, publish_zeros=True)
    assert "zeros are published" in " ".join(published.guarantee.notes)
    assert published.repeated_guarantee(5) == published.guarantee


def test_releases_of_tables_of_any_number_of_dimensions():
    tables = np.array([[[0, 1], [2, 3]], [[3, 2], [1, 0]]])
    suppress = CellSuppression(threshold=2).release(tables, UNUSED)
    assert suppress.tolist() == [[[-1, -1], [2, 3]], [[3, 2], [-1, -1]]]
    publish = CellSuppression(threshold=2, publish_zeros=True).release(tables, UNUSED)
    assert publish.tolist() == [[[0, -1], [2, 3]], [[3, 2], [-1, 0]]]
    line = CellSuppression(threshold=3).release(np.array([[5, 1, 0]]), UNUSED)
    assert line.tolist() == [[5, -1, -1]]
    cube = CellSuppression(threshold=3, margins=((0, 2),))
    assert cube.release(np.full((2, 2, 2, 2), 3), UNUSED).min() == 3
    assert cube.public_margins(np.full((2, 2, 2), 3))[0].lower.tolist() == [[6, 6], [6, 6]]


def test_complements_are_marked_and_equal_tables_are_solved_once():
    table = np.array([[1, 5, 7], [9, 1, 6], [8, 9, 4]])
    calls = []

    class Counted(GreedySuppression):
        def suppress(self, problem, progress=None):
            calls.append(1)
            return super().suppress(problem, progress)

    mechanism = CellSuppression(threshold=3, margins=((0,), (1,)), secondary=Counted())
    both = np.stack([table, table, table.T])
    assert mechanism.release(both, UNUSED)[1].tolist() == [[-1, -2, 7], [-2, -1, 6], [8, 9, 4]]
    assert len(calls) == 2
    one = CellSuppression(
        threshold=3, margins=((0,), (1,)), secondary=GreedySuppression(), marks="one"
    )
    hidden = one.release(table[None], UNUSED)[0]
    assert set(np.unique(hidden[hidden < 0])) == {-3}


def test_margins_sum_cells():
    rng = np.random.default_rng(2)
    table = rng.integers(0, 9, (2, 3, 4))
    axes = [(0,), (1, 2), (), (0, 1, 2)]
    stacked = margin_matrix(table.shape, axes) @ table.ravel()
    expected = [Margin.of(table, kept).lower.ravel() for kept in axes]
    assert stacked.tolist() == np.concatenate(expected).tolist()
    assert Margin.of(table, ()).lower == table.sum()


def test_one_dominant_unit():
    assert dominated([[100, 10]], [[81, 8]]).tolist() == [[True, False]]
    assert dominated([[0]], [[0]]).tolist() == [[False]]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: counts("counts", [[1, -2]]), r"not be negative, got -2 in cell \(0, 1\)"),
        (lambda: counts("counts", [[1, 2.5]]), r"whole numbers, got 2.5 in cell \(0, 1\)"),
        (
            lambda: counts("counts", [[1.0, np.nan]]),
            r"missing, got nan in cell \(0, 1\).*structural",
        ),
        (lambda: counts("counts", [np.inf]), "at most 2"),
        (lambda: counts("counts", []), "empty"),
        (lambda: counts("counts", [True]), "type bool"),
        (lambda: counts("counts", ["a"]), "type <U1"),
        (
            lambda: CellSuppression(threshold=3).release(np.array([[[1, -1]]]), UNUSED),
            r"got -1 in cell \(0, 1\)",
        ),
        (lambda: CellSuppression(threshold=1), "threshold must be a whole number of at least 2"),
        (lambda: CellSuppression(threshold=2.5), "threshold must be a whole number"),
        (lambda: CellSuppression(threshold=3, alpha=0.0), r"alpha must be in \(0, 1\]"),
        (lambda: CellSuppression(threshold=3, alpha=1.1), r"alpha must be in \(0, 1\]"),
        (lambda: CellSuppression(threshold=3, marks="both"), "marks must be"),
        (
            lambda: CellSuppression(threshold=3, structural=np.array([True, False])).release(
                np.array([[4, 4]]), UNUSED
            ),
            "structural cells must have count 0",
        ),
        (
            lambda: CellSuppression(threshold=3, structural=np.array([True])).primary(
                np.array([4, 4])
            ),
            "table's shape",
        ),
        (
            lambda: CellSuppression(threshold=3, margins=((2,),)).public_margins([[1, 2]]),
            "axes must be among 0 to 1",
        ),
        (lambda: CellSuppression(threshold=3).complements([[1]]), "secondary must name"),
        (
            lambda: CellSuppression(threshold=3).losses(np.array([4]), np.ones((1, 3)) / 3),
            "priors must have shape",
        ),
        (
            lambda: CellSuppression(threshold=3).losses(np.array([1]), np.ones((1, 3))),
            "sum to 1",
        ),
        (lambda: dominated([1], [2]), "at most its counts"),
    ],
)
def test_bad_input_is_told_in_one_line(build, message):
    with pytest.raises(ValueError, match=message) as caught:
        build()
    assert "\n" not in str(caught.value)
