"""Plain data in MLflow tags, exactly: compressed JSON in numbered pieces.

MLflow cuts parameters at 6,000 and tags at 8,000 characters (5,000 in older servers), and its
metrics turn infinity into 1.8e308. What must be read back exactly therefore travels as text.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

PIECE = 4000


def pack(name: str, value: object) -> dict[str, str]:
    """Return tags ``name.000``, ``name.001``, ... that hold `value` as compressed JSON.

    Examples
    --------
    >>> tags = pack("rows", [{"value": float("inf")}])
    >>> unpack("rows", tags)
    [{'value': inf}]
    """
    text = json.dumps(value, separators=(",", ":"))
    data = base64.b64encode(zlib.compress(text.encode(), 9)).decode()
    pieces = [data[i : i + PIECE] for i in range(0, len(data), PIECE)]
    return {f"{name}.{i:03d}": piece for i, piece in enumerate(pieces)}


def unpack(name: str, tags: Mapping[str, str]) -> Any:  # noqa: ANN401
    """Return the value that `pack` wrote.

    Raises
    ------
    KeyError
        If there is none, or a piece is missing or damaged.
    """
    pieces: list[str] = []
    while (key := f"{name}.{len(pieces):03d}") in tags:
        pieces.append(tags[key])
    if not pieces:
        raise KeyError(f"no {name} in the run's tags")
    try:
        return json.loads(zlib.decompress(base64.b64decode("".join(pieces))))
    except (zlib.error, ValueError) as error:
        raise KeyError(f"a piece of {name} is missing or damaged in the run's tags") from error
