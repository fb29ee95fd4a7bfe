"""The consumer of the group that has the partition: poll, process, commit, crash, restart (semantics 12).

Nobody but the consumer sees its processing and its commits before it restarts. So records processed in the poll thread
are finished in the step that polls them, with a crash in the middle as a step of its own; and how far the last commit
got, and which records workers had finished, is decided when the consumer restarts (docs/semantics.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import z3

from model.deployment.deployment import Commit, Group, OffsetReset, Processing, Sink
from model.faults import REPLACES_MEMBER, Fault
from model.language import Action, Effect, State
from model.state import EXPIRED, Pipeline, Replica

Finished = tuple[int, ...]
"""Offsets of records that workers had finished."""

PROCESSED_OFTEN = 2
"""Processing is counted up to here: more than once is what a property asks."""


def agreed_prefix(pipeline: Pipeline, leader: Replica, position_epoch: z3.ArithRef) -> z3.ArithRef:
    """Where the leader's log ends for an epoch: a position beyond it was truncated away (semantics 8, KIP-320).

    A consumer that does not look at epochs finds out only beyond the end of the log.
    """
    if not pipeline.deployment.consumer_checks_epochs:
        return leader.log.end.term
    return leader.log.count(lambda _, slot: slot["epoch"].term <= position_epoch)


def goes_back_to(pipeline: Pipeline, leader: Replica, position_epoch: z3.ArithRef) -> z3.ArithRef:
    """Where a consumer goes on whose position was truncated away: where the logs part, or by its policy (8, D5)."""
    if pipeline.deployment.consumer_checks_epochs:
        return agreed_prefix(pipeline, leader, position_epoch)
    if pipeline.deployment.offset_reset is not OffsetReset.EARLIEST:
        return leader.high_watermark.term
    return z3.IntVal(0) if pipeline.log_start is None else pipeline.log_start.term


def validated(pipeline: Pipeline, leader: Replica, position: z3.ArithRef, position_epoch: z3.ArithRef) -> z3.ArithRef:
    """The position as the consumer will find it on this leader."""
    agreed = agreed_prefix(pipeline, leader, position_epoch)
    return z3.If(agreed < position, goes_back_to(pipeline, leader, position_epoch), position)


def reaches(pipeline: Pipeline, leader: Replica) -> z3.BoolRef:
    """The consumer fetches from a leader that is no older than what it has seen, where it can tell (semantics 8)."""
    consumer = pipeline.consumer
    conditions = [consumer.running.is_set, leader.presumes_leadership]
    if pipeline.deployment.consumer_knows_epochs:
        conditions.append(leader.epoch.term >= consumer.leader_epoch.term)
    if pipeline.deployment.consumer_checks_epochs:
        conditions.append(leader.epoch.term >= consumer.position_epoch.term)
    return z3.And(*conditions)


def pollable(pipeline: Pipeline, leader: Replica, count: int) -> z3.BoolRef:
    """poll() can return so many records of this leader (semantics 12, C1)."""
    consumer = pipeline.consumer
    position = consumer.position.term
    conditions = [reaches(pipeline, leader), position + count <= leader.high_watermark.term]
    if pipeline.deployment.consumer_checks_epochs:
        conditions.append(agreed_prefix(pipeline, leader, consumer.position_epoch.term) >= position)
    if pipeline.log_start is not None:
        conditions.append(position >= pipeline.log_start.term)
    return z3.And(*conditions)


def record_at(pipeline: Pipeline, leader: Replica, offset: z3.ArithRef) -> z3.ArithRef:
    """The record at an offset of the leader's log."""
    return pipeline.record_of(leader.log.at(offset, "batch"))


def process(pipeline: Pipeline, effect: Effect, record: z3.ArithRef, *, moves_on: bool = True) -> None:
    """Process one record: count it, and notice when it leaves the order of sending.

    Going back to an earlier offset after a restart is a repetition, not disorder. What a member does that was thrown
    out is compared with what the group does, and is not what that goes on from (not ``moves_on``).
    """
    consumer = pipeline.consumer
    for number, processed in enumerate(consumer.processed):
        this = record == number
        later = z3.Or(*(effect[other] > 0 for other in consumer.processed[number + 1 :]))
        first_after_later = z3.And(effect[processed] == 0, later)
        out_of_order = z3.And(this, z3.Or(effect[consumer.latest] > number + 1, first_after_later))
        effect.set_when(out_of_order, consumer.disorder, 1)
        effect.set_when(z3.And(this, effect[processed] < PROCESSED_OFTEN), processed, effect[processed] + 1)
        if moves_on:
            effect.set_when(z3.And(this, effect[consumer.latest] < number + 1), consumer.latest, number + 1)


