import inspect
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import pytest
from hydra import compose, initialize_config_module
from omegaconf import OmegaConf

from bench.config.build import ConfigError, build, check_parameters, unknown
from bench.config.choices import options

TPR = "bench.metrics.attack.TprAtFpr"
MEAN = "bench.scenarios.statistics.Mean"
NEIGHBOURS = "sklearn.neighbors.KNeighborsClassifier"
PLACES = {"mechanism": "mechanisms", "attack": "attacks", "metric": "metrics", "figure": "figures",
          "notion": "notions"}  # fmt: skip
# What each component is asked to do: the protocol of its group.
METHODS = {
    "scenario": ("draw", "law", "knowledge", "secrets", "pairs", "statistics"),
    "mechanism": ("calibrate", "requires", "accepts"),
    "attack": ("fit", "yields", "trained", "adaptive"),
    "metric": ("estimate", "needs", "name"),
    "figure": ("draw",),
    "notion": ("name", "unit", "evidence", "exact", "certify"),
    "engine": ("run",),
}
FILES = [(group, name) for group in METHODS for name in options(group)]


def refused(call):
    with pytest.raises(ConfigError) as found:
        call()
    text = str(found.value)
    assert "\n" not in text
    return text


@dataclass
class Holder:
    """A component with components inside."""

    one: object = None
    several: dict = field(default_factory=dict)
    rows: list = field(default_factory=list)


class Silent:
    """A component whose error has no text."""

    def __init__(self):
        raise AssertionError


TABLE = Path(__file__).parents[2] / "support" / "people.csv"
SEQUENCES = TABLE.with_name("sequences.csv")
# What a user must give: components that have no default data.
NEEDED = {
    "numeric_table": {"path": str(TABLE), "column": "job", "value": "yes", "means": ["age"],
                      "size": 4, "gap": 0.5},
    "mean_release_table": {"path": str(TABLE), "column": "job", "value": "yes", "means": ["age"],
                           "size": 4, "gap": 0.5},
    "cell_counts_file": {"path": str(TABLE), "columns": ["job"]},
    "numeric_column": {"path": str(TABLE), "value": "age", "secret": "job",
                       "pairs": [["yes", "no"]]},
    "recorded": {"path": str(TABLE), "secret": "job", "releases": ["age"]},
    "sequences": {"path": str(SEQUENCES), "group": None},
    "chain_count_fitted": {
        "source": {
            "_target_": "bench.datasets.sequences.chains.FittedSequences",
            "path": str(SEQUENCES),
        },
        "counted": "a",
    },
}  # fmt: skip


@pytest.fixture(autouse=True)
def components(monkeypatch):
    module = ModuleType("components_of_a_test")
    module.Holder, module.Silent = Holder, Silent
    module.open_ended = lambda **anything: anything
    module.number = 3
    monkeypatch.setitem(sys.modules, "components_of_a_test", module)


@pytest.mark.parametrize(("group", "name"), FILES, ids=[f"{g}/{n}" for g, n in FILES])
def test_every_configuration_file_builds(group, name):
    with initialize_config_module("conf", version_base="1.3"):
        composed = compose("config", [f"{group}={name}"])
    placed = f"{PLACES[group]}.{name}" if group in PLACES else group
    node = OmegaConf.select(composed, placed)
    assert node is not None, f"{group}/{name}.yaml is not placed at {placed}"
    given = OmegaConf.merge(node, NEEDED.get(name, {}))
    config = OmegaConf.to_container(given, resolve=True)
    component = build(config, f"{group} {name}")
    for method in METHODS[group]:
        assert inspect.getattr_static(component, method, None) is not None  # without its data
    assert options(group)[name], f"{group}/{name}.yaml has no comment that says what it is"


@pytest.mark.parametrize("group", ["mechanism", "attack", "metric", "figure"])
def test_components_of_a_group_do_not_push_each_other_out(group):
    names = list(options(group))
    with initialize_config_module("conf", version_base="1.3"):
        composed = compose("config", [f"{group}=[{','.join(names)}]"])
    assert list(composed[PLACES[group]]) == names


def test_metrics_have_different_names():
    with initialize_config_module("conf", version_base="1.3"):
        composed = compose("config", [f"metric=[{','.join(options('metric'))}]"])
    configs = OmegaConf.to_container(composed.metrics, resolve=True)
    names = [build(config, label).name for label, config in configs.items()]
    assert len(set(names)) == len(names)


def test_nested_nodes_are_built():
    inner = {"_target_": MEAN, "column": "x", "bounds": [0, 1]}
    config = {
        "_target_": "components_of_a_test.Holder",
        "one": inner,
        "several": {"a": inner},
        "rows": [inner, 3],
    }
    built = build(config, "thing")
    assert built.one.column == built.several["a"].column == built.rows[0].column == "x"
    assert type(built.several) is dict
    assert type(built.one.bounds) is list


def test_odd_text_reaches_the_component_unchanged():
    column = "petal length (cm), a=b/c °é %"
    assert build({"_target_": MEAN, "column": column}, "x").column == column


def test_a_misspelt_parameter_names_the_nearest_one():
    text = refused(lambda: build({"_target_": TPR, "fprr": 0.1}, "metric tpr"))
    assert text == ("metric tpr: unknown parameter 'fprr'; did you mean fpr? There are: fpr, name.")


