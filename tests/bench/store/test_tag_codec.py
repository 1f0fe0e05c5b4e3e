import json
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.store.tag_codec import PIECE, pack, unpack

few = settings(max_examples=60, deadline=None)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=25,
)
GENERATOR = random.Random(0)
LONG = [GENERATOR.random() for _ in range(5000)]


@few
@given(plain)
def test_what_is_packed_is_read_back(value):
    assert unpack("rows", pack("rows", value)) == value


def test_infinities_and_nan_survive():
    found = unpack("x", pack("x", [math.inf, -math.inf, math.nan, -0.0, 5e-324]))
    assert found[:2] == [math.inf, -math.inf]
    assert math.isnan(found[2])
    assert math.copysign(1, found[3]) == -1
    assert found[4] == 5e-324


def test_pieces_stay_below_the_limit_of_a_tag():
    tags = pack("rows", LONG)
    assert len(tags) > 10
    assert all(len(piece) <= PIECE <= 5000 for piece in tags.values())
    assert unpack("rows", tags) == LONG


def test_a_long_text_is_compressed():
    text = "traceback line\n" * 5000
    assert len(pack("t", text)) == 1


def test_other_tags_and_the_order_do_not_matter():
    tags = pack("rows", LONG) | pack("row", 1) | {"rows": "x", "rows.x": "y", "kind": "cell"}
    shuffled = list(tags.items())
    random.Random(1).shuffle(shuffled)
    assert unpack("rows", dict(shuffled)) == LONG
    assert unpack("row", dict(shuffled)) == 1


def test_more_than_a_thousand_pieces_are_read_back(monkeypatch):
    monkeypatch.setattr("bench.store.tag_codec.PIECE", 16)
    value = LONG[:2000]
    tags = pack("rows", value)
    assert len(tags) > 1100
    assert unpack("rows", tags) == value


@pytest.mark.parametrize("piece", [0, 1, -1], ids=["first", "middle", "last"])
def test_a_missing_piece_is_a_key_error(piece):
    tags = pack("rows", LONG)
    del tags[sorted(tags)[piece]]
    with pytest.raises(KeyError, match="rows"):
        unpack("rows", tags)


@pytest.mark.parametrize("damage", ["", "####", "A" * 40, "é"])
def test_a_damaged_piece_is_a_key_error(damage):
    tags = pack("rows", LONG)
    tags["rows.001"] = damage
    with pytest.raises(KeyError, match="missing or damaged"):
        unpack("rows", tags)


def test_nothing_packed_is_a_key_error():
    with pytest.raises(KeyError, match="no rows in the run's tags"):
        unpack("rows", {"row.000": "x"})


@pytest.mark.parametrize("value", [{1, 2}, object(), b"bytes", complex(1, 2)])
def test_what_json_cannot_hold_is_refused(value):
    with pytest.raises(TypeError, match="not JSON serializable"):
        pack("x", value)


def test_the_same_value_gives_the_same_tags():
    assert pack("x", LONG) == pack("x", json.loads(json.dumps(LONG)))
