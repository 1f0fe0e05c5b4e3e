"""Attacks: who guesses what from a release. Pure numpy, scipy and scikit-learn.

Open `base` first: what an adversary sees (`Transcript`, `Target`) and what it yields (log-scores of
the secrets, a `Guess`, `Intervals`). Then one file an attack: `meta_classifier` (any scikit-learn
classifier), `likelihood_ratio` (optimal under the scenario's model), `majority` (the floor).
`reconstruction` holds attacks that rebuild a database or an entry instead of guessing a secret;
`interval` bounds hidden cells of tables, `bayesian_receiver` says what a release is worth to a
receiver (`receiver_guess` is its guess), `differencing` uses two queries that differ in little
(`difference_attack` is it in the benchmark).
"""

from mechanisms.lazy import lazy_names

__getattr__ = lazy_names(
    __name__,
    {
        "MetaClassifier": "meta_classifier",
        "LikelihoodRatio": "likelihood_ratio",
        "Majority": "majority",
        "BayesianReceiver": "receiver_guess",
        "DifferencingAttack": "difference_attack",
        "Transcript": "base",
        "Guess": "base",
        "Intervals": "base",
        "UnsupportedMechanismError": "base",
    },
)
