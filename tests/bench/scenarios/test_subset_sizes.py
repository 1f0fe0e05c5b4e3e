"""Sizes that do not fit are refused with the nearest ones that do."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.datasets.source import DataError
from bench.scenarios.subset_sizes import (
    check_split,
    check_whole,
    is_whole,
    most_of_a_class,
    nearest_split,
)


@pytest.mark.parametrize(
    ("size", "gap", "said"),
    [
        (20, 0.15, "gap=0.1 or 0.2 with size=20, size=40 with gap=0.15"),
        (40, 0.12, "gap=0.1 or 0.15 with size=40, size=25 or 50 with gap=0.12"),
        (3, 0.5, "gap=0.333333333333 with size=3, size=4 with gap=0.5"),
    ],
)
def test_the_nearest_gaps_and_sizes_are_named(size, gap, said):
    with pytest.raises(ValueError, match=r"nearest that work: (.*)\.$") as error:
        check_whole(size, gap)
    assert said.replace("0.333333333333", "0.333333") in str(error.value)


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 300), st.integers(1, 999).map(lambda n: n / 1000))
def test_what_is_named_works(size, gap):
    try:
        check_whole(size, gap)
    except ValueError as error:
        hint = str(error).partition("nearest that work: ")[2].rstrip(".")
        found = re.findall(r"(gap|size)=([^ ,]+)(?: or ([^ ,]+))? with", hint)
        assert found
        for name, *values in found:
            for value in filter(None, values):
                exact = round(float(value) * size) / size if name == "gap" else gap
                works = is_whole(size, exact) if name == "gap" else is_whole(int(value), gap)
                assert works
    else:
        assert is_whole(size, gap)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**20), st.integers(1, 60), st.integers(1, 500), st.integers(1, 500))
def test_a_split_or_a_size_that_is_named_works(seed, half, shadow, test):
    has = np.random.default_rng(seed).random(400) < 0.4
    size, gap = 2 * half, 0.0 if half == 1 else 2 / (2 * half)
    gap = gap if is_whole(size, gap) else 0.0
    try:
        check_split(has, (shadow, test), size, gap)
    except DataError as error:
        hint = str(error)
    else:
        return
    named = re.search(r"size=(\d+)", hint.partition("nearest")[2])
    if named:
        assert is_whole(int(named[1]), gap)
        check_split(has, (shadow, test), int(named[1]), gap)
    split = re.search(r"split=\[(\d+), (\d+)\]", hint.partition("nearest")[2])
    if split:
        check_split(has, (int(split[1]), int(split[2])), size, gap)
        shares = re.search(r"shares=\[([\d.]+), ([\d.]+)\]", hint)
        assert [int(float(share) * len(has)) for share in shares.groups()] == [
            int(records) for records in split.groups()
        ]
    assert named or split or "no split of them does" in hint


def test_a_split_is_near_the_one_that_was_asked_for():
    has = np.tile([True, False], 500)
    assert nearest_split(has, (500, 500), 40, 0.1) == (470, 470)  # 956 at most
    assert most_of_a_class(40, 0.1) == 22
