import math

import pandas as pd
import pytest

from bench.core.cell import (
    FAILED,
    FINISHED,
    NOT_APPLICABLE,
    ROW_COLUMNS,
    Cell,
    CellResult,
    row,
    tidy,
)
from bench.leaderboard.ranking import FIXED, headline, headline_row, leaderboard


def cell(mechanism, scenario="s", **axes):
    labels = {"scenario": scenario, "mechanism": mechanism} | axes
    return Cell(name=" ".join(map(str, labels.values())), labels=labels, spec={}, digest="")


def number(metric, value, attack="", n=100, method="t", half=0.1, statistic=""):
    return row(
        metric, value=value, lower=value - half, upper=value + half, n=n, method=method,
        attack=attack, statistic=statistic,
    )  # fmt: skip


def finished(*rows, verdict="holds"):
    return CellResult(status=FINISHED, rows=list(rows), facts={"verdict": verdict})


def order(board):
    return list(zip(board["rank"], board["mechanism"], strict=True))


def errors(**values):
    return tidy([(cell(m, epsilon=1.0), finished(number("l2", v))) for m, v in values.items()])


def test_smaller_errors_rank_first():
    assert order(leaderboard(errors(a=3.0, b=1.0, c=2.0), ["l2"])) == [
        ("1", "b"),
        ("2", "c"),
        ("3", "a"),
    ]


def test_metrics_that_rise_rank_the_largest_first_whatever_their_name():
    def told(mechanism, value):
        facts = {"verdict": "holds", "higher_is_better": "share_right, hits"}
        rows = [number("hits", value), number("l2", value)]
        result = CellResult(status=FINISHED, rows=rows, facts=facts)
        return cell(mechanism, epsilon=1.0), result

    failed = (cell("d", epsilon=1.0), CellResult(status=FAILED))
    table = tidy([failed, told("a", 0.3), told("b", 0.1), told("c", 0.2)])
    assert order(leaderboard(table, ["hits"]))[:3] == [("1", "a"), ("2", "c"), ("3", "b")]
    assert order(leaderboard(table, ["l2"]))[:3] == [("1", "b"), ("2", "c"), ("3", "a")]


def test_ties_share_a_rank_and_the_next_one_is_skipped():
    assert order(leaderboard(errors(a=2.0, b=1.0, c=1.0), ["l2"])) == [
        ("1", "b"),
        ("1", "c"),
        ("3", "a"),
    ]


def test_the_strongest_attack_stands_for_a_cell():
    table = tidy(
        [
            (cell("a", epsilon=1.0), finished(number("acc", 0.9, "x"), number("acc", 0.5, "y"))),
            (cell("b", epsilon=1.0), finished(number("acc", 0.8, "x"), number("acc", 0.7, "y"))),
        ]
    )
    board = leaderboard(table, ["acc"])
    assert order(board) == [("1", "b"), ("2", "a")]
    assert board["acc"].tolist() == ["0.8 [0.7, 0.9]", "0.9 [0.8, 1]"]


def test_mechanisms_are_ranked_at_equal_budget_only():
    cells = [
        (cell(m, epsilon=e), finished(number("l2", size * e)))
        for m, size in (("a", 1.0), ("b", 2.0))
        for e in (1.0, 2.0)
    ]
    board = leaderboard(tidy(cells), ["l2"])
    assert board["epsilon"].tolist() == [1, 1, 2, 2]
    assert order(board) == [("1", "a"), ("2", "b")] * 2


def test_scenarios_are_never_ranked_together():
    cells = [
        (cell("a", scenario=s, epsilon=1.0), finished(number("l2", v)))
        for s, v in (("s", 1.0), ("t", 9.0))
    ]
    assert order(leaderboard(tidy(cells), ["l2"])) == [("1", "a"), ("1", "a")]


