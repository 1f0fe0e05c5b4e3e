"""A study's cells are listed and measured in a session, which keeps what they share."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

from bench.config.build import build
from bench.core.cell import Cell, CellResult, canonical
from bench.study.shared_worlds import SharedWorlds, Sizes, stream_name

V = TypeVar("V")
COMPONENTS, SCENARIOS = 64, 2


class Session:
    """Components that were built, and the worlds of the latest scenarios.

    Every process has its own; no number depends on what a session has kept. Cells come scenario by
    scenario, so that few worlds are enough.
    """

    def __init__(self) -> None:
        self._components: OrderedDict[Hashable, Any] = OrderedDict()
        self._worlds: OrderedDict[Hashable, SharedWorlds] = OrderedDict()

    def build(self, config: Mapping[str, Any], where: str) -> Any:  # noqa: ANN401
        """Build a component once: the object keeps what it has computed.

        Parameters are those of `bench.config.build.build`.
        """
        key = canonical(config)
        return _kept(self._components, COMPONENTS, key, lambda: build(config, where))

    def worlds(
        self, label: str, config: Mapping[str, Any], *, sizes: Sizes, seed: int
    ) -> SharedWorlds:
        """Return the worlds of a scenario of this label and configuration."""
        key = (label, canonical(config), sizes, seed)
        return _kept(
            self._worlds, SCENARIOS, key,
            lambda: SharedWorlds(
                scenario=self.build(config, f"scenario {label}"),
                stream=stream_name(label, config), sizes=sizes, seed=seed,
            ),
        )  # fmt: skip

    def clear(self) -> None:
        """Forget everything: the memory is needed elsewhere."""
        self._components.clear()
        self._worlds.clear()


class Study(Protocol):
    """What an experiment file builds: it lists cells and measures one cell."""

    def cells(self, session: Session | None = None) -> list[Cell[Any]]:
        """List the cells; raise ValueError on a bad parameter before anything is computed."""

    def run_cell(self, cell: Any, session: Session) -> CellResult:  # noqa: ANN401
        """Measure one cell; a pure function of the cell, whatever the session has kept."""


@runtime_checkable
class HasFollowUp(Protocol):
    """A study whose results say which cells are to be measured next."""

    def follow_up(self, results: Sequence[tuple[Cell[Any], CellResult]]) -> list[Cell[Any]]:
        """Return further cells, none of them measured yet; an empty list ends the sweep."""


@runtime_checkable
class HasWords(Protocol):
    """A study that ends with more than a table."""

    def words(
        self, results: Sequence[tuple[Cell[Any], CellResult]], overrides: Sequence[str]
    ) -> str:
        """Return what the results mean, given the words of the command."""


def _kept(kept: OrderedDict[Hashable, V], most: int, key: Hashable, make: Callable[[], V]) -> V:
    """Return the value of a key, made if need be; the least recently used one gives way."""
    if key not in kept:
        kept[key] = make()
        if len(kept) > most:
            kept.popitem(last=False)
    kept.move_to_end(key)
    return kept[key]
