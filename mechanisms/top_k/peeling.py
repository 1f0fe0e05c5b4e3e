"""Private rankings: one category after the other, without replacement."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from scipy.special import log_softmax

from mechanisms.base import Sees
from mechanisms.check import Array, FloatArray, IntArray, one_of, positive, whole
from mechanisms.influence.claim import EntryClaim
from mechanisms.laws.answer import AnswerLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.finite_channel import channel_pair
from mechanisms.leakage.integer_grid import CELLS
from mechanisms.leakage.pair import PairLeakage
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.guarantee import Guarantee, NoClaim
from mechanisms.top_k.ranking import largest

Selection = Literal["gumbel", "peeled", "permute_and_flip"]
SELECTIONS = ("gumbel", "peeled", "permute_and_flip")
Composition = Literal["per_pick", "joint"]
COMPOSITIONS = ("per_pick", "joint")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PeeledRanking:
    """Release k categories, each picked among those that are left with per-entry epsilon e.

    With counts c, of which an entry moves one up by 1 and one down by 1:

    - ``"peeled"``: k runs of the exponential mechanism, weights ``exp(e c / 2)``;
    - ``"gumbel"``: one ranking by ``c + Gumbel(2 / e)``, equal to ``"peeled"`` in law
      (Yellott 1977; Durfee and Rogers 2019, Lemma 4.2);
    - ``"permute_and_flip"``: k runs of permute-and-flip, each the largest of
      ``c + Exponential(2 / e)`` (McKenna and Sheldon 2020; Ding et al. 2021, Theorem 5).

    Counts are not monotone in an entry's value, so the factor 2 stays. The picks together cost

    - ``composition="per_pick"``: ``epsilon = k e``, basic composition, as published;
    - ``composition="joint"``: ``epsilon = (k + 1) e / 2``. The logarithm of a ranking's
      probability is the sum of ``e c / 2`` over what is shown, in which the two moved counts give
      at most ``e / 2`` together, plus one term a pick that moves by at most ``e / 2``: for
      exponential picks less the logarithm of the sum of the weights that are left; for
      permute-and-flip ``log h(c)``, where ``P(i | left) = exp(e c_i / 2) h(c)`` with h
      nonincreasing in every count and ``h(c + 1) = exp(-e / 2) h(c)`` where all counts rise.

    Parameters
    ----------
    selection : {"gumbel", "peeled", "permute_and_flip"}
    k : int
    epsilon : float in (0, inf)
        Total per-entry epsilon of the k picks.
    candidates : array of int
        Coordinates of the answer that may be picked.
    sensitivity : float in (0, inf)
        Largest change of a count when one entry is replaced.
    claim : EntryClaim
    """

    sees: ClassVar[Sees] = "answers"
    selection: Selection
    k: int
    epsilon: float
    candidates: IntArray
    sensitivity: float
    claim: EntryClaim
    composition: Composition = "per_pick"

    def __post_init__(self) -> None:
        check_selection(self.selection)
        check_composition(self.composition)
        positive("epsilon", self.epsilon, infinite=False)
        positive("sensitivity", self.sensitivity, infinite=False)
        if whole("k", self.k) > len(self.candidates):
            raise ValueError(
                f"k must be at most the {len(self.candidates)} categories, got k={self.k}."
            )

    @property
    def scale(self) -> float:
        """Scale of a pick's Gumbel or exponential noise, in units of the counts."""
        shares = 2 * self.k if self.composition == "per_pick" else self.k + 1
        return self.sensitivity * shares / self.epsilon

    @property
    def guarantee(self) -> Guarantee | NoClaim:
        """What one ranking guarantees."""
        return self.claim.of_entries(self.epsilon)

    def repeated_guarantee(self, n_releases: int) -> Guarantee | NoClaim:
        """Return what several rankings of one answer guarantee together."""
        return self.claim.of_entries(n_releases * self.epsilon)

    def split_among(self, n_releases: int) -> PeeledRanking:
        """Share the per-entry epsilon among releases: a(b) is paid once for all of them."""
        return replace(self, epsilon=self.epsilon / n_releases)

    def release(self, x: Array, rng: np.random.Generator) -> IntArray:
        """Release rankings ``(..., k)`` of answers ``(..., m)``."""
        logits = np.asarray(x, dtype=np.float64)[..., self.candidates] / self.scale
        if self.selection == "gumbel":
            # -log of an exponential variable is a Gumbel variable.
            noisy = logits - np.log(rng.standard_exponential(logits.shape))
            return self.candidates[largest(noisy, self.k)]
        picked = np.empty((*logits.shape[:-1], self.k), dtype=np.int64)
        left = logits.copy()
        for rank in range(self.k):
            if self.selection == "peeled":
                chosen = _inverse_draw(left, rng)
            else:
                chosen = (left + rng.standard_exponential(left.shape)).argmax(axis=-1)
            picked[..., rank] = chosen
            np.put_along_axis(left, chosen[..., None], -np.inf, axis=-1)
        return self.candidates[picked]

    def log_density(self, releases: Array, answers: Array) -> FloatArray:
        """Log probability of rankings ``(n, 1, k)`` given answers ``(1, a, m)``, shape (n, a)."""
        code = np.argsort(self.candidates)
        picks = code[np.searchsorted(self.candidates[code], np.asarray(releases)[:, 0])]
        channel = self.channel(answers[0], picks)
        return channel.T

    def channel(self, answers: Array, picks: IntArray) -> FloatArray:
        """Return the log probability of each ranking given each answer.

        Parameters
        ----------
        answers : array of shape (a, m)
        picks : array of shape (n, k)
            Rankings, as positions among the candidates.

        Returns
        -------
        array of shape (a, n)
        """
        logits = np.asarray(answers, dtype=np.float64)[:, self.candidates] / self.scale
        law = _permute_and_flip_law if self.selection == "permute_and_flip" else _softmax_law
        total = np.zeros((len(logits), len(picks)))
        prefixes, of = np.unique(picks[:, : self.k - 1], axis=0, return_inverse=True)
        for number, prefix in enumerate(prefixes):
            rows = np.flatnonzero(of.ravel() == number)
            left = logits.copy()
            before = np.zeros(len(logits))
            for chosen in prefix:
                before = before + law(left)[:, chosen]
                left[:, chosen] = -np.inf
            total[:, rows] = before[:, None] + law(left)[:, picks[rows, -1]]
        return total

    def leakage(self, first: AnswerLaw, second: AnswerLaw, n_releases: int) -> PairLeakage:
        """Compare the ranking laws under two finite answer laws, ranking by ranking."""
        if not (isinstance(first, FiniteLaw) and isinstance(second, FiniteLaw)):
            raise NotComputableError("rankings are listed for finitely many answers only")
        size = len(self.candidates)
        atoms = max(first.weights.size, second.weights.size)
        if math.perm(size, self.k) * atoms > CELLS:
            raise NotComputableError(
                f"{math.perm(size, self.k)} rankings of {atoms} answers are too many to list"
            )
        picks = all_rankings(size, self.k)
        one, other = ((law, self.channel(law.atoms, picks)) for law in (first, second))
        return channel_pair(one, other, n_releases)


