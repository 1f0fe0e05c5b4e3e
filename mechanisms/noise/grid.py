"""Continuous noise in floating point, snapped: answer and noise are rounded to a grid together.

Added as it comes, float noise names the answer in the last bits: only some floats can be
``x + z``, and which ones depends on x (Mironov, 2012, On significance of the least significant
bits for differential privacy). Here the sum is rounded to whole steps, each of which collects
billions of numpy's draws, so that every step is reachable from every answer with the
probability that the law gives it, but for a factor within ``exp(+-SLACK)``. The answer's
remainder beside the grid is added before rounding: the release is that of real arithmetic,
rounded, which is post-processing, and nothing else is to be claimed for it.
"""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

import numpy as np

from mechanisms.check import FloatArray, IntArray

Arithmetic = Literal["snapped", "float"]
ARITHMETICS = ("snapped", "float")

BLOCK = 8192  # numbers at once
BITS = 10  # a step is at least 2^-10 of the noise's size, and less than twice that
LAPLACE_TAIL = 3.0  # scales: numpy's inversion is fine enough up to here
NORMAL_TAIL = 3.65  # deviations: inside the layers of numpy's ziggurat, which end at 3.654
DRAWS = 2.0**53

# Laplace: numpy maps 2^53 equally likely numbers to draws, at least 2^37.7 of them to a step
# within 3 scales: a count is off by at most 2, a factor of exp(2^-36.7). Beyond, draws are refined
# by 53 bits more. Normal: 2^40 numbers of every layer fall into a step, and the tail is sampled
# by exponential draws that are refined so.
SLACK = 2.0**-36


@runtime_checkable
class HasGrid(Protocol):
    """A noise law that can be released on a grid."""

    @property
    def step(self) -> FloatArray | None:
        """Step of each coordinate, shape (m,); None where the noise spares a direction."""

    def release_on_grid(self, x: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return ``(n_trials, m)`` answers plus noise, rounded to multiples of the steps."""


def steps_for(sizes: FloatArray) -> FloatArray:
    """Return ``2^(ceil(log2 size) - 10)``: steps fine enough to change no figure.

    Examples
    --------
    >>> (steps_for(np.array([1.0, 1.5, 200.0])) * 2.0**10).tolist()
    [1.0, 2.0, 256.0]
    """
    mantissa, exponent = np.frexp(sizes)
    return np.ldexp(1.0, exponent - (mantissa == 0.5) - BITS)


def rounded_sum(x: FloatArray, noise: FloatArray, size: FloatArray, step: FloatArray) -> FloatArray:
    """Return ``x + size * noise`` rounded to multiples of `step`, halves to even.

    Parameters
    ----------
    x : array of shape (n, m)
    noise : array of shape (n, m)
        Standard noise. It is overwritten.
    size : array of shape (m,)
        Of the noise, in units of the query.
    step : array of shape (m,)
        Powers of two.

    Notes
    -----
    Dividing by a power of two is exact, and so is the remainder: x's last bits do not decide how
    the noise is rounded. An answer beyond 2^53 steps is a multiple of the step itself; the float
    sum is then a function of the exact one.
    """
    rows = max(1, BLOCK // step.size)
    answers, sums = np.ascontiguousarray(x).reshape(-1), noise.reshape(-1)
    if (step == step[0]).all() and (size == size[0]).all():
        steps, sizes = step[:1], size[:1]
    else:
        steps, sizes = np.tile(step, rows), np.tile(size, rows)
    inverse, sizes = 1 / steps, sizes / steps
    # A few numbers at a time, which stay in the cache through all of it.
    for start in range(0, sums.size, rows * step.size):
        part = sums[start : start + rows * step.size]
        beside = answers[start : start + part.size] * inverse[: part.size]
        whole = np.rint(beside)
        beside -= whole
        part *= sizes[: part.size]
        part += beside
        np.rint(part, out=part)
        part += whole
        part *= steps[: part.size]
    return sums.reshape(noise.shape)


def standard_laplace(shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Draw standard Laplace noise, as fine in its tails as in the middle.

    Beside the last digits of its tails it is what numpy draws: what refines them is taken from a
    generator of its own.
    """
    z = rng.laplace(size=shape)
    flat = z.reshape(-1)
    far = _beyond(flat, LAPLACE_TAIL)
    if far.size:
        flat[far] = _refined(flat[far], rng.spawn(1)[0])
    return z


def _refined(z: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw between each of numpy's draws, all in the tails, and the next one.

    numpy's draw k of 2^53 is ``-log(g 2^-53)`` with g = 2, 4, 6, ... towards the middle; on the
    positive side g is off by 1 where it is 2 mod 4, a rounding towards multiples of 8. The law
    itself has any number from g - 2 to g; below the last of them it starts afresh.
    """
    g = np.rint(DRAWS * np.exp(-np.abs(z))).astype(np.int64)
    g += np.where(g % 8 == 1, 1, 0) - np.where(g % 8 == 7, 1, 0)
    size = -np.log((g - 2 * rng.random(z.size)) / DRAWS)
    last = np.flatnonzero(g <= 2)
    if last.size:
        size[last] = np.log(DRAWS / 2) + exponential(last.size, rng)
    return np.copysign(size, z)


def exponential(n: int, rng: np.random.Generator) -> FloatArray:
    """Draw n standard exponential numbers, as fine in the tail as in the middle."""
    return np.abs(standard_laplace((n,), rng))


def standard_normal(shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Draw standard normal noise, as fine in its tails as in the middle.

    Beside its tails it is what numpy draws.
    """
    z = rng.standard_normal(shape)
    flat = z.reshape(-1)
    far = _beyond(flat, NORMAL_TAIL)
    if far.size:
        flat[far] = np.copysign(_normal_tail(far.size, rng.spawn(1)[0]), flat[far])
    return z


def _beyond(z: FloatArray, limit: float) -> IntArray:
    """Return where flat numbers are at least as large as the limit, on either side."""
    found = [
        start + np.flatnonzero(np.abs(z[start : start + BLOCK]) >= limit)
        for start in range(0, z.size, BLOCK)
    ]
    return np.concatenate(found) if found else np.empty(0, dtype=np.int64)


def _normal_tail(n: int, rng: np.random.Generator) -> FloatArray:
    """Draw n standard normal numbers beyond the tail's start a, by rejection.

    With ``t ~ Exp(a)``, ``a + t`` is kept with probability ``exp(-t^2 / 2)`` (Marsaglia, 1964).
    """
    drawn = np.empty(n)
    left = np.arange(n)
    while left.size:
        t = exponential(left.size, rng) / NORMAL_TAIL
        kept = 2 * exponential(left.size, rng) >= t**2
        drawn[left[kept]] = NORMAL_TAIL + t[kept]
        left = left[~kept]
    return drawn
