"""Reads at a log's end that return a record above the high watermark during its append (6.1, KAFKA-9835).

Brokers from 1.1 to 2.5.0 determined the length of a file twice. A read up to the high watermark that ends at the end of
the log also returns what is appended between the two times.
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.model.consuming.committing import committing
from proofka.model.consuming.consumer import process, reaches
from proofka.model.consuming.position import position_check
from proofka.model.deployment.choices import Processing
from proofka.model.language import Action, Effect, State
from proofka.model.language.terms import And, IntVal, Or
from proofka.model.log.visibility import end_of_reading
from proofka.model.producing.produce import append_batch, execute_delayed
from proofka.model.state.pipeline import Batch, Pipeline, Replica


def _has_just_read(pipeline: Pipeline, leader: Replica) -> z3.BoolRef:
    """Tell whether the consumer has read the whole log, and can have read its last record at this moment.

    Nobody else sees the moment of that read. A consumer that has read nothing since its start waits at the end for the
    next record: such a read returns nothing, and cannot overrun.
    """
    consumer = pipeline.consumer
    end = leader.log.end.term
    read = consumer.latest.term > 0
    if pipeline.deployment.application.processing is Processing.HANDED_OFF:
        read = Or(*(queued.term > 0 for queued in consumer.queued))
    at_end = And(consumer.position.term == end, end_of_reading(pipeline, leader) == end)
    return And(reaches(pipeline, leader), at_end, read, *position_check(pipeline).agrees_to_end(pipeline, leader))


def read_while_appending(pipeline: Pipeline, batch: Batch, leader: Replica, appending: Action) -> Action:
    """Let the leader append a record that the consumer's read returns, whatever becomes of it (6.1, KAFKA-9835)."""
    consumer = pipeline.consumer
    effect = Effect()
    for variable, value in appending.updates.items():
        effect[variable] = value
    end = leader.log.end.term
    if pipeline.deployment.application.processing is Processing.HANDED_OFF:
        for offset, queued in enumerate(consumer.queued):
            effect.set_when(end == offset, queued, batch.record + 1)
    else:
        process(pipeline, effect, IntVal(batch.record), end)
    effect[consumer.commit_lost] = False
    effect[consumer.leader_epoch] = leader.epoch.term
    effect[consumer.position] = end + 1
    effect[consumer.position_epoch] = leader.epoch.term
    committing(pipeline).commit_polled(pipeline, effect)
    for offset, exposed in enumerate(pipeline.exposed):
        effect.set_when(And(end == offset, effect[exposed] == 0), exposed, batch.record + 1)

    def sentence(before: State, after: State) -> str:
        then = "hands it to a worker" if consumer.queued else "processes it"
        appended = appending.sentence(before, after)
        return f"{appended}; the consumer's read runs into it, above the high watermark, and the consumer {then}"

    return Action(
        "read_while_appending",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number, "delayed": int(appending.name == "execute_delayed")},
        guard=And(appending.guard, _has_just_read(pipeline, leader)),
        updates=effect.updates,
        sentence=sentence,
        semantics="6.1 R4",
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield every append that a consumer's read can run into, with brokers of the affected releases."""
    if not pipeline.deployment.cluster.reads_may_overrun:
        return
    for batch in pipeline.producer.batches:
        for leader in pipeline.replicas:
            for append in (append_batch, execute_delayed):
                yield read_while_appending(pipeline, batch, leader, append(pipeline, batch, leader))
