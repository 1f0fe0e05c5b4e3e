"""How many bits the reconstruction from noisy subset counts finds, seed by seed."""

import numpy as np
from scipy.stats import t as student

from attacks.reconstruction.scores import fraction_reconstructed
from attacks.reconstruction.subset_counts import SubsetReconstruction

SEEDS = 20


def balanced(m, n, rng):
    """Return databases with exactly half of their bits 1."""
    return rng.permuted(np.tile(np.arange(n) % 2, (m, 1)), axis=1)


def accuracies(n, q, mechanism, seeds, *, databases=1, learnt=2, share=0.5, method="by_size"):
    """Return the mean share of bits guessed right in each seed, with queries of its own."""
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng([n, q, seed])
        attack = SubsetReconstruction(queries=rng.integers(0, 2, (q, n)), method=method)
        worlds = attack.simulated(mechanism, share, size=learnt, n_releases=1, rng=rng)
        fitted = attack.fit(*worlds)
        if share == 0.5:
            truth = balanced(databases, n, rng)
        else:
            truth = (rng.random((databases, n)) < share).astype(int)
        guess = fitted.guess(attack.released(mechanism, truth, 1, rng))
        found.append(fraction_reconstructed(guess, truth).mean())
    return np.array(found)


def upper_end(found, level=0.99):
    """Return the upper end of Student's interval over the seeds."""
    half = student.ppf((1 + level) / 2, found.size - 1) * found.std(ddof=1) / np.sqrt(found.size)
    return found.mean() + half