def test_a_mechanism_without_an_axis_competes_at_every_value_of_it():
    cells = [(cell("a", epsilon=e), finished(number("l2", e))) for e in (1.0, 3.0)]
    cells.append((cell("noiseless"), finished(number("l2", 2.0))))
    board = leaderboard(tidy(cells), ["l2"])
    assert order(board) == [("1", "a"), ("2", "noiseless"), ("1", "noiseless"), ("2", "a")]
    assert board["epsilon"].tolist() == [1, 1, 3, 3]


@pytest.mark.parametrize("status", [FAILED, NOT_APPLICABLE])
def test_a_hole_is_shown_without_a_rank_and_last(status):
    cells = [
        (cell("a", epsilon=1.0), CellResult(status=status, facts={"reason": "why"})),
        (cell("b", epsilon=1.0), finished(number("l2", 5.0))),
    ]
    board = leaderboard(tidy(cells), ["l2"])
    assert order(board) == [("1", "b"), ("", "a")]
    hole = board.iloc[1]
    assert hole["verdict"] == status
    assert {hole[c] for c in ("claimed", "exact", "certified", "l2")} == {"-"}


def test_a_cell_without_the_metric_is_a_hole_and_never_an_average():
    cells = [
        (cell("a", epsilon=1.0), finished(number("l1", 0.0))),
        (cell("b", epsilon=1.0), finished(number("l1", 9.0), number("l2", 5.0))),
    ]
    board = leaderboard(tidy(cells), ["l1", "l2"])
    assert order(board) == [("1", "b"), ("", "a")]
    assert board.iloc[1]["l2"] == "-"


def test_the_ledger_says_none_and_not_computable():
    silent = [
        row(metric, value=math.nan, lower=math.nan, upper=math.nan, method=why)
        | {"unit": "epsilon", "verdict": "no claim"}
        for metric, why in (("claimed", "none: a reason"), ("exact", "not computable: a reason"))
    ]
    ledger = [
        row("claimed", value=1.0, lower=1.0, upper=1.0),
        row("exact", value=0.9, lower=0.5, upper=0.9, method="bracket"),
        row("certified", value=0.25, lower=0.1, upper=math.inf, n=20, method="lower bound"),
    ]
    cells = [
        (cell("a", epsilon=1.0), finished(*ledger, number("l2", 1.0))),
        (cell("b", epsilon=1.0), finished(*silent, number("l2", 2.0))),
    ]
    board = leaderboard(tidy(cells), ["l2"])
    first, second = board.to_dict("records")
    assert [first[c] for c in ("claimed", "exact", "certified")] == ["1", "[0.5, 0.9]", ">= 0.25"]
    assert [second[c] for c in ("claimed", "exact", "certified")] == [
        "none",
        "not computable",
        "-",
    ]
    assert second["verdict"] == "no claim"


def test_the_sort_metric_is_the_last_shown_unless_it_is_named():
    cells = [
        (cell("a", epsilon=1.0), finished(number("l1", 1.0), number("l2", 2.0))),
        (cell("b", epsilon=1.0), finished(number("l1", 2.0), number("l2", 1.0))),
    ]
    assert order(leaderboard(tidy(cells), ["l1", "l2"]))[0] == ("1", "b")
    board = leaderboard(tidy(cells), ["l2"], sort="l1")
    assert order(board)[0] == ("1", "a")
    assert {"l1", "l2"} <= set(board.columns)


def test_a_metric_of_the_ledger_can_be_shown_and_sorted_by():
    cells = [
        (cell(m, epsilon=1.0), finished(row("claimed", value=v, lower=v, upper=v)))
        for m, v in (("a", 2.0), ("b", 1.0))
    ]
    assert order(leaderboard(tidy(cells), [])) == [("1", "b"), ("2", "a")]
    board = leaderboard(tidy(cells), ["claimed"])
    assert list(board.columns).count("claimed") == 1


def test_numbers_of_single_statistics_are_not_the_headline():
    table = tidy(
        [
            (
                cell("a", epsilon=1.0),
                finished(number("abs_err", 9.0, statistic="mean age"), number("abs_err", 1.0)),
            )
        ]
    )
    assert headline(table, "abs_err") == 1.0
    assert headline_row(table, "l2") is None
    assert math.isnan(headline(table, "l2"))


