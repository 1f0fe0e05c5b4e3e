import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.privacy.bracket import Bracket

ENDS = st.tuples(st.floats(0, 10), st.floats(0, 10)).map(sorted)


@given(first=ENDS, second=ENDS, at=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_join_contains_the_larger_of_any_two_numbers_in_the_brackets(first, second, at):
    one, other = Bracket(*first), Bracket(*second)
    inside = [b.lo + t * (b.hi - b.lo) for b, t in zip((one, other), at, strict=True)]
    joined = one.join(other)
    assert joined.lo <= max(inside) * (1 + 1e-12) + 1e-300
    assert max(inside) <= joined.hi * (1 + 1e-12)
    assert joined == Bracket(max(one.lo, other.lo), max(one.hi, other.hi))


def test_errors_of_joined_brackets_add_up():
    assert Bracket(0, 1, 0.2).join(Bracket(0, 2, 0.3)).error == pytest.approx(0.5)
    assert Bracket(0, 1, 0.8).join(Bracket(0, 2, 0.3)).error == 1.0


@pytest.mark.parametrize(
    ("lo", "hi", "exact"),
    [
        (1.0, 1.0, True),
        (float("inf"), float("inf"), True),
        (0.0, 9e-7, True),
        (0.0, 2e-6, False),
        (1e3, 1e3 + 9e-4, True),
        (1.0, float("inf"), False),
    ],
)
def test_a_bracket_is_exact_when_its_ends_agree_to_a_millionth(lo, hi, exact):
    assert Bracket(lo, hi).exact is exact
