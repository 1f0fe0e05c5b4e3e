"""The answer behind a noisy release: noise taken off by what the lattice leaves possible."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from attacks.base import UnsupportedMechanismError
from attacks.outside.lattice import Lattice
from attacks.outside.list_decoder import ListDecoder
from mechanisms.check import BoolArray, FloatArray, IntArray
from mechanisms.noise.rank import noised_directions

RANKS = 2  # that enumeration reaches
CANDIDATES = 250_000  # of one release
CHUNK = 100_000  # numbers at once: what fits a fast cache
STEEP = 1e-3  # least share of a noised direction that enumerated coordinates must carry
FLOATS = 1e-14  # of a release's size: what is left of it by float arithmetic


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decoder:
    """Estimate answers ``f`` from releases ``y = f + Z``, rounded or not: the posterior mean.

    The prior is Gaussian, restricted to the lattice. Noise of rank r leaves m - r combinations of
    the answer untouched. With r coordinates fixed to values of their lattices the other ones
    follow from these combinations; a wrong guess leaves them off their lattices. So every value of
    r coordinates is tried, the rest is set to the nearest point of the lattice, and each candidate
    weighs ``exp(-J)``, J half the squared distance in noise, in rounding and in the prior. Without
    rounding the right candidate weighs all. Where r is larger, or the candidates too many, or noise
    of full rank is small in some direction, the likeliest points are listed instead
    (`ListDecoder`). Where too many points are likely, or rounding is as coarse as the lattices,
    the mean is the linear one.

    Parameters
    ----------
    lattice : Lattice
    mean, spread : arrays of shape (m,) and (m, m)
        Of the prior; `spread` is positive definite.
    noise : array of shape (m, m)
        Covariance of the noise of one release.
    rounding : float in [0, inf)
        Step of the grid that releases are rounded to.
    """

    lattice: Lattice
    mean: FloatArray
    spread: FloatArray
    noise: FloatArray
    rounding: float = 0.0

    def estimate(self, releases: FloatArray) -> FloatArray:
        """Return the posterior means, shape (n, m), of ``(n, k, m)`` releases, averaged over k."""
        k = releases.shape[1]
        y = releases.mean(axis=1)
        values, vectors, rank = noised_directions(self.noise / k)
        values[: values.size - rank] = 0.0
        # A rounding error is uniform on a step; that of floats grows with the release.
        largest = float(np.linalg.eigvalsh(self.spread + self.noise)[-1])
        size = float(np.abs(self.mean).max()) + 10 * largest**0.5
        error = self.rounding**2 / 12 / k + (FLOATS * size) ** 2
        variances = values + error
        fixed = self.enumerated()
        if fixed is not None:
            root = vectors / np.sqrt(variances)
            step = max(1, CHUNK // (self.candidates(fixed) * self.mean.size))
            parts = [self._posterior(y[i : i + step], fixed, root) for i in range(0, len(y), step)]
            return np.concatenate(parts)
        if rank > 0 and self._coarse().any():
            found = ListDecoder(
                lattice=self.lattice, mean=self.mean, spread=self.spread, variances=variances,
                vectors=vectors,
            ).estimate(y)  # fmt: skip
            if found is not None:
                return found
        total = self.spread + self.noise / k + error * np.eye(self.mean.size)
        return self.mean + (y - self.mean) @ np.linalg.solve(total, self.spread)

    def enumerated(self) -> IntArray | None:
        """Return the coordinates whose values are tried, None where a list or a line serves.

        Raises
        ------
        UnsupportedMechanismError
            If too few coordinates have a lattice.
        """
        size = self.mean.size
        _, vectors, rank = noised_directions(self.noise)
        if rank in (0, size):
            return None
        without = np.flatnonzero(self.lattice.step == 0)
        if size - without.size <= rank:
            raise UnsupportedMechanismError(
                f"noise of rank {rank} is taken off {rank + 1} coordinates that lie on lattices, "
                f"got {size - without.size}: shadow answers of {without.tolist()} have no step"
            )
        usable = np.flatnonzero(self._coarse())
        if rank > RANKS or usable.size <= rank:
            return None
        noised = vectors[:, size - rank :]
        choices = [
            np.array(c)
            for c in itertools.combinations(usable, rank)
            if np.linalg.svd(noised[list(c)], compute_uv=False)[-1] > STEEP
        ]
        fewest = min(choices, key=self.candidates, default=None)
        return None if fewest is None or self.candidates(fewest) > CANDIDATES else fewest

    def _coarse(self) -> BoolArray:
        """Whether each coordinate's lattice is coarser than rounding, which else drowns it."""
        return self.lattice.step > (1 + 1e-9) * self.rounding

    def candidates(self, fixed: IntArray) -> int:
        """Return how many values the coordinates `fixed` take together."""
        return int(np.prod(self.lattice.counts[fixed]))

    def _posterior(self, y: FloatArray, fixed: IntArray, root: FloatArray) -> FloatArray:
        """Weigh every candidate of ``(n, m)`` releases and return their mean, shape (n, m)."""
        size = self.mean.size
        prior = np.linalg.inv(np.linalg.cholesky(self.spread)).T
        precision = root @ root.T + prior @ prior.T
        pull = root @ (root.T @ y.T) + (prior @ (prior.T @ self.mean))[:, None]
        grid = np.meshgrid(*(self.lattice.values(k) for k in fixed), indexing="ij")
        f = np.empty((size, len(y), grid[0].size))  # coordinates first: long rows are fast
        f[fixed] = np.stack([values.ravel() for values in grid])[:, None]

        def follow(wanted: IntArray, known: IntArray) -> None:
            """Set some coordinates of f to their conditional mean given the known ones."""
            inverse = np.linalg.inv(precision[np.ix_(wanted, wanted)])
            across = np.tensordot(inverse @ precision[np.ix_(wanted, known)], f[known], axes=1)
            f[wanted] = (inverse @ pull[wanted])[:, :, None] - across

        others = np.setdiff1d(np.arange(size), fixed)
        coarse = self._coarse()[others]
        on_lattice, rest = others[coarse], others[~coarse]
        follow(others, fixed)
        f[on_lattice] = self.lattice.nearest(f[on_lattice], on_lattice)
        if rest.size:
            follow(rest, np.append(fixed, on_lattice))
        away = np.tensordot(root.T, y.T[:, :, None] - f, axes=1)
        unlikely = np.tensordot(prior.T, f - self.mean[:, None, None], axes=1)
        distance = np.einsum("mnc,mnc->nc", away, away) + np.einsum(
            "mnc,mnc->nc", unlikely, unlikely
        )
        return np.einsum("nc,mnc->nm", softmax(-distance / 2, axis=1), f)
