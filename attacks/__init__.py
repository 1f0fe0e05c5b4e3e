"""Attacks: who guesses what from a release. Pure numpy, scipy and scikit-learn.

Open `base` first: the worlds and releases that an adversary sees (`Shadow`, `Target`) and what it
returns (log-scores of the secrets). Then one file an attack: `meta_classifier` (any scikit-learn
classifier), `likelihood_ratio` (optimal under the scenario's model), `majority` (the floor).
"""

from importlib import import_module
from typing import Any

HOMES = {
    "LikelihoodRatio": "attacks.likelihood_ratio",
    "Majority": "attacks.majority",
    "MetaClassifier": "attacks.meta_classifier",
}
__all__ = list(HOMES)


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """Load an attack when it is asked for."""
    if name in HOMES:
        return getattr(import_module(HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
