"""Synthetic populations: users who walk through labels as Markov chains, one law a group.

`RECIPE` is the population whose counts are embedded (`bench.datasets.checkins.synthetic_checkins`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bench.datasets.activities.synthetic_activities import alias_tables
from bench.datasets.checkins.checkin_labels import common_labels
from bench.datasets.checkins.synthetic_checkins import synthetic_countries
from bench.datasets.sequences.sequence_statistics import SequenceStatistics, Steps, check_steps
from mechanisms.check import FloatArray, IntArray, positive, whole, within
from mechanisms.influence.chain import stationary_law

DAYS = 532


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A population, drawn from its parameters and a seed alone.

    Parameters
    ----------
    states, groups : tuple of str
    users : int
    mean_length : float in (1, inf)
        Mean number of entries a user.
    length_spread : float in (0, inf)
        Standard deviation of the log of a user's length.
    label_exponent : float
        Popularity of the i-th label falls like ``i ** -exponent``.
    group_exponent : float
        So do the users of the i-th group.
    group_spread : float
        Standard deviation of the log of a label's popularity between groups.
    affinity : float
        Standard deviation of the log of a step's weight between labels, the same in all groups.
    stay : pair of float in [0, 1)
        Smallest and largest probability that a step repeats the label, label by label.
    training, query : float in [0, 1]
        Shares of a user's entries, in order of time; the rest comes after both and is dropped.
    seed : int
    """

    states: tuple[str, ...]
    groups: tuple[str, ...]
    users: int
    mean_length: float
    length_spread: float
    label_exponent: float
    group_exponent: float
    group_spread: float
    affinity: float
    stay: tuple[float, float]
    training: float
    query: float
    seed: int

    def __post_init__(self) -> None:
        whole("users", self.users, low=len(self.groups))
        within("mean_length", self.mean_length, 1, np.inf, ends="()")
        positive("length_spread", self.length_spread, infinite=False)
        within("training + query", self.training + self.query, 0, 1)

    def chains(self, rng: np.random.Generator) -> FloatArray:
        """Return the transition matrix of every group, shape (groups, k, k)."""
        k, g = len(self.states), len(self.groups)
        world = rng.permutation(-self.label_exponent * np.log(np.arange(1, k + 1)))
        steps = self.affinity * rng.standard_normal((k, k))
        stay = rng.uniform(*self.stay, size=k)
        local = world + self.group_spread * rng.standard_normal((g, k))
        weights = np.exp(local[:, None, :] + steps)
        moves = weights / weights.sum(axis=-1, keepdims=True)
        return stay[:, None] * np.eye(k) + (1 - stay[:, None]) * moves

    def people(self, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Return group and length of every user, the longest first."""
        share = np.arange(1.0, len(self.groups) + 1) ** -self.group_exponent
        everywhere = np.arange(len(self.groups))  # no group is empty
        rest = rng.choice(share.size, size=self.users - share.size, p=share / share.sum())
        group = rng.permutation(np.concatenate([everywhere, rest]))
        centre = np.log(self.mean_length) - self.length_spread**2 / 2
        drawn = np.exp(centre + self.length_spread * rng.standard_normal(self.users))
        length = np.maximum(1, np.rint(drawn)).astype(np.int64)
        order = np.argsort(-length, kind="stable")
        return group[order], length[order]


RECIPE = Recipe(
    states=common_labels(),
    groups=synthetic_countries(),
    users=266_909,
    mean_length=33_278_683 / 266_909,
    length_spread=1.0,
    label_exponent=0.6,
    group_exponent=1.0,
    group_spread=0.85,
    affinity=0.5,
    stay=(0.1, 0.4),
    training=400 / DAYS,
    query=100 / DAYS,
    seed=20130916,
)


def walks(recipe: Recipe) -> tuple[IntArray, IntArray, Iterator[IntArray]]:
    """Return group and length of every user, and an iterator over steps.

    The t-th item holds the t-th label of the users that have one: a beginning of the users, who
    are ordered by length.
    """
    rng = np.random.default_rng(recipe.seed)
    chains = recipe.chains(rng)
    group, length = recipe.people(rng)
    return group, length, _steps(chains, group, length, rng)


def _steps(
    chains: FloatArray, group: IntArray, length: IntArray, rng: np.random.Generator
) -> Iterator[IntArray]:
    g, k, _ = chains.shape
    accept, alias = alias_tables(chains.reshape(g * k, k))
    start = alias_tables(np.stack([stationary_law(chain) for chain in chains]))
    state = _draw(*start, group, rng)
    for step in range(int(length[0])):
        active = int(np.searchsorted(-length, -step, side="left"))
        state = state[:active]
        yield state
        state = _draw(accept, alias, group[:active] * k + state, rng)


def _draw(accept: FloatArray, alias: IntArray, row: IntArray, rng: np.random.Generator) -> IntArray:
    k = accept.shape[1]
    place = rng.random(row.size) * k
    column = place.astype(np.int64)
    keep = place - column < accept[row, column]
    return np.where(keep, column, alias[row, column])


def statistics_of_walks(recipe: Recipe, steps: Steps = "all") -> SequenceStatistics:
    """Walk all users and count: the first part trains, the second is queried.

    With ``steps="changes"`` a label that repeats the one before in its part is no entry.
    """
    check_steps(steps)
    group, length, walk = walks(recipe)
    rng = np.random.default_rng([recipe.seed, 1])
    # Entries fall on either part at random, as check-ins at uniform times do.
    trained = rng.binomial(length, recipe.training)
    queried = rng.binomial(length - trained, recipe.query / (1 - recipe.training))
    k, g = len(recipe.states), len(recipe.groups)
    transitions = np.zeros(k * k, dtype=np.int64)
    counts = np.zeros((2, g * k), dtype=np.int64)
    lengths = np.zeros_like(length)
    before = np.zeros(0, dtype=np.int64)
    for step, state in enumerate(walk):
        n = state.size
        training = step < trained[:n]
        query = ~training & (step < (trained + queried)[:n])
        if steps == "changes" and step:
            kept = (state != before[:n]) | (step == trained[:n])
            training, query = training & kept, query & kept
        lengths[:n] += query
        cell = group[:n] * k + state
        counts[0] += np.bincount(cell[training], minlength=g * k)
        counts[1] += np.bincount(cell[query], minlength=g * k)
        if step:
            code = before[:n] * k + state
            transitions += np.bincount(code[training], minlength=k * k)
        before = state
    return SequenceStatistics(
        states=recipe.states,
        groups=recipe.groups,
        transitions=transitions.reshape(k, k),
        training=counts[0].reshape(g, k),
        query=counts[1].reshape(g, k),
        lengths=lengths[lengths > 0],
    )


def to_text(statistics: SequenceStatistics) -> str:
    """Return the statistics as comma-separated lines of counts, each named in its first field."""
    values, counts = np.unique(statistics.lengths, return_counts=True)
    parts = [("transitions", statistics.transitions), ("training", statistics.training),
             ("query", statistics.query), ("lengths", np.stack([values, counts]))]  # fmt: skip
    lines = [f"{name},{','.join(map(str, row))}" for name, rows in parts for row in rows.tolist()]
    return "\n".join(lines) + "\n"
