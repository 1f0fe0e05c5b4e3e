"""Bad input of the experiments of exact releases: one clear line each, before anything runs."""

import pytest

TABLE = "row,A,B,H,M,W\n1,1,1,7,1,0\n2,1,0,0,2,8\n"
FILE = ["+experiment=persuasive_cells", "scenario=cell_counts_file", "scenario.path=t.csv"]


@pytest.mark.parametrize(
    ("words", "text", "said"),
    [
        (["grid.threshold=[1]"], TABLE, "threshold must be a whole number of at least 2"),
        (["grid.alpha=[0]"], TABLE, "alpha must be in (0, 1], got alpha=0.0"),
        (["grid.alpha=[1.5]"], TABLE, "alpha must be in (0, 1], got alpha=1.5"),
        (["grid.base=[1]"], TABLE, "base must be a whole number of at least 2"),
        (["grid.margins=[[[x]]]"], TABLE, "margins: unknown column 'x'"),
        ([], TABLE.replace("7", "-7"), "got the negative -7 in data row 1"),
        ([], TABLE.replace("7", "7.5"), "got the fractional 7.5 in data row 1"),
        ([], TABLE.replace("7", ""), "column 'H' has 1 missing values"),
        (["scenario.total=2"], TABLE, "totals must add up: the cells of column="),
        (["scenario.columns=[row]", "scenario.count=W"], "row,W\n1,2\n1,3\n", "got several rows"),
    ],
)  # fmt: skip
def test_tables_and_rules(refused, tmp_path, words, text, said):
    (tmp_path / "t.csv").write_text(text)
    assert said in refused(tmp_path, *FILE, *words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["grid.r1=[0]"], "r1 must be in (0, inf), got r1=0.0"),
        (["grid.r2=[1]"], "r2 must be in (1, inf), got r2=1.0"),
        (["scenario.covariance=[[-1]]"], "covariance must be positive semi-definite"),
        (["scenario.covariance=[[0]]"], "covariance must have positive variances"),
        (["scenario.covariance=[[1,0],[0,1]]"], "mean must have shape (m,) and covariance (m, m)"),
        (["scenario.spreads=[0.5]"], "r2 of an informed receiver must be in (1, inf)"),
    ],
)
def test_receivers(refused, tmp_path, words, said):
    column = ["+experiment=persuasive_mean", "scenario=mean_release_column"]
    assert said in refused(tmp_path, *column, *words)
