"""Brokers that forget a producer, and its numbers, which wrote nothing for producer.id.expiration.ms (3.5)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import z3

from proofka.model.deployment.implied.forgetting import producer_ids_expire
from proofka.model.language import Action, Effect
from proofka.model.language.terms import And, Not, Or
from proofka.model.state.kept_numbers import FORGOTTEN
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica
from proofka.model.state.wording import record_name


def forget(pipeline: Pipeline, replica: Replica, batch: Batch) -> Action:
    """Let a broker forget a producer whose last record it has is older than producer.id.expiration.ms (semantics 3.5).

    ``batch`` is that record. The broker treats the producer's next record as its first.
    """
    of_producer = pipeline.producer.shares_id
    known = [
        (
            offset,
            slot,
            And(replica.log.has(offset), slot[FORGOTTEN].term == 0, of_producer(slot["batch"].term, batch)),
        )
        for offset, slot in enumerate(replica.log.slots)
    ]
    last = Or(
        *(
            And(is_known, slot["batch"].term == batch.number, *(Not(later) for _, _, later in known[offset + 1 :]))
            for offset, slot, is_known in known
        )
    )
    effect = Effect()
    for _, slot, is_known in known:
        effect.set_when(is_known, slot[FORGOTTEN], 1)
    effect.set_when(batch.session.term == 0, replica.knows_producer, 0)
    return Action(
        "forget_producer",
        replica.name,
        lane="brokers",
        arguments={"broker": replica.number, "batch": batch.number},
        guard=And(replica.up.is_set, last, numbers_will_be_asked_for(pipeline)),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{replica.name} forgets the producer, of which it has nothing newer than {record_name(batch)}: "
            "producer.id.expiration.ms is over"
        ),
        semantics="3.5",
    )


def numbers_will_be_asked_for(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether a broker will still check numbers: a record is to be sent, or on its way."""
    left = [Or(b.is_(Fate.UNSENT), b.incomplete, b.delayed.term != 0) for b in pipeline.producer.batches]
    return Or(*left)


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield, for every broker, the action that it forgets the producer, where a record can be retried for that long."""
    if producer_ids_expire(pipeline.deployment):
        for replica, batch in product(pipeline.replicas, pipeline.producer.batches):
            yield forget(pipeline, replica, batch)
