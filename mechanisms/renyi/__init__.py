"""Pufferfish and Renyi Pufferfish privacy by additive noise on a scalar answer.

One file a theorem: its class, the scale that it calls for, the epsilon that it proves at a scale.
Open `alpha_wasserstein` first (Ding, Yang and Zhang, 2026), then its rivals: `shift_reduction`
(Pierquin et al., 2024), `w_infinity` and `kantorovich` (Song, Wang and Chaudhuri, 2017; Ding,
2022), `joint_convex`, and `tight_noise`, the least noise there is. `scale_claim` turns a theorem
into a mechanism; `noise_cost` holds what displacements cost.
"""

from mechanisms.lazy import lazy_names

__getattr__ = lazy_names(
    __name__,
    {
        "AlphaWassersteinLaplace": "alpha_wasserstein",
        "AlphaWassersteinGaussian": "alpha_wasserstein",
        "ShiftReduction": "shift_reduction",
        "WInfinityLaplace": "w_infinity",
        "RelaxedKantorovichLaplace": "relaxed_kantorovich",
        "JointConvexLaplace": "joint_convex",
        "BestPublished": "best_published",
        "TightNoise": "tight_noise",
        "TightPureLaplace": "tight_pure_laplace",
    },
)