@pytest.mark.parametrize(
    "place",
    [
        {"one": {"_target_": TPR, "fprr": 1}},
        {"several": {"a": {"_target_": TPR, "fprr": 1}}},
        {"rows": [1, [{"_target_": TPR, "fprr": 1}]]},
        {"rows": [{"deep": {"_target_": TPR, "fprr": 1}}]},
        {"_args_": [{"_target_": TPR, "fprr": 1}]},
        {"one": {"_target_": "components_of_a_test.Holder", "_args_": [{"_target_": TPR, "f": 1}]}},
    ],
    ids=["value", "mapping", "list", "mapping in a list", "positional", "nested positional"],
)
def test_nested_parameters_are_checked_before_anything_is_built(place):
    config = {"_target_": "components_of_a_test.Holder", **place}
    text = refused(lambda: check_parameters(config, "thing"))
    assert "unknown parameter 'f" in text
    assert text.startswith("thing.")


def test_a_misspelt_parameter_inside_a_pipeline_is_found():
    pipeline = {
        "_target_": "sklearn.pipeline.make_pipeline",
        "_args_": [{"_target_": NEIGHBOURS, "n_neighbours": 3}],
    }
    config = {"_target_": "attacks.meta_classifier.MetaClassifier", "estimator": pipeline}
    text = refused(lambda: build(config, "attack knn"))
    assert text.startswith("attack knn.estimator._args_: unknown parameter 'n_neighbours'")
    assert "did you mean n_neighbors" in text


def test_open_ended_parameters_are_left_to_the_component():
    config = {"_target_": "components_of_a_test.open_ended", "anything": 1}
    assert build(config, "thing") == {"anything": 1}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "thing: a component needs _target_, got []."),
        ({"fpr": 0.1}, "thing: a component needs _target_, got ['fpr']."),
        ({"_target_": None}, "thing: a component needs _target_, got ['_target_']."),
        ("laplace", "thing: a component needs _target_, got 'laplace'."),
        (None, "thing: a component needs _target_, got None."),
        (
            {"_target_": "mechanisms.noise.laplace.Nope"},
            "thing: cannot import mechanisms.noise.laplace.Nope: "
            "No module named 'mechanisms.noise.laplace.Nope'; 'mechanisms.noise.laplace' is not a "
            "package.",
        ),
        (
            {"_target_": "mechanisms.nope.Nope"},
            "thing: cannot import mechanisms.nope.Nope: No module named 'mechanisms.nope'.",
        ),
        ({"_target_": "no_such_package.X"}, "thing: cannot import no_such_package.X: No module"),
        ({"_target_": ""}, "thing: cannot import : "),
        ({"_target_": "..x"}, "thing: cannot import ..x: "),
        ({"_target_": "components_of_a_test.number"}, "thing: cannot build components_of_a_test."),
        ({"_target_": "components_of_a_test"}, "thing: cannot build components_of_a_test: "),
        ({"_target_": TPR}, "thing: TprAtFpr.__init__() missing 1 required keyword-only argument"),
        ({"_target_": TPR, "fpr": 2}, "thing: fpr must be in (0, 1), got fpr=2."),
        ({"_target_": TPR, "fpr": "???"}, "thing: Missing mandatory value: fpr"),
        ({"_target_": TPR, "fpr": "${oops}"}, "thing: Interpolation key 'oops' not found"),
        ({"_target_": "components_of_a_test.Silent"}, "thing: AssertionError"),
    ],
)
def test_what_cannot_be_built_is_one_clear_line(config, message, capfd):
    assert refused(lambda: build(config, "thing")).startswith(message)
    assert capfd.readouterr() == ("", "")


def test_a_missing_dependency_is_named(tmp_path, monkeypatch):
    (tmp_path / "needs_more.py").write_text("import not_installed_anywhere\n")
    monkeypatch.syspath_prepend(tmp_path)
    text = refused(lambda: build({"_target_": "needs_more.Thing"}, "thing"))
    assert "No module named 'not_installed_anywhere'" in text


def test_a_broken_module_is_named(tmp_path, monkeypatch):
    (tmp_path / "broken_here.py").write_text("raise RuntimeError('no licence\\nat all')\n")
    monkeypatch.syspath_prepend(tmp_path)
    text = refused(lambda: build({"_target_": "broken_here.Thing"}, "thing"))
    assert text == "thing: cannot import broken_here.Thing: no licence."


def test_class_methods_can_be_targets():
    assert build({"_target_": "fractions.Fraction.from_float", "f": 0.5}, "thing") == 0.5


def test_nearest_names_come_first():
    names = ["expected_value_gaussian", "expected_value_laplace", "noiseless"]
    text = unknown("mechanism", "expected_value_gausian", names)
    assert "did you mean expected_value_gaussian or expected_value_laplace?" in text
    assert text.endswith("There are: expected_value_gaussian, expected_value_laplace, noiseless.")


@pytest.mark.parametrize("got", ["zzz", "", 1, None, 2.5])
def test_names_near_nothing_and_names_that_are_no_text_list_what_there_is(got):
    assert unknown("axis", got, ["b", "a"]) == f"unknown axis {got!r}; there are: a, b."


def test_nothing_to_choose_from_is_said():
    assert unknown("metric", "acc", []) == "unknown metric 'acc'; there are: none."
