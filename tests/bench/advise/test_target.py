"""Targets: one of three numbers, and the accuracy that a claim allows."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.advise.target import Target, accuracy_of, epsilon_of
from bench.config.build import ConfigError


@given(st.floats(0.01, 8), st.floats(0, 0.4))
def test_accuracy_of_a_claim_is_that_of_the_worst_channel(epsilon, delta):
    """The extreme channel (Kairouz, Oh, Viswanath, 2015): with delta the secret itself is shown."""
    up = (1 - delta) / (1 + math.exp(-epsilon))
    first = np.array([delta, 0.0, up, 1 - delta - up])
    second = np.array([0.0, delta, 1 - delta - up, up])
    best = np.maximum(first, second).sum() / 2
    assert accuracy_of(epsilon, delta) == pytest.approx(best, abs=1e-12)
    assert epsilon_of(best, delta) == pytest.approx(epsilon, abs=1e-9)


def test_a_target_is_one_number():
    assert Target.of({"epsilon": 1.0, "accuracy": None}).value == 1.0
    assert Target.of({}).allowed_accuracy == 0.6
    assert Target(error=3.0).allowed_accuracy == 1.0
    for wrong in (
        {"epsilon": 1.0, "accuracy": 0.6},
        {"acuracy": 0.6},
        {"error": 2.0, "epsilon": 1},
    ):
        with pytest.raises(ConfigError):
            Target.of(wrong)
    for wrong in ({"accuracy": 0.5}, {"accuracy": 1.0}, {"epsilon": -1.0}, {"error": math.inf}):
        with pytest.raises(ValueError, match=r"target\."):
            Target.of(wrong)
