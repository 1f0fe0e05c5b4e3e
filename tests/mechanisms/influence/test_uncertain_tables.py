"""Several users under an uncertain prior: which table is bounded decides what remains."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from bench.datasets.sequences.chains import GivenChain
from bench.scenarios.chain_count import ChainCount
from mechanisms.influence.calibrate import InfluenceLaplace
from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.curve import independence
from mechanisms.influence.knowledge import ChainKnowledge, CurveKnowledge
from mechanisms.influence.markov import chain_curve
from mechanisms.influence.markov_quilt import composed_epsilon, exact_scale
from mechanisms.influence.quilt import MarkovQuiltLaplace
from mechanisms.influence.uncertainty import uncertain_curve, uncertainty_penalty
from mechanisms.knowledge import Sensitivity
from mechanisms.privacy.assumptions import Condition
from mechanisms.privacy.budget import Epsilon

SPREAD = 0.2
BINARY = np.array([[0.6, 0.4], [0.2, 0.8]])


def extreme(law, factor, largest, reading):
    """Return the largest (smallest) mean of `factor` over priors within 1 +- SPREAD of `law`.

    Joint: the mass of the secret is free, so every table between the bounds is normalised.
    Conditional: tables between the bounds that sum to 1.
    """
    order = np.argsort(-factor if largest else factor)
    q, f = law[order], factor[order]
    if reading == "joint":
        # Linear-fractional: extreme at a threshold of the factor.
        weights = np.where(np.tri(len(f) + 1, len(f), -1), 1 + SPREAD, 1 - SPREAD) * q
        means = weights @ f / weights.sum(axis=1)
        return means.max() if largest else means.min()
    weights, left = (1 - SPREAD) * q, SPREAD
    for i in range(len(f)):
        added = min(left, 2 * SPREAD * q[i])
        weights[i], left = weights[i] + added, left - added
    return weights @ f


def loss_of_fourteen(epsilon, reading):
    """The count of 14 fair bits of one user each, Laplace noise of per-entry epsilon, far out."""
    others = np.arange(14)
    law, factor = binom.pmf(others, 13, 0.5), np.exp(epsilon * others)
    high, low = (extreme(law, factor, side, reading) for side in (True, False))
    return epsilon + math.log(high / low)


def loss_of_pairs(per_entry, reading):
    """The count of ones in 8 chains of 2 entries, the first entry of the first one secret."""
    chain = MarkovChain(transition=BINARY)
    start = chain.first_law
    pair = {0: 0.0, 1: 0.0, 2: 0.0}
    for x, y in product((0, 1), repeat=2):
        pair[x + y] += start[x] * BINARY[x, y]
    seven = np.array([1.0])
    for _ in range(7):
        seven = np.convolve(seven, [pair[0], pair[1], pair[2]])
    laws = {s: np.convolve(seven, BINARY[s]) for s in (0, 1)}
    factor = np.exp(per_entry * np.arange(16))
    up = extreme(laws[1], factor, True, reading) / extreme(laws[0], factor, False, reading)
    down = extreme(laws[0], 1 / factor, True, reading) / extreme(
        laws[1], 1 / factor, False, reading
    )
    return per_entry + max(math.log(up), math.log(down))


def test_the_worst_prior_of_fourteen_users_breaks_the_claim_of_users_who_may_be_tied():
    """14 x 1 entries, t = .2: the claim of .4 holds for independent users only."""
    claimed = uncertain_curve(independence(1), SPREAD).pufferfish_epsilon(0.4)
    assert claimed == pytest.approx(0.4)
    assert loss_of_fourteen(0.4, "joint") == pytest.approx(0.6288, abs=5e-5)
    assert loss_of_fourteen(0.4, "conditional") == pytest.approx(0.6153, abs=5e-5)
    for reading in ("joint", "conditional"):
        whole = uncertain_curve(independence(1), SPREAD, reading, database=14)
        assert loss_of_fourteen(0.4, reading) <= whole.pufferfish_epsilon(0.4)
        assert whole.at(13) == pytest.approx(uncertainty_penalty(SPREAD, reading))
        assert whole.at(14) == 0.0


def test_the_worst_prior_of_eight_pairs_breaks_the_claim_of_users_who_may_be_tied():
    """8 x 2 entries, P = (.6, .8): .8470 for a claim of .8, 2.0113 for a claim of 2."""
    own = chain_curve(MarkovChain(transition=BINARY), 2)
    for claim, loss in ((0.8, 0.8470), (2.0, 2.0113)):
        per_entry = claim / 2
        assert uncertain_curve(own, SPREAD).pufferfish_epsilon(per_entry) == pytest.approx(claim)
        assert loss_of_pairs(per_entry, "joint") == pytest.approx(loss, abs=1e-4)
        assert loss_of_pairs(per_entry, "joint") > claim
        whole = uncertain_curve(own, SPREAD, database=16)
        assert loss_of_pairs(per_entry, "joint") <= whole.pufferfish_epsilon(per_entry)
        assert "the table of the whole database" in whole.assumption


def test_points_below_a_user_are_the_same_in_both():
    curve = chain_curve(MarkovChain(transition=BINARY), 30)
    own, whole = (uncertain_curve(curve, SPREAD, database=d) for d in (None, 300))
    for b in range(1, 30):
        assert own.at(b) == whole.at(b)
    assert own.at(30) == 0.0
    assert whole.at(30) == whole.at(299) == pytest.approx(uncertainty_penalty(SPREAD))
    assert uncertain_curve(curve, SPREAD, database=30).at(30) == 0.0
    with pytest.raises(ValueError, match="database must be a whole number of at least 30"):
        uncertain_curve(curve, SPREAD, database=12)


def test_quilts_of_the_whole_database_agree_with_the_curve():
    chains = [MarkovChain(transition=BINARY)]
    penalty = uncertainty_penalty(SPREAD)
    curve = uncertain_curve(chain_curve(chains[0], 30), SPREAD, database=300)
    for epsilon in (0.5, 1.0, 4.0):
        scale = exact_scale(chains, 30, epsilon, uncertainty_penalty=penalty, database=300)
        assert 1 / scale == pytest.approx(curve.budget(epsilon).total, rel=1e-9)
        joint = composed_epsilon(chains, 30, 1 / scale, uncertainty_penalty=penalty, database=300)
        assert joint == pytest.approx(epsilon, rel=1e-9)
    # Below the penalty only group privacy of all 300 entries remains, not of one user's 30.
    assert exact_scale(chains, 30, 0.5, uncertainty_penalty=penalty, database=300) == 600
    assert exact_scale(chains, 30, 0.5, uncertainty_penalty=penalty) == 60


def test_claims_say_which_table_is_bounded_and_what_users_are():
    count = Sensitivity(l1=1.0, l2=1.0, unit="entry", size=6, dimension=1)
    told = {}
    for table in ("user", "database"):
        scenario = ChainCount(
            source=GivenChain(transition=BINARY.tolist()), length=6, users=4, counted="1",
            uncertainty=SPREAD, uncertainty_table=table,
        )  # fmt: skip
        for calibration, kind in (
            (InfluenceLaplace(), CurveKnowledge),
            (MarkovQuiltLaplace(), ChainKnowledge),
        ):
            mechanism = calibration.calibrate(
                scenario.knowledge(kind), count, budget=Epsilon(epsilon=2.0)
            )
            told[table, kind] = mechanism.guarantee.assumptions.conditions
    for kind in (CurveKnowledge, ChainKnowledge):
        assert any("each user's own table" in c for c in told["user", kind])
        assert Condition.USERS_INDEPENDENT in told["user", kind]
        assert any("the table of the whole database" in c for c in told["database", kind])
        assert Condition.USERS_INDEPENDENT not in told["database", kind]
    with pytest.raises(ValueError, match="uncertainty_table must be 'user' or 'database'"):
        ChainCount(
            source=GivenChain(transition=BINARY.tolist()), counted="1", uncertainty_table="group"
        )
