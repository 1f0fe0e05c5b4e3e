import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.influence.bayesian_network import greedy_network_curve
from mechanisms.influence.bif import parse_bif
from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.markov import chain_curve
from mechanisms.influence.network import BayesianNetwork, ConditionalTable, eliminate
from tests.mechanisms.influence.brute_force import (
    influence_curve,
    randomized_response_loss,
)
from tests.support.exact_network import exact_network_curve

NETWORKS = Path(os.environ.get("BENCH_DATA", ".")) / "bayesnet"

SPRINKLER = """
network sprinkler { }
// three causes of wet grass
variable Cloudy { type discrete [ 2 ] { yes, no }; }
variable Rain {
  type discrete [ 3 ] { none, "some", much };
}
variable Wet { type discrete [ 2 ] { True, False }; property ignored ; }
probability ( Cloudy ) { table 0.3, 0.7; }
probability ( Rain | Cloudy ) { (yes) 0.2, 0.5, 0.3; (no) 0.9, 0.08, 0.02; }
probability ( Wet | Rain, Cloudy ) {
  (none, yes) 0.1, 0.9; (none, no) 0.05, 0.95;
  (some, yes) 0.8, 0.2; (some, no) 0.7, 0.3;
  (much, yes) 0.99, 0.01; (much, no) 0.9, 0.1;
}
"""


def random_network(seed, n, sizes=(2, 2, 3), sparsity=0.0, parents=2):
    rng = np.random.default_rng(seed)
    size = rng.choice(sizes, n)
    tables = []
    for node in range(n):
        count = rng.integers(0, min(node, parents) + 1)
        above = sorted(rng.choice(node, count, replace=False)) if count else []
        shape = tuple(size[j] for j in above)
        table = rng.dirichlet(np.ones(size[node]), shape) * (
            rng.random((*shape, size[node])) >= sparsity
        )
        table[..., 0] += table.sum(axis=-1) == 0
        table /= table.sum(axis=-1, keepdims=True)
        tables.append(
            ConditionalTable(
                variable=f"X{node}", parents=tuple(f"X{j}" for j in above), table=table
            )
        )
    return BayesianNetwork(tables=tuple(tables))


def joint(network):
    names = list(network.sizes)
    return eliminate([t.factor for t in network.tables], tuple(names), network.sizes, limit=10**7)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5), st.sampled_from([0.0, 0.3]))
def test_the_exact_curve_is_what_enumeration_of_the_joint_law_finds(seed, n, sparsity):
    network = random_network(seed, n, sparsity=sparsity)
    brute = influence_curve([joint(network)])
    np.testing.assert_allclose(exact_network_curve(network).values, brute, rtol=1e-9, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3]), st.integers(1, 4))
def test_the_greedy_curve_is_never_below_the_exact_one(seed, sparsity, beam):
    network = random_network(seed, 6, sizes=(2,), sparsity=sparsity)
    exact, greedy = exact_network_curve(network), greedy_network_curve(network, beam=beam)
    assert (greedy.values >= exact.values - 1e-12).all()
    assert (greedy.pairs is None) == (exact.pairs is None)
    if exact.pairs is not None:  # None where every node is known for sure
        assert (greedy.pairs >= exact.pairs - 1e-12).all()
    assert greedy.direction == "upper bound"


def test_the_greedy_curve_equals_the_exact_one_in_most_entries():
    agree = total = 0
    for seed in range(12):
        network = random_network(seed, 6, sizes=(2,))
        exact, greedy = exact_network_curve(network).values, greedy_network_curve(network).values
        agree += np.isclose(greedy[1:], exact[1:]).sum()
        total += 6
    assert agree > 0.9 * total


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3]))
def test_marginals_are_those_of_the_joint_law(seed, sparsity):
    network = random_network(seed, 6, sparsity=sparsity)
    table = joint(network)
    assert table.sum() == pytest.approx(1)
    for axis, name in enumerate(network.sizes):
        others = tuple(j for j in range(6) if j != axis)
        np.testing.assert_allclose(network.marginal(name), table.sum(axis=others), atol=1e-12)


def test_a_chain_as_a_network_has_the_curve_of_the_chain():
    matrix = np.array([[0.6, 0.4], [0.2, 0.8]])
    first = np.array([0.3, 0.7])
    tables = [ConditionalTable(variable="X0", parents=(), table=first)]
    tables += [
        ConditionalTable(variable=f"X{j}", parents=(f"X{j - 1}",), table=matrix)
        for j in range(1, 7)
    ]
    network = BayesianNetwork(tables=tuple(tables))
    chain = chain_curve(MarkovChain(transition=matrix, initial=first), 7)
    np.testing.assert_allclose(exact_network_curve(network).values, chain.values, atol=1e-9)
    np.testing.assert_allclose(greedy_network_curve(network).values, chain.values, atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.05, 2))
