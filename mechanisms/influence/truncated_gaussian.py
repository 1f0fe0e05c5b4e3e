"""Influence of Gaussian priors truncated to a box, secrets being windows of one coordinate.

The closed form of `mechanisms.influence.gaussian` covers this prior for one coordinate set aside.
For more it proves *nothing*: it ignores that the other coordinates set aside are truncated too,
and the truth can lie far above it (197.2 against 122.6 nats for three coordinates at decay 5).
Here is a sound but flat curve (the tests compute the influence of single sets by quadrature).
"""

from __future__ import annotations

from mechanisms.check import FloatArray
from mechanisms.influence.curve import InfluenceCurve
from mechanisms.influence.gaussian import observed_curve


def truncated_curve(covariance: FloatArray, *, bound: float, width: float) -> InfluenceCurve:
    """Return an upper bound on the curve of the prior truncated to [-bound, bound]^n.

    Parameters
    ----------
    covariance, bound, width
        As in `mechanisms.influence.gaussian.observed_curve`.

    Returns
    -------
    InfluenceCurve
        The closed form at b = 1, held for every b from 2 to n - 1, where no closed form is sound.

    Notes
    -----
    With x_i alone set aside, truncation leaves the odds given the kept coordinates as they are
    and multiplies the prior odds by P[others in the box | x_i], which falls with |x_i| (Anderson
    1955) and is equal at both ends of the box. So the closed form is an upper bound, exact where
    its best window is at the end, as for equal variances.
    """
    curve = observed_curve(covariance, bound=bound, width=width, b_max=1)
    return InfluenceCurve(values=curve.values, entries=curve.entries, direction="upper bound")
