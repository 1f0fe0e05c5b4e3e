"""Privacy notions as values: budgets that are asked for, guarantees that are given.

Open `guarantee` first (a notion, a bound, assumptions), then `notion` and `indistinguishability`
(how leakage becomes one number), `conversions` (from one notion to another) and `budget`.
`bracket` is a computed number with the ends between which the true one lies.
"""

from mechanisms.lazy import lazy_names

__getattr__ = lazy_names(
    __name__,
    {
        "Guarantee": "guarantee",
        "NoClaim": "guarantee",
        "NotComparable": "guarantee",
        "Assumptions": "assumptions",
        "Notion": "notion",
        "Approximate": "indistinguishability",
        "Renyi": "indistinguishability",
        "DeltaApproximateRenyi": "indistinguishability",
        "Probabilistic": "indistinguishability",
        "convert": "conversions",
        "compose": "composition",
        "Bracket": "bracket",
        "NotComputable": "bracket",
        "NotComputableError": "bracket",
        "NoBudget": "budget",
        "Epsilon": "budget",
        "EpsilonDelta": "budget",
        "RenyiEpsilon": "budget",
    },
)
