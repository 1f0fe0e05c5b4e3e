"""The interchange format: every form of a network is read the same, or refused in one line."""

import gzip

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from mechanisms.influence.bif import parse_bif

HEAD = "network t { }\n"
YES_NO = "variable {} {{ type discrete [ 2 ] {{ yes, no }}; }}\n"
THREE = "variable {} {{ type discrete [ 3 ] {{ a, b, c }}; }}\n"
A_OF_THREE = HEAD + THREE.format("A") + YES_NO.format("B")
ROWS = "probability ( A ) { table 0.3, 0.3, 0.4; }\nprobability ( B | A ) { %s }\n"


def table(text, name):
    return next(t for t in parse_bif(text).tables if t.variable == name).table


def test_a_table_with_parents_lists_the_childs_first_state_first():
    text = (
        HEAD + YES_NO.format("A") + YES_NO.format("B")
        + "probability ( A ) { table 0.3, 0.7; }\nprobability ( B | A ) "
        + "{ table 0.9, 0.2, 0.1, 0.8; }"
    )  # fmt: skip
    assert table(text, "B").tolist() == [[0.9, 0.1], [0.2, 0.8]]


def test_names_in_quotes_lists_of_blanks_and_properties_are_read():
    text = """// Names and states in quotes, lists of blanks
    network "Barking" { //2 variables
        property author "someone; else, http://x" ;
    }
    variable "light-on" { type discrete[2] { "true" "false" };
        property "position = (218, 195)" ; }
    variable "family-out" { type discrete[2] {  "true"  "false" }; }
    probability ( "light-on" "family-out" ) { table 0.6 0.05 0.4 0.95 ; }
    probability ( "family-out" ) { table 0.15 0.85 ; /* of a year } */ }
    """
    assert table(text, "light-on").tolist() == [[0.6, 0.4], [0.05, 0.95]]
    assert table(text, "family-out").tolist() == [0.15, 0.85]


def test_a_default_row_stands_for_all_that_are_not_listed():
    text = A_OF_THREE + ROWS % "default 0.9, 0.1; (a) 0.2, 0.8;"
    assert table(text, "B").tolist() == [[0.2, 0.8], [0.9, 0.1], [0.9, 0.1]]


