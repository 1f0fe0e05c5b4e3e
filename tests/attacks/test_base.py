"""Transcripts, guesses and intervals: rows, prefixes, joins, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attacks.base import Guess, Intervals, Transcript, needs_of

few = settings(max_examples=40, deadline=None)


def transcript(n=6, k=3, seed=0, records=True):
    rng = np.random.default_rng(seed)
    return Transcript(
        secret=rng.integers(2, size=n), answers=rng.normal(size=(n, 2)),
        database=rng.integers(9, size=(n, 4)) if records else None,
        releases=rng.normal(size=(n, k, 2)),
        public={"total": rng.normal(size=n), "largest": np.broadcast_to(9, (n, 1))},
    )  # fmt: skip


def same(first, second):
    assert (first.secret == second.secret).all()
    assert (first.answers == second.answers).all()
    assert (first.releases == second.releases).all()
    assert (first.database is None) == (second.database is None)
    assert first.database is None or (first.database == second.database).all()
    assert first.public.keys() == second.public.keys()
    assert all((first.public[name] == second.public[name]).all() for name in first.public)


@few
@given(st.integers(1, 12), st.integers(0, 12), st.booleans())
def test_rows_that_are_joined_again_are_the_transcript(n, cut, records):
    whole = transcript(n, records=records)
    cut = min(cut, n - 1)
    parts = [whole.rows(slice(0, cut)), whole.rows(slice(cut, n))]
    same(Transcript.join([part for part in parts if len(part)]), whole)


@few
@given(st.integers(0, 4), st.integers(1, 5))
def test_a_prefix_is_the_first_releases_of_the_same_worlds(k, n):
    whole = transcript(n, 4)
    found = whole.prefix(k)
    assert found.n_releases == k
    assert (found.releases == whole.releases[:, :k]).all()
    assert found.releases.flags.c_contiguous
    assert found.answers is whole.answers


def test_worlds_before_any_release_have_none():
    worlds = Transcript(secret=np.zeros(3, dtype=int), answers=np.zeros((3, 1)))
    assert (len(worlds), worlds.n_releases) == (3, 0)
    assert worlds.rows(slice(1, 3)).releases.shape == (2, 0)
    assert worlds.public == {}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("answers", np.zeros((2, 1))),
        ("database", np.zeros((4, 1))),
        ("releases", np.zeros((2, 1))),
        ("public", {"total": np.zeros(4)}),
        ("public", {"total": np.float64(3.0)}),
    ],
)
def test_every_part_has_one_row_a_world(name, value):
    plain = {"secret": np.zeros(3, dtype=int), "answers": np.zeros((3, 1))}
    wrong = "public 'total'" if name == "public" else name
    with pytest.raises(ValueError, match=rf"^{wrong} must have one row a world, got shape .* 3 w"):
        Transcript(**(plain | {name: value}))


def test_guesses_of_consecutive_worlds_are_joined():
    parts = [
        Guess(values=np.array([[1, -1]]), revealed_at=np.array([0])),
        Guess(values=np.array([[2, 3], [4, 5]]), revealed_at=np.array([1, 7])),
    ]
    found = Guess.join(parts)
    assert found.values.tolist() == [[1, -1], [2, 3], [4, 5]]
    assert found.revealed_at.tolist() == [0, 1, 7]
    never = Guess.join([Guess(values=np.zeros((1, 2)), of="answers")] * 2)
    assert (never.of, never.revealed_at, never.values.shape) == ("answers", None, (2, 2))


def test_intervals_of_consecutive_worlds_are_joined():
    one = Intervals(lower=np.zeros((2, 3)), upper=np.ones((2, 3)), hidden=np.ones((2, 3), bool))
    found = Intervals.join([one, one])
    assert found.lower.shape == found.hidden.shape == (4, 3)
    plain = Intervals(lower=np.zeros((1, 1)), upper=np.full((1, 1), np.inf), of="database")
    assert Intervals.join([plain, plain]).hidden is None
    assert Intervals.join([plain, plain]).of == "database"


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Guess(values=np.zeros(3)), r"^values must have 2 dimensions \(n, e\), got \(3,\)"),
        (lambda: Guess(values=np.zeros((3, 1)), revealed_at=np.zeros(2)),
         r"^revealed_at must have shape \(3,\), got \(2,\)"),
        (lambda: Intervals(lower=np.zeros((2, 2)), upper=np.zeros((2, 1))),
         r"^upper must have the shape \(2, 2\) of lower, got \(2, 1\)"),
        (lambda: Intervals(lower=np.ones((1, 1)), upper=np.zeros((1, 1))),
         r"^lower must be at most upper"),
        (lambda: Intervals(lower=np.full((1, 1), np.nan), upper=np.zeros((1, 1))),
         r"^lower must be at most upper"),
    ],
)  # fmt: skip
def test_outputs_that_make_no_sense_are_refused(make, told):
    with pytest.raises(ValueError, match=told):
        make()


def test_an_attack_that_says_nothing_of_public_facts_needs_none():
    class Quiet:
        pass

    class Needing:
        needs = ["total", "largest"]  # noqa: RUF012

    assert needs_of(Quiet()) == ()
    assert needs_of(Needing()) == ("total", "largest")
