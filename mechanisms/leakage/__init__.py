"""Exact comparison of two release laws, in every notion.

Open `pair` first: the four questions that every comparison answers, for finitely many outputs and
for shifted Gaussians. `laplace_shift`, `unequal_gaussian` (with `gaussian_log_ratio` and
`gaussian_tradeoff`) and `integer_grid` are noise laws of their own; `noisy_mixtures`, `divergence`,
`hockey_stick` and `noisy_scalar` are a scalar answer with finitely many values after noise;
`quadrature` and `root` are the numerics, with brackets instead of tolerances.
"""

from mechanisms.lazy import lazy_names

__getattr__ = lazy_names(
    __name__,
    {
        "PairLeakage": "pair",
        "FinitePair": "pair",
        "GaussianShift": "pair",
        "PostProcessed": "pair",
        "gaussian_delta": "gaussian_tradeoff",
        "gaussian_epsilon": "gaussian_tradeoff",
    },
)
