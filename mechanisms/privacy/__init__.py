"""Privacy notions as values: budgets that are asked for, guarantees that are given.

Open `guarantee` first, then `budget`; `bracket` is a computed number with the ends between which
the true one lies.
"""

from mechanisms.lazy import lazy_names

__getattr__ = lazy_names(
    __name__,
    {
        "Guarantee": "guarantee",
        "NoClaim": "guarantee",
        "Bracket": "bracket",
        "NotComputableError": "bracket",
        "NoBudget": "budget",
        "Epsilon": "budget",
        "EpsilonDelta": "budget",
        "RenyiEpsilon": "budget",
    },
)
