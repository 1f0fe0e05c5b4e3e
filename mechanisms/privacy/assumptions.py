"""What a guarantee assumes, as values: two guarantees are comparable where these agree."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from mechanisms.check import whole

Relation = Literal["none", "add or remove", "replace"]
RELATIONS = ("none", "add or remove", "replace")


class Secrets(StrEnum):
    """What must not be told apart."""

    DATABASES = "neighbouring databases"
    VALUES = "values of a secret, each with a prior of the database given it"
    DISTRIBUTIONS = "distributions of the database"


class Priors(StrEnum):
    """Over which beliefs about the data the guarantee holds."""

    ANY = "any prior"
    LAWS = "the answer's laws as given"
    CHAINS = "the chains in Theta"
    CURVE = "the priors of the influence curve"


class Condition(StrEnum):
    """What the proof of a guarantee takes for granted, beyond its definition."""

    SMALL_EPSILON = "proved for epsilon <= 1"
    TRANSLATIONS = "each pair's answers are translations of each other"
    GAUSSIAN_ANSWERS = "answers are Gaussian"
    EQUAL_COVARIANCE = "answers have equal covariance inside each pair"
    CONTINUOUS_ANSWERS = "answers are continuous: they do not lie on a lattice"
    WITHIN_RADIUS = "answers stay within the given radius"
    NEAR_MODEL = "the answers' true laws are as near to the model as stated"
    USERS_INDEPENDENT = "users are independent of each other under every prior"
    REAL_NUMBERS = "floating-point sampling stands for the continuous law"
    SNAPPED = "releases lie on a grid whose probabilities are right to a factor of e^(2^-36)"


class Public(StrEnum):
    """What the guarantee takes to be known to everybody, and does not protect."""

    SIZE = "the number of units is public"
    LAWS = "the laws that calibrate the noise are public, not read off the protected records"
    PRIORS = "the class of priors that calibrates the noise is public"


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """Which databases are neighbours.

    Parameters
    ----------
    relation : {"none", "add or remove", "replace"}
        "none" where the secrets are no neighbouring databases.
    unit : str
        What is added, removed or replaced: "record", "entry", "user".
    size : int
        How many of them at once: the k of group privacy.
    """

    relation: Relation = "none"
    unit: str = ""
    size: int = 1

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            raise ValueError(
                f"relation must be one of {', '.join(RELATIONS)}, got relation={self.relation!r}."
            )
        whole("size", self.size)
        if (self.relation == "none") != (self.unit == ""):
            raise ValueError("a relation between neighbours needs the unit that it moves.")

    def __str__(self) -> str:
        """Return the relation in words."""
        if self.relation == "none":
            return ""
        many = f"{self.unit[:-1]}ies" if self.unit.endswith("y") else f"{self.unit}s"
        moved = f"one {self.unit}" if self.size == 1 else f"a group of {self.size} {many}"
        return f"{self.relation} {moved}"


NONE = Neighbours()


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """What a guarantee is about, and what it assumes.

    Parameters
    ----------
    secrets : Secrets
    neighbours : Neighbours
    priors : Priors, or a class in words
    public : tuple of str
        Facts that are not protected.
    conditions : tuple of Condition, or conditions in words
        Under which the theorem was proved.
    """

    secrets: Secrets | str = Secrets.VALUES
    neighbours: Neighbours = NONE
    priors: Priors | str = Priors.LAWS
    public: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return all of it in words."""
        parts = [f"secrets: {self.secrets}"]
        if self.neighbours != NONE:
            parts.append(f"neighbours: {self.neighbours}")
        parts.append(f"priors: {self.priors}")
        return "; ".join([*parts, *self.public, *(f"condition: {c}" for c in self.conditions)])