def process_next(pipeline: Pipeline, effect: Effect, leader: Replica, count: int) -> None:
    """Process the next so many records, one after the other."""
    for index in range(count):
        process(pipeline, effect, record_at(pipeline, leader, pipeline.consumer.position.term + index))


def advance(pipeline: Pipeline, effect: Effect, leader: Replica, count: int) -> None:
    """The position moves on when records are returned, before they are processed (semantics 12, C1)."""
    consumer = pipeline.consumer
    last = consumer.position.term + (count - 1)
    if consumer.commit_lost is not None:
        effect[consumer.commit_lost] = False
    effect[consumer.leader_epoch] = leader.epoch.term
    effect[consumer.position] = consumer.position.term + count
    effect[consumer.position_epoch] = leader.log.at(last, "epoch")


def commit_position(pipeline: Pipeline, effect: Effect) -> None:
    """All that was returned by now is committed (semantics 12, C2 C4)."""
    consumer = pipeline.consumer
    _commit(effect, pipeline, effect[consumer.position], effect[consumer.position_epoch])


def _commit(effect: Effect, pipeline: Pipeline, offset: z3.ArithRef, epoch: z3.ArithRef) -> None:
    """The group's committed offset, with the leader epoch of the record before it (semantics 12, C8)."""
    effect[pipeline.consumer.committed] = offset
    effect[pipeline.consumer.committed_epoch] = epoch


def commit_processed(pipeline: Pipeline, effect: Effect, leader: Replica, count: int, done: int) -> None:
    """What is committed of ``count`` records when a consumer that processed ``done`` of them gets no further (12.1)."""
    deployment, consumer = pipeline.deployment, pipeline.consumer
    if deployment.sink is Sink.TRANSACTIONAL:
        if done > 0:
            last = consumer.position.term + (done - 1)
            _commit(effect, pipeline, consumer.position.term + done, leader.log.at(last, "epoch"))
    elif deployment.commit is Commit.BEFORE:
        last = consumer.position.term + (count - 1)
        _commit(effect, pipeline, consumer.position.term + count, leader.log.at(last, "epoch"))
    elif deployment.commit is Commit.DELIVERED:
        advance(pipeline, effect, leader, count)
    if deployment.commits_at_once:
        effect[consumer.position] = effect[consumer.committed]
        effect[consumer.position_epoch] = effect[consumer.committed_epoch]


def stop(effect: Effect, pipeline: Pipeline) -> None:
    """The process is gone, and with it all that it remembered."""
    effect[pipeline.consumer.running] = False
    if pipeline.consumer.commit_lost is not None:
        effect[pipeline.consumer.commit_lost] = False
    effect[pipeline.consumer.latest] = 0
    effect[pipeline.consumer.leader_epoch] = 0


def records_in_words(pipeline: Pipeline, state: State, leader: Replica, count: int) -> str:
    """The next so many records that the consumer polls."""
    batches = pipeline.producer.batches
    first = state[pipeline.consumer.position.name]
    slots = leader.log.slots[first : first + count]
    return ", ".join(f"record {batches[state[slot['batch'].name]].record + 1}" for slot in slots)


def poll(pipeline: Pipeline, leader: Replica, count: int) -> Action:
    """poll() returns ``count`` records and the poll thread processes them (semantics 12, C1)."""
    deployment = pipeline.deployment
    effect = Effect()
    process_next(pipeline, effect, leader, count)
    advance(pipeline, effect, leader, count)
    if pipeline.deployment.commits_at_once:
        commit_position(pipeline, effect)
    how = ", storing the offset with the result" if deployment.sink is Sink.TRANSACTIONAL else ""
    if not how and deployment.commit is Commit.BEFORE:
        how = ", having committed first"
    return Action(
        "poll",
        "consumer",
        "consumer",
        {"leader": leader.number, "count": count},
        pollable(pipeline, leader, count),
        effect.updates,
        lambda before, after: (
            f"the consumer polls {records_in_words(pipeline, before, leader, count)} from {leader.name} "
            f"and processes {'it' if count == 1 else 'them'}{how}"
        ),
        "12 C1, 12.1",
    )


