"""Retention: old records and committed offsets are deleted, needed or not (semantics 10 D1 D5, 12 C14)."""

from __future__ import annotations

from collections.abc import Iterator

from proofka.model.consuming.consumer import reaches
from proofka.model.deployment.choices import OffsetReset
from proofka.model.deployment.implied.commits import offsets_expire
from proofka.model.language import Action, Effect, State, Variable
from proofka.model.language.terms import And, IntVal, Not
from proofka.model.log.log_starts import forgets_in_words, own_start, start_for_readers
from proofka.model.state.consumer import EXPIRED
from proofka.model.state.pipeline import Batch, Pipeline, Replica
from proofka.model.state.wording import record_name


def expire(pipeline: Pipeline, log_start: Variable, leader: Replica, offset: int, batch: Batch) -> Action:
    """Delete the leader's first record, which must be below the high watermark (semantics 10, D1)."""

    def sentence(before: State, after: State) -> str:
        read = before[pipeline.consumer.processed[batch.record].name] > 0
        return (
            f"{leader.name} deletes {record_name(batch)} at offset {offset}, which is older than retention.ms"
            f"{'' if read else ' and which nobody has processed'}{forgets_in_words(leader, before, after)}"
        )

    first = And(log_start.term == offset, leader.high_watermark.term > offset)
    it_is_this = leader.log.slots[offset]["batch"].term == batch.number
    effect = Effect()
    effect[log_start] = offset + 1
    own_start(leader).raise_to(pipeline, effect, IntVal(offset + 1))
    return Action(
        "expire",
        leader.name,
        lane="brokers",
        arguments={"leader": leader.number, "offset": offset, "batch": batch.number},
        guard=And(pipeline.serves(leader), first, it_is_this),
        updates=effect.updates,
        sentence=sentence,
        semantics="10 D1",
    )


def reset_position(pipeline: Pipeline, leader: Replica) -> Action:
    """Reset a position below the leader's log: earliest skips what was deleted, latest all that is there (10, D5)."""
    consumer, policy = pipeline.consumer, pipeline.deployment.consumer.offset_reset
    start = start_for_readers(pipeline, leader)
    to = start if policy is OffsetReset.EARLIEST else leader.high_watermark.term
    effect = Effect()
    effect[consumer.leader_epoch] = leader.epoch.term
    effect[consumer.position] = to
    effect[consumer.position_epoch] = leader.log.at(to - 1, "epoch")
    return Action(
        "reset_position",
        "consumer",
        lane="consumer",
        arguments={"leader": leader.number},
        guard=And(reaches(pipeline, leader), consumer.position.term < start),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the consumer asks {leader.name} for offset {before[consumer.position.name]}, which is deleted, and goes "
            f"on at the {policy.value} offset {after[consumer.position.name]}"
        ),
        semantics="10 D5",
    )


def expire_offsets(pipeline: Pipeline) -> Action:
    """Delete the committed offsets of a group without members (semantics 12, C14)."""
    why = "was committed long ago" if pipeline.deployment.cluster.offsets_age_in_use else "has long had no member"
    if pipeline.deployment.cluster.loaded_offsets_expire:
        why = "its coordinator has loaded as expired"
    consumer = pipeline.consumer
    known = [consumer.committed.term != EXPIRED]
    if consumer.undiscovered is not None:
        known.append(Not(consumer.undiscovered.is_set))
    return Action(
        "expire_offsets",
        "brokers",
        lane="brokers",
        arguments={},
        guard=And(Not(consumer.running.is_set), *known),
        updates={consumer.committed: IntVal(EXPIRED), consumer.committed_epoch: IntVal(0)},
        sentence=lambda before, after: f"the brokers delete the committed offset of the group, which {why}",
        semantics="12 C14",
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the deletions of records and offsets that are not used in time, where these can happen."""
    if offsets_expire(pipeline.deployment):
        yield expire_offsets(pipeline)
    if pipeline.log_start is None:
        return
    for leader in pipeline.replicas:
        for offset in range(leader.log.capacity):
            for batch in pipeline.producer.batches:
                yield expire(pipeline, pipeline.log_start, leader, offset, batch)
        if pipeline.deployment.consumer.offset_reset is not OffsetReset.NONE:
            yield reset_position(pipeline, leader)
