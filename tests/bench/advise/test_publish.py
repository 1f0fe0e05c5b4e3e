"""One release to a file: what is in it, on which grid, from which chance, and only once."""

import csv
import math

import numpy as np
import pytest

from bench.advise.publish import Publish
from bench.advise.release_file import on_grid, release_text
from bench.config.build import ConfigError
from bench.core.cell import NOT_APPLICABLE
from bench.scenarios.base import TrueAnswer
from mechanisms.base import NotApplicableError
from mechanisms.noise.additive import AdditiveNoise
from mechanisms.noise.laplace import LaplaceNoise
from tests.support.command import ROOT, bench, one_line
from tests.support.components import FixedClaim

PEOPLE = ROOT / "tests" / "support" / "people.csv"
SEQUENCES = ROOT / "tests" / "support" / "sequences.csv"
LAPLACE = {"_target_": "mechanisms.distribution.expected_value.ExpectedValueLaplace"}
RECORD = {"_target_": "mechanisms.group_privacy.GroupLaplace", "group": 1}
ENTRY = {"_target_": "mechanisms.influence.calibrate.InfluenceLaplace"}
NUMBER = {
    "_target_": "bench.scenarios.numeric_column.NumericColumn", "path": str(PEOPLE), "value": "age",
    "secret": "job", "pairs": [["yes", "no"]],
}  # fmt: skip
TABLE = {
    "_target_": "bench.scenarios.numeric_table.numeric_table", "path": str(PEOPLE), "column": "job",
    "value": "yes", "means": ["age"], "counts": {"country": "NA"}, "size": 20, "gap": 0.1,
}  # fmt: skip
CHAIN = {
    "_target_": "bench.scenarios.chain_count.ChainCount", "counted": "a",
    "source": {
        "_target_": "bench.datasets.sequences.chains.FittedSequences", "path": str(SEQUENCES),
    },
}  # fmt: skip
TOP = {"_target_": "bench.scenarios.sequences.of_file", "path": str(SEQUENCES), "group": None}


def publish(run, folder, scenario, mechanism=LAPLACE, **changes):
    settings = {
        "scenarios": {"mine": scenario}, "mechanisms": {"noise": mechanism},
        "grid": {"epsilon": 1.0, "delta": 0.001}, "file": str(folder / "out" / "r.csv"),
    }  # fmt: skip
    study = Publish(**settings | changes)
    outcome, _ = run(study)
    return study, outcome