def crash_while_processing(pipeline: Pipeline, leader: Replica, count: int, done: int) -> Action:
    """The consumer crashes after it processed ``done`` of the ``count`` records that poll() returned (12.1).

    A client that commits what it delivered may have committed all of them by then (semantics 4).
    """
    deployment = pipeline.deployment
    effect = Effect()
    process_next(pipeline, effect, leader, done)
    commit_processed(pipeline, effect, leader, count, done)
    stop(effect, pipeline)
    committed = ", commits" if deployment.commit is Commit.BEFORE and deployment.sink is not Sink.TRANSACTIONAL else ""
    return Action(
        "crash_while_processing",
        "consumer",
        "consumer",
        {"leader": leader.number, "count": count, "done": done},
        pollable(pipeline, leader, count),
        effect.updates,
        lambda before, after: (
            f"the consumer polls {records_in_words(pipeline, before, leader, count)} from {leader.name}{committed}"
            f" and crashes with {done} of {count} processed"
        ),
        "12.1",
        Fault.CONSUMER_CRASH,
    )


def hand_off(pipeline: Pipeline, leader: Replica) -> Action:
    """poll() returns a record and the poll thread hands it to a worker (semantics 12, C1)."""
    consumer = pipeline.consumer
    effect = Effect()
    record = record_at(pipeline, leader, consumer.position.term)
    for offset, queued in enumerate(consumer.queued):
        effect.set_when(consumer.position.term == offset, queued, record + 1)
    advance(pipeline, effect, leader, 1)
    before_processing = pipeline.deployment.commit is Commit.BEFORE
    if before_processing and pipeline.deployment.sink is not Sink.TRANSACTIONAL:
        commit_position(pipeline, effect)
    return Action(
        "hand_off",
        "consumer",
        "consumer",
        {"leader": leader.number},
        pollable(pipeline, leader, 1),
        effect.updates,
        lambda before, after: (
            f"the consumer polls {records_in_words(pipeline, before, leader, 1)} from {leader.name}"
            f" and hands it to a worker"
        ),
        "12 C1",
    )


def keep_for_late(pipeline: Pipeline, effect: Effect, offset: z3.ArithRef, record: z3.ArithRef) -> None:
    """A member that was thrown out still has the record of an offset.

    If one before it had the same, that one is done with it now: both process it in the end.
    """
    for place, late in enumerate(pipeline.consumer.late):
        here = offset == place
        for number, count in enumerate(pipeline.consumer.processed):
            again = z3.And(here, late.term == number + 1, effect[count] < count.high)
            effect.set_when(again, count, effect[count] + 1)
        effect.set_when(here, late, record + 1)


def _go_to(pipeline: Pipeline, leader: Replica, offset: z3.ArithRef) -> Effect:
    """The position goes back to an offset of this leader; what workers have from there on they have all the same."""
    consumer = pipeline.consumer
    effect = Effect()
    for place, queued in enumerate(consumer.queued):
        effect.set_when(offset <= place, queued, 0)
        for record in range(len(consumer.processed)):
            count = consumer.processed[record]
            done = z3.And(offset <= place, queued.term == record + 1, effect[count] < PROCESSED_OFTEN)
            effect.set_when(done, count, effect[count] + 1)
    effect[consumer.leader_epoch] = leader.epoch.term
    effect[consumer.position] = offset
    effect[consumer.position_epoch] = z3.If(offset > 0, leader.log.at(offset - 1, "epoch"), 0)
    return effect


def reset_beyond_end(pipeline: Pipeline, leader: Replica) -> Action:
    """Offset out of range: the position is beyond the leader's log, and nothing tells where the two part (8, 10 D5)."""
    consumer, policy = pipeline.consumer, pipeline.deployment.offset_reset
    effect = _go_to(pipeline, leader, goes_back_to(pipeline, leader, consumer.position_epoch.term))
    return Action(
        "reset_beyond_end",
        "consumer",
        "consumer",
        {"leader": leader.number},
        z3.And(reaches(pipeline, leader), consumer.position.term > leader.log.end.term),
        effect.updates,
        lambda before, after: (
            f"the consumer asks {leader.name} for offset {before[consumer.position.name]}, beyond the end of its log, "
            f"and goes on at the {policy.value} offset {after[consumer.position.name]}"
        ),
        "8, 10 D5",
    )


def seek_to_divergence(pipeline: Pipeline, leader: Replica) -> Action:
    """The log was truncated below the position: with a reset policy the consumer silently goes back (8, KIP-320)."""
    consumer = pipeline.consumer
    agreed = agreed_prefix(pipeline, leader, consumer.position_epoch.term)
    effect = _go_to(pipeline, leader, agreed)
    return Action(
        "seek_to_divergence",
        "consumer",
        "consumer",
        {"leader": leader.number},
        z3.And(reaches(pipeline, leader), agreed < consumer.position.term),
        effect.updates,
        lambda before, after: (
            f"the consumer finds the log of {leader.name} truncated and goes back to offset"
            f" {after[consumer.position.name]}"
        ),
        "8",
    )


