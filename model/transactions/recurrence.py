"""Sequence numbers that were given back although a leader has seen them (semantics 3.5, 11.1)."""

from __future__ import annotations

from collections.abc import Mapping

import z3

from proofka.model.language import Action, Effect, Variable
from proofka.model.language.terms import And, BoolVal, Implies, Not
from proofka.model.sequencing.arrival import accepts, arrives, checked
from proofka.model.sequencing.idempotence import numbers_sent
from proofka.model.sequencing.network import complete
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica
from proofka.model.state.wording import record_name
from proofka.model.transactions.epochs import recovery_in


def _has_numbers(pipeline: Pipeline, batch: Batch, slot: Mapping[str, Variable]) -> z3.BoolRef:
    epoch, sequence = numbers_sent(pipeline, batch)
    return And(slot["producer_epoch"].term == epoch, slot["sequence"].term == sequence)


def is_itself(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """Tell whether the entry in the log with the numbers of the request is the same batch."""
    return leader.log.some(lambda _, slot: And(slot["batch"].term == batch.number, _has_numbers(pipeline, batch, slot)))


def take_for_another(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Acknowledge a batch that the leader treats as another one with the same numbers; nothing is appended (3.5).

    The other batch was refused in the end, and gave its number back, but an attempt before had written it (11.1). The
    leader answers when the other batch is replicated.
    """
    check = checked(pipeline, batch, leader)
    assert check is not None
    replicated = leader.log.every(
        lambda offset, slot: Implies(_has_numbers(pipeline, batch, slot), leader.high_watermark.term > offset)
    )
    taken = And(check.duplicate, Not(is_itself(pipeline, batch, leader)), replicated)
    effect = Effect()
    recovery_in(pipeline).hear_success(pipeline, effect, batch)
    complete(pipeline, effect, batch, Fate.ACKNOWLEDGED, BoolVal(True))
    return Action(
        "take_for_another",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=And(arrives(pipeline, batch, leader), accepts(pipeline, leader), taken),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} treats {record_name(batch)} as an earlier record with the same sequence number: it appends "
            "nothing and acknowledges it"
        ),
        semantics="3.5",
    )
