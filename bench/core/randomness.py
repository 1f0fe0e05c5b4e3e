"""Where an experiment's generators are made: one named stream for every purpose.

Fixed seeds of data sets (their splits, synthetic populations) and of quadrature are parameters of
their own, where they are used.
"""

from __future__ import annotations

import hashlib

import numpy as np


def rng_for(seed: int, *names: object) -> np.random.Generator:
    """Return the generator of the stream that `names` spell out under `seed`.

    Streams are independent of each other and of the order in which they are asked for, so that
    adding or dropping a mechanism changes no other number.

    Examples
    --------
    >>> float(rng_for(0, "worlds", 3).random()) == float(rng_for(0, "worlds", 3).random())
    True
    >>> float(rng_for(0, "worlds", 3).random()) == float(rng_for(0, "worlds", 4).random())
    False
    """
    path = "\x1f".join(str(name) for name in names)
    digest = hashlib.sha256(path.encode(errors="surrogatepass")).digest()
    words = np.frombuffer(digest, dtype=np.uint32).tolist()
    return np.random.default_rng(np.random.SeedSequence([seed, *words]))