def crash(pipeline: Pipeline) -> Action:
    """The consumer crashes between two polls (semantics 12.1)."""
    consumer = pipeline.consumer
    effect = Effect()
    stop(effect, pipeline)

    def sentence(before: State, after: State) -> str:
        handed_off = [f"record {before[queued.name]}" for queued in consumer.queued if before[queued.name]]
        return "the consumer crashes" + (f" with {', '.join(handed_off)} handed off" if handed_off else "")

    return Action(
        "crash_consumer",
        "consumer",
        "consumer",
        {},
        consumer.running.is_set,
        effect.updates,
        sentence,
        "12.1",
        Fault.CONSUMER_CRASH,
    )


def restart(pipeline: Pipeline, finished: Finished, committed_all: bool) -> Action:
    """The consumer starts from the committed offset; without one, earliest starts at 0 (semantics 12, C2 C6 C13).

    ``finished`` are the offsets that workers had finished before the crash. ``committed_all``: the last commit covered
    everything returned so far; otherwise nothing was committed since the start. What lies between is less than one of
    the two: it skips less than the former and repeats less than the latter.
    """
    consumer, deployment = pipeline.consumer, pipeline.deployment
    effect = Effect()
    for offset in finished:
        queued = consumer.queued[offset]
        process(pipeline, effect, queued.term - 1)
        effect[queued] = 0
    if committed_all:
        _commit(effect, pipeline, consumer.position.term, consumer.position_epoch.term)
    elif deployment.sink is Sink.TRANSACTIONAL and consumer.queued:
        _commit(effect, pipeline, _first_unfinished(pipeline, effect), consumer.position_epoch.term)
    _start(pipeline, effect)
    _leave_to_late(pipeline, effect)
    effect[consumer.position] = z3.If(effect[consumer.committed] > 0, effect[consumer.committed], 0)
    effect[consumer.position_epoch] = effect[consumer.committed_epoch]

    def sentence(before: State, after: State) -> str:
        with_workers = {offset: before[q.name] for offset, q in enumerate(consumer.queued) if before[q.name]}
        done = [f"record {record}" for offset, record in with_workers.items() if offset in finished]
        left = [f"record {record}" for offset, record in with_workers.items() if offset not in finished]
        committed = after[consumer.committed.name]
        who, earlier = group_words(pipeline)
        words = f"{who} at offset {max(committed, 0)}: {earlier} "
        if committed_all:
            words += "auto-committed that" if deployment.commit.is_by_client else "committed that"
        elif before[consumer.committed.name] == EXPIRED:
            words = f"{who} at offset 0: its committed offset is deleted, and earliest starts there"
        elif committed < 0:
            words += "committed nothing, and earliest starts there"
        else:
            words += "committed nothing later"
        words += f", workers had finished {', '.join(done)}" if done else ""
        return words + (f", workers had not finished {', '.join(left)}" if left else "")

    return Action(
        "restart_consumer",
        "consumer",
        "consumer",
        {"committed_all": int(committed_all), "finished": sum(1 << offset for offset in finished)},
        _may_restart(pipeline, finished, committed_all),
        effect.updates,
        sentence,
        "12 C2 C6 C13",
    )


def group_words(pipeline: Pipeline) -> tuple[str, str]:
    """Who starts, and when what it finds was decided: the same consumer after a crash, or perhaps another member."""
    if pipeline.deployment.possible_faults & REPLACES_MEMBER:
        return "a consumer of the group starts", "until then the one before"
    return "the consumer restarts", "before the crash it"


def _may_restart(pipeline: Pipeline, finished: Finished, committed_all: bool) -> z3.BoolRef:
    deployment, consumer = pipeline.deployment, pipeline.consumer
    conditions = [z3.Not(consumer.running.is_set)]
    conditions += [consumer.queued[offset].term > 0 for offset in finished]
    if committed_all:
        conditions.append(consumer.position.term != consumer.committed.term)
        if deployment.offsets_expire:
            conditions.append(consumer.committed.term != EXPIRED)
        if deployment.commit.follows_processing:
            others = [q for offset, q in enumerate(consumer.queued) if offset not in finished]
            conditions += [queued.term == 0 for queued in others]
    elif deployment.offset_reset is not OffsetReset.EARLIEST:
        conditions.append(consumer.committed.term >= 0)
    return z3.And(*conditions)


