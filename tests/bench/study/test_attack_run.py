"""Attacks in a game: who is paired with what, prefixes, blocks, and reasons."""

import tracemalloc
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from attacks.base import Guess, Intervals, Transcript
from bench.core.intervals import rate
from bench.metrics.base import Found, NotMeasurableError
from bench.study import game as games
from bench.study.attack_run import AttackRun, one_hot, play
from bench.study.cross import Cross
from bench.study.game import Game
from bench.study.session import Session
from bench.study.shared_worlds import SharedWorlds, Sizes
from mechanisms.noise.additive import AdditiveNoise
from mechanisms.noise.geometric import GeometricNoise, GeometricRelease
from mechanisms.noise.laplace import LaplaceNoise
from mechanisms.privacy.budget import NoBudget
from tests.conftest import node
from tests.support.components import Points
from tests.support.outside.my_attacks import Suppressed, Tables

LIKELIHOOD = {"_target_": "attacks.likelihood_ratio.LikelihoodRatio"}
MAJORITY = {"_target_": "attacks.majority.Majority"}
KNN = {
    "_target_": "attacks.meta_classifier.MetaClassifier",
    "estimator": {"_target_": "sklearn.neighbors.KNeighborsClassifier", "n_neighbors": 5},
}
ATTACKS = {
    "likelihood": LIKELIHOOD, "majority": MAJORITY, "adaptive": KNN,
    "published": KNN | {"adaptive": False},
}  # fmt: skip
OUTSIDE = "tests.support.outside.my_attacks"


def play_game(mechanism, k=1, scenario=None, sizes=(2, 20, 15, 30)):
    repetitions, shadow, holdout, test = sizes
    shared = SharedWorlds(
        scenario=scenario or Points(), stream="s", seed=0,
        sizes=Sizes(repetitions=repetitions, shadow=shadow, holdout=holdout, test=test),
    )  # fmt: skip
    return Game(
        session=Session(), shared=shared, mechanism=mechanism, n_releases=k, release_stream="r"
    )


def laplace(scale=1.0, size=1):
    return AdditiveNoise(noise=LaplaceNoise(scales=np.full(size, scale)), claim=None)


def geometric(scale=1.0, size=1):
    return GeometricRelease(noise=GeometricNoise(scales=np.full(size, scale)), claim=None)


@pytest.mark.parametrize("block", [games.BLOCK, 7 * 8])
@pytest.mark.parametrize("make", [laplace, geometric], ids=lambda m: m.__name__)
@pytest.mark.parametrize("label", ATTACKS)
def test_prefix_scores_are_those_of_cells_with_fewer_releases(label, make, block, monkeypatch):
    monkeypatch.setattr(games, "BLOCK", block)
    run = AttackRun(game=play_game(make(), 4), label=label, config=ATTACKS[label])
    path = run.prefix_scored()
    for k in range(1, 5):
        fewer = AttackRun(game=play_game(make(), k), label=label, config=ATTACKS[label]).scored()
        assert len(path) == len(fewer) == 2
        for whole, alone in zip(path, fewer, strict=True):
            assert whole.score.shape == (60, 4, 2)
            assert (whole.score[:, k - 1] == alone.score).all()
            assert (whole.holdout_score[:, k - 1] == alone.holdout_score).all()
            assert (whole.secret == alone.secret).all()


@dataclass(frozen=True, kw_only=True)
class Recognised:
    """Share of worlds recognised after each number of releases."""

    needs: ClassVar = "prefix scores"
    name: str = "recognised"

    def estimate(self, games, names, rng):
        n_releases = games[0].score.shape[1]
        return {
            f"k={k + 1}": rate([(g.score[:, k].argmax(axis=1) == g.secret) * 1.0 for g in games])
            for k in range(n_releases)
        }


def cross(scenario, mechanism, **changes):
    settings = {
        "scenarios": {"s": scenario}, "mechanisms": {"m": mechanism}, "n_shadow": 50,
        "n_holdout": 50, "n_test": 400,
    }  # fmt: skip
    return Cross(**(settings | changes))


def only(study):
    session = Session()
    (cell,) = study.cells(session)
    return study.run_cell(cell, session)


NOISY = {"_target_": "mechanisms.distribution.expected_value.ExpectedValueLaplace"}


def test_a_metric_of_prefixes_sees_more_after_more_releases():
    metrics = {"path": {"_target_": f"{__name__}.Recognised"}}
    study = cross(
        node("Points"), NOISY, attacks={"lr": LIKELIHOOD}, metrics=metrics,
        grid={"epsilon": [0.5], "n_releases": [8]},
    )  # fmt: skip
    found = {r["statistic"]: r["value"] for r in only(study).rows if r["metric"] == "recognised"}
    assert list(found) == [f"k={k}" for k in range(1, 9)]
    assert found["k=8"] > found["k=1"] + 0.05


def big(size=50):
    """A scenario of long answers."""
    return Points(supports=(np.zeros((1, size)), np.ones((1, size))))


