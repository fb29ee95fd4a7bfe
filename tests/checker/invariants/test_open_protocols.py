"""The open protocols have every run of the ports, and every lemma holds in every state of these runs.

The ports are run by Python alone, with bounds on epochs and records. The terms of the open system are evaluated by a
third reading of terms. So neither Z3's proofs nor the kernel are part of these tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import pytest

from proofka.checker.invariants.induction import domains_of
from proofka.model.language import Action, State
from proofka.model.language.lemmas import Lemma
from proofka.model.published.constants import Constants
from proofka.model.published.leader_completeness import candidates
from proofka.model.published.protocols import protocol
from proofka.model.published.unbounded import OpenProtocol, open_protocol
from tests.checker.plain_evaluator import PlainEvaluator
from tests.model.published.plain_explorer import levels
from tests.model.published.port import Packed, Port

RECEIVED = "request_epoch"


class Node(NamedTuple):
    """A state of the port, the history variables, and the epoch of each record that was written."""

    state: Packed
    history: Packed
    record_epochs: Packed


class Both:
    """The port and the open system side by side."""

    def __init__(self, name: str, constants: Constants) -> None:
        sizes = {"replicas": constants.replicas, "log_size": constants.log_size}
        bounded = protocol(name, **sizes, records=constants.records, epochs=constants.epochs)
        self.port = Port(bounded.system)
        self.open: OpenProtocol = open_protocol(name, constants.replicas, constants.log_size)
        self.initial = Node(self.port.initial, tuple(one.initial for one in self.open.committed.variables), ())
        self._steps = {_key(action): action for action in self.open.system.actions}
        history = {one.name for one in self.open.committed.variables}
        self._shared = [one.name for one in self.open.system.variables if one.name not in history]
        self.steps = 0

    def successors(self, node: Node) -> Iterator[Node]:
        """Yield the states after each step of the port, which the open system has to allow with the same effect."""
        before = self.named(node)
        for action, after in self.port.steps(node.state):
            named = self.port.named(after)
            written = node.record_epochs
            if action.name == "write":
                written = (*written, named[f"record_{named['records_written']}_epoch"])
            received = action.arguments.get("epoch", -1)
            functions = functions_of(named, written)
            evaluator = PlainEvaluator({**before, RECEIVED: received}, functions)
            step = self._steps[_key(action)]
            assert evaluator.value(step.guard), f"{action} of the port is no step of the open system"
            values = {one.name: int(evaluator.value(value)) for one, value in step.updates.items()}
            follows = {**before, **values}
            assert {name: follows[name] for name in self._shared} == {name: named[name] for name in self._shared}, (
                action
            )
            self.steps += 1
            yield Node(after, tuple(follows[one.name] for one in self.open.committed.variables), written)

    def named(self, node: Node) -> dict[str, int]:
        """Return a state by the names of its variables, with the history."""
        history = zip(self.open.committed.variables, node.history, strict=True)
        return {**self.port.named(node.state), **{one.name: value for one, value in history}}

    def broken(self, node: Node, lemmas: list[Lemma]) -> set[str]:
        """Return the lemmas that are false in a state."""
        named = self.named(node)
        functions = functions_of(named, node.record_epochs)
        found = set()
        for lemma in lemmas:
            for values in product(range(named["next_epoch"]), repeat=len(lemma.every)):
                spoken_of = {one.decl().name(): value for one, value in zip(lemma.every, values, strict=True)}
                if not PlainEvaluator({**named, **spoken_of}, functions).value(lemma.term):
                    found.add(lemma.words)
        return found


def _key(action: Action) -> tuple[str, tuple[tuple[str, int], ...]]:
    """Return what names a step in both systems: all but the epoch of the request that the step receives."""
    return action.name, tuple(sorted((name, one) for name, one in action.arguments.items() if name != "epoch"))


def functions_of(state: State, record_epochs: Packed) -> dict[str, Callable[[int], int]]:
    """Return the functions that a run up to a state has decided."""

    def of_request(what: str, before: int) -> Callable[[int], int]:
        return lambda epoch: before if epoch < 0 else state.get(f"request_{epoch}_{what}", 0)

    replicas = [name for name in state if name.startswith("request_0_isr_")]
    return {
        "request_leader": of_request("leader", 0),
        "record_epoch": lambda record: record_epochs[record - 1] if 0 < record <= len(record_epochs) else -1,
        **{f"request_isr_{one}": of_request(f"isr_{one}", 1) for one in range(1, len(replicas) + 1)},
    }


CASES = [
    Constants(replicas=2, log_size=2, records=2, epochs=1),
    Constants(replicas=2, log_size=1, records=3, epochs=2),
    pytest.param(Constants(replicas=3, log_size=1, records=1, epochs=1), marks=pytest.mark.slow),
]


@pytest.mark.parametrize("constants", CASES, ids=str)
def test_runs_of_the_port_are_runs_of_the_open_system_and_keep_every_lemma(constants: Constants) -> None:
    both = Both("kip-320", constants)
    lemmas = [*domains_of(both.open.system), *candidates(both.open)]
    found = [node for level in levels(both.initial, both.successors) for node in level]
    assert both.steps > len(found) > 900
    assert not set[str]().union(*(both.broken(node, lemmas) for node in found[:: max(1, len(found) // 400)]))
    assert max(both.named(node)["committed_length"] for node in found) == constants.log_slots


def test_lemmas_are_false_somewhere_in_a_protocol_without_leader_completeness() -> None:
    both = Both("truncate-to-hw", Constants(replicas=2, log_size=2, records=2, epochs=1))
    lemmas = [*domains_of(both.open.system), *candidates(both.open)]
    found = [node for level in levels(both.initial, both.successors) for node in level]
    broken = set[str]().union(*(both.broken(node, lemmas) for node in found))
    assert any("has the committed record" in words for words in broken)
