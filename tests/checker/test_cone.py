"""Constants and cones of influence: a smaller system, the same answers."""

from __future__ import annotations

from dataclasses import replace

import pytest
import z3

from proofka.checker.budget import Budget, Meter
from proofka.checker.cone import FreeVariables, propagate_constants, slice_to, specialise
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.exploration import Question
from proofka.checker.questions import prepare
from proofka.model.faults import Fault
from proofka.model.language import TransitionSystem, Variable
from proofka.model.pipeline import build
from proofka.properties.catalogue import properties_of
from tests.checker.asking import SMALL, ask, example
from tests.checker.test_exploration import action
from tests.deployments import changed

A, B, C, D = (Variable(name, 0, 3, 0) for name in "abcd")


def names(system: TransitionSystem) -> set[str]:
    return {variable.name for variable in system.variables}


def test_free_variables() -> None:
    free = FreeVariables()
    assert free.of(z3.And(A.term > 1, z3.If(B.term == 0, C.term, 2) == 1)) == {"a", "b", "c"}
    assert free.of(z3.BoolVal(True)) == frozenset()
    assert free.of(A.term) == {"a"}


def test_constants_are_filled_in_until_none_is_left() -> None:
    """c never changes; so the only action that changes b never happens; so b never changes either."""
    system = TransitionSystem(
        "constants",
        (A, B, C),
        (
            action("a", A.term < 3, {A: A.term + 1}),
            action("b", z3.And(C.term == 1, B.term < 3), {B: B.term + 1}),
            action("c", B.term == 2, {C: z3.IntVal(1)}),
        ),
    )
    small, constants = propagate_constants(system)
    assert names(small) == {"a", "b", "c"}, "b and c each need the other: only their values show that neither moves"
    frozen = replace(system, actions=system.actions[:2])
    small, constants = propagate_constants(frozen)
    assert names(small) == {"a"}
    assert [one.name for one in small.actions] == ["a"]
    assert z3.is_true(specialise(z3.And(B.term == 0, C.term == 0), constants))


def test_assignments_of_the_initial_value_change_nothing() -> None:
    system = TransitionSystem("idle", (A, B), (action("reset", A.term == 0, {B: z3.IntVal(0), A: A.term}),))
    small, _ = propagate_constants(system)
    assert small.variables == ()


def test_slices_keep_variables_that_guards_and_updates_see() -> None:
    system = TransitionSystem(
        "chain",
        (A, B, C, D),
        (
            action("a from b", B.term == 1, {A: z3.IntVal(1)}),
            action("b from c", B.term == 0, {B: C.term}),
            action("c and d", C.term < 3, {C: C.term + 1, D: A.term}),
        ),
    )
    free = FreeVariables()
    assert names(slice_to(system, [A.term == 1], free)) == {"a", "b", "c"}
    assert names(slice_to(system, [C.term == 1], free)) == {"c"}
    assert names(slice_to(system, [D.term == 1], free)) == {"a", "b", "c", "d"}
    only_c = slice_to(system, [C.term == 1], free)
    assert [set(one.updates) for one in only_c.actions] == [{C}]


def test_log_properties_do_not_see_the_consumer() -> None:
    deployment = replace(example("acks-all-min-isr-2"), bounds=SMALL)
    prepared = prepare(build(deployment))
    by_name = {prop.name: prop for prop in properties_of(prepared.model.pipeline)}
    root = prepared.specialise(by_name["no-acked-loss"].violated)
    seen = names(slice_to(prepared.system, [root], prepared.free))
    assert "leader" in seen
    assert not any(name.startswith(("consumer", "committed", "position", "processed")) for name in seen)
    root = prepared.specialise(by_name["no-skip"].violated)
    assert {"committed", "position"} <= names(slice_to(prepared.system, [root], prepared.free))


@pytest.mark.parametrize("name", ["acks-1", "commit-before-processing"])
def test_the_whole_system_gives_the_same_answers(name: str) -> None:
    """Exploring every variable, nothing sliced away and no constant filled in, comes to the same cut sets."""
    kinds = (Fault.KILL, Fault.LOST_RESPONSE, Fault.CONSUMER_CRASH)
    deployment = changed(example(name, kinds, 1), bounds=replace(SMALL, epochs=3), replicas=2, min_insync_replicas=1)
    model = build(deployment)
    properties = properties_of(model.pipeline)
    question = Question(
        {prop.name: prop.violated for prop in properties if prop.goal is None},
        next((prop.name, prop.goal) for prop in properties if prop.goal is not None),
        {prop.name: prop.witness for prop in properties},
    )
    whole = EmbeddedExploration(model.system, question, dict.fromkeys(kinds, 1), Meter(Budget(), timed=False), 2)
    for _ in range(2):
        whole.explore_layer()
    for prop, verdict in ask(deployment).items():
        expected = {
            tuple((kind.value, count) for kind, count in zip(whole.kinds, violation.combination, strict=True) if count)
            for violation in whole.cut_sets(prop)
        }
        assert set(verdict.cut_sets) == expected, prop
        depths = {whole.named(violation.combination): violation.depth for violation in whole.cut_sets(prop)}
        # Time can ask for a step more: what is answered while a consumer is away.
        assert all(0 <= len(trace.steps) - depths[trace.faults] <= 1 for trace in verdict.traces), prop
