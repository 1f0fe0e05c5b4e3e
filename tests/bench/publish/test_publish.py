"""May I publish this table? The answer on a file, and one line for every bad word."""

import pytest

from bench.publish.__main__ import BAD_INPUT, RECOVERED, main
from tests.support.command import ROOT

TABLE = "row,A,B,H,M,W\n1,1,1,7,1,0\n2,1,0,0,2,8\n"


@pytest.fixture
def ask(tmp_path, capsys):
    def asked(*words, text=TABLE):
        path = tmp_path / "t.csv"
        path.write_text(text)
        code = main([f"path={path}", *words])
        out, error = capsys.readouterr()
        return code, out, error

    return asked


def test_it_ends_with_the_cells_that_can_be_recovered(ask):
    """The worked table: with its totals all seven suppressed cells are told."""
    code, out, error = ask("threshold=2")
    assert (code, error) == (RECOVERED, "")
    *_, head, a, b, c, d, e, f, g = out.splitlines()
    assert head == "These suppressed cells can be recovered:"
    assert [line.strip() for line in (a, b, c, d, e, f, g)] == [
        "row=1, column=A: 1", "row=1, column=B: 1", "row=1, column=M: 1", "row=1, column=W: 0",
        "row=2, column=A: 1", "row=2, column=B: 0", "row=2, column=H: 0",
    ]  # fmt: skip
    assert "guarantee: none: with totals released" in out
    assert "7 small cells, 0 complements; 4 units of 21 (19.05%)" in out


def test_without_totals_nothing_is_recovered_and_a_guarantee_is_stated(ask):
    code, out, _ = ask("threshold=2", "margins=none")
    assert code == 0
    assert out.splitlines()[-1] == "No suppressed cell can be recovered."
    assert "kappa in nats, the claim's receivers <= 1.609" in out
    assert "rests on a reconstruction" in out


def test_complements_hide_the_cells_again_and_both_attackers_are_asked(ask):
    text = "r,a,b,c\n1,1,5,7\n2,9,1,6\n3,8,9,4\n"
    code, out, _ = ask("threshold=3", text=text)
    assert code == RECOVERED
    for how in ("greedy", "optimal"):
        code, out, _ = ask("threshold=3", f"secondary={how}", text=text)
        assert code == 0
        assert "an attacker who tells small cells from complements recovers 0 of 4" in out
        assert "an attacker who cannot tell small cells from complements recovers 0 of 4" in out
        assert "2 small cells, 2 complements" in out
    assert "no smaller choice exists" in out


def test_totals_of_the_file_are_checked_and_used(ask):
    text = "row,A,B,all\n1,1,9,10\n2,9,3,12\nall,10,12,22\n"
    code, out, _ = ask("total=all", "margins=given", "threshold=3", text=text)
    assert code == RECOVERED
    assert "totals: row, column, grand" in out
    assert out.splitlines()[-1] == "  row=1, column=A: 1"


@pytest.mark.parametrize(
    ("words", "text", "message"),
    [
        (["threshold=1"], TABLE, "threshold must be a whole number of at least 2, got threshold=1"),
        (["threshold=two"], TABLE, "threshold must be a whole number of at least 2"),
        (["alpha=0"], TABLE, "alpha must be in (0, 1], got alpha=0"),
        (["alpha=1.5"], TABLE, "alpha must be in (0, 1], got alpha=1.5"),
        (["share=1"], TABLE, "share must be in (0, 1)"),
        (["secondary=best"], TABLE, "secondary must be 'none', 'greedy' or 'optimal'"),
        (["marks=three"], TABLE, 'marks must be "two" or "one"'),
        (["margins=[[rwo]]"], TABLE, "did you mean row"),
        (["margins=some"], TABLE, "margins must be none, each, given"),
        (["margins=[["], TABLE, "margins must be a value or a list"),
        (["publish_zeros=perhaps"], TABLE, "publish_zeros must be true or false"),
        (["colums=A"], TABLE, "did you mean columns"),
        (["columns="], TABLE, "columns must be a list of columns"),
        ([], TABLE.replace("7", "-7"), "got the negative -7 in data row 1"),
        ([], TABLE.replace("7", "7.5"), "got the fractional 7.5 in data row 1"),
        ([], TABLE.replace("7", ""), "column 'H' has 1 missing values"),
        (["total=2"], TABLE, "totals must add up: the cells of column=A sum to 1, the file says 1"),
    ],
)
def test_bad_words_and_tables_are_one_clear_line(ask, words, text, message):
    if words == ["total=2"]:
        message, text = "column=B sum to 1, the file says 0", TABLE.replace("0,0,2,8", "0,7,1,0")
    code, out, error = ask(*words, text=text)
    assert (code, out, error.count("\n")) == (BAD_INPUT, "", 1)
    assert error.startswith("error: ")
    assert message in error


def test_no_path_and_no_file_are_told(capsys):
    assert main([]) == BAD_INPUT
    assert "path=TABLE.csv must name a table" in capsys.readouterr().err
    assert main(["path=nowhere.csv"]) == BAD_INPUT
    assert "no file nowhere.csv" in capsys.readouterr().err


def test_the_readme_asks_it():
    assert "python -m bench.publish path=" in (ROOT / "README.md").read_text()
