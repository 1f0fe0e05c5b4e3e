"""Integrals and maxima of functions given by their logarithm, with a bound on every panel."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mechanisms.check import BoolArray, FloatArray, IntArray

# Gauss (7 points) and Kronrod (15 points) rules on [-1, 1] (Piessens et al. 1983, QUADPACK).
_NODES = np.array(
    [
        0.991455371120812639206854697526329,
        0.949107912342758524526189684047851,
        0.864864423359769072789712788640926,
        0.741531185599394439863864773280788,
        0.586087235467691130294144691693013,
        0.405845151377397166906606412076961,
        0.207784955007898467600689403773245,
        0.0,
    ]
)
_KRONROD = np.array(
    [
        0.022935322010529224963732008058970,
        0.063092092629978553290700663189204,
        0.104790010322250183839876322541518,
        0.140653259715525918745189590510238,
        0.169004726639267902826583426598550,
        0.190350578064785409913256402421014,
        0.204432940075298892414161999234649,
        0.209482141084727828012999174891714,
    ]
)
_GAUSS = np.array(
    [
        0.129484966168869693270611432679082,
        0.279705391489276667901467771423780,
        0.381830050505118944950369775488975,
        0.417959183673469387755102040816327,
    ]
)
_X = np.concatenate([-_NODES, _NODES[-2::-1]])
_K = np.concatenate([_KRONROD, _KRONROD[-2::-1]])
_G = np.zeros(15)
_G[1::2] = np.concatenate([_GAUSS, _GAUSS[-2::-1]])

_MAX_ROUNDS = 200
_MAX_PANELS = 100_000  # halved at once; a table of counts needs a few hundred
_MAX_UNDECIDED = 20_000
GAUSSIAN_SPACING = 0.5  # deviations between anchors under Gaussian noise
_TOLERANCE = 1e-11  # Gauss against Kronrod; the latter is far closer than their difference
_ABSOLUTE = 1e-13  # the same, where the panel is a small share of the total
_NEGLIGIBLE = 1e-14  # share of the total below which a panel is left alone
_RESOLVED = 12.0  # log of the largest factor by which a settled panel may exceed its samples

# A position is an anchor (index of a knot) and an offset from it, so that no digits are lost
# where the knots are far apart in units of the noise.
LogFunction = Callable[[IntArray, FloatArray], FloatArray]


class PanelBound(Protocol):
    """What is known of a log integrand over each panel."""

    def __call__(
        self, anchor: IntArray, low: FloatArray, high: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return an upper bound, tight as panels shrink, and the rounding noise of its values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panels:
    """Intervals ``[low, high]`` of offsets from the knot with index `anchor`."""

    anchor: IntArray
    low: FloatArray
    high: FloatArray

    def halved(self, keep: BoolArray) -> Panels:
        """Return the two halves of each panel that `keep` selects."""
        anchor, low, high = self.anchor[keep], self.low[keep], self.high[keep]
        middle = (low + high) / 2
        if 2 * len(anchor) > _MAX_PANELS:
            raise ArithmeticError(f"more than {_MAX_PANELS} panels would be needed.")
        return Panels(
            anchor=np.concatenate([anchor, anchor]),
            low=np.concatenate([low, middle]),
            high=np.concatenate([middle, high]),
        )


def panels(knots: FloatArray, *, reach: float = 0.0, spacing: float = 0.0) -> Panels:
    """Return panels from each knot halfway to its neighbours, and `reach` beyond the last ones.

    Beyond the outermost knots the panels double in length. With `spacing`, where knots are no
    kinks, one knot in each interval of that length is enough.
    """
    index = np.arange(len(knots))
    if spacing > 0:
        _, index = np.unique(np.floor((knots - knots[0]) / spacing), return_index=True)
        index = np.union1d(index, [len(knots) - 1])
    half = np.diff(knots[index]) / 2
    anchor = [index[:-1], index[1:]]
    low, high = [np.zeros_like(half), -half], [half, np.zeros_like(half)]
    if reach > 0:
        doubling = 2.0 ** np.arange(0.0, max(1.0, math.log2(reach)))
        outer = np.concatenate([[0.0], doubling, [max(reach, 2.0)]])
        anchor += [np.full(len(outer) - 1, index[0]), np.full(len(outer) - 1, index[-1])]
        low += [-outer[1:], outer[:-1]]
        high += [-outer[:-1], outer[1:]]
    return Panels(anchor=np.concatenate(anchor), low=np.concatenate(low), high=np.concatenate(high))


def log_integral(log_f: LogFunction, bound: PanelBound, over: Panels) -> float:
    """Return the log of the integral of ``exp(log_f)`` over the panels.

    Panels are halved until each is negligible by its upper bound, or both the 7- and 15-point
    rules agree to 1e-11 and the bound shows that no peak hides between the nodes.

    Parameters
    ----------
    log_f : callable
        Vectorised in (anchor, offset); -inf is allowed. Smooth inside panels.
    bound : callable
        Upper bound on `log_f` over each panel, and the rounding noise that both rules share.
    over : Panels
    """
    settled = -math.inf
    for _ in range(_MAX_ROUNDS):
        if len(over.anchor) == 0:
            return settled
        half, middle = (over.high - over.low) / 2, (over.high + over.low) / 2
        offsets = (middle[:, None] + half[:, None] * _X).ravel()
        values = log_f(np.repeat(over.anchor, 15), offsets).reshape(-1, 15)
        top = values.max(axis=1)
        terms = np.exp(values - np.where(np.isfinite(top), top, 0.0)[:, None])
        with np.errstate(divide="ignore"):
            logs = top + np.log(half * (terms @ _K))
            ceiling, noise = bound(over.anchor, over.low, over.high)
            most = ceiling + np.log(2 * half)
        total = float(np.logaddexp(settled, np.logaddexp.reduce(logs)))
        error = np.abs(terms @ (_K - _G)) / np.maximum(terms @ _K, 1e-300)
        share = np.exp(np.minimum(most - max(total, -1e300), 0.0)) * len(half)
        agreed = error <= np.maximum(_TOLERANCE + noise, _ABSOLUTE / np.maximum(share, 1e-300))
        tiny = share <= _NEGLIGIBLE
        # Where noise is all there is, no halving helps.
        resolved = (ceiling <= top + _RESOLVED) | (noise > 0.1)
        done = tiny | (half == 0) | (agreed & resolved)
        settled = float(np.logaddexp(settled, np.logaddexp.reduce(logs[done], initial=-np.inf)))
        over = over.halved(~done)
    raise ArithmeticError(f"the integral did not settle in {_MAX_ROUNDS} halvings.")


def supremum(
    f: LogFunction,
    bound: Callable[[IntArray, FloatArray, FloatArray], FloatArray],
    over: Panels,
    *,
    gap: float,
) -> float:
    """Return an upper bound on the supremum of f over the panels.

    Within `gap`, unless more than 20,000 panels stay undecided: a looser bound then.
    """
    best = float(f(over.anchor, over.low).max())
    for _ in range(_MAX_ROUNDS):
        bounds = bound(over.anchor, over.low, over.high)
        above = bounds > best + gap
        if not above.any():
            break
        if above.sum() > _MAX_UNDECIDED:
            return float(bounds.max())
        over = over.halved(above)
        best = max(best, float(f(over.anchor, over.low).max()))
    return best + gap