def test_theorem_three_covers_the_exact_loss_of_randomised_response(seed, epsilon):
    network = random_network(seed, 5, sizes=(2,))
    claim = exact_network_curve(network).pufferfish_epsilon(epsilon)
    assert randomized_response_loss(joint(network), epsilon) <= claim + 1e-9


def test_disconnected_nodes_do_not_help_the_attacker():
    tables = [
        ConditionalTable(variable=name, parents=(), table=np.array([0.2, 0.8])) for name in "ABC"
    ]
    for curve in (exact_network_curve, greedy_network_curve):
        assert curve(BayesianNetwork(tables=tuple(tables))).values.tolist() == [np.inf, 0, 0, 0]


def test_a_zero_probability_gives_infinity_and_never_nan():
    copy = ConditionalTable(variable="B", parents=("A",), table=np.eye(2))
    coin = ConditionalTable(variable="A", parents=(), table=np.array([0.5, 0.5]))
    network = BayesianNetwork(tables=(coin, copy))
    assert exact_network_curve(network).values.tolist() == [np.inf, np.inf, 0]
    assert greedy_network_curve(network).values.tolist() == [np.inf, np.inf, 0]


def test_bif_text_is_read_with_its_states_in_order():
    network = parse_bif(SPRINKLER)
    assert dict(network.sizes) == {"Cloudy": 2, "Rain": 3, "Wet": 2}
    wet = network.tables[2]
    assert wet.parents == ("Rain", "Cloudy")
    assert wet.table[1].tolist() == [[0.8, 0.2], [0.7, 0.3]]
    assert network.marginal("Rain") == pytest.approx([0.69, 0.206, 0.104])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(no) 0.9, 0.08, 0.02;", "", "cover all states of its parents"),
        ("(no) 0.9, 0.08, 0.02;", "(no) 0.9, 0.1;", "must list every state"),
        ("(no) 0.9, 0.08, 0.02;", "(No) 0.9, 0.08, 0.02;", "unreadable row"),
        ("(no) 0.9, 0.08, 0.02;", "(no) 0.9, 0.08, 0.2;", "rows that sum to 1"),
        ("| Cloudy )", "| Sunny )", "known variables, got 'Sunny'"),
        ("(no) 0.9, 0.08, 0.02;", "(no, no) 0.9, 0.08, 0.02;", "rows per parents"),
    ],
)
def test_bad_bif_text_is_refused_in_one_line(old, new, message):
    assert old in SPRINKLER
    with pytest.raises(ValueError, match=message):
        parse_bif(SPRINKLER.replace(old, new, 1))


def test_bad_networks_are_refused():
    one = ConditionalTable(variable="A", parents=("B",), table=np.full((2, 2), 0.5))
    other = ConditionalTable(variable="B", parents=("A",), table=np.full((2, 2), 0.5))
    with pytest.raises(ValueError, match="free of cycles"):
        BayesianNetwork(tables=(one, other))
    with pytest.raises(ValueError, match="known parents, got 'B'"):
        BayesianNetwork(tables=(one,))
    with pytest.raises(ValueError, match="one table per variable"):
        BayesianNetwork(tables=(one, one))
    with pytest.raises(ValueError, match="one table per variable"):
        BayesianNetwork(tables=())
    with pytest.raises(ValueError, match="axis per parent"):
        ConditionalTable(variable="A", parents=("B",), table=np.array([0.5, 0.5]))
    with pytest.raises(ValueError, match="at most 12 nodes"):
        exact_network_curve(random_network(0, 13))
    with pytest.raises(ValueError, match="secrets must be nodes"):
        greedy_network_curve(parse_bif(SPRINKLER), secrets=["Snow"])


def published(name):
    path = NETWORKS / f"{name}.bif"
    if not path.exists():
        pytest.skip(f"{name}.bif is not in the folder named by BENCH_DATA")
    return parse_bif(path.read_text())


@pytest.mark.parametrize("name", ["cancer", "survey", "earthquake", "asia"])
def test_small_published_networks_reach_the_exact_curve(name):
    network = published(name)
    exact = exact_network_curve(network)
    np.testing.assert_allclose(greedy_network_curve(network).values, exact.values, atol=1e-9)


def test_alarm_is_within_reach():
    network = published("alarm")
    assert len(network.sizes) == 37
    assert sum(len(table.parents) for table in network.tables) == 46
    curve = greedy_network_curve(network, secrets=["LVFAILURE", "KINKEDTUBE"], b_max=8)
    assert np.isfinite(curve.values[3:]).all()
    assert curve.at(8) < curve.at(3)
    assert curve.at(37) == 0
