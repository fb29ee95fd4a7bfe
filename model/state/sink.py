"""Sinks that are more than a count of processing: they recognise records by offset, or are memory (semantics 12.1)."""

from __future__ import annotations

from dataclasses import dataclass

import z3

from proofka.model.deployment.choices import Sink
from proofka.model.deployment.deployment import Deployment
from proofka.model.language import Effect, Variable, flag
from proofka.model.language.terms import And, Not, Or

HAPPENED_OFTEN = 2
"""The highest count of a record's effect."""


@dataclass(frozen=True)
class Applied:
    """The effects of each record that was processed.

    ``effects``: the count (up to 2) of each record's effect, as the sink has it now. ``seen``: per offset, the sink has
    the record; empty where it does not recognise records by offset. ``saved``: the effects that the application would
    restore in its memory; empty where it saves none. ``is_memory``: the effects end with the consumer's process.
    """

    seen: tuple[Variable, ...]
    effects: tuple[Variable, ...]
    saved: tuple[Variable, ...]
    is_memory: bool

    @property
    def variables(self) -> tuple[Variable, ...]:
        return (*self.seen, *self.effects, *self.saved)

    def knows(self, offset: z3.ArithRef | int) -> z3.BoolRef:
        """Tell whether the sink treats a record at this offset as one that it has."""
        return Or(*(And(offset == place, seen.is_set) for place, seen in enumerate(self.seen)))


def declare_applied(deployment: Deployment) -> Applied | None:
    """Return a sink's variables at the start; None where the count of processing is enough."""
    sink, records = deployment.application.sink, range(deployment.bounds.records)
    if sink is not Sink.BY_OFFSET and not sink.is_memory:
        return None
    return Applied(
        tuple(flag(f"seen_{offset}") for offset in range(deployment.bounds.log if sink is Sink.BY_OFFSET else 0)),
        tuple(Variable(f"effects_{record}", 0, HAPPENED_OFTEN, 0) for record in records),
        tuple(Variable(f"saved_{record}", 0, HAPPENED_OFTEN, 0) for record in records if sink is Sink.SNAPSHOTS),
        sink.is_memory,
    )


def apply(
    applied: Applied | None, effect: Effect, record: z3.ArithRef, offset: z3.ArithRef | int, when: z3.BoolRef
) -> None:
    """Apply the record's effect, unless the sink has had a record of this offset (semantics 12.1)."""
    if applied is None:
        return
    known = [And(offset == place, effect[seen] == 1) for place, seen in enumerate(applied.seen)]
    happens = And(when, Not(Or(*known)))
    for number, count in enumerate(applied.effects):
        again = And(happens, record == number, effect[count] < HAPPENED_OFTEN)
        effect.set_when(again, count, effect[count] + 1)
    for place, seen in enumerate(applied.seen):
        effect.set_when(And(when, offset == place), seen, 1)


def forget_effects(applied: Applied | None, effect: Effect) -> None:
    """End the consumer's process and its memory: the next process begins with what was saved (semantics 12.1)."""
    if applied is None or not applied.is_memory:
        return
    for number, count in enumerate(applied.effects):
        effect[count] = applied.saved[number].term if applied.saved else 0