def test_a_part_that_is_played_in_blocks_is_bounded_and_plays_again_the_same(monkeypatch):
    monkeypatch.setattr(games, "BLOCK", 8 * 50 * 7)
    game = play_game(laplace(size=50), 3, big())
    blocks = list(game.blocks("test"))
    assert [len(b) for b in blocks] == [7] * 8 + [4] + [7] * 8 + [4]  # two repetitions of 60
    assert all(b.releases.shape == (len(b), 3, 50) for b in blocks)
    again = Transcript.join(list(game.blocks("test")))
    assert (Transcript.join(blocks).releases == again.releases).all()
    assert (again.secret == game.worlds("test").secret).all()
    assert (again.answers == game.worlds("test").answers).all()
    noise = (again.releases - again.answers[:, None]).reshape(-1, 50)
    assert len(np.unique(noise, axis=0)) == len(noise)  # no block repeats another's noise
    # The first release is drawn at once, in blocks or not.
    monkeypatch.setattr(games, "BLOCK", 10**9)
    whole = play_game(laplace(size=50), 3, big())
    assert (whole.releases("test")[:, 0] == again.releases[:, 0]).all()
    assert len(list(whole.blocks("test"))) == 2  # one a repetition


def test_scores_and_errors_do_not_depend_on_the_blocks_in_law(monkeypatch):
    metrics = {
        "accuracy": {"_target_": "bench.metrics.attack.Accuracy"},
        "l2": {"_target_": "bench.metrics.utility.NormError", "norm": 2, "name": "l2"},
    }
    study = cross(
        node("Points", supports=[[[0.0] * 9], [[0.3] * 9]]), NOISY, attacks={"lr": LIKELIHOOD},
        metrics=metrics, grid={"epsilon": [2.0], "n_releases": [3]}, n_test=1500,
    )  # fmt: skip
    found = []
    for block in (games.BLOCK, 8 * 9 * 100):
        monkeypatch.setattr(games, "BLOCK", block)
        rows = {r["metric"]: r for r in only(study).rows}
        found.append([(rows[m]["lower"], rows[m]["upper"], rows[m]["n"]) for m in ("acc", "l2")])
    for (low, high, n), (other_low, other_high, other_n) in zip(*found, strict=True):
        assert n == other_n == 3000
        assert max(low, other_low) < min(high, other_high)


def test_releases_of_many_entries_are_never_in_memory_together(monkeypatch):
    # 400 worlds x 200 entries x 40 releases: 26 MB a part; worlds are 0.64 MB.
    monkeypatch.setattr(games, "BLOCK", 64 * 2**10)
    game = play_game(laplace(size=200), 40, big(200), sizes=(1, 1, 200, 200))
    metric = {"_target_": "bench.metrics.utility.NormError", "norm": 2, "name": "l2"}
    tracemalloc.start()
    scored = AttackRun(game=game, label="lr", config=LIKELIHOOD).scored()
    blocks = [game.session.build(metric, "metric").estimate(
        [list_of(game)], game.names, game.mechanism)]  # fmt: skip
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert scored[0].score.shape == (400, 2)
    assert blocks[0][""].n == 400
    assert peak < 20 * 2**20


def list_of(game):
    class Again:
        def __iter__(self):
            return game.blocks("test", 0)

    return Again()


def test_training_on_more_than_fits_is_not_applicable_with_the_size(monkeypatch):
    monkeypatch.setattr(games, "BLOCK", 1000)
    monkeypatch.setattr(games, "TRAINING", 20_000)
    game = play_game(laplace(size=50), 3, big(), sizes=(1, 20, 5, 5))
    played = play(game, ATTACKS)
    assert set(played.scored) == {"likelihood", "majority", "published"}
    assert played.reasons["attack adaptive"].startswith(
        "not applicable: its training needs 0.0 GiB of shadow releases, more than 0.0 GiB"
    )


def reasons(scenario, mechanism, attacks, metrics=None, **changes):
    result = only(cross(scenario, mechanism, attacks=attacks, metrics=metrics or {}, **changes))
    assert result.status == "finished"
    return result.facts


def own(name, **settings):
    return {"_target_": f"{OUTSIDE}.{name}"} | settings


def test_what_does_not_pair_is_not_applicable_with_the_reason():
    facts = reasons(
        own("Tables"), own("Suppress"),
        {"guess": own("OneHidden"), "bounds": own("BetweenTotals"), "name": own("FirstCell")},
        {"acc": {"_target_": "bench.metrics.attack.Accuracy"}, "right": own("RightEntries"),
         "path": {"_target_": f"{__name__}.Recognised"}},
    )  # fmt: skip
    assert facts["metric acc"] == (
        "not applicable: guess yields a guess, not scores; bounds yields intervals, not scores"
    )
    assert facts["metric right"] == (
        "not applicable: bounds yields intervals, not guess; "
        "name yields a guess of the secret, not guess"
    )
    assert "not prefix scores" in facts["metric path"]


def test_a_public_fact_that_nobody_published_is_named():
    facts = reasons(node("ThreeBits"), node("XorOrParity"), {"guess": own("OneHidden")})
    assert facts["attack guess"] == (
        "not applicable: it needs the public fact 'total'; public facts here: none"
    )


