"""The consumer of the group that has the partition: poll, process, commit, crash (semantics 12).

Nobody but the consumer sees its processing and its commits before it restarts. So the step that polls records also
finishes those that the poll thread processes; a crash in the middle is a step of its own. The restart decides how far
the last commit got and which records workers had finished (docs/semantics.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import z3

from proofka.model.consuming.committing import committing
from proofka.model.consuming.position import (
    ByEpoch,
    ByEpochAfterStart,
    ByOffset,
    WaitingBeyondEnd,
    advance,
    agreed_prefix,
    goes_by_policy,
    position_check,
)
from proofka.model.deployment.choices import OffsetReset, Processing, Sink
from proofka.model.deployment.deployment import Deployment
from proofka.model.faults import Fault
from proofka.model.language import Action, Effect, State, Variable
from proofka.model.language.terms import And, BoolVal, If, Not, Or
from proofka.model.log.cleaned import cleaning_of
from proofka.model.log.log_starts import start_for_readers
from proofka.model.log.visibility import can_all_be_read, can_be_passed_over
from proofka.model.state.outages import note_outage_of_consumer
from proofka.model.state.pending_offsets import forget, remember
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.model.state.shared_terms import shared
from proofka.model.state.sink import apply, forget_effects
from proofka.model.state.wording import entry_name

PROCESSED_OFTEN = 2
"""The highest count of processings of a record: properties ask only whether there were more than one."""


def reaches(pipeline: Pipeline, leader: Replica) -> z3.BoolRef:
    """Tell whether the consumer fetches from this leader, whose epoch must be no older than those it has seen (8).

    A consumer that does not compare epochs fetches from any broker that considers itself the leader.
    """
    consumer = pipeline.consumer
    conditions = [consumer.running.is_set, leader.presumes_leadership]
    if pipeline.deployment.consumer.knows_epochs:
        conditions.append(leader.epoch.term >= consumer.leader_epoch.term)
    conditions.extend(position_check(pipeline).may_fetch(pipeline, leader))
    return And(*conditions)


@shared
def pollable(pipeline: Pipeline, leader: Replica, count: int) -> z3.BoolRef:
    """Tell whether poll() can return ``count`` records of this leader (semantics 12, C1)."""
    return is_fetched(pipeline, leader, can_all_be_read(pipeline, leader, pipeline.consumer.position.term, count))


def is_fetched(pipeline: Pipeline, leader: Replica, readable: z3.BoolRef) -> z3.BoolRef:
    """Tell whether the consumer fetches what is ``readable``: its position agrees with the leader's log."""
    consumer = pipeline.consumer
    position = consumer.position.term
    conditions = [reaches(pipeline, leader), readable, *position_check(pipeline).must_agree(pipeline, leader)]
    if pipeline.log_start is not None:
        conditions.append(position >= start_for_readers(pipeline, leader))
    return And(*conditions)


def record_at(pipeline: Pipeline, leader: Replica, offset: z3.ArithRef) -> z3.ArithRef:
    """Return the number of the record at an offset of the leader's log."""
    return pipeline.record_of(leader.log.at(offset, "batch"))


