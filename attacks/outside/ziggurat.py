"""How many of numpy's standard normal draws lead from an answer to a release, float for float.

``Generator.standard_normal`` draws one of 256 layers and a whole number below 2^52, and returns
their product with the layer's width in parts of 2^52 (Marsaglia and Tsang, 2000, The ziggurat
method for generating random variables).
"""

from __future__ import annotations

import functools
import math
from collections import Counter

import numpy as np

from mechanisms.check import FloatArray

LAYERS = 256
PARTS = 2.0**52
MANY = 2048  # expected draws; more of them are as the law says
REACH = 30  # whole numbers of the narrowest layer between two floats; more are a continuum
ROWS = 1000  # at once
SAMPLES = 20_000


@functools.cache
def layer_widths() -> FloatArray:
    """Return numpy's widths of the layers in parts of 2^52, shape (256,), read off its draws.

    A draw that is accepted at once is its whole number times the width, so many draws of a layer
    agree in one width; others do not.
    """
    rng = np.random.default_rng(0)
    source = rng.bit_generator
    found: list[list[tuple[int, float]]] = [[] for _ in range(LAYERS)]
    for _ in range(SAMPLES):
        state = source.state
        raw = int(source.random_raw())
        source.state = state
        whole = (raw >> 9) & (2**52 - 1)
        drawn = abs(float(rng.standard_normal()))
        if whole > 2**48:
            found[raw & 0xFF].append((whole, drawn))
    widths = np.empty(LAYERS)
    for layer, draws in enumerate(found):
        rough = Counter(round(d / w * PARTS, 9) for w, d in draws).most_common(1)[0][0]
        agreed = [(w, d) for w, d in draws if round(d / w * PARTS, 9) == rough]
        near = agreed[0][1] / agreed[0][0]
        tried = near + np.spacing(near) * np.arange(-4, 5)
        hits = [sum(w * t == d for w, d in agreed) for t in tried]
        widths[layer] = tried[int(np.argmax(hits))]
    return widths


def normal_log_mass(releases: FloatArray, answers: FloatArray, deviation: float) -> FloatArray:
    """Log probability that ``fl(answer + fl(n deviation))`` is the release, up to a constant.

    Parameters
    ----------
    releases, answers : arrays that broadcast against each other
        In units of the query.
    deviation : float in (0, inf)

    Returns
    -------
    array of the common shape
        -inf where no draw leads from the answer to the release. In the tail, which is drawn in
        another way, and where draws are too many to be counted, the law's own density serves.
    """
    y, x = np.broadcast_arrays(releases, answers)
    shape, y, x = y.shape, y.ravel(), x.ravel()
    t = np.abs(y - x) / deviation
    # A draw has probability 2^-61: the density times the gap between floats is so many of them.
    density = np.exp(-(t**2) / 2) / math.sqrt(2 * math.pi) / deviation
    counts = density * np.spacing(np.abs(y)) * PARTS * LAYERS * 2
    gap = np.spacing(np.maximum(np.abs(y), np.abs(y - x)))
    widths = layer_widths()
    fine = gap / (deviation * widths.min()) < REACH
    which = np.flatnonzero((t < widths[1:].max() * PARTS) & (counts < MANY) & fine)
    for at in range(0, which.size, ROWS):
        part = which[at : at + ROWS]
        counts[part] = _counted(y[part], x[part], t[part], deviation)
    with np.errstate(divide="ignore"):
        return np.log(counts).reshape(shape)


def _counted(y: FloatArray, x: FloatArray, t: FloatArray, deviation: float) -> FloatArray:
    """Count the draws that lead from x to y, each by the share of it that is accepted."""
    widths = layer_widths()
    edges = widths * PARTS
    total = np.zeros(y.size)
    sign = np.where(y < x, -1.0, 1.0)
    outer = np.exp(-(edges**2) / 2)
    for layer in range(LAYERS):
        # Layer 0 is as wide as the widest and has the tail; the others lie on one another.
        inner = edges[LAYERS - 1] if layer == 0 else (0.0 if layer == 1 else edges[layer - 1])
        top = 1.0 if layer == 1 else outer[layer - 1]
        reach = int(np.ceil(np.spacing(np.abs(y).max()) / (deviation * widths[layer]))) + 3
        near = np.flatnonzero(t < (inner if layer == 0 else edges[layer]))
        whole = np.rint(t[near] / widths[layer])[:, None] + np.arange(-reach, reach + 1)
        drawn = sign[near, None] * (whole * widths[layer])
        reached = x[near, None] + drawn * deviation == y[near, None]
        reached &= (whole >= 0) & (whole < PARTS)
        share = np.ones(near.size)
        if layer > 0:
            wedge = (np.exp(-(t[near] ** 2) / 2) - outer[layer]) / (top - outer[layer])
            share = np.where(t[near] < inner, 1.0, np.clip(wedge, 0.0, 1.0))
        total[near] += reached.sum(axis=1) * share
    return total