def lines(folder):
    with (folder / "out" / "r.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_release_has_its_guarantee_beside_it_and_happens_once(run, tmp_path):
    study, outcome = publish(run, tmp_path, TABLE)
    mean, count = lines(tmp_path)
    assert (mean["statistic"], count["statistic"]) == ("mean age", "# country=NA")
    assert float(count["value"]).is_integer()
    text = (tmp_path / "out" / "r.guarantee.txt").read_text(encoding="utf-8")
    told = dict(line.split(": ", 1) for line in text.splitlines())
    assert told["guarantee"] == "distribution privacy: epsilon <= 1"
    assert "secrets: distributions of the database" in told["assumptions"]
    assert told["released"] == "20 records drawn at random from all 120"
    assert told["chance"] == "from the operating system's entropy"
    assert "composes" in told["once"]
    assert "Released once" in study.words(outcome.listed, [])
    with pytest.raises(ConfigError, match="a second one would compose"):
        study.cells()
    (tmp_path / "out" / "r.csv").unlink()
    with pytest.raises(ConfigError, match=r"r\.guarantee\.txt holds a release"):
        study.cells()


def test_a_deleted_release_is_remembered_by_the_store(run, tmp_path):
    study, _ = publish(run, tmp_path, TABLE)
    for file in (tmp_path / "out").iterdir():
        file.unlink()
    outcome, _ = run(study)
    assert outcome.computed == 0
    assert list((tmp_path / "out").iterdir()) == []
    assert "the store has this release already" in study.words(outcome.listed, [])


def test_chance_is_no_seeds(run, tmp_path):
    values = []
    for i in range(3):
        publish(
            run,
            tmp_path,
            TABLE,
            file=str(tmp_path / "out" / "r.csv"),
            grid={"epsilon": 1 + i / 1e9},
        )
        values.append([line["value"] for line in lines(tmp_path)])
        for file in (tmp_path / "out").iterdir():
            file.unlink()
    assert len({tuple(v) for v in values}) == 3


def test_counts_of_a_chain_are_those_of_the_recorded_sequences(run, tmp_path):
    """At a budget of 500 the noise is below a half: the release is the count itself."""
    with SEQUENCES.open(encoding="utf-8") as file:
        truth = sum(row["label"] == "a" for row in csv.DictReader(file))
    publish(run, tmp_path, CHAIN, ENTRY, grid={"epsilon": 500.0})
    assert lines(tmp_path) == [{"statistic": "visits to a", "value": repr(float(truth))}]


def test_rankings_are_released_as_labels_by_group_and_place(run, tmp_path):
    top = {"_target_": "mechanisms.top_k.calibrations.InfluenceTopK", "k": 2}
    publish(run, tmp_path, TOP, top | {"selection": "gumbel"}, grid={"epsilon": 500.0})
    found = lines(tmp_path)
    assert [line["place"] for line in found] == ["1", "2"]
    assert len({line["label"] for line in found}) == 2


def test_what_promises_nothing_or_has_no_recorded_answer_is_not_released(run, tmp_path):
    given = CHAIN | {"source": {"_target_": "bench.datasets.sequences.chains.GivenChain",
                                "transition": [[0.5, 0.5], [0.5, 0.5]]},
                     "counted": "1", "length": 5}  # fmt: skip
    exact = {"_target_": "mechanisms.noise.identity.Noiseless"}
    for scenario, mechanism, reason in (
        (given, ENTRY, "not fitted to sequences"),
        (CHAIN | {"length": 5}, ENTRY, "scenario.length=null"),
        (TABLE, exact, "nothing is promised"),
        (TABLE, RECORD, "nothing is promised"),  # about one record, not the property
    ):
        study, outcome = publish(run, tmp_path, scenario, mechanism)
        ((_, result),) = outcome.results
        assert result.status == NOT_APPLICABLE
        assert reason in result.facts["reason"]
        assert "Nothing was released" in study.words(outcome.listed, [])
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"grid": {"epsilon": [1.0, 2.0]}}, "one budget"),
        ({"grid": {"epsilon": math.inf}}, "infinite budget"),
        ({"mechanisms": {"a": LAPLACE, "b": LAPLACE}}, "one of mechanisms, got a, b"),
    ],
)
def test_one_release_takes_one_of_each(run, tmp_path, changes, reason):
    with pytest.raises(ConfigError, match=reason):
        publish(run, tmp_path, TABLE, **changes)


def test_the_grid_depends_on_the_noise_alone():
    noise = LaplaceNoise(scales=np.array([3.0, 3.0]))
    mechanism = AdditiveNoise(noise=noise, claim=FixedClaim(epsilon=1.0))
    for answer in (0.1, 7.0, 1e3):
        recorded = TrueAnswer(
            answer=np.array([[answer, 5.0]]), whole=np.array([False, True]), note=""
        )
        released, told = on_grid(np.array([[answer + 1 / 3, 5.4]]), recorded, mechanism)
        step = 2.0**-8  # of a deviation of 3 sqrt 2, between 4 and 8
        assert (released[0, 0] / step).is_integer()
        assert abs(released[0, 0] - answer - 1 / 3) <= step / 2
        assert released[0, 1] == 5.0
        assert told == "multiples of 0.00390625, 1"
    with pytest.raises(NotApplicableError, match="no grid can be stated"):
        on_grid(np.array([[0.5, 5.0]]), recorded, object())


def test_a_matrix_is_written_line_by_line():
    recorded = TrueAnswer(
        answer=np.zeros((1, 2, 2)), whole=np.array([True]), note="", groups=("north", "south")
    )
    text = release_text(np.array([[[1.0, 2.0], [3.0, 4.0]]]), ["x", "y"], recorded, ranked=False)
    assert text.splitlines() == [
        "group,statistic,value", "north,x,1.0", "north,y,2.0", "south,x,3.0", "south,y,4.0",
    ]  # fmt: skip


def test_the_command_refuses_a_second_release(tmp_path):
    words = ["+experiment=publish", "scenario=numeric_column", f"scenario.path={PEOPLE}",
             "scenario.value=age", "scenario.secret=job", "scenario.pairs=[['yes','no']]",
             "mechanism=[record_laplace]", "grid.epsilon=2"]  # fmt: skip
    code, out, error = bench(tmp_path, *words)
    assert code == 0, error
    assert "Released once" in out
    assert (tmp_path / "outputs" / "release.csv").is_file()
    code, _, error = bench(tmp_path, *words)
    assert "holds a release already" in one_line(code, error)