def unprocessed(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Tell whether nobody has processed the record, and no worker, evicted member or retry topic still has it."""
    consumer = pipeline.consumer
    with_a_worker = Or(*(held.term == record + 1 for held in (*consumer.queued, *consumer.late, *consumer.forwarded)))
    return And(consumer.processed[record].term == 0, Not(with_a_worker))


def process(
    pipeline: Pipeline, effect: Effect, record: z3.ArithRef, offset: z3.ArithRef | int, *, moves_on: bool = True
) -> None:
    """Process one record from this offset: count it, and note whether it leaves the order of sending.

    A return to an earlier offset after a restart is a repetition, not disorder. ``moves_on`` is False for the work of
    an evicted member: that work is compared with the group's progress, and does not change the progress.
    """
    consumer = pipeline.consumer
    for number, processed in enumerate(consumer.processed):
        this = record == number
        later = Or(*(effect[other] > 0 for other in consumer.processed[number + 1 :]))
        first_after_later = And(effect[processed] == 0, later)
        for was_not_passed in cleaning_of(pipeline).was_not_passed(number):
            # A record that some log lacked, and the group reads now where no cleaner removed it, is a repetition.
            first_after_later = And(first_after_later, was_not_passed)
        out_of_order = And(this, Or(effect[consumer.latest] > number + 1, first_after_later))
        effect.set_when(out_of_order, consumer.disorder, 1)
        effect.set_when(And(this, effect[processed] < PROCESSED_OFTEN), processed, effect[processed] + 1)
        if moves_on:
            effect.set_when(And(this, effect[consumer.latest] < number + 1), consumer.latest, number + 1)
    apply(pipeline.applied, effect, record, offset, BoolVal(True))


def process_next(pipeline: Pipeline, effect: Effect, leader: Replica, count: int) -> None:
    """Process the next ``count`` records, one after the other."""
    for index in range(count):
        offset = pipeline.consumer.position.term + index
        process(pipeline, effect, record_at(pipeline, leader, offset), offset)


def stop(effect: Effect, pipeline: Pipeline, *, ends: bool = True) -> None:
    """Stop the consumer: its process and memory are gone; without ``ends`` the process only loses its partition."""
    consumer = pipeline.consumer
    effect[consumer.running] = False
    if ends:
        for forwarded in consumer.forwarded:
            effect[forwarded] = 0
        forget_effects(pipeline.applied, effect)
    effect[consumer.failed] = 0
    effect[pipeline.consumer.commit_lost] = False
    effect[pipeline.consumer.latest] = 0
    effect[pipeline.consumer.leader_epoch] = 0
    forget(pipeline.unapplied, effect)


def records_in_words(pipeline: Pipeline, state: State, leader: Replica, count: int) -> str:
    """Return the words for the next ``count`` records that the consumer polls."""
    batches = pipeline.producer.batches
    first = state[pipeline.consumer.position.name]
    slots = leader.log.slots[first : first + count]
    return ", ".join(f"record {batches[state[slot['batch'].name]].record + 1}" for slot in slots)


def poll(pipeline: Pipeline, leader: Replica, count: int) -> Action:
    """Let poll() return ``count`` records, which the poll thread processes (semantics 12, C1)."""
    effect = Effect()
    process_next(pipeline, effect, leader, count)
    advance(pipeline, effect, leader, count)
    remember(pipeline.unapplied, effect, (pipeline.consumer.committed, pipeline.consumer.committed_epoch))
    committing(pipeline).commit_polled(pipeline, effect)
    how = committing(pipeline).how_in_words(pipeline.deployment.application.sink)
    return Action(
        "poll",
        "consumer",
        lane="consumer",
        arguments={"leader": leader.number, "count": count},
        guard=pollable(pipeline, leader, count),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the consumer polls {records_in_words(pipeline, before, leader, count)} from {leader.name} "
            f"and processes {'it' if count == 1 else 'them'}{how}"
        ),
        semantics="12 C1, 12.1",
    )


def pass_over(pipeline: Pipeline, leader: Replica) -> Action:
    """Let the position move over a marker, or with read_committed over an aborted record (semantics 11.2)."""
    consumer = pipeline.consumer
    effect = Effect()
    advance(pipeline, effect, leader, 1)

    def sentence(before: State, after: State) -> str:
        offset = before[consumer.position.name]
        return f"the consumer passes over {entry_name(pipeline, before, leader, offset)} at offset {offset}"

    passed = can_be_passed_over(pipeline, leader, consumer.position.term)
    return Action(
        "pass_over",
        "consumer",
        lane="consumer",
        arguments={"leader": leader.number},
        guard=is_fetched(pipeline, leader, passed),
        updates=effect.updates,
        sentence=sentence,
        semantics="11.2",
    )


def parts_done(deployment: Deployment, count: int) -> range:
    """Return the numbers of records, of ``count``, that a stop can leave processed: 0 with results in a transaction."""
    return range(1 if deployment.application.sink is Sink.KAFKA else count)


def crash_while_processing(pipeline: Pipeline, leader: Replica, count: int, done: int) -> Action:
    """Crash the consumer after it processed ``done`` of the ``count`` records that poll() returned (12.1).

    A client that commits what it delivered can have committed all of them by then (semantics 4).
    """
    effect = Effect()
    process_next(pipeline, effect, leader, done)
    committing(pipeline).commit_before_end(pipeline, effect, leader, count=count, done=done)
    stop(effect, pipeline)
    note_outage_of_consumer(pipeline, effect)
    committed = committing(pipeline).first_in_words
    return Action(
        "crash_while_processing",
        "consumer",
        lane="consumer",
        arguments={"leader": leader.number, "count": count, "done": done},
        guard=pollable(pipeline, leader, count),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the consumer polls {records_in_words(pipeline, before, leader, count)} from {leader.name}{committed}"
            f" and crashes with {done} of {count} processed"
        ),
        semantics="12.1",
        fault=Fault.CONSUMER_CRASH,
    )


def hand_off(pipeline: Pipeline, leader: Replica) -> Action:
    """Let poll() return a record, which the poll thread hands to a worker (semantics 12, C1)."""
    consumer = pipeline.consumer
    effect = Effect()
    record = record_at(pipeline, leader, consumer.position.term)
    for offset, queued in enumerate(consumer.queued):
        effect.set_when(consumer.position.term == offset, queued, record + 1)
    advance(pipeline, effect, leader, 1)
    committing(pipeline).commit_handed_off(pipeline, effect)
    return Action(
        "hand_off",
        "consumer",
        lane="consumer",
        arguments={"leader": leader.number},
        guard=pollable(pipeline, leader, 1),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the consumer polls {records_in_words(pipeline, before, leader, 1)} from {leader.name}"
            f" and hands it to a worker"
        ),
        semantics="12 C1",
    )


def finish(pipeline: Pipeline, effect: Effect, place: int, queued: Variable, when: z3.BoolRef) -> None:
    """Process, if ``when`` holds, the record that a worker has from offset ``place``, if any; never as disorder."""
    for record, count in enumerate(pipeline.consumer.processed):
        done = And(when, queued.term == record + 1, effect[count] < PROCESSED_OFTEN)
        effect.set_when(done, count, effect[count] + 1)
    apply(pipeline.applied, effect, queued.term - 1, place, And(when, queued.term > 0))


def _go_to(pipeline: Pipeline, leader: Replica, offset: z3.ArithRef) -> Effect:
    """Return the effect of a position that goes back to an offset; workers finish what they have from there on."""
    consumer = pipeline.consumer
    effect = Effect()
    for place, queued in enumerate(consumer.queued):
        effect.set_when(offset <= place, queued, 0)
        finish(pipeline, effect, place, queued, offset <= place)
    effect[consumer.failed] = 0
    effect[consumer.leader_epoch] = leader.epoch.term
    effect[consumer.position] = offset
    effect[consumer.position_epoch] = If(offset > 0, leader.log.at(offset - 1, "epoch"), 0)
    return effect


def reset_beyond_end(pipeline: Pipeline, leader: Replica) -> Action:
    """Reset a position that is out of range, beyond the leader's log, if epochs are not compared (8, 10 D5)."""
    consumer, policy = pipeline.consumer, pipeline.deployment.consumer.offset_reset
    effect = _go_to(pipeline, leader, goes_by_policy(pipeline, leader))
    beyond_end = consumer.position.term > leader.log.end.term
    can_be = position_check(pipeline).can_be_beyond_end(pipeline)
    return Action(
        "reset_beyond_end",
        "consumer",
        lane="consumer",
        arguments={"leader": leader.number},
        guard=And(reaches(pipeline, leader), beyond_end, *can_be),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the consumer asks {leader.name} for offset {before[consumer.position.name]}, beyond the end of its log, "
            f"and goes on at the {policy.value} offset {after[consumer.position.name]}"
        ),
        semantics="8, 10 D5",
    )


