import numpy as np
import pandas as pd
import pytest

from bench.datasets.checkins.synthetic_checkins import SyntheticCheckIns
from bench.datasets.source import DataError
from bench.scenarios.sequences import Sequences, of_file
from bench.study.cross import Cross
from mechanisms.base import NotOfferedError
from mechanisms.influence.calibrate import InfluenceLaplace
from mechanisms.influence.fit import smooth
from mechanisms.influence.knowledge import Candidates, ChainKnowledge, CurveKnowledge
from mechanisms.influence.markov import chain_curve
from mechanisms.influence.quilt import MarkovQuiltLaplace
from mechanisms.knowledge import GaussianAnswers, Sensitivity
from mechanisms.privacy.budget import Epsilon
from mechanisms.top_k.training_majority import TrainingCounts
from tests.conftest import values


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        (f"u{u}", t, rng.choice(["bar", "cafe", "home", "Other"], p=[0.2, 0.3, 0.4, 0.1]), "NA")
        for u in range(20)
        for t in range(rng.integers(5, 60))
    ]
    file = tmp_path / "rows.csv"
    pd.DataFrame(rows, columns=["user", "time", "label", "group"]).to_csv(file, index=False)
    return str(file)


def test_every_world_holds_the_recorded_counts(path):
    scenario = of_file(path)
    scenario.check()
    worlds = scenario.draw(np.zeros(5, dtype=np.int64), "test", np.random.default_rng(0))
    statistics = scenario.sequence_statistics
    assert scenario.statistics == ("bar", "cafe", "home")
    assert worlds.answers.shape == (5, 1, 3)
    kept = [statistics.states.index(s) for s in scenario.statistics]
    assert (worlds.answers == statistics.query[:, kept]).all()
    assert of_file(path, other=True).counts.shape == (1, 4)
    assert not scenario.synthetic
    assert not scenario.worlds_from_model


def test_facts_come_from_the_training_sequences_and_the_longest_queried_one(path):
    scenario = of_file(path)
    counts = scenario.sequence_statistics.transitions
    expected = smooth(counts / counts.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(scenario.chain.transition, expected, atol=1e-12)
    longest = int(scenario.sequence_statistics.lengths.max())
    curve = chain_curve(
        scenario.chain, scenario.sequence_statistics.lengths.tolist(), b_max=longest
    )
    known = scenario.knowledge(CurveKnowledge)
    for epsilon in (0.05, 0.5, 3.0):
        assert known.curve.budget(epsilon).total == pytest.approx(curve.budget(epsilon).total)
    assert "public" in known.public
    assert scenario.knowledge(ChainKnowledge).lengths == (longest,)
    sensitivity = scenario.knowledge(Sensitivity)
    assert (sensitivity.l1, sensitivity.size, sensitivity.dimension) == (2.0, longest, 3)
    assert scenario.knowledge(Candidates).values.tolist() == [0, 1, 2]
    assert (
        scenario.knowledge(TrainingCounts).counts.sum()
        < scenario.sequence_statistics.training.sum()
    )
    with pytest.raises(NotOfferedError, match="not GaussianAnswers"):
        scenario.knowledge(GaussianAnswers)
    with pytest.raises(NotOfferedError, match="small chain"):
        scenario.law(0)


def test_budgets_of_uncertain_readings_are_ordered():
    """A wider reading never buys more noise-free counts, for both families of mechanisms."""
    budgets = []
    for uncertainty, uncertainty_on in ((0.0, "joint"), (0.2, "conditional"), (0.2, "joint")):
        scenario = Sequences(
            population=SyntheticCheckIns(), uncertainty=uncertainty, uncertainty_on=uncertainty_on
        )
        curve = scenario.knowledge(CurveKnowledge).curve
        sensitivity = scenario.knowledge(Sensitivity)
        quilt = MarkovQuiltLaplace().calibrate(
            scenario.knowledge(ChainKnowledge), sensitivity, budget=Epsilon(epsilon=1.0)
        )
        ours = InfluenceLaplace().calibrate(
            scenario.knowledge(CurveKnowledge), sensitivity, budget=Epsilon(epsilon=1.0)
        )
        assert ours.guarantee.bound <= 1.0 + 1e-8  # the slack of a grid in 77 coordinates
        assert quilt.guarantee.bound <= 1.0 + 1e-8
        budgets.append((curve.budget(1.0).total, 2.0 / quilt.noise.scales[0]))
    influence, by_quilt = zip(*budgets, strict=True)
    assert influence[0] > influence[1] > influence[2] > 0
    assert by_quilt[0] > by_quilt[1] > by_quilt[2] > 0
    np.testing.assert_allclose(influence, by_quilt, rtol=0.1)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"other": "yes"}, "other must be true or false, got other='yes'"),
        ({"uncertainty": 1.0}, "uncertainty must be in"),
        ({"uncertainty_on": "both"}, "uncertainty_on must be"),
        ({"b_max": 0}, "b_max must be a whole number"),
        ({"smoothing": -0.1}, "smoothing must be in"),
        ({"path": None}, "path must name a CSV, TSV or parquet file"),
    ],
)
def test_bad_settings_are_refused(path, wrong, message):
    with pytest.raises((DataError, ValueError), match=message):
        of_file(**({"path": path} | wrong)).check()


