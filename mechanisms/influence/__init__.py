"""Pufferfish privacy of correlated entries: how much other entries reveal about a protected one.

Open `curve` first (the a(b)-influence curve of Bai et al., 2026), then `calibrate`, which
translates mechanisms that are private per entry, and `quilt`, the Markov Quilt Mechanism (Song,
Wang and Chaudhuri, 2017) on `markov_quilt`. `chain`, `markov`, `network` and `gaussian` compute
curves of Markov chains, Bayesian networks and Gaussian processes; `fit` estimates a chain.
"""

from mechanisms.lazy import lazy_names

__getattr__ = lazy_names(
    __name__,
    {
        "InfluenceCurve": "curve",
        "MarkovChain": "chain",
        "chain_curve": "markov",
        "InfluenceLaplace": "calibrate",
        "InfluenceGeometric": "calibrate",
        "InfluenceExponential": "calibrate",
        "InfluenceRandomisedResponse": "calibrate",
        "MarkovQuiltLaplace": "quilt",
    },
)
