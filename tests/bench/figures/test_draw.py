import hashlib
import math
import re
import subprocess
import sys
from importlib import resources

import numpy as np
import pandas as pd
import pytest
import yaml
from matplotlib.colors import to_hex

from bench.config.build import ConfigError, build
from bench.config.choices import options
from bench.core.cell import FAILED, FINISHED, Cell, CellResult, row, tidy
from bench.figures.against_budget import COLOURS, AgainstBudget
from bench.figures.draw import draw_all, wrap_title
from bench.figures.panels import Panels

METRICS = ("acc", "l2", "ceiling")


def cell(**labels):
    name = " ".join(f"{k}={v}" for k, v in labels.items())
    return Cell(name=name, labels={"scenario": "s"} | labels, spec={}, digest="")


def result(**values):
    rows = [
        row(
            metric, value=v, lower=v - 0.1, upper=v + 0.1, n=100, method="t",
            attack="a" if metric == "acc" else "",
        )
        for metric, v in values.items()
    ]  # fmt: skip
    return CellResult(status=FINISHED, rows=rows, facts={"verdict": "holds"})


def sweep():
    cells = [
        (cell(mechanism=m, epsilon=e), result(acc=0.5 + 0.1 * i * e, l2=1 / e, ceiling=0.9))
        for i, m in enumerate(("laplace", "group_gaussian"))
        for e in (0.5, 1.0, 2.0)
    ]
    return tidy([*cells, (cell(mechanism="noiseless"), result(acc=0.9, l2=0.0))])


ACCURACY = AgainstBudget(metric="acc", attack="a", label="accuracy (share)")
CONFIG = {
    "_target_": "bench.figures.against_budget.AgainstBudget",
    "metric": "acc",
    "attack": "a",
    "label": "accuracy (share)",
    "ceiling": "ceiling",
    "published": {"laplace": {"x": [1.0], "y": [0.5]}},
    "source": "A (2020), Figure 1",
}


def digests(paths):
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in paths}


def axes_of(figure):
    (axes,) = figure.axes
    return axes


def test_drawing_twice_gives_the_same_bytes(tmp_path):
    once, again = (
        digests(draw_all(sweep(), {"one": CONFIG}, "title", tmp_path / name)) for name in "ab"
    )
    assert once == again
    assert set(once) == {"table.csv", "table.parquet", "one.pdf", "one.png", "one.csv"}


def test_another_process_with_another_hash_seed_draws_the_same_bytes(tmp_path):
    table = tmp_path / "sweep.pickle"
    sweep().to_pickle(table)
    code = (
        "import sys, pandas as pd, pathlib\n"
        "from bench.figures.draw import draw_all, wrap_title\n"
        f"draw_all(pd.read_pickle({str(table)!r}), {{'one': {CONFIG!r}}}, 'title', "
        "pathlib.Path(sys.argv[1]))\n"
    )
    here = draw_all(sweep(), {"one": CONFIG}, "title", tmp_path / "here")
    command = [sys.executable, "-c", code, str(tmp_path / "there")]
    subprocess.run(command, env={"PYTHONHASHSEED": "7", "PYTHONPATH": "."}, check=True)
    there = [tmp_path / "there" / p.name for p in here]
    assert digests(here) == digests(there)


def test_another_table_gives_another_figure(tmp_path):
    changed = sweep()
    changed["value"] += 0.01
    once = digests(draw_all(sweep(), {"one": CONFIG}, "", tmp_path / "a"))
    other = digests(draw_all(changed, {"one": CONFIG}, "", tmp_path / "b"))
    assert once["one.pdf"] != other["one.pdf"]
    assert once["one.png"] != other["one.png"]


def test_the_table_is_not_written_in_place(tmp_path):
    table, kept = sweep(), sweep()
    draw_all(table, {"one": CONFIG}, "", tmp_path)
    pd.testing.assert_frame_equal(table, kept)


def test_no_date_is_written(tmp_path):
    pdf = next(p for p in draw_all(sweep(), {"one": CONFIG}, "", tmp_path) if p.suffix == ".pdf")
    assert not re.search(rb"CreationDate|ModDate", pdf.read_bytes())


def test_tables_keep_holes_apart_from_text(tmp_path):
    table = sweep()
    table.loc[0, "statistic"] = "NA"
    draw_all(table, {}, "", tmp_path)
    parquet = pd.read_parquet(tmp_path / "table.parquet")
    assert parquet["statistic"].tolist()[:2] == ["NA", ""]
    assert parquet["x"].isna().all()
    assert parquet["epsilon"].isna().sum() == 2
    csv = pd.read_csv(tmp_path / "table.csv", keep_default_na=False)
    assert csv["statistic"].tolist()[:2] == ["NA", ""]
    assert csv["epsilon"].tolist()[-1] == ""


def test_odd_names_are_written(tmp_path):
    table = sweep()
    table["statistic"] = "# petal length (cm), a=b/ç"
    paths = draw_all(table, {"a/b c=d": CONFIG}, "", tmp_path)
    assert all(p.parent == tmp_path and p.stat().st_size for p in paths)
    read = pd.read_csv(tmp_path / "table.csv")
    assert set(read["statistic"]) == {"# petal length (cm), a=b/ç"}