def test_a_single_label_cannot_be_ranked(tmp_path):
    rows = [("u", t, label, "g") for t, label in enumerate(["Other", "a"] * 10)]
    file = tmp_path / "rows.csv"
    pd.DataFrame(rows, columns=["user", "time", "label", "group"]).to_csv(file, index=False)
    with pytest.raises(DataError, match="needs two labels or more"):
        of_file(str(file)).check()


def test_an_infinite_budget_shows_the_exact_ranking_and_no_counts(path, run):
    names = {
        "gumbel": {"_target_": "mechanisms.top_k.calibrations.InfluenceTopK", "k": 2},
        "entry": {"_target_": "mechanisms.top_k.calibrations.GroupTopK", "k": 2, "group": 1},
        "laplace": {
            "_target_": "mechanisms.top_k.ranking.TopK",
            "k": 2,
            "of": {"_target_": "mechanisms.influence.calibrate.InfluenceLaplace"},
        },
    }
    hits = {"_target_": "bench.metrics.ranking.HitRate", "k": 2, "name": "hit_rate"}
    counts = {"_target_": "bench.metrics.utility.NormError", "norm": 1, "name": "l1"}
    study = Cross(
        scenarios={"own": {"_target_": "bench.scenarios.sequences.of_file", "path": path}},
        mechanisms=names,
        metrics={"hits": hits, "counts": counts},
        grid={"epsilon": [float("inf"), 1.0]},
        n_shadow=1,
        n_holdout=1,
        n_test=30,
    )
    outcome, _ = run(study)
    assert set(values(outcome, "hit_rate", epsilon=float("inf")).values()) == {1.0}
    assert values(outcome, "l1") == {}
    assert all("not applicable" in r.facts["metric counts"] for _, r in outcome.results)


def test_what_reading_dropped_is_told_with_the_results(tmp_path, run):
    rows = [("u", t, "ab"[t % 2], "g") for t in range(30)]
    file = tmp_path / "twice.csv"
    pd.DataFrame([*rows, rows[0]], columns=["user", "time", "label", "group"]).to_csv(
        file, index=False
    )
    majority = {"_target_": "mechanisms.top_k.training_majority.TrainingMajority", "k": 1}
    study = Cross(
        scenarios={"own": {"_target_": "bench.scenarios.sequences.of_file", "path": str(file)}},
        mechanisms={"majority": majority},
        n_shadow=1,
        n_holdout=1,
        n_test=2,
    )
    outcome, _ = run(study)
    told = [r.facts["ingestion_notes"] for _, r in outcome.results]
    assert told == [
        "the group and the time of every entry are public; before any release the training part's "
        "most frequent label is right for 0.500 of 6 queried entries, the most frequent one of an "
        "entry's group for 0.500; twice.csv: 31 rows; 1 rows "
        "came before an earlier row of their user: sorted by time; 1 identical rows dropped; label "
        "Other is never left: its row of the chain is set to uniform over the other labels; 1 of "
        "1 groups have fewer than 3 labels with an entry: ties at 0 fill their top"
    ]
