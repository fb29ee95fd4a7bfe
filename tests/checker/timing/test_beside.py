"""Timed re-explorations of one property whose timed violations of other properties are reused."""

from __future__ import annotations

from dataclasses import replace

import z3

from proofka.model.faults import Fault
from proofka.model.language import Action, Clock, Need, TransitionSystem, Variable, flag
from tests.checker.timing.random_systems import Timed, of
from tests.checker.timing.test_soundness import by_definition, explored

X, Z, READY = Variable("x", 0, 2, 0), flag("z"), flag("ready")
WAITING = Clock("waiting", {}, X.term == 0, "the start", of("patience", 0, 5))
IDLE = Clock("idle", {}, z3.Not(Z.is_set), "the start", of("leisure", 0, 5))


def act(number: int, guard: z3.BoolRef, variable: Variable, value: int) -> Action:
    updates: dict[Variable, z3.ArithRef] = {variable: z3.IntVal(value)}
    sentence = "acts"
    return Action(
        "act",
        "somebody",
        lane="brokers",
        arguments={"number": number},
        guard=guard,
        updates=updates,
        sentence=lambda _, __: sentence,
        semantics="none",
        fault=None,
    )


def late(clock: Clock) -> tuple[Need, ...]:
    """Return the need of more than the clock can show."""
    return (Need(clock, at_least=of("too much", 10, None)),)


FAULT = act(0, z3.BoolVal(False), READY, 0)
TOO_LATE, ALSO_TOO_LATE = act(1, X.term == 0, X, 1), act(5, z3.Not(Z.is_set), Z, 1)
SYSTEM = TransitionSystem(
    "two ways",
    (X, Z, READY),
    (
        replace(FAULT, fault=Fault.KILL),
        TOO_LATE,
        act(2, z3.And(z3.Not(READY.is_set), X.term == 0), READY, 1),
        act(3, z3.And(READY.is_set, X.term == 0), X, 1),
        act(4, X.term == 1, X, 2),
        ALSO_TOO_LATE,
    ),
    clocks=(WAITING, IDLE),
    needs={TOO_LATE.key: late(WAITING), ALSO_TOO_LATE.key: late(IDLE)},
)


def test_timed_violation_found_for_one_property_is_reused_for_another() -> None:
    first, second = explored(Timed(SYSTEM, X.term == 2), X.term == 1)
    assert [len(one.actions) for one in first.timely] == [3]
    assert [len(one.actions) for one in second.timely] == [2]
    assert (first.looks, second.looks) == (1, 0)


def test_a_run_that_there_is_no_time_for_is_not_taken() -> None:
    also = z3.Or(Z.is_set, X.term == 2)
    first, second = explored(Timed(SYSTEM, X.term == 2), also)
    assert [len(one.actions) for one in first.timely] == [3]
    assert by_definition(Timed(SYSTEM, also), also) == {0: 3}
    assert [len(one.actions) for one in second.timely] == [3]
    assert second.looks == 1
