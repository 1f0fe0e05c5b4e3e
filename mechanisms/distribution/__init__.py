"""Distribution privacy: hide which of two laws the whole data set was drawn from.

Chen and Ohrimenko (2023). Open `expected_value` first, then `directional` (noise along the
difference of the means alone: harmless under a continuous model, removed exactly where answers lie
on a lattice) and `eigenvector`. `adversarial_uncertainty` is what the laws' own spread is worth;
`relaxed` is what a wrong model costs.
"""

from mechanisms.lazy import lazy_names

__getattr__ = lazy_names(
    __name__,
    {
        "ExpectedValueLaplace": "expected_value",
        "ExpectedValueGaussian": "expected_value",
        "DirectionalLaplace": "directional",
        "DirectionalGaussian": "directional",
        "EigenvectorGaussian": "eigenvector",
        "UncertainDirectionalGaussian": "uncertain_directional",
        "MinimumNoiseGaussian": "minimum_noise",
        "UnequalPairGaussian": "unequal_pair",
        "WassersteinLaplace": "wasserstein",
    },
)
