"""Curve studies of influence and of noise scales."""

import gzip
import math

import numpy as np
import pytest

from bench.datasets.sequences.chains import GivenChain
from bench.datasets.sequences.real_chains import Careers
from bench.datasets.source import DataError
from bench.quantities.influence import ChainInfluence, NetworkInfluence, ProcessInfluence
from bench.quantities.scales import ChainScale
from bench.study.curve import Curve
from bench.study.session import Session
from mechanisms.base import NotApplicableError

BINARY = GivenChain(transition=[[0.6, 0.4], [0.2, 0.8]])
ALTERNATING = GivenChain(transition=[[0.2, 0.8], [0.7, 0.3]])
X = np.arange(1.0, 9.0)
SPRINKLER = """
variable A { type discrete [ 2 ] { yes, no }; }
variable B { type discrete [ 2 ] { yes, no }; }
probability ( A ) { table 0.3, 0.7; }
probability ( B | A ) { (yes) 0.9, 0.1; (no) 0.4, 0.6; }
"""


def values(quantity, x=X):
    return [b.hi for b in quantity.curve(np.asarray(x, dtype=float))]


def test_chain_curves_have_the_known_values():
    known = [2.197225, 1.550597, 0.903970, 0.638571, 0.373172, 0.262452, 0.151732, 0.106432]
    for form in ("exact", "closed", "closed_long"):
        found = values(ChainInfluence(source=BINARY, length=400, form=form))
        assert found == pytest.approx(known, abs=1e-6)
    short = values(ChainInfluence(source=BINARY, length=7), range(1, 8))
    assert short == pytest.approx(
        [2.197225, 1.550597, 0.90397, 0.638571, 0.373172, 0.186586, 0], abs=1e-6
    )


def test_uncertainty_is_a_constant_until_nothing_is_left():
    nominal = values(ChainInfluence(source=BINARY, length=9), range(1, 10))
    uncertain = values(ChainInfluence(source=BINARY, length=9, uncertainty=0.2), range(1, 10))
    gaps = np.subtract(uncertain, nominal)
    assert gaps[:-1] == pytest.approx(2 * math.log(1.2 / 0.8))
    assert gaps[-1] == 0.0


@pytest.mark.parametrize("form", ["closed", "closed_long"])
def test_closed_forms_of_alternating_chains_are_upper_bounds(form):
    exact = ChainInfluence(source=ALTERNATING, length=400)
    for found, true in zip(
        ChainInfluence(source=ALTERNATING, length=400, form=form).curve(X),
        exact.curve(X),
        strict=True,
    ):
        assert true.exact
        assert found.lo == 0.0
        assert found.hi >= true.hi - 1e-9
    assert values(ChainInfluence(source=ALTERNATING, length=400, form="closed_long"), [2]) == (
        pytest.approx([1.792], abs=5e-4)
    )
    assert values(exact, [2]) == pytest.approx([1.738], abs=5e-4)


@pytest.mark.parametrize("form", ["closed", "closed_long"])
@pytest.mark.parametrize(("uncertainty_on", "times"), [("joint", 2), ("conditional", 1)])
def test_closed_forms_are_shifted_by_uncertainty(form, uncertainty_on, times):
    plain = ChainInfluence(source=BINARY, length=400, form=form)
    shifted = ChainInfluence(
        source=BINARY, length=400, form=form, uncertainty=0.2, uncertainty_on=uncertainty_on
    )
    assert all(b.exact for b in plain.curve(X))
    assert not any(b.exact for b in shifted.curve(X))
    gaps = np.subtract(values(shifted), values(plain))
    assert gaps == pytest.approx(times * math.log(1.2 / 0.8))


def test_the_form_far_from_the_ends_bounds_short_chains():
    exact = values(ChainInfluence(source=BINARY, length=7), range(1, 8))
    far = ChainInfluence(source=BINARY, length=7, form="closed_long").curve(np.arange(1.0, 8.0))
    assert all(b.hi >= a - 1e-9 for a, b in zip(exact, far, strict=True))
    assert far[5].hi > exact[5] + 0.05
    assert far[5].lo == 0.0


def test_process_curves_have_the_known_values():
    found = values(ProcessInfluence(decay=1.0), range(1, 8))
    assert found == pytest.approx([93.75, 41.72, 3.559, 1.791, 0.024, 0.012, 0], abs=6e-3)
    flat = values(ProcessInfluence(decay=1.0, prior="truncated"), [1, 5, 20, 21])
    assert flat == pytest.approx([93.75, 93.75, 93.75, 0], abs=6e-3)


def test_networks_are_read_from_a_file_and_bounded(tmp_path):
    path = tmp_path / "two.bif"
    path.write_text(SPRINKLER)
    packed = tmp_path / "two.bif.gz"
    packed.write_bytes(gzip.compress(SPRINKLER.encode()))
    one, other = NetworkInfluence(path=str(path)), NetworkInfluence(path=str(packed))
    assert one.digest == other.digest
    assert values(one, [1, 2]) == pytest.approx([math.log(0.27 / 0.55 * 0.45 / 0.03), 0.0])