def check_composition(composition: str) -> None:
    """Refuse an unknown composition."""
    one_of("composition", composition, COMPOSITIONS)


def check_selection(selection: object) -> None:
    """Refuse a selection that does not exist."""
    one_of("selection", selection, SELECTIONS)


def all_rankings(size: int, k: int) -> IntArray:
    """Return every ordered choice of k of `size` positions, shape (n, k)."""
    grid = np.indices((size,) * k).reshape(k, -1).T
    distinct = np.sort(grid, axis=1)
    return grid[(distinct[:, 1:] != distinct[:, :-1]).all(axis=1)]


def _inverse_draw(logits: FloatArray, rng: np.random.Generator) -> IntArray:
    """Draw one position a row with probability proportional to ``exp(logits)``."""
    mass = np.exp(logits - logits.max(axis=-1, keepdims=True)).cumsum(axis=-1)
    point = rng.random((*logits.shape[:-1], 1)) * mass[..., -1:]
    # The first position whose cumulative mass exceeds the point: never one of mass 0.
    return (mass > point).argmax(axis=-1)


def _softmax_law(logits: FloatArray) -> FloatArray:
    return log_softmax(logits, axis=-1)


def _permute_and_flip_law(logits: FloatArray) -> FloatArray:
    """Return the log probabilities of permute-and-flip, exact for weights ``exp(logit - max)``.

    With arrival times t uniform on [0, 1], position i wins if its coin shows heads and every
    position before it showed tails: ``p_i * integral of prod over j != i of (1 - p_j t)``, a
    polynomial of degree m - 1 that Gauss-Legendre quadrature integrates exactly. All terms are
    positive, so small probabilities keep their relative accuracy.
    """
    log_heads = logits - logits.max(axis=-1, keepdims=True)
    heads = np.exp(log_heads)
    nodes, weights = np.polynomial.legendre.leggauss(logits.shape[-1] // 2 + 1)
    tails = np.log1p(-heads[..., None] * (nodes + 1) / 2)
    others = tails.sum(axis=-2, keepdims=True) - tails
    return log_heads + np.log((np.exp(others) * weights / 2).sum(axis=-1))
