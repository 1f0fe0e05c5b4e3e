"""Chains fitted to public recordings, none of them embedded: power, careers, daily activities."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bench.datasets.activities.home_files import FOLDER, name_of, read_home
from bench.datasets.activities.mvad import careers, read_mvad
from bench.datasets.sequences.chains import chain_digest, never_left_notes
from bench.datasets.sequences.public_part import PublicPart, codes_of
from bench.datasets.source import DataError, locate
from bench.datasets.table.table_file import TableFile
from mechanisms.check import IntArray, one_of, positive, whole
from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.fit import SMOOTHING, FittedChain, fit_chain

POWER = "household_power/global_active_power_first45036.tsv.gz"


@dataclass(frozen=True, kw_only=True)
class Recording(PublicPart):
    """A chain fitted to a public recording; subclasses say how it is read.

    Parameters
    ----------
    path : str or None
        The file; None looks in the folder named by ``BENCH_DATA``.
    smoothing : float in [0, 1)
        Mass given to every transition that was never seen.

    Notes
    -----
    `calibrate_on`, `public_share`, `part_seed` and `theta` are those of `PublicPart`.
    """

    path: str | None = None
    smoothing: float = SMOOTHING

    synthetic = False

    def __post_init__(self) -> None:
        self.check_part()

    def read(self) -> list[Sequence[Hashable]]:
        """Return the label sequences; refuse a file that is not there or not in its format."""
        raise NotImplementedError

    @cached_property
    def sequences(self) -> list[Sequence[Hashable]]:
        """The label sequences."""
        return self.read()

    @cached_property
    def fitted(self) -> FittedChain:
        """The fit over the sequences that calibrate."""
        states = sorted({label for sequence in self.sequences for label in sequence})  # type: ignore[type-var]
        return fit_chain(self.parts(self.sequences)[0], states, smoothing=self.smoothing)

    @cached_property
    def user_chains(self) -> tuple[MarkovChain, ...]:
        """Chains of single users that Theta holds beside the fitted one."""
        public, _ = self.parts(self.sequences)
        return self.chains_of_users(public, self.fitted, self.smoothing)

    @cached_property
    def protected(self) -> list[IntArray]:
        """The sequences that are to be protected, as codes of the states."""
        return codes_of(self.parts(self.sequences)[1], self.fitted.states)

    @property
    def chain(self) -> MarkovChain:
        """The fitted chain, started from its stationary law."""
        return self.fitted.chain

    @property
    def states(self) -> tuple[str, ...]:
        """Labels of the states."""
        return tuple(str(state) for state in self.fitted.states)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed for states that are never left."""
        return never_left_notes(self.fitted.never_left)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Length of each sequence."""
        return tuple(len(sequence) for sequence in self.sequences)

    @property
    def digest(self) -> str:
        """Hash of the chains and of the protected sequences."""
        return chain_digest(self.chain, *self.user_chains, protected=self.protected)


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
        self.check_part()
        positive("width", self.width, infinite=False)
        whole("minutes", self.minutes)

    def read(self) -> list[Sequence[Hashable]]:
        """Return the unbroken runs of states."""
        path = locate(POWER, self.path)
        file = TableFile(path=str(path), separator="tab", names=("minute", "kilowatts"))
        try:
            power = file.read("kilowatts").numbers("kilowatts")[:: self.minutes]
        except DataError as error:
            raise DataError(f"{path} is not in its published format: {error}") from error
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

    def read(self) -> list[Sequence[Hashable]]:
        """Return one sequence a person."""
        return list(careers(*read_mvad(self.path)))


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
        self.check_part()
        one_of("house", self.house, ("A", "B", "C", "D", "E"))

    def read(self) -> list[Sequence[Hashable]]:
        """Return one sequence."""
        path = locate(f"{FOLDER}/{name_of(self.house)}", self.path)
        return [read_home(path)["activity"].tolist()]
