"""Effects: assignments one after the other, to variables that are there."""

from __future__ import annotations

import z3

from proofka.model.language import Effect, Variable, flag

COUNT = Variable("count", 0, 3, 0)


def test_assignments_compose_in_sequence() -> None:
    effect = Effect()
    effect[COUNT] = COUNT.term + 1
    effect.set_when(COUNT.term == 2, COUNT, 0)
    assert effect.updates[COUNT].eq(z3.If(COUNT.term == 2, z3.IntVal(0), COUNT.term + 1))


def test_a_flag_becomes_a_number() -> None:
    effect, raised = Effect(), flag("raised")
    effect[raised] = COUNT.term > 0
    assert effect[raised].eq(z3.If(COUNT.term > 0, z3.IntVal(1), z3.IntVal(0)))


def test_an_assignment_to_a_variable_that_is_not_there_changes_nothing() -> None:
    effect = Effect()
    effect[None] = 1
    effect.set_when(COUNT.term > 0, None, 1)
    assert not effect.updates