def seek_to_divergence(pipeline: Pipeline, leader: Replica) -> Action:
    """Take a consumer with a reset policy silently back to where its log and the leader's diverge (8, KIP-320).

    The leader's log was truncated below the position.
    """
    consumer = pipeline.consumer
    agreed = agreed_prefix(pipeline, leader, consumer.position_epoch.term)
    effect = _go_to(pipeline, leader, agreed)
    return Action(
        "seek_to_divergence",
        "consumer",
        lane="consumer",
        arguments={"leader": leader.number},
        guard=And(reaches(pipeline, leader), agreed < consumer.position.term),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the consumer finds the log of {leader.name} truncated and goes back to offset"
            f" {after[consumer.position.name]}"
        ),
        semantics="8",
    )


def crash(pipeline: Pipeline) -> Action:
    """Crash the consumer between two polls (semantics 12.1)."""
    consumer = pipeline.consumer
    effect = Effect()
    stop(effect, pipeline)
    note_outage_of_consumer(pipeline, effect)

    def sentence(before: State, after: State) -> str:
        handed_off = [f"record {before[queued.name]}" for queued in consumer.queued if before[queued.name]]
        forwarded = [f"record {before[one.name]}" for one in consumer.forwarded if before[one.name]]
        words = "the consumer crashes" + (f" with {', '.join(handed_off)} handed off" if handed_off else "")
        words += ", and what it had in memory is gone" if pipeline.deployment.application.sink.is_memory else ""
        return words + (f" before the retry topic has {', '.join(forwarded)}" if forwarded else "")

    return Action(
        "crash_consumer",
        "consumer",
        lane="consumer",
        arguments={},
        guard=consumer.running.is_set,
        updates=effect.updates,
        sentence=sentence,
        semantics="12.1",
        fault=Fault.CONSUMER_CRASH,
    )


_GOES_ON: Mapping[type[ByOffset], tuple[Callable[[Pipeline, Replica], Action], ...]] = {
    ByOffset: (reset_beyond_end,),
    WaitingBeyondEnd: (),
    ByEpoch: (seek_to_divergence,),
    ByEpochAfterStart: (seek_to_divergence, reset_beyond_end),
}
"""The ways in which a consumer with a reset policy goes on after a truncation, by its check of positions."""


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the actions of a running consumer."""
    deployment = pipeline.deployment
    most = min(deployment.consumer.max_poll_records, deployment.bounds.log)
    for leader in pipeline.replicas:
        if pipeline.transactions is not None:
            yield pass_over(pipeline, leader)
        if deployment.application.processing is Processing.HANDED_OFF:
            yield hand_off(pipeline, leader)
        else:
            for count in range(1, most + 1):
                yield poll(pipeline, leader, count)
                for done in parts_done(deployment, count):
                    yield crash_while_processing(pipeline, leader, count, done)
        if deployment.consumer.offset_reset is not OffsetReset.NONE:
            for go_on in _GOES_ON[type(position_check(pipeline))]:
                yield go_on(pipeline, leader)
    yield crash(pipeline)
