"""The three mechanisms that collapse, each with its attack and its whole prior."""

from itertools import product

import numpy as np

from attacks.reconstruction.collapse import CommonElement, UnchangedComponent, XorReconstruction
from mechanisms.collapse.case_pair import CasePair
from mechanisms.collapse.decoy import DecoyDatabase
from mechanisms.collapse.parity import ParityRelease

DECOY = DecoyDatabase(
    databases=[[0, 5], [1, 5], [1, 7], [2, 7], [3, 9]],
    prior=[0.18, 0.12, 0.28, 0.28, 0.14],
    secret=[0, 0, 1, 1, 1],
)
CASES = CasePair(share_if_true=(0.3, 0.6), share_if_false=(0.4, 0.7))


def bits(n, share=0.5):
    rows = np.array(list(product((0, 1), repeat=n)))
    return rows, np.where(rows == 1, share, 1 - share).prod(axis=1)


EXAMPLES = {
    "decoy": (DECOY, UnchangedComponent(), (DECOY.databases, DECOY.prior)),
    "parity of 3": (ParityRelease(n_bits=3), XorReconstruction(), bits(3)),
    "parity of 4": (ParityRelease(n_bits=4, share=0.7), XorReconstruction(), bits(4, 0.7)),
    "parity of 2": (ParityRelease(n_bits=2, allow_two_bits=True), XorReconstruction(), bits(2)),
    "cases": (CASES, CommonElement(), (bits(2)[0], np.array([0.3, 0.3, 0.2, 0.2]))),
}


def drawn(name, size, rng):
    """Return databases of an example drawn from its prior."""
    rows, prior = EXAMPLES[name][2]
    return rows[rng.choice(len(rows), size, p=prior)]
