"""A synthetic stand-in for the 33 million Foursquare check-ins, embedded as counts.

The parameters were fixed from published facts before any mechanism was run on the population:

- 266,909 users with 33,278,683 check-ins in 77 countries over about 532 days, April 2012 to
  September 2013 (Yang, Zhang, Qu 2016), of which days 1 to 400 train and days 401 to 500 are
  queried (Bai et al. 2026, Section 7.1.4), hence the two shares of a user's check-ins;
- a mean of 125 check-ins a user with a wide spread: log-normal, deviation 1 in the log;
- 77 labels and "Other" (Bai et al. 2026, Appendix D.3), popularity falling like a power law;
- strong self-transitions: a check-in repeats the label of the one before with probability .1 to
  .4, label by label;
- the spread of labels between countries is set so that the training top 3 of all countries is
  right in about 18.6 % of the places (Bai et al. 2026, Section 7.1.5).
"""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass
from functools import cached_property
from importlib import resources

import numpy as np

from bench.datasets.checkins.checkin_labels import common_labels
from bench.datasets.sequences.sequence_statistics import SequenceStatistics, Steps, known_steps
from bench.datasets.sequences.synthetic_walks import Recipe

FILES = {"all": "synthetic_checkins.csv.gz", "changes": "synthetic_checkins_changes.csv.gz"}
DAYS = 532
NOTE = "SYNTHETIC population: no real check-in is in it"


def made_up_countries(size: int = 77) -> tuple[str, ...]:
    """Return country codes: "NA" first, then codes that stand for no country in particular."""
    letters = [a + b for a in "XQZ" for b in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
    return ("NA", *letters)[:size]


RECIPE = Recipe(
    states=common_labels(),
    groups=made_up_countries(),
    users=266_909,
    mean_length=33_278_683 / 266_909,
    length_spread=1.0,
    label_exponent=0.6,
    group_exponent=1.0,
    group_spread=0.85,
    affinity=0.5,
    stay=(0.1, 0.4),
    training=400 / DAYS,
    query=100 / DAYS,
    seed=20130916,
)


@dataclass(frozen=True, kw_only=True)
class SyntheticCheckIns:
    """The embedded counts of the population that `RECIPE` describes.

    Parameters
    ----------
    steps : {"all", "changes"}
        Every check-in is a step, or only a change of label.
    """

    steps: Steps = "all"

    synthetic = True

    def __post_init__(self) -> None:
        known_steps(self.steps)

    @cached_property
    def sequence_statistics(self) -> SequenceStatistics:
        """The population's statistics."""
        file = resources.files("bench.datasets") / "data" / FILES[self.steps]
        return from_text(gzip.decompress(file.read_bytes()).decode())


def to_text(statistics: SequenceStatistics) -> str:
    """Return the statistics as comma-separated lines of counts, each named in its first field."""
    values, counts = np.unique(statistics.lengths, return_counts=True)
    parts = [("transitions", statistics.transitions), ("training", statistics.training),
             ("query", statistics.query), ("lengths", np.stack([values, counts]))]  # fmt: skip
    lines = [f"{name},{','.join(map(str, row))}" for name, rows in parts for row in rows.tolist()]
    return "\n".join(lines) + "\n"


def from_text(text: str) -> SequenceStatistics:
    """Return the statistics that `to_text` wrote, with the names of `RECIPE`."""
    parts: dict[str, list[np.ndarray]] = {}
    for line in io.StringIO(text):
        name, _, numbers = line.partition(",")
        parts.setdefault(name, []).append(np.array(numbers.split(","), dtype=np.int64))
    values, counts = parts["lengths"]
    return SequenceStatistics(
        states=RECIPE.states,
        groups=RECIPE.groups,
        transitions=np.stack(parts["transitions"]),
        training=np.stack(parts["training"]),
        query=np.stack(parts["query"]),
        lengths=np.repeat(values, counts),
        notes=(NOTE,),
    )
