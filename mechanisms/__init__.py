"""Mechanisms: what is released, and what that guarantees.

Four floors, which no family is imported by: `laws` (laws of answers), `leakage` (exact comparison
of two release laws), `privacy` (notions, budgets, guarantees) and `noise`. Families stand on them:
`distribution`, `renyi`, `influence`, `top_k`, `deterministic`, and `group_privacy`.
Open `base` first: what the harness asks of a mechanism and of its calibration. `knowledge` holds
the facts that calibrations need; families keep their own.
"""

from mechanisms.lazy import lazy_names

__getattr__ = lazy_names(
    __name__,
    {
        "GaussianAnswers": "knowledge",
        "ScalarAnswers": "knowledge",
        "FiniteAnswers": "knowledge",
        "Sensitivity": "knowledge",
        "CurveKnowledge": "influence.knowledge",
        "ChainKnowledge": "influence.knowledge",
        "GroupLaplace": "group_privacy",
        "GroupGaussian": "group_privacy",
        "NotApplicableError": "base",
        "NotOfferedError": "base",
    },
)