@pytest.mark.parametrize("name", options("figure"))
def test_every_figure_labels_its_axes_and_draws_an_unknown_table(name):
    text = (resources.files("conf") / "figure" / f"{name}.yaml").read_text(encoding="utf-8")
    drawing = build(yaml.safe_load(text), f"figure {name}")
    needed = {drawing.columns, drawing.rows} - {""} if isinstance(drawing, Panels) else set()
    needed |= set(getattr(drawing, "where", {}))
    if not needed <= set(sweep().columns):
        with pytest.raises(ConfigError, match="unknown column"):
            drawing.draw(sweep())
        return
    figure = drawing.draw(sweep())
    # Panels may share their labels: the outer ones, or the figure's own.
    assert figure.get_supxlabel() or any(axes.get_xlabel() for axes in figure.axes)
    assert figure.get_supylabel() or any(axes.get_ylabel() for axes in figure.axes)


def test_lines_show_the_values_and_intervals_of_the_table():
    axes = axes_of(ACCURACY.draw(sweep()))
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert list(lines) == ["laplace", "group gaussian", "noiseless"]
    assert lines["group gaussian"].get_xdata().tolist() == [0.5, 1, 2]
    assert lines["group gaussian"].get_ydata().tolist() == pytest.approx([0.55, 0.6, 0.7])
    assert set(np.ravel(lines["noiseless"].get_ydata())) == {0.9}
    band = axes.collections[1].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == pytest.approx((0.45, 0.8))
    assert axes.get_xlabel() == "epsilon (nats)"
    assert axes.get_xscale() == "log"


def test_rows_may_stand_in_any_order():
    shuffled = sweep().iloc[::-1]
    line = axes_of(ACCURACY.draw(shuffled)).get_lines()[-1]
    assert line.get_xdata().tolist() == [0.5, 1, 2]


def test_a_mechanism_keeps_its_colour_whatever_is_drawn():
    first = {a.get_label(): to_hex(a.get_color()) for a in axes_of(ACCURACY.draw(sweep())).lines}
    other = AgainstBudget(metric="l2", label="error").draw(sweep())
    second = {a.get_label(): to_hex(a.get_color()) for a in axes_of(other).lines}
    assert first == second
    assert len(set(first.values())) == 3
    assert len(set(COLOURS)) == len(COLOURS)


def test_other_attacks_and_statistics_are_not_drawn():
    table = sweep()
    table.loc[table["epsilon"] == 1.0, "statistic"] = "mean age"
    line = axes_of(ACCURACY.draw(table)).get_lines()[0]
    assert line.get_xdata().tolist() == [0.5, 2]


def test_selected_rows_only_are_drawn():
    table = pd.concat([sweep(), sweep().assign(scenario="t", value=0.1)])
    drawn = AgainstBudget(metric="acc", attack="a", label="l", where={"scenario": "t"}).draw(table)
    assert set(axes_of(drawn).get_lines()[0].get_ydata()) == {0.1}
    with pytest.raises(ConfigError, match=r"^where: unknown column 'scenari'; did you mean scen"):
        AgainstBudget(metric="acc", label="l", where={"scenari": "t"}).draw(table)


def test_a_failed_cell_is_a_gap_and_not_a_crash():
    failed = (cell(mechanism="laplace", epsilon=4.0), CellResult(status=FAILED))
    table = pd.concat([sweep(), tidy([failed])], ignore_index=True)
    assert axes_of(ACCURACY.draw(table)).get_lines()[0].get_xdata().tolist() == [0.5, 1, 2]


@pytest.mark.parametrize(
    "table",
    [tidy([(cell(mechanism="laplace", epsilon=1.0), CellResult(status=FAILED))]), sweep()[:0]],
    ids=["all failed", "empty"],
)
def test_nothing_to_draw_is_said_in_the_figure(table):
    axes = axes_of(ACCURACY.draw(table))
    assert [t.get_text() for t in axes.texts] == ["no finished cell has acc a"]
    assert axes.get_xlabel()
    assert axes.get_ylabel()


def test_infinite_ends_and_zero_errors_are_drawn_without_a_warning(tmp_path):
    table = sweep()
    table["lower"], table["upper"] = -math.inf, math.inf
    error = {**CONFIG, "metric": "l2", "attack": "", "log": ["x", "y"], "ceiling": None}
    assert len(draw_all(table, {"acc": CONFIG, "error": error}, "", tmp_path)) == 8


def test_an_unknown_parameter_of_a_figure_is_one_line(tmp_path):
    with pytest.raises(ConfigError, match=r"^figure one: unknown parameter 'metrics'; did you"):
        draw_all(sweep(), {"one": CONFIG | {"metrics": "acc"}}, "", tmp_path)


def test_the_title_says_where_data_are_synthetic():
    table = sweep()
    assert wrap_title(table, "a title") == "a title"
    table.loc[0, "data"] = "synthetic"
    assert wrap_title(table, "a title") == "a title (synthetic data)"


def test_another_attack_is_drawn_dotted_and_a_list_selects_several_mechanisms():
    table = sweep()
    other = table[table["metric"] == "acc"].assign(attack="b", value=0.5)
    both = pd.concat([table, other])
    where = {"mechanism": ["laplace", "noiseless", "absent"]}
    figure = AgainstBudget(metric="acc", attack="a", beside="b", label="l", where=where).draw(both)
    lines = {line.get_linestyle(): line.get_ydata() for line in figure.axes[0].lines}
    assert list(lines[":"]) == [0.5] * 3
    labels = {t.get_text() for t in figure.axes[0].get_legend().get_texts()}
    assert labels == {"laplace", "noiseless"}
    assert "dotted, crosses: b" in figure.axes[0].get_legend().get_title().get_text()
