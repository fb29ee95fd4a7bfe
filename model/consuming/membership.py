"""Handovers in the group: another member gets the partition, in order or while the one before is at work (12).

The former member finishes its records all the same. Its commits are refused (C9), or make no difference (part B of
docs/semantics.md). The next member starts from the committed offset, as after a crash.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofka.model.consuming.committing import commit_position, committing
from proofka.model.consuming.consumer import (
    parts_done,
    pollable,
    process,
    process_next,
    record_at,
    records_in_words,
    stop,
)
from proofka.model.consuming.restarting import keep_for_late
from proofka.model.deployment.choices import Commit, Processing
from proofka.model.deployment.implied.giving_up import gives_up_at_any_time
from proofka.model.faults import Fault
from proofka.model.language import Action, Effect, State
from proofka.model.language.terms import And, BoolVal, If, Not, Or
from proofka.model.state.outages import note_outage_of_consumer
from proofka.model.state.pipeline import Pipeline, Replica


def goes_on_without_it(pipeline: Pipeline, effect: Effect) -> None:
    """Let the process live on without its partition; its workers keep their records."""
    stop(effect, pipeline, ends=False)
    effect[pipeline.consumer.replaced] = True


def _is_thrown_out(pipeline: Pipeline, effect: Effect) -> None:
    goes_on_without_it(pipeline, effect)
    effect[pipeline.history.thrown_out] = True
    note_outage_of_consumer(pipeline, effect)


def _while_processing(pipeline: Pipeline, leader: Replica, count: int, done: int) -> Effect:
    """Return the effect of a member that loses the partition with ``done`` of ``count`` records processed.

    The member keeps the other records.
    """
    position = pipeline.consumer.position.term
    effect = Effect()
    process_next(pipeline, effect, leader, done)
    for index in range(done, count):
        keep_for_late(pipeline, effect, position + index, record_at(pipeline, leader, position + index))
    committing(pipeline).commit_before_end(pipeline, effect, leader, count=count, done=done)
    return effect


def throw_out_while_processing(pipeline: Pipeline, leader: Replica, count: int, done: int) -> Action:
    """Evict a member, with ``done`` of ``count`` records processed, for no poll or heartbeat in time (12, C10)."""
    effect = _while_processing(pipeline, leader, count, done)
    _is_thrown_out(pipeline, effect)
    committed = committing(pipeline).first_in_words
    return Action(
        "throw_out_while_processing",
        "consumer",
        lane="consumer",
        arguments={"leader": leader.number, "count": count, "done": done},
        guard=pollable(pipeline, leader, count),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the consumer polls {records_in_words(pipeline, before, leader, count)} from {leader.name}{committed}"
            f" and has processed {done} of {count} when its group evicts it, as it was silent for too long"
        ),
        semantics="12 C10",
        fault=Fault.EVICTION,
    )


def throw_out(pipeline: Pipeline) -> Action:
    """Evict a member that is silent for longer than its session; its workers go on (semantics 12, C10)."""
    effect = Effect()
    _is_thrown_out(pipeline, effect)
    return Action(
        "throw_out",
        "consumer",
        lane="consumer",
        arguments={},
        guard=pipeline.consumer.running.is_set,
        updates=effect.updates,
        sentence=lambda before, after: "the group evicts the consumer, which was silent for too long and still runs",
        semantics="12 C10",
        fault=Fault.EVICTION,
    )


def _commit_what_is_committed(pipeline: Pipeline, effect: Effect) -> None:
    """Commit everything up to the position, where client or application have done so before the hand-over (C3, C6).

    Where the records returned last can be uncommitted (``behind``), the next member's start decides. A member that was
    given nothing since its start commits nothing, except a client that commits its position every time (C2).
    """
    deployment, consumer = pipeline.deployment, pipeline.consumer
    in_poll_thread = deployment.application.processing is Processing.POLL_THREAD
    commits = in_poll_thread or deployment.application.commit.is_by_client
    if deployment.application.commits_at_once or deployment.consumer.rebalancing.behind or not commits:
        return
    commit_position(pipeline, effect)
    without_effect = [] if consumer.commit_lost is None else [consumer.commit_lost.is_set]
    if deployment.application.commit is not Commit.AUTO:
        without_effect.append(effect[consumer.leader_epoch] == 0)
    if without_effect:
        for committed in (consumer.committed, consumer.committed_epoch):
            effect[committed] = If(Or(*without_effect), committed.term, effect[committed])


def _hands_over(pipeline: Pipeline, effect: Effect) -> None:
    goes_on_without_it(pipeline, effect)
    effect[pipeline.history.handed_over] = True
    note_outage_of_consumer(pipeline, effect)


def hand_over_while_processing(pipeline: Pipeline, leader: Replica, count: int, done: int) -> Action:
    """Let the client give up the partition when ``done`` of ``count`` records are processed (semantics 12, C12)."""
    effect = _while_processing(pipeline, leader, count, done)
    _commit_what_is_committed(pipeline, effect)
    _hands_over(pipeline, effect)
    committed = committing(pipeline).first_in_words
    return Action(
        "hand_over_while_processing",
        "consumer",
        lane="consumer",
        arguments={"leader": leader.number, "count": count, "done": done},
        guard=pollable(pipeline, leader, count),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the consumer polls {records_in_words(pipeline, before, leader, count)} from {leader.name}{committed}"
            f" and has processed {done} of {count} when the group rebalances, and its client hands the partition over"
        ),
        semantics="12 C12",
        fault=Fault.REBALANCE,
    )


def hand_over_before_commit(pipeline: Pipeline, leader: Replica, count: int) -> Action:
    """Let the client give up the partition between poll() and the commit of an application that commits first (C12).

    The application processes the records all the same, and the next member polls them again.
    """
    effect = Effect()
    position = pipeline.consumer.position.term
    for index in range(count):
        keep_for_late(pipeline, effect, position + index, record_at(pipeline, leader, position + index))
    _hands_over(pipeline, effect)
    return Action(
        "hand_over_before_commit",
        "consumer",
        lane="consumer",
        arguments={"leader": leader.number, "count": count},
        guard=pollable(pipeline, leader, count),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the consumer polls {records_in_words(pipeline, before, leader, count)} from {leader.name} when the group"
            " rebalances, and its client hands the partition over before the application commits"
        ),
        semantics="12 C12",
        fault=Fault.REBALANCE,
    )


def hand_over(pipeline: Pipeline) -> Action:
    """Rebalance in order: the client commits what it commits by itself, and another member goes on (12, C3 C11).

    Between two polls an application that commits after processing has committed already.
    """
    consumer = pipeline.consumer
    effect = Effect()
    _commit_what_is_committed(pipeline, effect)
    _hands_over(pipeline, effect)

    def sentence(before: State, after: State) -> str:
        position = before[consumer.position.name]
        words = f"the group rebalances: the consumer hands the partition over at offset {position}"
        lost = consumer.commit_lost is not None and before[consumer.commit_lost.name]
        return words + (", which is not committed" if lost else "")

    return Action(
        "hand_over",
        "consumer",
        lane="consumer",
        arguments={},
        guard=consumer.running.is_set,
        updates=effect.updates,
        sentence=sentence,
        semantics="12 C3 C11",
        fault=Fault.REBALANCE,
    )


def _the_one_before(pipeline: Pipeline) -> str:
    thrown_out = Fault.EVICTION in pipeline.deployment.faults.possible
    return "the evicted member" if thrown_out else "the member that had the partition before"


def finish_late(pipeline: Pipeline, offset: int) -> Action:
    """Let a member that another one replaced process a record that it still has (semantics 12, C9 C10 C12).

    A poll thread takes its records one after the other, workers in any order.
    """
    consumer = pipeline.consumer
    late = consumer.late[offset]
    effect = Effect()
    process(pipeline, effect, late.term - 1, offset, moves_on=False)
    effect[late] = 0
    if pipeline.deployment.application.late_results_count:
        # The last commit wins: the group's committed offset goes back (semantics 12, C8).
        effect.set_when(consumer.committed.term > offset + 1, consumer.committed, offset + 1)
    in_turn = BoolVal(True)
    if pipeline.deployment.application.processing is Processing.POLL_THREAD:
        in_turn = Not(Or(*(earlier.term > 0 for earlier in consumer.late[:offset])))
    return Action(
        "finish_late",
        "consumer",
        lane="consumer",
        arguments={"offset": offset},
        guard=And(late.term > 0, in_turn),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{_the_one_before(pipeline)} processes record {before[late.name]}, which it still had"
        ),
        semantics="12 C9 C10",
    )


def crash_late(pipeline: Pipeline) -> Action:
    """Crash a member that another one replaced and that still has records (semantics 12.1)."""
    effect = Effect()
    for late in pipeline.consumer.late:
        effect[late] = 0
    note_outage_of_consumer(pipeline, effect)
    return Action(
        "crash_late",
        "consumer",
        lane="consumer",
        arguments={},
        guard=Or(*(late.term > 0 for late in pipeline.consumer.late)),
        updates=effect.updates,
        sentence=lambda before, after: f"{_the_one_before(pipeline)} crashes with what it still had",
        semantics="12.1",
        fault=Fault.CONSUMER_CRASH,
    )


def lose_commit(pipeline: Pipeline) -> Action:
    """Let a commit fail and not be sent again, or be overtaken by the retry of an older one (12, C3 C7 C8)."""
    consumer = pipeline.consumer
    assert consumer.commit_lost is not None
    effect = Effect()
    effect[consumer.commit_lost] = True
    behind = And(consumer.position.term != consumer.committed.term, Not(consumer.commit_lost.is_set))
    by_client = pipeline.deployment.application.commit.is_by_client

    def sentence(before: State, after: State) -> str:
        words = f"the consumer's commit of offset {before[consumer.position.name]} fails"
        if by_client:
            return f"{words}, and its client does not send it again"
        return f"{words}, or the retry of an older one overtakes it; nobody waits for the answer"

    return Action(
        "lose_commit",
        "consumer",
        lane="consumer",
        arguments={},
        guard=And(consumer.running.is_set, behind),
        updates=effect.updates,
        sentence=sentence,
        semantics="12 C7 C8",
        fault=Fault.LOST_COMMIT,
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the actions that make another member take over, and those that the former member still does."""
    deployment = pipeline.deployment
    if deployment.application.commit is Commit.NEVER:
        return
    most = min(deployment.consumer.max_poll_records, deployment.bounds.log)
    at_any_time = gives_up_at_any_time(deployment)
    in_poll_thread = deployment.application.processing is Processing.POLL_THREAD
    for leader in pipeline.replicas:
        for count in range(1, most + 1):
            for done in parts_done(deployment, count) if in_poll_thread else ():
                yield throw_out_while_processing(pipeline, leader, count, done)
                if at_any_time:
                    yield hand_over_while_processing(pipeline, leader, count, done)
            if at_any_time and deployment.application.commits_first:
                yield hand_over_before_commit(pipeline, leader, count)
    yield throw_out(pipeline)
    yield hand_over(pipeline)
    for offset in range(len(pipeline.consumer.late)):
        yield finish_late(pipeline, offset)
    if pipeline.consumer.commit_lost is not None:
        yield lose_commit(pipeline)
    if pipeline.consumer.late:
        yield crash_late(pipeline)
