import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.datasets.source import DataError
from bench.scenarios.statistics import Count, Mean
from tests.support.tables import text_table

few = settings(max_examples=60, deadline=None)
ODD = "petal length (cm), a=b/c °é"
TABLE = text_table(
    pd.DataFrame(
        {
            "age": [20, 30, 40],
            "country": ["NA", "None", "N/A"],
            ODD: [1.5, 2.5, 2.5],
            "gap": [1.0, math.nan, 2.0],
            "far": [1.0, math.inf, 2.0],
        }
    )
)


def refused(call, kind=DataError):
    with pytest.raises(kind) as found:
        call()
    text = str(found.value)
    assert "\n" not in text
    assert text.endswith(".")
    return text


def test_a_mean_is_a_weighted_sum_of_its_feature():
    mean = Mean(column="age", bounds=(17, 90))
    assert mean.feature(TABLE).tolist() == [20, 30, 40]
    assert mean.weight(4) == 0.25
    assert mean.sensitivity(TABLE, 100) == pytest.approx(0.73)
    assert mean.name == "mean age"


def test_without_bounds_the_range_of_the_table_counts():
    assert Mean(column="age").sensitivity(TABLE, 10) == pytest.approx(2.0)


def test_a_count_is_a_sum_of_indicators():
    count = Count(column="country", value="NA")
    assert count.feature(TABLE).tolist() == [1, 0, 0]
    assert (count.weight(7), count.sensitivity(TABLE, 7)) == (1, 1)
    assert count.name == "# country=NA"


@few
@given(st.integers(2, 9), st.integers(0, 2**31))
def test_replacing_one_record_never_moves_a_statistic_further_than_its_sensitivity(n, seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"x": rng.integers(0, 5, n + 1), "c": rng.choice(["a", "b"], n + 1)})
    table.loc[0, "c"] = "a"
    table = text_table(table)
    for statistic in (Mean(column="x", bounds=(0, 4)), Count(column="c", value="a")):
        feature, weight = statistic.feature(table), statistic.weight(n)
        base = feature[:n].sum() * weight
        moved = [base + (feature[n] - feature[i]) * weight for i in range(n)]
        limit = statistic.sensitivity(table, n) + 1e-12
        assert max(abs(m - base) for m in moved) <= limit


def test_the_largest_move_reaches_the_sensitivity():
    table = text_table(pd.DataFrame({"x": [0.0, 4.0, 1.0]}))
    statistic = Mean(column="x", bounds=(0, 4))
    before, after = np.array([0.0, 1.0]).mean(), np.array([4.0, 1.0]).mean()
    assert statistic.sensitivity(table, 2) == after - before


@pytest.mark.parametrize("value", ["NA", "None", "N/A"])
def test_values_that_look_missing_can_be_counted(value):
    assert Count(column="country", value=value).feature(TABLE).sum() == 1


def test_odd_column_names_are_usable():
    assert Mean(column=ODD).name == f"mean {ODD}"
    assert Mean(column=ODD).feature(TABLE).tolist() == [1.5, 2.5, 2.5]
    assert Count(column=ODD, value="2.5").feature(TABLE).tolist() == [0, 1, 1]


def test_an_unknown_column_names_those_that_there_are():
    text = refused(lambda: Mean(column="agee").feature(TABLE))
    assert text.startswith("table: unknown column 'agee'; did you mean age?")


def test_a_text_column_has_no_mean():
    text = refused(lambda: Mean(column="country").feature(TABLE))
    assert text == (
        "table: column 'country' must hold finite numbers within +-1e+150, got 'NA' in data row 1 "
        "(3 such rows)."
    )


@pytest.mark.parametrize(("column", "got"), [("gap", "nan"), ("far", "inf")])
def test_missing_and_infinite_values_are_named_in_the_message(column, got):
    text = refused(lambda: Mean(column=column).feature(TABLE))
    assert f"must hold finite numbers within +-1e+150, got '{got}' in data row 2 (1 " in text


@pytest.mark.parametrize("value", ["na", "", 1, True])
def test_a_value_that_never_occurs_is_refused(value):
    text = refused(lambda: Count(column="country", value=value).feature(TABLE))
    typed = "true" if value is True else str(value)
    assert text.startswith(f"table: column 'country': unknown value {typed!r};")
    assert ("in quotes within quotes" in text) is not isinstance(value, str)


@pytest.mark.parametrize(("value", "typed"), [(20.5, "20.5"), (None, "null"), ([1], "[1]")])
def test_a_value_that_is_no_label_is_refused_with_how_to_type_it(value, typed):
    text = refused(lambda: Count(column="country", value=value), ValueError)
    assert text.startswith("value must be a string, a whole number or true/false, got ")
    assert f"value=\"'{typed}'\"" in text


def test_values_outside_the_bounds_would_break_the_sensitivity_and_are_refused():
    text = refused(lambda: Mean(column="age", bounds=(20, 35)).feature(TABLE))
    assert text == "column 'age' has 1 values outside its bounds [20, 35]."
    assert Mean(column="age", bounds=(20, 40)).feature(TABLE).size == 3


@pytest.mark.parametrize(
    "bounds", [(1, 1), (2, 1), (1, 2, 3), (1,), (), 5, (0, math.inf), (math.nan, 1)]
)
def test_bounds_that_are_no_finite_interval_are_refused(bounds):
    assert refused(lambda: Mean(column="age", bounds=bounds), ValueError).startswith("bounds must ")


@pytest.mark.parametrize("bounds", [("1", "2"), (None, 2), (True, 3)])
def test_bounds_that_are_no_numbers_are_refused(bounds):
    text = refused(lambda: Mean(column="age", bounds=bounds), TypeError)
    assert text.startswith("bounds must be a number")
