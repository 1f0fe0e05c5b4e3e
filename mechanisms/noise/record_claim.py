"""What the noise alone guarantees when records of the release are replaced."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np

from mechanisms.base import Mechanism
from mechanisms.check import FloatArray
from mechanisms.noise.additive import AdditiveNoise, NoiseLaw
from mechanisms.noise.gaussian import GaussianNoise
from mechanisms.noise.noise_sum import NoiseSum
from mechanisms.privacy.assumptions import (
    Assumptions,
    Condition,
    Neighbours,
    Priors,
    Public,
    Secrets,
)
from mechanisms.privacy.guarantee import Guarantee, NoClaim
from mechanisms.privacy.indistinguishability import Approximate
from mechanisms.privacy.slack import widened

THEOREM = "the noise at the worst corner of the records' box, and coupling (joint quasi-convexity)"
MOST_CORNERS = 12


def claim_from_noise(
    mechanism: Mechanism, moves: FloatArray, replaced: int, *, n_releases: int, delta: float,
    from_laws: bool, unit: str = "record",
) -> Guarantee | NoClaim:  # fmt: skip
    """Return what additive noise guarantees for databases that differ in `replaced` records.

    It follows for every pair of secrets whose databases couple within so many replacements. What
    the mechanism claims about other secrets plays no part.

    Parameters
    ----------
    mechanism : Mechanism
    moves : array of shape (m,)
        Largest change of each statistic when one record is replaced, in units of the query.
    replaced : int
    n_releases : int
        Of one answer.
    delta : float in [0, 1)
    from_laws : bool
        Whether the scale was calibrated to laws of the answer: the claim then takes them to be
        public, which laws that were read off the protected records are not.
    unit : str

    Notes
    -----
    The loss grows convexly with the move, so that the largest is at a corner of the box. Laplace
    noise: ``k sum_j moves_j / b_j``; Gaussian noise: exact at the corner of largest distance.
    """
    if mechanism.is_noiseless if isinstance(mechanism, AdditiveNoise) else True:
        return NoClaim(reason="without additive noise nothing is claimed about single records")
    assert isinstance(mechanism, AdditiveNoise)
    if moves.size > MOST_CORNERS:
        return NoClaim(reason=f"a box of more than {MOST_CORNERS} statistics has too many corners")
    signs = np.array(list(product((-1.0, 1.0), repeat=moves.size - 1)))
    corners = replaced * moves * np.column_stack([np.ones(len(signs)), signs])
    if isinstance(mechanism.noise, GaussianNoise) and delta == 0:
        return NoClaim(reason="Gaussian noise bounds no largest ratio: it needs a delta above 0")
    noise = exact_at_every_epsilon(mechanism.noise)
    slack = mechanism.slack(n_releases)  # of a grid, if releases lie on one
    bound = noise.shift_epsilon(corners, math.exp(-slack) * delta, n_releases)
    if bound == math.inf:
        return NoClaim(reason="the noise spares directions in which a record moves the answer")
    found = Guarantee(
        notion=Approximate(delta=delta),
        bound=bound,
        theorem=THEOREM,
        assumptions=Assumptions(
            secrets=Secrets.DATABASES,
            neighbours=Neighbours(relation="replace", unit=unit, size=replaced),
            priors=Priors.LAWS if from_laws else Priors.ANY,
            public=(Public.SIZE, Public.LAWS) if from_laws else (Public.SIZE,),
            conditions=(Condition.REAL_NUMBERS,),
        ),
    )
    return widened(found, slack)


def exact_at_every_epsilon(noise: NoiseLaw) -> NoiseLaw:
    """Return the noise with its Gaussian part read exactly.

    The classical constant is proved for epsilon <= 1 alone, which the claim here may exceed.
    """
    if isinstance(noise, GaussianNoise):
        return replace(noise, calibration="analytic")
    if isinstance(noise, NoiseSum):
        return replace(noise, model=exact_at_every_epsilon(noise.model))
    return noise
