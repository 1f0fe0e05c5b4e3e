import html
import io
import re

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.core.cell import FAILED, FINISHED, Cell, CellResult, row, tidy
from bench.leaderboard.__main__ import difference, format_coordinate, latex, render
from bench.leaderboard.terminal import print_board

few = settings(max_examples=60, deadline=None)
ODD = "a_b & 50 % #1 $x$ {y} ~^\\ <3 >= 2, \"q\" 'r' ç"
BOARD = pd.DataFrame(
    {"rank": ["1", ""], "mechanism": [ODD, "plain"], "epsilon": [0.5, float("nan")],
     "certified": [">= 0.25", None]}
)  # fmt: skip


def cells_of(source):
    body = source.split("\\midrule\n")[1].split("\n\\bottomrule")[0]
    return [line.removesuffix(r" \\").split(" & ") for line in body.split("\n")]


def test_csv_can_be_read_back():
    read = pd.read_csv(io.StringIO(render(BOARD, "csv")), keep_default_na=False)
    assert read["mechanism"].tolist() == [ODD, "plain"]
    assert read["epsilon"].tolist() == ["0.5", ""]


@pytest.mark.parametrize("name", ["NA", "None", "N/A"])
def test_names_that_look_missing_survive_csv(name):
    board = BOARD.assign(mechanism=name)
    read = pd.read_csv(io.StringIO(render(board, "csv")), keep_default_na=False)
    assert set(read["mechanism"]) == {name}


def test_html_escapes_and_leaves_holes_empty():
    text = render(BOARD, "html")
    assert html.escape("<3 >= 2", quote=False) in text
    assert "<3" not in text
    assert "NaN" not in text


def test_the_terminals_table_tells_equal_columns_once(capsys):
    board = pd.DataFrame(
        {"rank": ["1", "2"], "mechanism": ["plain", "other"], "claimed": ["1", "1"],
         "exact": ["none", "none"], "acc": ["0.5", "0.7"], "acc n": ["90", "80"],
         "auc": ["0.6", "0.8"], "auc n": ["90", "80"], "l2 n": ["5", "5"]}
    )  # fmt: skip
    print_board(board, "the title")
    printed = capsys.readouterr().out
    assert "the title" in printed
    assert "On every line: exact none, l2 n 5." in printed
    head = next(line for line in printed.splitlines() if "mechanism" in line)
    assert head.replace("┃", " ").split() == ["rank", "mechanism", "claimed", "acc", "auc", "n"]
    assert re.search(r"plain .* 0.5 .* 0.6 .* 90", printed)
    print_board(board.head(1), "one line")
    assert "On every line" not in capsys.readouterr().out


def test_latex_escapes_every_special_character():
    (first, second) = cells_of(latex(BOARD.assign(mechanism=["x{y}z_%#$&~^\\<", "plain"])))
    assert first[0] == "1"
    assert first[1] == (
        r"x\{y\}z\_\%\#\$\&\textasciitilde \textasciicircum \textbackslash \textless{}"
    )
    assert first[2:] == ["0.5", r"\textgreater{}= 0.25"]
    assert second == ["", "plain", "", ""]


@few
@given(st.text(st.characters(codec="ascii", categories=("L", "P", "S")), max_size=12))
def test_latex_is_balanced(text):
    body = latex(pd.DataFrame({text: [text]}))
    unescaped = re.sub(r"\\[\\{}$&%_#]", "", body)
    assert unescaped.count("{") == unescaped.count("}")
    assert "$" not in unescaped


def test_latex_has_a_column_for_every_column():
    text = latex(BOARD)
    assert re.match(r"\\begin{tabular}{l+r?l+}\n\\toprule\nrank & mechanism & epsilon", text)
    assert text.endswith("\\bottomrule\n\\end{tabular}\n")


def cell(mechanism, **axes):
    labels = {"scenario": "s", "mechanism": mechanism} | axes
    return Cell(name=" ".join(map(str, labels.values())), labels=labels, spec={}, digest="")


def finished(x=None, **values):
    rows = [row(m, value=v, lower=v, upper=v, n=9) for m, v in values.items()]
    if x is not None:
        rows.append(row("curve", value=1.0, lower=1.0, upper=1.0, x=x))
    return CellResult(status=FINISHED, rows=rows)


def test_equal_sweeps_do_not_differ():
    table = tidy([(cell("a", epsilon=1.0), finished(l2=1.0)), (cell("b"), finished(l2=2.0))])
    assert difference(table, table.copy()).empty
    assert difference(table, table.iloc[::-1]).empty


def test_changed_gone_and_new_numbers_are_told():
    before = tidy([(cell("a", epsilon=1.0), finished(l1=1.0, l2=2.0))])
    after = tidy([(cell("a", epsilon=1.0), finished(l2=3.0, acc=0.5))])
    found = difference(before, after).set_index("metric")
    changes = found["change"].to_dict()
    assert changes == {"l1": "gone", "l2": "changed: value, lower, upper", "acc": "new"}
    assert (found.loc["l2", "before"], found.loc["l2", "after"]) == (2.0, 3.0)


def test_missing_numbers_on_both_sides_are_equal():
    failed = tidy([(cell("a", epsilon=1.0), CellResult(status=FAILED))])
    assert difference(failed, failed.copy()).empty


def test_a_further_cell_does_not_make_the_others_new():
    # Beside a cell without an epsilon, the column of whole epsilons turns into floats.
    one = (cell("a", epsilon=1), finished(l2=1.0))
    before, after = tidy([one]), tidy([one, (cell("noiseless"), finished(l2=0.0))])
    assert before["epsilon"].dtype != after["epsilon"].dtype
    found = difference(before, after)
    assert found[["cell", "change"]].to_numpy().tolist() == [["s noiseless", "new"]]


def test_a_curve_in_one_sweep_does_not_make_the_others_new():
    # Without any x the column holds None, beside an x it holds NaN.
    before = tidy([(cell("a", epsilon=1.0), finished(l2=1.0))])
    after = tidy([(cell("a", epsilon=1.0), finished(l2=1.0, x=0.5))])
    assert difference(before, after)["metric"].tolist() == ["curve"]


@pytest.mark.parametrize(
    ("first", "second"), [(1, 1.0), (None, float("nan")), (0.1 + 0.2, 0.3), ("a", "a")]
)
def test_equal_coordinates_are_spelt_alike(first, second):
    assert format_coordinate(first) == format_coordinate(second)


@pytest.mark.parametrize(("first", "second"), [(1, 2), (1.0, 1.001), ("a", "b"), ("", "NA")])
def test_different_coordinates_are_spelt_differently(first, second):
    assert format_coordinate(first) != format_coordinate(second)
