"""The whole curve of a long chain against the direct loop over nodes and quilts."""

import time
import tracemalloc

import numpy as np
import pytest

from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.markov import chain_curve
from mechanisms.influence.markov_quilt import exact_scale

pytestmark = pytest.mark.performance

EPSILON = 1.0


def random_chain(size):
    rng = np.random.default_rng(0)
    matrix = 0.9 * rng.dirichlet(np.ones(size), size) + 0.1 / size
    return MarkovChain(transition=matrix)


def direct_scale(transition, law, length, window):
    """MQMExact as a loop over nodes and distances to the left and right, at most `window`."""
    powers = [np.linalg.matrix_power(transition, d) for d in range(window + 1)]
    size = len(law)
    prior = np.log(law)[None, :] - np.log(law)[:, None]
    scale = 0.0
    for i in range(1, length + 1):
        best = length / EPSILON
        for a in [*range(1, min(i - 1, window) + 1), None]:
            for b in [*range(1, min(length - i, window) + 1), None]:
                if a is None and b is None:
                    continue
                card = (a - 1 if a else i - 1) + (b - 1 if b else length - i) + 1
                if card > window:
                    continue
                influence = np.zeros((size, size))
                if a is not None:
                    logs = np.log(powers[a])
                    influence += (logs[:, :, None] - logs[:, None, :]).max(axis=0) + prior
                if b is not None:
                    logs = np.log(powers[b])
                    influence += (logs[:, None, :] - logs[None, :, :]).max(axis=2)
                worst = influence.max()
                if worst < EPSILON:
                    best = min(best, card / (EPSILON - worst))
        scale = max(scale, best)
    return scale


def timed(function):
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


def test_one_call_is_a_hundred_times_faster_than_the_loop():
    chain, length, window = random_chain(78), 150, 16
    law = chain.first_law
    looped, slow = timed(lambda: direct_scale(chain.transition, law, length, window))
    scale, fast = timed(lambda: exact_scale([chain], length, EPSILON))
    curve, whole = timed(lambda: chain_curve(chain, length, b_max=window))
    assert looped == pytest.approx(scale, rel=1e-9)
    assert curve.pufferfish_epsilon(1 / scale) <= EPSILON * (1 + 1e-9)
    assert slow > 100 * max(fast, whole), f"loop {slow:.2f}, scale {fast:.3f}, curve {whole:.3f} s"


def test_the_whole_curve_of_a_long_chain_is_cheaper_per_node_and_quilt():
    chain = random_chain(78)
    _, slow = timed(lambda: direct_scale(chain.transition, chain.first_law, 20, 6))
    curve, fast = timed(lambda: chain_curve(chain, 2000, b_max=400))
    assert curve.values.shape == (401,)
    per_quilt = slow / (20 * 6 * 7 / 2), fast / (2000 * 400 * 401 / 2)
    assert per_quilt[0] > 1000 * per_quilt[1], f"seconds per node and quilt: {per_quilt}"


def test_the_whole_curve_of_a_long_chain_fits_in_two_gibibytes():
    chain = random_chain(78)
    tracemalloc.start()
    curve = chain_curve(chain, [2000, 1500, 300], b_max=400)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert curve.values.shape == (401,)
    assert peak < 2 * 1024**3
