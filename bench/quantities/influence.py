"""Influence a(b) against the number b of entries set aside, for chains, processes and networks."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import ClassVar, Literal

import numpy as np

from bench.datasets.sequences.chains import ChainSource
from bench.datasets.source import DataAbsentError, DataError
from bench.datasets.table.label_option import label_text
from bench.datasets.table.opening import DAMAGED, open_unpacked
from mechanisms.base import NotApplicableError
from mechanisms.check import FloatArray, one_of, positive, whole
from mechanisms.influence.bayesian_network import greedy_network_curve
from mechanisms.influence.bif import parse_bif
from mechanisms.influence.binary_chain import binary_chain_curve, long_chain_curve
from mechanisms.influence.curve import InfluenceCurve
from mechanisms.influence.gaussian import observed_curve, process_covariance
from mechanisms.influence.markov import chain_curve
from mechanisms.influence.network import BayesianNetwork
from mechanisms.influence.truncated_gaussian import truncated_curve
from mechanisms.influence.uncertainty import UncertaintyOn, uncertain_curve, uncertainty_penalty
from mechanisms.privacy.bracket import Bracket

METRIC = "influence"


@dataclass(frozen=True, kw_only=True)
class ChainInfluence:
    """a(b) of a Markov chain, all positions and pairs of values.

    Parameters
    ----------
    source : ChainSource
    length : int or None
        Steps; None takes the lengths of the sequences the chain was fitted to.
    form : {"exact", "closed", "closed_long"}
        The general formula; the closed form of stationary two-state chains with its ends; the
        closed form far from the ends, as published. Closed forms are upper bounds where the
        chain alternates (negative eigenvalue), and the one far from the ends near them.
    uncertainty : float in [0, 1)
    uncertainty_on : {"joint", "conditional"}
    """

    metric: ClassVar[str] = METRIC
    source: ChainSource
    length: int | None = None
    form: Literal["exact", "closed", "closed_long"] = "exact"
    uncertainty: float = 0.0
    uncertainty_on: UncertaintyOn = "joint"

    def __post_init__(self) -> None:
        one_of("form", self.form, ("exact", "closed", "closed_long"))
        uncertainty_penalty(self.uncertainty, self.uncertainty_on)

    @property
    def digest(self) -> str:
        """Identity of chain and length; the word "absent" where the chain's file is."""
        try:
            return f"{self.source.digest} {max(self.source.lengths, default=0)}"
        except DataAbsentError:
            return "absent"

    @property
    def notes(self) -> tuple[str, ...]:
        """What was told while the chain's sequences were read."""
        return getattr(self.source, "notes", ())

    def curve(self, x: FloatArray) -> list[Bracket]:
        """Return a(b); not applicable where the recording is absent."""
        sizes = whole_sizes(x)
        try:
            chain, lengths = self.source.chain, self.source.lengths
        except DataAbsentError as error:
            raise NotApplicableError(str(error)) from error
        length = self.length or max(lengths, default=0)
        whole("length", length)
        if self.form == "exact":
            curve = chain_curve(chain, length, b_max=max(1, min(int(sizes.max()), length)))
        else:
            matrix = chain.transition
            if len(matrix) != 2 or chain.start != "stationary":
                raise NotApplicableError("the closed form is for stationary chains of two states")
            p, q = float(matrix[0, 0]), float(matrix[1, 1])
            closed = binary_chain_curve if self.form == "closed" else long_chain_curve
            curve = closed(p, q, length, b_max=max(1, int(sizes.max())))
        return points(curve, sizes, self.uncertainty, self.uncertainty_on)


@dataclass(frozen=True, kw_only=True)
class ProcessInfluence:
    """a(b) of a Gaussian process on n points with covariance ``exp(-(j - k)^2 / decay)``.

    Parameters
    ----------
    decay : float in (0, inf)
    n : int
    bound, width : float in (0, inf)
        Half width of the box, and length of a secret window.
    prior : {"observed", "truncated"}
        Untruncated prior whose kept coordinates lie in the box (the closed form, as plotted), or
        the prior truncated to the box, for which the closed form is sound at b = 1 only.
    """

    metric: ClassVar[str] = METRIC
    digest: ClassVar[str] = ""
    decay: float
    n: int = 21
    bound: float = 5.0
    width: float = 0.1
    prior: Literal["observed", "truncated"] = "observed"

    def __post_init__(self) -> None:
        positive("decay", self.decay, infinite=False)
        one_of("prior", self.prior, ("observed", "truncated"))

    def curve(self, x: FloatArray) -> list[Bracket]:
        """Return upper bounds on a(b)."""
        sizes, sigma = whole_sizes(x), process_covariance(self.n, self.decay)
        if self.prior == "truncated":
            curve = truncated_curve(sigma, bound=self.bound, width=self.width)
        else:
            b_max = max(1, min(int(sizes.max()), self.n))
            curve = observed_curve(sigma, bound=self.bound, width=self.width, b_max=b_max)
        return points(curve, sizes, 0.0, "joint")


