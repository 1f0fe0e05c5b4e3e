import dataclasses

import numpy as np
import pytest

from bench.datasets.activities.synthetic_activities import alias_tables
from bench.datasets.checkins.synthetic_checkins import (
    SyntheticCheckIns,
    from_text,
    synthetic_countries,
)
from bench.datasets.sequences.sequence_statistics import Entries, from_entries
from mechanisms.influence.chain import stationary_law
from mechanisms.top_k.ranking import largest
from tests.support.synthetic_walks import RECIPE, statistics_of_walks, to_text, walks

STATISTICS = SyntheticCheckIns().sequence_statistics


def test_the_embedded_population_is_the_one_that_was_fixed():
    assert STATISTICS.digest.startswith("8404fea9")
    assert SyntheticCheckIns(steps="changes").sequence_statistics.digest.startswith("cdd5562c")
    assert SyntheticCheckIns().synthetic
    assert "SYNTHETIC" in STATISTICS.notes[0]
    assert len(STATISTICS.groups) == 77
    assert len(STATISTICS.states) == 78


def test_it_has_the_published_sizes():
    total = STATISTICS.training.sum() + STATISTICS.query.sum()
    assert total == pytest.approx(33_278_683 * 500 / 532, rel=0.01)
    assert STATISTICS.query.sum() / total == pytest.approx(0.2, abs=0.005)


def test_the_training_majority_is_right_about_as_often_as_published():
    """18.61 % (Bai et al. 2026, Section 7.1.5), "Other" left out."""
    training, query = STATISTICS.training[:, :-1], STATISTICS.query[:, :-1]
    right = largest(training.sum(axis=0), 3) == largest(query, 3)
    assert right.mean() == pytest.approx(0.186, abs=0.002)


def test_text_and_back():
    assert from_text(to_text(STATISTICS)).digest == STATISTICS.digest
    assert len(set(synthetic_countries())) == 77


def test_the_embedded_counts_are_what_the_recipe_describes():
    """Transitions of the embedded file against the recipe's chains, weighed by their groups."""
    rng = np.random.default_rng(RECIPE.seed)
    chains = RECIPE.chains(rng)
    weight = STATISTICS.training[:, :, None] * chains
    expected = weight.sum(axis=0) / STATISTICS.training.sum(axis=0)[:, None]
    seen = STATISTICS.transitions / STATISTICS.transitions.sum(axis=1, keepdims=True)
    assert np.abs(seen - expected).max() < 0.005
    laws = np.stack([stationary_law(chain) for chain in chains])
    shares = STATISTICS.training / STATISTICS.training.sum(axis=1, keepdims=True)
    assert np.abs(shares - laws).max() < 0.005


def test_a_small_population_is_drawn_the_same_way_each_time():
    small = dataclasses.replace(RECIPE, users=500, seed=1)
    assert statistics_of_walks(small).digest == statistics_of_walks(small).digest
    group, length, steps = walks(small)
    assert group.size == 500
    assert sum(state.size for state in steps) == length.sum()


def test_changes_are_those_of_the_users_one_by_one():
    """Walks written out and counted as recorded sequences are, against counting step by step."""
    small = dataclasses.replace(RECIPE, users=400, seed=2, mean_length=30.0)
    group, length, steps = walks(small)
    entries = sorted((user, step, label) for step, state in enumerate(steps)
                     for user, label in enumerate(state.tolist()))  # fmt: skip
    user, step, state = np.array(entries).T
    rng = np.random.default_rng([small.seed, 1])
    trained = rng.binomial(length, small.training)
    queried = rng.binomial(length - trained, small.query / (1 - small.training))
    kept = step < (trained + queried)[user]
    expected = Entries(
        states=small.states, groups=small.groups, sequence=user[kept], state=state[kept],
        group=group[user[kept]], training=(step < trained[user])[kept],
    )  # fmt: skip
    for kind in ("all", "changes"):
        assert statistics_of_walks(small, kind).digest == from_entries(expected, kind).digest
    with pytest.raises(ValueError, match="steps must be"):
        SyntheticCheckIns(steps="some")


def test_the_alias_method_draws_from_its_laws():
    laws = np.array([[0.1, 0.2, 0.3, 0.4], [1.0, 0.0, 0.0, 0.0]])
    accept, alias = alias_tables(laws)
    for row, law in enumerate(laws):
        mass = accept[row] / 4
        np.add.at(mass, alias[row], (1 - accept[row]) / 4)
        np.testing.assert_allclose(mass, law, atol=1e-12)