def test_alarm_is_embedded():
    quantity = NetworkInfluence(secrets=["LVFAILURE"], beam=1)
    assert len(quantity.network.sizes) == 37
    found = values(quantity, [3, 4])
    assert 0 < found[1] <= found[0] < math.inf
    bracket = quantity.curve(np.array([3.0]))[0]
    assert bracket.lo == 0.0  # a greedy curve is an upper bound only


@pytest.mark.parametrize("text", ["", "network {", SPRINKLER.replace("0.9", "oops")])
def test_a_bif_that_does_not_parse_is_one_line_before_anything_runs(tmp_path, text):
    path = tmp_path / "bad.bif"
    path.write_text(text)
    node = {"_target_": "bench.quantities.influence.NetworkInfluence", "path": str(path)}
    with pytest.raises(DataError, match=r"bad\.bif is not a network in BIF") as caught:
        Curve(quantities={"bad": node}, x=[1.0]).cells()
    assert "\n" not in str(caught.value)
    with pytest.raises(DataError, match=r"no file .*nowhere"):
        NetworkInfluence(path=str(tmp_path / "nowhere.bif")).digest  # noqa: B018


def test_absent_recordings_are_skipped_with_the_reason(monkeypatch):
    monkeypatch.delenv("BENCH_DATA", raising=False)
    quantity = ChainInfluence(source=Careers(), length=72)
    assert quantity.digest == "absent"
    with pytest.raises(NotApplicableError, match="give its path"):
        quantity.curve(X)


@pytest.mark.parametrize("b", [-1.0, 1.5])
def test_sizes_are_whole_numbers(b):
    with pytest.raises(ValueError, match="x must hold whole numbers"):
        ChainInfluence(source=BINARY, length=4).curve(np.array([b]))


def test_sizes_beyond_the_chain_leave_nothing():
    assert values(ChainInfluence(source=BINARY, length=4), [4, 5, 100]) == [0.0, 0.0, 0.0]


def test_closed_forms_are_for_two_states():
    three = GivenChain(transition=np.full((3, 3), 1 / 3).tolist())
    with pytest.raises(NotApplicableError, match="two states"):
        ChainInfluence(source=three, length=4, form="closed").curve(X)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ChainInfluence(source=BINARY, form="guess"), "form must be"),
        (lambda: ChainInfluence(source=BINARY, uncertainty=2.0), "spread must be in"),
        (lambda: ChainInfluence(source=BINARY).curve(X), "length must be a whole number"),
        (lambda: ProcessInfluence(decay=0.0), "decay must be in"),
        (lambda: ProcessInfluence(decay=1.0, prior="x"), "prior must be"),
        (lambda: NetworkInfluence(beam=0), "beam must be"),
        (lambda: ChainScale(method="guess"), "method must be 'quilt_exact', "),
        (lambda: ChainScale(method="curve", vary="x"), "vary must be"),
        (lambda: ChainScale(method="curve", epsilon=0.0), "epsilon must be in"),
        (lambda: ChainScale(method="curve").curve(np.array([1.0])), "x must be in"),
    ],
)
def test_bad_settings_are_one_line(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_scales_against_strength_are_those_of_the_authors_code():
    """Rows .1 .9 and .2 .8 of their table: P(0->0) = P(1->1) = .9 and .8, 100 nodes."""
    at = np.array([0.8, 0.9])
    exact = values(ChainScale(method="quilt_exact"), at)
    assert exact == pytest.approx([13.0751, 31.7378], abs=5e-5)
    rough = values(ChainScale(method="quilt_approximate"), at)
    assert rough == pytest.approx([23.9791, 49.2202], abs=5e-5)
    assert values(ChainScale(method="curve"), at) == pytest.approx(exact, abs=1e-4)
    assert values(ChainScale(method="group"), at) == [100.0, 100.0]
    assert values(ChainScale(method="entry"), at) == [1.0, 1.0]


def test_scales_against_length_settle_where_group_privacy_keeps_growing():
    at = np.array([5.0, 100.0, 2000.0])
    exact = values(ChainScale(method="quilt_exact", vary="length"), at)
    assert exact == pytest.approx([5.0, 6.7244, 6.7244], abs=1e-3)
    assert values(ChainScale(method="group", vary="length"), at) == [5.0, 100.0, 2000.0]


def test_what_a_chains_sequences_told_stands_with_its_curve(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("user,time,label\nu,1,a\nu,2,b\nv,1,a\nv,2,b\n")
    fitted = {"_target_": "bench.datasets.sequences.chains.FittedSequences", "path": str(path)}
    quantity = {"_target_": "bench.quantities.influence.ChainInfluence", "source": fitted}
    study = Curve(quantities={"mine": quantity}, x=[1.0])
    facts = study.run_cell(study.cells()[0], Session()).facts
    told = "label b is never left: its row of the chain is set to uniform over the other labels"
    assert facts["ingestion_notes"] == f"rows.csv: 4 rows; {told}"


def test_secret_nodes_are_named_as_the_file_has_them(tmp_path):
    path = tmp_path / "two.bif"
    path.write_text(SPRINKLER.replace("B", "2"))
    assert values(NetworkInfluence(path=str(path), secrets=[2]), [1]) == (
        values(NetworkInfluence(path=str(path), secrets=["2"]), [1])
    )
    with pytest.raises(ValueError, match="secrets must be a string, a whole number or true/false"):
        values(NetworkInfluence(path=str(path), secrets=[2.5]), [1])
