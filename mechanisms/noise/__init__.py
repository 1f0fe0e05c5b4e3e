"""Noise laws, and the mechanism that adds them to an answer.

Open `additive` first: what a noise law answers, what a claim about it is. Then a law: `laplace`,
`gaussian`, `geometric`. `identity` is the release without noise, `point_mass` its density.
"""

from mechanisms.lazy import lazy_names

__getattr__ = lazy_names(
    __name__,
    {
        "AdditiveNoise": "additive",
        "LaplaceNoise": "laplace",
        "GaussianNoise": "gaussian",
        "GeometricNoise": "geometric",
        "ExactRelease": "identity",
        "Noiseless": "identity",
    },
)
