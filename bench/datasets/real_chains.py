"""Chains fitted to public recordings: household power, careers and daily activities.

None of the files is embedded; they are looked for where they are said to be.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

import bench
from bench.datasets.chains import chain_digest
from bench.datasets.source import DataAbsentError, DataError
from mechanisms.check import positive, whole
from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.fit import SMOOTHING, FittedChain, fit_chain

DEVELOPMENT_DATA = Path(bench.__file__).parents[2] / "shared" / "data"


@dataclass(frozen=True, kw_only=True)
class Recording:
    """A chain fitted to a public recording; subclasses say how it is read.

    Parameters
    ----------
    path : str or None
        The file; None looks beside the checkout, in ``../shared/data``.
    smoothing : float in [0, 1)
        Mass given to every transition that was never seen.
    """

    path: str | None = None
    smoothing: float = SMOOTHING
    synthetic = False

    def where(self) -> Path:
        """Return where the file is looked for unless a path is given."""
        raise NotImplementedError

    def read(self, content: bytes) -> list[Sequence[Hashable]]:
        """Return the label sequences of the file's content."""
        raise NotImplementedError

    @cached_property
    def sequences(self) -> list[Sequence[Hashable]]:
        """The label sequences; refuse a file that is not there or not in its format."""
        path = self.where() if self.path is None else Path(self.path)
        if not path.is_file():
            kind = DataAbsentError if self.path is None else DataError
            raise kind(f"no file {path}: give its path.")
        content = path.read_bytes()
        try:
            return self.read(gzip.decompress(content) if path.suffix == ".gz" else content)
        except DataError:
            raise
        except (ValueError, KeyError, OSError, pd.errors.ParserError) as error:
            raise DataError(f"{path} is not in its published format: {error}.") from error

    @cached_property
    def fitted(self) -> FittedChain:
        """The fit over all sequences."""
        states = sorted({label for sequence in self.sequences for label in sequence})  # type: ignore[type-var]
        return fit_chain(self.sequences, states, smoothing=self.smoothing)

    @property
    def chain(self) -> MarkovChain:
        """The fitted chain, started from its stationary law."""
        return self.fitted.chain

    @property
    def states(self) -> tuple[str, ...]:
        """Labels of the states."""
        return tuple(str(state) for state in self.fitted.states)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Length of each sequence."""
        return tuple(len(sequence) for sequence in self.sequences)

    @property
    def digest(self) -> str:
        """Hash of the fitted chain."""
        return chain_digest(self.chain)


@dataclass(frozen=True, kw_only=True)
class HouseholdPower(Recording):
    """Power of one household in steps of minutes, cut into equal intervals.

    Lines ``minute TAB kilowatts``; 0 marks a missing minute, which breaks the sequence.

    Parameters
    ----------
    width : float in (0, inf)
        Kilowatts a state; 0.2 in Song, Wang, Chaudhuri (2017), Section 5.
    minutes : int
        Minutes a step; the first reading of each step counts.

    References
    ----------
    Hebrail and Berard (2012), UCI Machine Learning Repository, CC BY 4.0.
    """

    width: float = 0.2
    minutes: int = 1

    def __post_init__(self) -> None:
        positive("width", self.width, infinite=False)
        whole("minutes", self.minutes)

    def where(self) -> Path:
        """Return the path beside the checkout."""
        return DEVELOPMENT_DATA / "household_power" / "global_active_power_first45036.tsv.gz"

    def read(self, content: bytes) -> list[Sequence[Hashable]]:
        """Return the unbroken runs of states."""
        rows = [line.split("\t") for line in content.decode().splitlines() if line.strip()]
        power = np.array([float(kilowatts) for _, kilowatts in rows])[:: self.minutes]
        runs = np.split(power, np.flatnonzero(power == 0))
        states = [(run[run > 0] // self.width).astype(int).tolist() for run in runs]
        return [run for run in states if run]


@dataclass(frozen=True, kw_only=True)
class Careers(Recording):
    """Monthly states of 712 school leavers, July 1993 to June 1999 (mvad).

    CSV with a header, one row a person, 72 columns ``Jul.93`` to ``Jun.99``.

    References
    ----------
    McVicar and Anyadike-Danes (2002).
    """

    def where(self) -> Path:
        """Return the path beside the checkout."""
        return DEVELOPMENT_DATA / "har_labels" / "traminer" / "mvad.csv.gz"

    def read(self, content: bytes) -> list[Sequence[Hashable]]:
        """Return one sequence a person."""
        table = pd.read_csv(io.BytesIO(content), dtype=str, na_filter=False)
        if not {"Jul.93", "Jun.99"} <= set(table.columns):
            raise ValueError("no columns Jul.93 to Jun.99")
        months = table.columns.slice_indexer("Jul.93", "Jun.99")
        return table.iloc[:, months].to_numpy().tolist()


@dataclass(frozen=True, kw_only=True)
class DailyActivities(Recording):
    """Activities at home, one after the other, of one of five homes.

    Lines ``start TAB seconds TAB activity`` in order of time; a change of activity is a step.

    Parameters
    ----------
    house : {"A", "B", "C", "D", "E"}

    References
    ----------
    Van Kasteren et al. (2008); Tapia, Intille, Larson (2004).
    """

    house: str = "A"

    def __post_init__(self) -> None:
        if self.house not in ("A", "B", "C", "D", "E"):
            raise ValueError(f"house must be one of A, B, C, D, E, got house={self.house!r}.")

    def where(self) -> Path:
        """Return the path beside the checkout."""
        return DEVELOPMENT_DATA / "har_labels" / "adl_houses" / f"house{self.house}.activities"

    def read(self, content: bytes) -> list[Sequence[Hashable]]:
        """Return one sequence."""
        rows = [line.split("\t") for line in content.decode().splitlines() if line.strip()]
        return [[int(activity) for _, _, activity in rows]]
