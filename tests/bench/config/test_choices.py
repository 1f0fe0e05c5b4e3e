from importlib import resources

import pytest
import yaml

from bench.config.build import ConfigError
from bench.config.choices import GROUPS, check_choices, choose, first_comment, key_values, options


def refused(call):
    with pytest.raises(ConfigError) as found:
        call()
    assert "\n" not in str(found.value)
    return str(found.value)


@pytest.mark.parametrize("group", GROUPS)
def test_options_are_the_files_of_the_group(group):
    folder = resources.files("conf") / group
    names = sorted(e.name[:-5] for e in folder.iterdir() if e.name.endswith(".yaml"))
    found = options(group)
    assert sorted(found) == names
    assert all(found.values())


@pytest.mark.parametrize("name", options("experiment"))
def test_an_experiment_says_the_command_that_runs_it(name):
    assert options("experiment")[name].endswith(f"python -m bench +experiment={name}")
    text = (resources.files("conf") / "experiment" / f"{name}.yaml").read_text()
    assert text.startswith("# @package _global_\n")
    assert "title" in yaml.safe_load(text)


def test_the_first_comment_is_not_the_package():
    assert first_comment("# @package x\n# What it is\n# more\n_target_: y\n") == "What it is"
    assert first_comment("a: 1  # not this\n") == ""
    assert first_comment("") == ""


@pytest.mark.parametrize(
    "word",
    [
        "mechanism=noiseless",
        "mechanism=[noiseless,group_laplace]",
        "mechanism=[noiseless, 'group_laplace']",
        "mechanism=[]",
        "scenario=null",
        "+experiment=quickstart",
        "+experiment=quickstart,property_inference",
        "+experiment=glob(*)",
        "+experiment=glob(*,exclude=quick*)",
        "mechanism=choice(noiseless,group_laplace)",
        "seed=3",
        "grid={epsilon:[1]}",
        "scenario.gap=0.2",
        "scenario.statistics_of.0.column='a=b, c/d'",
        "mechanism@mechanisms.twice=noiseless",
        "~mechanism",
        "--multirun",
        "",
    ],
)
def test_words_that_hydra_understands_pass(word):
    assert check_choices([word]) is None  # refused words raise


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("mechanism=noiseles", "noiseless"),
        ("mechanism=[noiseless,group_laplce]", "group_laplace"),
        ("+experiment=quickstrt", "quickstart"),
        ("+experiment=quickstart,property_inferense", "property_inference"),
        ("scenario=adult_incom", "adult_income"),
        ("engine=proceses", "processes"),
        ("+attack=mejority", "majority"),
    ],
)
def test_a_misspelt_name_is_one_line_with_the_nearest(word, near):
    text = refused(lambda: check_choices([word]))
    assert f"did you mean {near}" in text


def test_an_experiment_is_added_not_chosen():
    assert "+experiment=quickstart" in refused(lambda: check_choices(["experiment=quickstart"]))


@pytest.mark.parametrize("word", ["--config-dir=mine", "-cd=x", "hydra.searchpath=[file://x]"])
def test_further_folders_may_hold_further_names(word):
    assert check_choices([word, "mechanism=my_own"]) is None  # refused words raise


def test_key_values_fill_in_defaults():
    defaults = {"sort": None, "format": "table"}
    assert key_values([], defaults) == defaults
    assert key_values(["sort=l2", "+format=csv"], defaults) == {"sort": "l2", "format": "csv"}
    assert key_values(["sort=a=b,c"], defaults)["sort"] == "a=b,c"
    assert key_values(["sort="], defaults)["sort"] == ""
    assert defaults == {"sort": None, "format": "table"}


@pytest.mark.parametrize("word", ["srt=l2", "sort", "sort l2", "=l2", ""])
def test_other_words_name_the_options(word):
    text = refused(lambda: key_values([word], {"sort": None, "format": None}))
    assert text.startswith("unknown option ")
    assert text.endswith("here are: format=, sort=.")


def test_choose_returns_or_names_the_nearest():
    assert choose("format", "csv", iter(["csv", "html"])) == "csv"
    assert "did you mean html?" in refused(lambda: choose("format", "htlm", ["csv", "html"]))
