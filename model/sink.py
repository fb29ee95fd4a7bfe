"""Sinks that are more than a count of processing: they tell records by their offset, or are memory (semantics 12.1)."""

from __future__ import annotations

from dataclasses import dataclass

import z3

from model.deployment.choices import Sink
from model.deployment.deployment import Deployment
from model.language import Effect, Variable, flag

HAPPENED_OFTEN = 2
"""From so many times on, an effect is not counted any more."""


@dataclass(frozen=True)
class Applied:
    """What came of each record that was processed.

    ``effects``: how often (up to 2) each record's effect happened, as the sink has it now. ``seen``: per offset, the
    sink has it; empty where it does not tell records by them. ``saved``: the effects that the application would restore
    in its memory; empty where it saves none. ``is_memory``: the effects end with the consumer's process.
    """

    seen: tuple[Variable, ...]
    effects: tuple[Variable, ...]
    saved: tuple[Variable, ...]
    is_memory: bool

    @property
    def variables(self) -> tuple[Variable, ...]:
        return (*self.seen, *self.effects, *self.saved)

    def knows(self, offset: z3.ArithRef | int) -> z3.BoolRef:
        """The sink takes a record at this offset for one that it has."""
        return z3.Or(*(z3.And(offset == place, seen.is_set) for place, seen in enumerate(self.seen)))


def declare_applied(deployment: Deployment) -> Applied | None:
    """What a sink has at the start; None where it has what was processed."""
    sink, records = deployment.sink, range(deployment.bounds.records)
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
    """The record's effect happens, unless the sink has had one from its partition and offset (semantics 12.1)."""
    if applied is None:
        return
    known = [z3.And(offset == place, effect[seen] == 1) for place, seen in enumerate(applied.seen)]
    happens = z3.And(when, z3.Not(z3.Or(*known)))
    for number, count in enumerate(applied.effects):
        again = z3.And(happens, record == number, effect[count] < HAPPENED_OFTEN)
        effect.set_when(again, count, effect[count] + 1)
    for place, seen in enumerate(applied.seen):
        effect.set_when(z3.And(when, offset == place), seen, 1)


def forget_effects(applied: Applied | None, effect: Effect) -> None:
    """The consumer's process ends, and with it its memory: the next one begins with what was saved (semantics 12.1)."""
    if applied is None or not applied.is_memory:
        return
    for number, count in enumerate(applied.effects):
        effect[count] = applied.saved[number].term if applied.saved else 0
