"""Brokers 1.0 to 2.4.0, which forget a producer whose newest epoch they have from a marker only (11.7, KAFKA-9144).

They look at the time of the producer's last batch, and have none of that epoch. So a producer that the marker fenced is
not fenced there.
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.model.deployment.implied.forgetting import brokers_forget_fenced
from proofka.model.language import Action, Effect
from proofka.model.language.terms import And, BoolVal, Not, Or
from proofka.model.state.kept_numbers import FORGOTTEN
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.model.state.taking_part import while_it_takes_part


def is_forgotten(pipeline: Pipeline, replica: Replica, offset: int) -> z3.BoolRef:
    """Tell whether the broker has forgotten the producer since it got a marker at ``offset`` or later."""
    if not brokers_forget_fenced(pipeline.deployment):
        return BoolVal(False)
    slots = list(enumerate(replica.log.slots))[offset:]
    return Or(*(And(replica.log.has(later), slot[FORGOTTEN].term == 1) for later, slot in slots))


def _knows_marker_only(pipeline: Pipeline, replica: Replica, offset: int) -> z3.BoolRef:
    """Tell whether the last entry is a marker whose epoch has no record, of this run or from before."""
    assert pipeline.transactions is not None
    slot = replica.log.slots[offset]
    epoch = slot["producer_epoch"].term
    is_last = And(replica.log.end.term == offset + 1, pipeline.transactions.is_marker(slot["batch"].term))
    records = [
        And(earlier["producer_epoch"].term == epoch, Not(pipeline.transactions.is_marker(earlier["batch"].term)))
        for earlier in replica.log.slots[:offset]
    ]
    begun = BoolVal(True) if replica.knows_producer is None else epoch > 0
    return And(is_last, begun, slot[FORGOTTEN].term == 0, Not(Or(*records)))


def _is_something_sent(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether numbers of an earlier epoch can still reach the broker."""
    sent = [
        Or(batch.delayed.term != 0, And(batch.incomplete, sequence.term >= 0))
        for batch, sequence in pipeline.producer.numbered()
    ]
    return Or(*sent)


def forget_fenced(pipeline: Pipeline, replica: Replica) -> Action:
    """Forget a producer that wrote nothing for long, in the broker's check every ten minutes (11.7, KAFKA-9144)."""
    here = [_knows_marker_only(pipeline, replica, offset) for offset in range(replica.log.capacity)]
    effect = Effect()
    for only, slot in zip(here, replica.log.slots, strict=True):
        effect.set_when(only, slot[FORGOTTEN], 1)
    return Action(
        "forget_fenced",
        replica.name,
        lane="brokers",
        arguments={"broker": replica.number},
        guard=while_it_takes_part(pipeline, replica, And(replica.up.is_set, Or(*here), _is_something_sent(pipeline))),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{replica.name} forgets the producer, and that it was fenced: of its newest epoch it has only a marker, "
            "whose time it does not keep (KAFKA-9144)"
        ),
        semantics="11.7",
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the actions of brokers that forget too early."""
    if brokers_forget_fenced(pipeline.deployment):
        for replica in pipeline.replicas:
            yield forget_fenced(pipeline, replica)