@dataclass(frozen=True, kw_only=True)
class NetworkInfluence:
    """a(b) of a Bayesian network by the greedy upper bound.

    Parameters
    ----------
    path : str or None
        A .bif file (.gz and .zip allowed); None takes the embedded ALARM network (37 nodes).
    secrets : sequence of str, or None
        Nodes whose values are secret; None takes all.
    b_max : int
        Largest tabulated b; the curve is held from there to the number of nodes.
    beam : int
        Candidate sets kept at every size.
    uncertainty : float in [0, 1)
    uncertainty_on : {"joint", "conditional"}

    References
    ----------
    Beinlich, Suermondt, Chavez, Cooper (1989); bnlearn repository, CC BY-SA 3.0.
    """

    metric: ClassVar[str] = METRIC
    path: str | None = None
    secrets: Sequence[str | int | bool] | None = None
    b_max: int = 37
    beam: int = 4
    uncertainty: float = 0.0
    uncertainty_on: UncertaintyOn = "joint"

    def __post_init__(self) -> None:
        whole("beam", self.beam)
        whole("b_max", self.b_max)
        uncertainty_penalty(self.uncertainty, self.uncertainty_on)

    @cached_property
    def _content(self) -> bytes:
        if self.path is None:
            packed = resources.files("bench.datasets") / "data" / "alarm.bif.gz"
            return gzip.decompress(packed.read_bytes())
        try:
            with open_unpacked(self.path) as file:
                return file.read()
        except DataError:
            raise
        except DAMAGED as error:
            raise DataError(f"{self.path} is damaged: {error}.") from error

    @property
    def digest(self) -> str:
        """The sha256 of the unpacked file; a file that does not parse is refused here."""
        self.network  # noqa: B018  (computed once, kept)
        return hashlib.sha256(self._content).hexdigest()

    @cached_property
    def network(self) -> BayesianNetwork:
        """The network; refuses text that does not parse."""
        name, content = self.path or "alarm.bif", self._content
        try:
            return parse_bif(content.decode("utf-8-sig"))
        except (ValueError, UnicodeDecodeError) as error:
            raise DataError(f"{name} is not a network in BIF: {error}") from error

    @property
    def _secrets(self) -> list[str] | None:
        """The nodes as the file names them."""
        if self.secrets is None:
            return None
        return [label_text("secrets", name) for name in self.secrets]

    def curve(self, x: FloatArray) -> list[Bracket]:
        """Return upper bounds on a(b)."""
        sizes = whole_sizes(x)
        b_max = max(1, min(int(sizes.max()), self.b_max))
        curve = greedy_network_curve(
            self.network, secrets=self._secrets, b_max=b_max, beam=self.beam
        )
        return points(curve, sizes, self.uncertainty, self.uncertainty_on)


def whole_sizes(x: FloatArray) -> np.ndarray:
    """Return b as whole numbers of at least 0."""
    for b in x.tolist():
        if b < 0 or b != round(b):
            raise ValueError(f"x must hold whole numbers of at least 0, got {b:g}.")
    return x.astype(np.int64)


def points(
    curve: InfluenceCurve, sizes: np.ndarray, uncertainty: float, uncertainty_on: UncertaintyOn
) -> list[Bracket]:
    """Return the curve at some sizes; beyond the number of entries it is 0."""
    if uncertainty:
        curve = uncertain_curve(curve, uncertainty, uncertainty_on)
    return [_bracket(curve.at(int(b)), curve.direction) for b in sizes]


def _bracket(value: float, direction: str) -> Bracket:
    return Bracket(value if direction == "exact" else 0.0, value)
