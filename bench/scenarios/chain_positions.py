"""Which entries of a chain are secret."""

from __future__ import annotations

from collections.abc import Sequence

from mechanisms.check import whole


def positions_of(positions: str | Sequence[int], longest: int) -> list[int]:
    """Return positions from 1 to `longest`: "middle", "all", or those that are listed.

    Examples
    --------
    >>> positions_of("middle", 5), positions_of("all", 2), positions_of([4, 1], 5)
    ([3], [1, 2], [4, 1])
    """
    if positions == "middle":
        return [(longest + 1) // 2]
    if positions == "all":
        return list(range(1, longest + 1))
    listed = [whole("positions", position) for position in positions]
    if not listed or max(listed) > longest:
        raise ValueError(f"positions must be in 1..{longest}, got {listed}.")
    return listed