def _first_unfinished(pipeline: Pipeline, effect: Effect) -> z3.ArithRef:
    """The first offset handed off and not finished, else the position."""
    first = pipeline.consumer.position.term
    for offset, queued in reversed(list(enumerate(pipeline.consumer.queued))):
        first = z3.If(effect[queued] > 0, z3.IntVal(offset), first)
    return first


def restart_at_end(pipeline: Pipeline, leader: Replica, finished: Finished) -> Action:
    """Without a committed offset, latest starts at the end of what can be read (semantics 12, C13 C14)."""
    consumer = pipeline.consumer
    end = leader.high_watermark.term
    effect = Effect()
    for offset in finished:
        process(pipeline, effect, consumer.queued[offset].term - 1)
    _start(pipeline, effect)
    _leave_to_late(pipeline, effect)
    effect[consumer.position] = end
    effect[consumer.position_epoch] = z3.If(end > 0, leader.log.at(end - 1, "epoch"), 0)

    def sentence(before: State, after: State) -> str:
        expired = before[consumer.committed.name] == EXPIRED
        why = "as its committed offset is deleted" if expired else "having committed none"
        return f"{group_words(pipeline)[0]} at the latest offset {after[consumer.position.name]}, {why}"

    return Action(
        "restart_consumer_at_end",
        "consumer",
        "consumer",
        {"leader": leader.number, "finished": sum(1 << offset for offset in finished)},
        z3.And(
            z3.Not(consumer.running.is_set),
            consumer.committed.term < 0,
            leader.presumes_leadership,
            *(consumer.queued[offset].term > 0 for offset in finished),
        ),
        effect.updates,
        sentence,
        "12 C13 C14",
    )


def _leave_to_late(pipeline: Pipeline, effect: Effect) -> None:
    """What workers had not finished is gone with their process, or stays with one that was thrown out (12, C10)."""
    consumer = pipeline.consumer
    for place, queued in enumerate(consumer.queued):
        if consumer.replaced is not None:
            lives_on = z3.And(consumer.replaced.is_set, effect[queued] > 0)
            keep_for_late(pipeline, effect, z3.If(lives_on, place, -1), queued.term - 1)
        effect[queued] = 0
    if consumer.replaced is not None:
        effect[consumer.replaced] = False


def _start(pipeline: Pipeline, effect: Effect) -> None:
    consumer = pipeline.consumer
    effect[consumer.running] = True
    for remembered in (pipeline.history.thrown_out, pipeline.history.handed_over):
        if remembered is not None:
            effect[remembered] = False
    if pipeline.deployment.offsets_expire:
        effect.set_when(effect[consumer.committed] == EXPIRED, consumer.committed, -1)
    begun = [effect[count] > 0 for count in consumer.processed] + [queued.term > 0 for queued in consumer.queued]
    effect.set_when(z3.Or(*begun), consumer.restarted, 1)


def _ways_to_finish(pipeline: Pipeline) -> list[Finished]:
    """Every set of offsets that workers may have finished."""
    offsets = range(len(pipeline.consumer.queued))
    return [chosen for size in range(len(offsets) + 1) for chosen in combinations(offsets, size)]


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Everything the consumer does."""
    deployment = pipeline.deployment
    most = min(deployment.max_poll_records, deployment.bounds.log)
    may_have_none = deployment.group is Group.NEW or deployment.offsets_expire
    starts_at_end = may_have_none and deployment.offset_reset is OffsetReset.LATEST
    for leader in pipeline.replicas:
        if deployment.processing is Processing.HANDED_OFF:
            yield hand_off(pipeline, leader)
        else:
            for count in range(1, most + 1):
                yield poll(pipeline, leader, count)
                for done in range(count):
                    yield crash_while_processing(pipeline, leader, count, done)
        if deployment.offset_reset is not OffsetReset.NONE:
            checks = deployment.consumer_checks_epochs
            yield seek_to_divergence(pipeline, leader) if checks else reset_beyond_end(pipeline, leader)
    yield crash(pipeline)
    for finished in _ways_to_finish(pipeline):
        yield restart(pipeline, finished, committed_all=False)
        if not deployment.commits_at_once and deployment.commit is not Commit.NEVER:
            yield restart(pipeline, finished, committed_all=True)
        if starts_at_end:
            for leader in pipeline.replicas:
                yield restart_at_end(pipeline, leader, finished)