def test_attacks_that_read_no_secret_need_no_pair_of_secrets():
    scenario, mechanism = node("Alone"), {"_target_": f"{__name__}.Published"}
    attacks = {"bounds": {"_target_": f"{__name__}.Everything"}, "lr": LIKELIHOOD}
    facts = reasons(scenario, mechanism, attacks)
    assert "attack bounds" not in facts
    assert facts["attack lr"] == (
        "not applicable: the scenario has no pair of secrets to tell apart"
    )


@dataclass(frozen=True, kw_only=True)
class Published:
    """Calibrates to a suppression that hides nothing."""

    requires: ClassVar = ()
    accepts: ClassVar = NoBudget

    def calibrate(self, *, budget):
        return Suppressed(threshold=-1)


@dataclass(frozen=True, kw_only=True)
class Everything:
    yields: ClassVar = "intervals"
    trained: ClassVar = False
    adaptive: ClassVar = True
    of: str = "answers"

    def fit(self, shadow, target, rng):
        assert shadow.n_releases == 0  # not trained: worlds without releases
        return self

    def bound(self, releases):
        seen = releases[:, 0]
        return Intervals(lower=seen, upper=seen + 1, of=self.of)


def test_a_guess_of_records_needs_a_scenario_that_draws_them():
    attacks = {"bounds": {"_target_": f"{__name__}.Everything", "of": "database"}}
    facts = reasons(node("Points"), {"_target_": f"{__name__}.Published"}, attacks)
    assert facts["attack bounds"] == (
        "not applicable: the scenario draws no records to compare with"
    )


def test_releases_with_missing_entries_fail_no_cell():
    facts = reasons(
        own("Tables"), own("Suppress"), {"lr": LIKELIHOOD, "knn": KNN},
        {"l2": {"_target_": "bench.metrics.utility.NormError", "norm": 2, "name": "l2"}},
    )  # fmt: skip
    assert "attack knn" not in facts
    assert facts["metric l2"] == (
        "not applicable: missing entries of a release (NaN) have no error"
    )
    missing = Points(supports=((0.0, 3.0), (1.0, 4.0)), weights=((0.5, 0.5), (0.5, 0.5)))
    played = play(play_game(Hiding(), 1, missing), {"lr": LIKELIHOOD})
    assert played.reasons["attack lr"].endswith("missing entries have no density here")


@dataclass(frozen=True, kw_only=True)
class Hiding:
    """Laplace noise, small releases suppressed."""

    sees: ClassVar = "answers"

    def release(self, x, rng):
        noisy = x + rng.laplace(size=x.shape)
        return np.where(noisy < 0, np.nan, noisy)

    def log_density(self, releases, answers):
        return -np.abs(releases - answers).sum(axis=-1)


def test_facts_of_the_same_name_are_refused():
    @dataclass(frozen=True, kw_only=True)
    class Twice(Suppressed):
        def public_facts(self, x):
            return {"largest": x.max(axis=1)}

    with pytest.raises(ValueError, match=r"share names: \['largest'\]"):
        play_game(Twice(threshold=3), 1, Tables()).whole("test")


@pytest.mark.parametrize(
    ("kind", "word", "told"),
    [
        ("attacks", "yields", r"yields of attack x must be 'scores', 'secret', 'guess' or 'interv"),
        ("metrics", "needs", r"needs of metric x must be 'scores', 'prefix scores', 'guess', "),
    ],
)
def test_components_that_do_not_say_what_they_yield_or_need_are_refused(kind, word, told):
    silent = {"x": {"_target_": f"{__name__}.Silent"}}
    with pytest.raises(ValueError, match=told):
        cross(node("Points"), NOISY, **{kind: silent}).cells()


class Silent:
    name = "silent"


def test_a_guess_of_the_secret_is_a_score_of_one():
    assert one_hot(np.array([0, 2, -1]), 3).tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 0]]
    for bad in (np.array([3]), np.array([-2]), np.array([[0]]), np.array([0.5])):
        with pytest.raises(ValueError, match=r"^guesses of the secret must be one of 0 to 2"):
            one_hot(bad, 3)


def test_outputs_stand_beside_the_entries_that_they_are_about():
    worlds = Transcript(
        secret=np.zeros(2, dtype=int), answers=np.zeros((2, 1)),
        database=np.arange(12).reshape(2, 3, 2),
    )  # fmt: skip
    part = Guess(values=np.zeros((2, 2)), entries=np.array([5, 0]))
    assert Found(worlds=worlds, output=part).truth.tolist() == [[5, 0], [11, 6]]
    whole = Intervals(lower=np.zeros((2, 1)), upper=np.ones((2, 1)))
    assert Found(worlds=worlds, output=whole).truth.tolist() == [[0.0], [0.0]]
    with pytest.raises(ValueError, match=r"shape \(2, 2\) is about database of shape \(2, 6\)"):
        _ = Found(worlds=worlds, output=Guess(values=np.zeros((2, 2)))).truth
    no_records = Transcript(secret=worlds.secret, answers=worlds.answers)
    with pytest.raises(NotMeasurableError, match="draws no records"):
        _ = Found(worlds=no_records, output=part).truth
