"""A sink that tells records by their offset: what it has seen of a partition, and what came of it (semantics 12.1)."""

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
    """``seen``: per offset, the sink has it. ``effects``: how often (up to 2) each record's effect happened."""

    seen: tuple[Variable, ...]
    effects: tuple[Variable, ...]

    @property
    def variables(self) -> tuple[Variable, ...]:
        return (*self.seen, *self.effects)

    def knows(self, offset: z3.ArithRef | int) -> z3.BoolRef:
        """The sink takes a record at this offset for one that it has."""
        return z3.Or(*(z3.And(offset == place, seen.is_set) for place, seen in enumerate(self.seen)))


def declare_applied(deployment: Deployment) -> Applied | None:
    """What a sink remembers of offsets, at the start; None where it does not tell records by them."""
    if deployment.sink is not Sink.BY_OFFSET:
        return None
    return Applied(
        tuple(flag(f"seen_{offset}") for offset in range(deployment.bounds.log)),
        tuple(Variable(f"effects_{record}", 0, HAPPENED_OFTEN, 0) for record in range(deployment.bounds.records)),
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
