"""Options that name a label, as the command line and YAML hand them over."""

import numpy as np
import pyarrow as pa
import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from bench.datasets.source import DataError
from bench.datasets.table.label_option import label_text
from bench.datasets.table.labels import Labels, look_alikes
from bench.datasets.table.place import Place


def labels(*texts):
    return Labels.of(pa.chunked_array([list(texts)]), Place("t.csv", "x"))


def typed(text):
    """Return what the command line makes of ``value=text``."""
    return OverridesParser.create().parse_override(f"value={text}").value()


def written(text):
    """Return what a YAML file makes of ``value: text``."""
    return OmegaConf.create(f"value: {text}").value


@pytest.mark.parametrize("text", ["1.50", "1e3", "1.0", "nan", "inf", "null", "-.5", "1_0.5"])
@pytest.mark.parametrize("form", [typed, written])
def test_what_is_changed_into_no_label_is_refused_with_how_to_type_it(form, text):
    handed = form(text)
    if isinstance(handed, str):
        assert label_text("value", handed) == text
        return
    with pytest.raises(ValueError, match="value must be a string, a whole number or true/false"):
        label_text("value", handed)
    quoted = form(f"'{text}'")
    assert label_text("value", quoted) == text


@pytest.mark.parametrize("text", ["02139", "010", "yes", "12:30", "0x1F", "2020-01-01", "1", "-7"])
def test_what_the_command_line_hands_over_whole_is_found(text):
    assert labels("other", text).find("value", typed(text)) == (text, "")


@pytest.mark.parametrize("text", ["1_000", "010", "12:30", "yes", "0x1F", "on"])
def test_what_yaml_changes_is_refused_with_a_hint_unless_it_is_quoted(text):
    handed = written(text)
    assert not isinstance(handed, str)
    with pytest.raises(DataError, match=r"if you typed anything else than .* quotes within quotes"):
        labels("other", text).find("value", handed)
    assert labels("other", text).find("value", written(f"'{text}'")) == (text, "")


def test_other_ways_to_write_a_number_are_told():
    found = labels("1", "01", "01", "2", "1_0")
    assert found.find("value", 1) == ("1", "value=1 is the label '1', not '01' (2 rows)")
    assert found.find("value", "01") == ("01", "")
    assert found.find("value", 2) == ("2", "")
    # In YAML, 010 is 8: a file that holds both is told apart.
    assert labels("8", "010").find("value", 8)[1] == "value=8 is the label '8', not '010' (1 rows)"


def test_true_matches_the_one_way_in_which_it_is_written():
    assert labels("true", "false").find("value", typed("True")) == (
        "true", "value=True is read as 'true'",
    )  # fmt: skip
    assert labels("TRUE", "FALSE").find("value", typed("TRUE"))[0] == "TRUE"
    assert labels("True", "true").find("value", "true") == ("true", "")
    with pytest.raises(ValueError, match=r"value=True may be 'True' or 'true': type it in quotes"):
        labels("True", "true").find("value", True)
    with pytest.raises(DataError, match="unknown value 'true'"):
        labels("t", "f").find("value", True)


def test_an_unknown_label_names_the_nearest_and_no_more_than_can_be_read():
    many = labels(*(f"name{i:04}" for i in range(1000)))
    with pytest.raises(DataError, match=r"unknown value 'name12'; did you mean .*, and 800 more"):
        many.find("value", "name12")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=30))
def test_codes_stand_for_the_labels_as_they_are_written(texts):
    found = labels(*texts)
    assert [found.names[code] for code in found.codes] == texts
    assert len(set(found.names)) == len(found.names)
    assert found.counts.sum() == len(texts)
    for name in found.names:
        assert found.are(name).sum() == texts.count(name)


def test_forms_of_an_accent_look_alike():
    assert look_alikes(("caf\u00e9", "cafe\u0301", "cafe")) == [[0, 1]]


def test_renamed_labels_may_become_one():
    merged = labels("a", "b", "c", "a").renamed({"a": "x", "b": "y", "c": "x"})
    assert (merged.names, merged.codes.tolist()) == (("x", "y"), [0, 1, 0, 0])
    assert np.issubdtype(merged.codes.dtype, np.int64)
