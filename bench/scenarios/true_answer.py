"""The answer of recorded sequences themselves, for scenarios on chains fitted to them."""

from __future__ import annotations

import numpy as np

from bench.datasets.sequences.chains import HasSequences
from bench.scenarios.base import TrueAnswer
from bench.scenarios.chain_model import ChainModel
from mechanisms.base import NotOfferedError


def answer_of_sequences(model: ChainModel) -> TrueAnswer:
    """Return a chain scenario's answer on the sequences that its chain was fitted to.

    Raises
    ------
    NotOfferedError
        If the chain was given, not fitted, or the scenario is about sequences of another length.
    """
    source = model.source
    if not isinstance(source, HasSequences):
        raise NotOfferedError("the chain was not fitted to sequences that are kept")
    if model.length is not None:
        raise NotOfferedError(
            f"the scenario is about sequences of length {model.length}: scenario.length=null takes "
            "the recorded ones"
        )
    entries = [model.state(str(label)) for own in source.sequences for label in own]
    return TrueAnswer(
        answer=model.answers_of(np.array([entries])),
        whole=np.array([True]),
        note=f"all {len(entries)} entries of {len(source.sequences)} sequences",
    )
