"""Persuasive privacy: how much a Bayesian receiver's score may gain by a release.

Open `notion` first (the number in the ledger, and its evidence), then `kappa_claim` (a
claim and its composition), `scores`, `receivers` (classes of priors) and `loss_quantile` (exact,
certified and sampled loss).
`finite_receiver` is exact where everything can be listed; `two_point_priors` and `expected_loss`
find differential privacy inside.
"""

from mechanisms.lazy import lazy_names

__getattr__ = lazy_names(
    __name__,
    {
        "Persuasive": "notion",
        "persuasive_guarantee": "kappa_claim",
        "compose": "kappa_claim",
        "FiniteKernel": "finite_receiver",
        "LogScore": "scores",
        "DawidSebastiani": "scores",
        "MostProbableInterval": "scores",
        "SmallCountScore": "scores",
        "exact_kappa": "loss_quantile",
        "realised_kappa": "loss_quantile",
        "certified_kappa": "loss_quantile",
        "check_by_sampling": "loss_quantile",
    },
)