def test_columns_that_say_nothing_are_dropped():
    board = leaderboard(errors(a=1.0, b=2.0), ["l2"])
    assert "scenario" not in board.columns
    assert "epsilon" not in board.columns
    assert "claimed n" not in board.columns
    assert board["l2 n"].tolist() == ["100", "100"]
    assert not [c for c in board.columns if c.startswith("_")]


def test_the_order_of_the_cells_does_not_change_the_ranks():
    table = errors(a=3.0, b=1.0, c=2.0)
    assert order(leaderboard(table.iloc[::-1], ["l2"])) == order(leaderboard(table, ["l2"]))


def test_the_table_is_left_untouched():
    table = errors(a=3.0, b=1.0)
    kept = table.copy()
    leaderboard(table, ["l2"])
    pd.testing.assert_frame_equal(table, kept)


def test_every_column_of_a_row_is_fixed_and_no_axis():
    assert set(ROW_COLUMNS) <= FIXED


def lines_of(*labels, **values):
    """Return the board of cells whose l2 is given by position."""
    cells = [
        (
            Cell(name=f"c{i}", labels={"scenario": "s"} | at, spec={}, digest=""),
            CellResult(
                status=FINISHED, rows=[row("l2", value=float(i), lower=0.0, upper=9.0, n=2)]
            ),
        )
        for i, at in enumerate(labels)
    ]
    return leaderboard(tidy(cells), ["l2"])


def test_no_cell_disappears_where_budgets_are_partly_refined():
    board = lines_of(
        {"mechanism": "lap", "epsilon": 1.0},
        {"mechanism": "lap", "epsilon": 2.0},
        {"mechanism": "gau", "epsilon": 1.0, "delta": 0.1},
    )
    seen = [(r.mechanism, r.epsilon) for r in board.itertuples()]
    assert sorted(seen) == [("gau", 1.0), ("lap", 1.0), ("lap", 2.0)]
    assert board.loc[board["epsilon"] == 1.0, "rank"].tolist() == ["1", "2"]


def test_budgets_of_different_kinds_stay_apart_and_keep_their_coordinates():
    board = lines_of(
        {"mechanism": "lap", "epsilon": 1.0},
        {"mechanism": "gau", "epsilon": 1.0, "delta": 0.1},
        {"mechanism": "gau", "epsilon": 1.0, "delta": 0.2},
        {"mechanism": "ren", "epsilon": 1.0, "order": 2.0},
        {"mechanism": "ren", "epsilon": 1.0, "order": 5.0},
    )
    counts = board["mechanism"].value_counts().to_dict()
    assert counts == {"lap": 4, "gau": 2, "ren": 2}
    assert board.loc[board["mechanism"] == "gau", "delta"].tolist() == [0.1, 0.2]


def test_without_axes_every_cell_has_one_line():
    assert len(lines_of({"mechanism": "a"}, {"mechanism": "b"})) == 2


def test_an_empty_table_has_an_empty_board():
    assert len(leaderboard(tidy([]), ["l2"])) == 0


@pytest.mark.parametrize("verdict", ["violated", "model misfit"])
def test_a_refuted_claim_ranks_after_those_that_stand(verdict):
    def told(mechanism, value, read):
        entry = row("claimed", value=1.0, lower=1.0, upper=1.0) | {"verdict": read, "unit": "eps"}
        return cell(mechanism, epsilon=1.0), finished(entry, number("l2", value))

    table = tidy(
        [told("a", 1.0, verdict), told("b", 3.0, "holds (model)"), told("c", 0.5, verdict),
         told("d", 2.0, "holds")]
    )  # fmt: skip
    board = leaderboard(table, ["l2"])
    assert order(board) == [("1", "d"), ("2", "b"), ("3", "c"), ("4", "a")]
