"""State graphs of small systems."""

from __future__ import annotations

import random
from io import BytesIO

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.export.exported import export_deployment
from proofka.checker.export.graph import TooManyStates, as_dot, as_graphml, state_graph
from tests.checker.asking import example
from tests.checker.export.systems import random_exported, turnstile
from tests.checker.naive import Naive
from tests.checker.test_exploration import KINDS


@settings(max_examples=15, derandomize=True)
@given(st.randoms(use_true_random=False))
def test_random_systems(chance: random.Random) -> None:
    """States, steps, and states that violate something are those that the definition gives."""
    exported = random_exported(chance, {kind: chance.randint(1, 2) for kind in KINDS}, 2)
    graph = state_graph(exported)
    naive = Naive(exported.system, (), (), 0)
    assert len(graph) == len(naive.states)
    assert graph.number_of_edges() == sum(len(naive.successors(state)) for state in naive.states)
    assert [state for state, initial in graph.nodes(data="initial") if initial] == [0]
    for name, term in exported.violated.items():
        violating = [state for state, names in graph.nodes(data="violates") if name in names.split(", ")]
        assert len(violating) == len(naive.where(term))


def test_labels() -> None:
    graph = state_graph(turnstile())
    assert graph.nodes[0]["label"] == "initial state"
    assert graph.nodes[1]["label"] == "coins inserted: 1\ninit: 1"
    assert [step["label"] for step in graph[0][1].values()] == ["next()"]
    assert [step["label"] for step in graph[0][0].values()] == ["swap()"]


def test_dot() -> None:
    text = as_dot(state_graph(turnstile()))
    assert text.startswith('digraph "turnstile-1" {\n')
    assert '    0 [label="initial state", style=bold];\n' in text
    assert 'violates no-free-ride", color=red' in text
    assert '[label="push(person=1)"];\n' in text


def test_graphml_reads_back() -> None:
    graph = state_graph(turnstile())
    again = networkx.read_graphml(BytesIO(as_graphml(graph).encode()), node_type=int, force_multigraph=True)
    assert dict(again.nodes(data=True)) == dict(graph.nodes(data=True))
    assert sorted(again.edges(data="label")) == sorted(graph.edges(data="label"))


@pytest.mark.slow
def test_too_many_states() -> None:
    exported = export_deployment(example("acks-0"), total=1)
    with pytest.raises(TooManyStates, match=r"acks-0 has more than 50 states.*allow fewer faults"):
        state_graph(exported, 50)


@pytest.mark.slow
def test_a_deployment_in_its_own_words() -> None:
    graph = state_graph(export_deployment(example("acks-0"), total=0))
    labels = [label for _, label in graph.nodes(data="label")]
    assert "record 1: acknowledged\nbroker 1's log: [record 1 @1]" in labels
