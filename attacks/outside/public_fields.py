"""What public fields tell of a label before anything is released: the attacker's starting point."""

from __future__ import annotations

import numpy as np

from mechanisms.check import IntArray


def guess_by_fields(fields: IntArray, labels: IntArray, asked: IntArray) -> IntArray:
    """Guess the most frequent label among the known entries with the same public fields.

    Parameters
    ----------
    fields : array of shape (n, f)
        Codes of the public fields of known entries: group, hour, user.
    labels : array of shape (n,)
        Their labels, codes from 0.
    asked : array of shape (q, f)
        Public fields of the entries whose labels are guessed.

    Returns
    -------
    array of shape (q,)
        Codes; fields that no known entry has give the label most frequent of all.

    Examples
    --------
    >>> fields, labels = np.array([[0], [0], [1], [1]]), np.array([2, 2, 1, 1])
    >>> guess_by_fields(fields, labels, np.array([[1], [7]]))
    array([1, 1])
    """
    cells, place = np.unique(np.concatenate([fields, asked]), axis=0, return_inverse=True)
    known, wanted = np.split(place.ravel(), [len(fields)])
    counts = np.zeros((len(cells), int(labels.max()) + 1), dtype=np.int64)
    np.add.at(counts, (known, labels), 1)
    overall = int(np.bincount(labels).argmax())
    best = np.where(counts.any(axis=1), counts.argmax(axis=1), overall)
    return best[wanted]


def guess_by_group(training: IntArray, query: IntArray) -> tuple[int, int, int]:
    """Count right guesses of queried labels: the most frequent one, and that of each group.

    Parameters
    ----------
    training, query : arrays of shape (groups, labels)
        Label counts of the public and of the queried entries.

    Returns
    -------
    right, right_by_group, n : int
        Of n queried entries; a group without a public entry gets the label most frequent of all.
    """
    overall = int(training.sum(axis=0).argmax())
    of_group = np.where(training.any(axis=1), training.argmax(axis=1), overall)
    by_group = int(query[np.arange(len(query)), of_group].sum())
    return int(query[:, overall].sum()), by_group, int(query.sum())
