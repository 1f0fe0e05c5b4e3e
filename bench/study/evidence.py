"""The evidence of a played cell: exact comparisons of its pairs, and tests of its attacks."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bench.metrics.base import Scored
from bench.metrics.roc import pair_scores
from bench.scenarios.base import HasUnpooledLaws, K, has_new_data
from bench.scenarios.recorded import HasEstimates
from bench.study.game import Game
from bench.study.ledger import Counts, counted
from bench.study.on_records import OnRecords, on_records
from mechanisms.base import HasLeakage, Mechanism, NotOfferedError
from mechanisms.check import Array
from mechanisms.laws.answer import AnswerLaw
from mechanisms.leakage.independent import IndependentReleases
from mechanisms.leakage.pair import PairLeakage
from mechanisms.noise.rank import spared
from mechanisms.privacy.assumptions import Assumptions, Priors
from mechanisms.privacy.bracket import NotComputable, NotComputableError
from mechanisms.privacy.guarantee import Guarantee
from mechanisms.privacy.notion import PairEvidence, PairNotion

NO_RECORDS = "worlds are drawn from the model, not from records"
NOTHING_TOLD = "there is no exact number on records, and no attack that could tell"
NO_PAIR = "the scenario has no pair of secrets to tell apart"
CONTINUOUS = "under a continuous model of records"


@dataclass(frozen=True, kw_only=True)
class CellEvidence:
    """All that notions may read of a played cell (see `mechanisms.privacy.notion.PlayedCell`).

    Parameters
    ----------
    game : Game
    scored : mapping of attack to one Scored a repetition
    lead : PairNotion
        Chooses the threshold of every test; other notions read the same counts.
    """

    game: Game
    scored: Mapping[str, list[Scored]]
    lead: PairNotion

    @property
    def mechanism(self) -> Mechanism:
        """The calibrated mechanism."""
        return self.game.mechanism

    @property
    def n_releases(self) -> int:
        """How many releases of one answer the attacker sees."""
        return self.game.n_releases

    @property
    def answers(self) -> Array:
        """The exact answers of the fresh worlds."""
        return self.game.worlds("test").answers

    @property
    def database(self) -> Array | None:
        """Their records, where the scenario draws any."""
        return self.game.worlds("test").database

    @property
    def releases(self) -> Array:
        """What the mechanism released in them; refused where these are not of those answers."""
        if self.n_releases > 1 and has_new_data(self.game.scenario):
            raise NotComputableError("releases of new data have no one answer to belong to")
        return self.game.releases("test")

    def knowledge(self, kind: type[K]) -> K:
        """Return a typed fact of the scenario, or raise NotOfferedError with the reason."""
        return self.game.scenario.knowledge(kind)

    @functools.cached_property
    def pairs(self) -> PairEvidence:
        """What is known about the secret pairs, under the scenario's model."""
        compared, reason = compare_pairs(self.game, self.game.laws())
        return PairEvidence(
            compared=tuple(compared),
            reason=reason,
            tests={label: self._tests(games) for label, games in self.scored.items()},
            ways=max(1, len(self.scored) * len(self.game.names.pairs)),
        )

    @functools.cached_property
    def unpooled(self) -> PairEvidence | None:
        """The comparisons under each secret's own law, where the scenario knows it."""
        if not isinstance(self.game.scenario, HasUnpooledLaws):
            return None
        own = self.game.scenario.unpooled_law
        laws = tuple(own(s) for s in range(len(self.game.names.secrets)))
        compared, reason = compare_pairs(self.game, laws)
        return PairEvidence(compared=tuple(compared), reason=reason)

    @functools.cached_property
    def doubt(self) -> str:
        """Which directions the noise spares, under a continuous model of records, or no text."""
        game = self.game
        found = spared(game.mechanism, game.laws() or ())
        if game.scenario.worlds_from_model or not found:
            return ""
        return f"{found}, {CONTINUOUS}"

    def model_alone(self, claim: object, *, told: bool, counted: bool) -> str:
        """Return why the model alone proves what it proves of a claim, or no text.

        Parameters
        ----------
        claim : Guarantee, NoClaim or NotComparable
            One for every prior needs no model.
        told : bool
            Whether an attack or an exact number beyond the model's could have told otherwise.
        counted : bool
            Whether the exact number on records is known.
        """
        scenario = self.game.scenario
        assumed = claim.assumptions if isinstance(claim, Guarantee) else Assumptions()
        if self.doubt or scenario.synthetic:
            return self.doubt
        if assumed.priors == Priors.ANY:
            return ""
        if isinstance(scenario, HasEstimates) and scenario.estimated:
            return scenario.estimated
        if scenario.worlds_from_model:
            return "" if counted else NO_RECORDS
        return "" if told else NOTHING_TOLD

    def on_records(self, notion: PairNotion) -> OnRecords | NotComputable | None:
        """Return the notion's exact number on the scenario's records."""
        return on_records(self.game, notion, self.doubt)

    def _tests(self, games: list[Scored]) -> tuple[Counts, ...]:
        """Count one test a pair, repetitions pooled.

        Pooled counts belong to the attacker who picks a repetition at random; their law is a sum
        of binomials, less spread than the binomial that Clopper-Pearson assumes (Hoeffding, 1956).
        """
        pairs = self.game.names.pairs
        ways = len(self.scored) * len(pairs)
        found = []
        for pair in pairs:
            fresh = [pair_scores(g.secret, g.score, pair) for g in games]
            held = [pair_scores(g.holdout_secret, g.holdout_score, pair) for g in games]
            label, odds = (np.concatenate(part) for part in zip(*fresh, strict=True))
            held_label, held_odds = (np.concatenate(part) for part in zip(*held, strict=True))
            found.append(counted(label, odds, (held_label, held_odds), self.lead, ways))
        return tuple(found)


def compare_pairs(game: Game, laws: tuple[AnswerLaw, ...] | None) -> tuple[list[PairLeakage], str]:
    """Return the exact comparison of every pair under `laws`, or the reason why there is none."""
    if not game.names.pairs:
        return [], NO_PAIR
    if laws is None:
        return [], _why_no_laws(game)
    if not isinstance(game.mechanism, HasLeakage):
        return [], "the mechanism's release law has no known form"
    new = has_new_data(game.scenario)
    together = 1 if new else game.n_releases
    try:
        found = [game.mechanism.leakage(laws[i], laws[j], together) for i, j in game.names.pairs]
        return [IndependentReleases(p, game.n_releases) for p in found] if new else found, ""
    except NotComputableError as error:
        return [], str(error)


def _why_no_laws(game: Game) -> str:
    try:
        game.require_laws()
    except NotOfferedError as reason:
        return str(reason)
    return "the scenario offers no answer law"
