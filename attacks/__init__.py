"""Attacks: who guesses what from a release. Pure numpy, scipy and scikit-learn.

Open `base` first: what an adversary sees (`Transcript`, `Target`) and what it yields (log-scores of
the secrets, a `Guess`, `Intervals`). Then one file an attack: `meta_classifier` (any scikit-learn
classifier), `likelihood_ratio` (optimal under the scenario's model), `majority` (the floor).
"""

from mechanisms.lazy import lazy_names

__getattr__ = lazy_names(
    __name__,
    {
        "MetaClassifier": "meta_classifier",
        "LikelihoodRatio": "likelihood_ratio",
        "Majority": "majority",
        "Transcript": "base",
        "Guess": "base",
        "Intervals": "base",
        "UnsupportedMechanismError": "base",
    },
)
