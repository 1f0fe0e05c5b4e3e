"""Mechanisms at equal leakage or error: a calibration's dial is turned until a number is met.

Open `matched` first. `dial` reads the number at a position, `search` finds the position and refuses
what cannot be met.
"""

from mechanisms.lazy import lazy_names

__getattr__ = lazy_names(__name__, {"Matched": "matched", "EqualError": "equal_error"})
