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

The recipe and the generator that wrote the counts are in `tests/support/synthetic_walks.py`.
"""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass
from functools import cached_property
from importlib import resources

import numpy as np

from bench.datasets.checkins.checkin_labels import common_labels
from bench.datasets.sequences.sequence_statistics import SequenceStatistics, Steps, check_steps

FILES = {"all": "synthetic_checkins.csv.gz", "changes": "synthetic_checkins_changes.csv.gz"}
NOTE = "SYNTHETIC population: no real check-in is in it"


def synthetic_countries(size: int = 77) -> tuple[str, ...]:
    """Return country codes: "NA" first, then codes that stand for no country in particular."""
    letters = [a + b for a in "XQZ" for b in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
    return ("NA", *letters)[:size]


@dataclass(frozen=True, kw_only=True)
class SyntheticCheckIns:
    """The embedded counts of the population.

    Parameters
    ----------
    steps : {"all", "changes"}
        Every check-in is a step, or only a change of label.
    """

    steps: Steps = "all"

    synthetic = True

    def __post_init__(self) -> None:
        check_steps(self.steps)

    @cached_property
    def sequence_statistics(self) -> SequenceStatistics:
        """The population's statistics."""
        file = resources.files("bench.datasets") / "data" / FILES[self.steps]
        return from_text(gzip.decompress(file.read_bytes()).decode())


def from_text(text: str) -> SequenceStatistics:
    """Read lines of counts, each named in its first field, with this population's names."""
    parts: dict[str, list[np.ndarray]] = {}
    for line in io.StringIO(text):
        name, _, numbers = line.partition(",")
        parts.setdefault(name, []).append(np.array(numbers.split(","), dtype=np.int64))
    values, counts = parts["lengths"]
    return SequenceStatistics(
        states=common_labels(),
        groups=synthetic_countries(),
        transitions=np.stack(parts["transitions"]),
        training=np.stack(parts["training"]),
        query=np.stack(parts["query"]),
        lengths=np.repeat(values, counts),
        notes=(NOTE,),
    )