def test_states_may_hold_commas_brackets_and_signs():
    text = (
        HEAD + "variable Age { type discrete [ 3 ] { [0,18], (18,65], (65,120] }; }\n"
        + "variable B { type discrete [ 2 ] { <5, >=5 }; }\n"
        + "probability ( Age ) { table 0.3, 0.3, 0.4; }\n"
        + "probability ( B | Age ) { ([0,18]) 0.2, 0.8; ((18,65]) 0.3, 0.7; "
        + "((65,120]) 0.4, 0.6; }"
    )  # fmt: skip
    assert parse_bif(text).sizes["Age"] == 3
    assert table(text, "B").tolist() == [[0.2, 0.8], [0.3, 0.7], [0.4, 0.6]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD + YES_NO.format("A") + THREE.format("A") + "probability ( A ) { table .3, .7; }",
         "variable A must stand once"),
        (A_OF_THREE + ROWS % "(a) .9, .1; (a) .4, .6; (b) .2, .8; (c) .2, .8;",
         "must give each row once, got '"),
        (A_OF_THREE + ROWS % "(a) .9, .1; (b) .2, .8; (c) .2, .8;" + "probability ( A ) "
         "{ table 0.3, 0.3, 0.4; }", "probability of A must stand once"),
        (A_OF_THREE + ROWS % "default .9, .1; default .8, .2;", "must have one default, got two"),
        (A_OF_THREE + ROWS % "table .9, .2, .1, .1, .8, .9; (a) .9, .1;", "or rows, got both"),
        (A_OF_THREE + ROWS % "table .9, .2, .1, .8;", "must list every state: 6 numbers"),
        (A_OF_THREE + ROWS % "table .9, .1, .2, .8, .3, .7;", "rows that sum to 1"),
        (A_OF_THREE + ROWS % "(a) .9, nan;", "must list every state"),
        (A_OF_THREE + ROWS % "(d) .9, .1;", "an unreadable row"),
        (A_OF_THREE + ROWS % "a .9, .1;", "must have rows per parents"),
        (A_OF_THREE + "probability ( A ) { table 0.3, 0.3, 0.4; }", "variable B must have a prob"),
        (HEAD + "variable A { type discrete [ 3 ] { a, b }; }", "must list 3 states, got {a, b}"),
        (HEAD + "variable A { type discrete [ 2 ] { a, a }; }", "must have distinct states"),
        (HEAD + "variable A { type continuous; }", "must be discrete with listed states"),
        (A_OF_THREE + "probability ( B | A, A ) { default .9, .1; }", "each variable once"),
        (A_OF_THREE + "probability B { table .9, .1; }", "must name its variables in brackets"),
        (HEAD + "variable A { type discrete [ 2 ] { a, b };", "must close the brace"),
        ("<?xml version='1.0'?>", "text must hold blocks of network, variable, probability"),
        (HEAD, "must hold variable and probability blocks"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_in_one_line(text, said):
    with pytest.raises(ValueError, match=r"must|has|text") as caught:
        parse_bif(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_row_of_several_readings_is_refused():
    text = (
        HEAD + 'variable A { type discrete [ 2 ] { "x", "x, y" }; }\n'
        + 'variable C { type discrete [ 2 ] { "y, z", "z" }; }\n' + YES_NO.format("B")
        + "probability ( A ) { table .5, .5; }\nprobability ( C ) { table .5, .5; }\n"
        + "probability ( B | A, C ) { (x, y, z) .5, .5; default .1, .9; }"
    )  # fmt: skip
    with pytest.raises(ValueError, match="a row of several readings"):
        parse_bif(text)


WORDS = st.text("ab<>=[](),.-+/_0123456789'", min_size=1, max_size=6).filter(
    lambda word: word.count("(") + word.count("[") == word.count(")") + word.count("]")
)


@settings(max_examples=60, deadline=None)
@given(
    first=st.lists(WORDS, min_size=2, max_size=3, unique=True),
    second=st.lists(WORDS, min_size=2, max_size=3, unique=True),
    seed=st.integers(0, 2**20), form=st.sampled_from(["rows", "table", "default"]),
    quoted=st.booleans(), blanks=st.booleans(),
)  # fmt: skip
def test_a_written_network_is_read_back_or_refused(first, second, seed, form, quoted, blanks):
    """States of any punctuation, in every form: the same tables, or one clear line."""
    rng = np.random.default_rng(seed)
    own = [f'"{s}"' if quoted else s for s in first]
    other = [f'"{s}"' if quoted else s for s in second]
    law = np.round(rng.dirichlet(np.ones(len(first))), 4)
    law[-1] = 1 - law[:-1].sum()
    given_a = rng.dirichlet(np.ones(len(second)), size=len(first))
    gap = " " if blanks else ", "
    if form == "table":
        body = f"table {gap.join(map(repr, given_a.T.ravel().tolist()))};"
    else:
        rows = list(zip(own, given_a.tolist(), strict=True))
        last = rows.pop()[1] if form == "default" else []
        body = f"default {gap.join(map(repr, last))}; " if last else ""
        body += " ".join(f"({label}) {gap.join(map(repr, values))};" for label, values in rows)
    text = (
        f"{HEAD}variable A {{ type discrete [ {len(own)} ] {{ {gap.join(own)} }}; }}\n"
        f"variable B {{ type discrete [ {len(other)} ] {{ {gap.join(other)} }}; }}\n"
        f"probability ( A ) {{ table {gap.join(map(repr, law.tolist()))}; }}\n"
        f"probability ( B | A ) {{ {body} }}\n"
    )
    try:
        network = parse_bif(text)
    except ValueError as error:
        refused = str(error)
        event("refused")
    else:
        refused = ""
    # What is in quotes has one reading.
    assert not (refused and quoted)
    assert "\n" not in refused
    if refused:
        return
    read = {t.variable: t.table for t in network.tables}
    np.testing.assert_allclose(read["A"], law, atol=1e-12)
    np.testing.assert_allclose(read["B"], given_a, atol=1e-12)


def test_networks_are_packed_and_damaged_files_are_one_line(tmp_path):
    from bench.datasets.source import DataError
    from bench.quantities.influence import NetworkInfluence

    text = (A_OF_THREE + ROWS % "default 0.9, 0.1;").encode()
    path = tmp_path / "t.bif.gz"
    path.write_bytes(gzip.compress(text))
    assert NetworkInfluence(path=str(path)).network.sizes == {"A": 3, "B": 2}
    path.write_bytes(gzip.compress(text)[:-12])
    with pytest.raises(DataError, match=r"t.bif.gz is damaged"):
        NetworkInfluence(path=str(path)).digest  # noqa: B018
