"""Records whose processing fails, and the application's reaction (semantics 12, C4; 12.1).

An application whose process ends with the failure is one that crashes (:mod:`model.consuming.consumer`). An
application that stays at the record, by pausing its partition or processing it again at once, is one that polls the
record later.
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.model.consuming.committing import commit_position, committing
from proofka.model.consuming.consumer import (
    finish,
    parts_done,
    pollable,
    process,
    process_next,
    record_at,
    records_in_words,
    stop,
)
from proofka.model.consuming.position import advance
from proofka.model.consuming.restarting import hold
from proofka.model.deployment.choices import Commit, OnProcessingError, Processing
from proofka.model.deployment.deployment import Deployment
from proofka.model.faults import Fault
from proofka.model.language import Action, Effect, State
from proofka.model.language.terms import And, BoolVal, IntVal, Or
from proofka.model.state.outages import note_outage_of_consumer
from proofka.model.state.pipeline import Pipeline, Replica

_GO_ON = (OnProcessingError.SKIP, OnProcessingError.FORWARD, OnProcessingError.FORWARD_UNCONFIRMED)
"""The reactions after which the application goes on at once."""


def go_on(pipeline: Pipeline, leader: Replica) -> Action:
    """Fail to process a record, and go on: the application skips it, or writes it to another topic (12.1).

    A record that the other topic has acknowledged will be processed from there; here it counts as processed. Where
    nobody waits for the acknowledgement, the record is on its way there.
    """
    consumer = pipeline.consumer
    forwards = pipeline.deployment.application.on_processing_error is OnProcessingError.FORWARD
    effect = Effect()
    if forwards:
        process_next(pipeline, effect, leader, 1)
    if consumer.forwarded:
        offset = consumer.position.term
        hold(pipeline, effect, consumer.forwarded, offset, record_at(pipeline, leader, offset))
    advance(pipeline, effect, leader, 1)
    committing(pipeline).commit_polled(pipeline, effect)
    how = "writes it to a retry topic and goes on" if forwards else "goes on with the next"
    if consumer.forwarded:
        how = "writes it to a retry topic, and goes on without waiting until that has it"
    return Action(
        "fail_and_go_on",
        "consumer",
        lane="consumer",
        arguments={"leader": leader.number},
        guard=pollable(pipeline, leader, 1),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the consumer polls {records_in_words(pipeline, before, leader, 1)} from {leader.name}, "
            f"fails to process it and {how}"
        ),
        semantics="12.1",
        fault=Fault.FAILED_PROCESSING,
    )


def _commits_when_closed(deployment: Deployment) -> bool:
    """Tell whether a closing consumer commits: not where the sink keeps the offset, or nobody ever commits."""
    return not deployment.application.sink.keeps_offsets and deployment.application.commit is not Commit.NEVER


def close(pipeline: Pipeline, leader: Replica, count: int, done: int) -> Action:
    """Fail to process a record, and close the consumer, which commits all that poll() returned (12, C4).

    close() does so by itself with auto-commit, and so does a ``finally`` block that commits.
    """
    deployment = pipeline.deployment
    commits = _commits_when_closed(deployment)
    effect = Effect()
    process_next(pipeline, effect, leader, done)
    advanced = count if commits else done if deployment.application.sink.keeps_offsets else 0
    if advanced:
        advance(pipeline, effect, leader, advanced)
        commit_position(pipeline, effect)
    stop(effect, pipeline)
    note_outage_of_consumer(pipeline, effect)
    how = "is closed, which commits them all" if commits else "is closed"
    if deployment.application.commits_first:
        how = "is closed, having committed them first"
    return Action(
        "fail_and_close",
        "consumer",
        lane="consumer",
        arguments={"leader": leader.number, "count": count, "done": done},
        guard=pollable(pipeline, leader, count),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the consumer polls {records_in_words(pipeline, before, leader, count)} from {leader.name}, "
            f"fails with {done} of {count} processed and {how}"
        ),
        semantics="12 C4, 12.1",
        fault=Fault.FAILED_PROCESSING,
    )


def close_with_workers(pipeline: Pipeline) -> Action:
    """Let a worker fail, and close the consumer, which commits all that poll() returned, processed or not (12, C4).

    The next start decides what the other workers had finished by then.
    """
    consumer, commits = pipeline.consumer, _commits_when_closed(pipeline.deployment)
    effect = Effect()
    if commits:
        commit_position(pipeline, effect)
    stop(effect, pipeline)
    note_outage_of_consumer(pipeline, effect)
    how = ", which commits them all" if commits else ""

    def sentence(before: State, after: State) -> str:
        handed_off = ", ".join(f"record {before[queued.name]}" for queued in consumer.queued if before[queued.name])
        return f"a worker fails, and the consumer is closed with {handed_off} handed off{how}"

    return Action(
        "fail_and_close",
        "consumer",
        lane="consumer",
        arguments={},
        guard=And(consumer.running.is_set, Or(*(queued.term > 0 for queued in consumer.queued))),
        updates=effect.updates,
        sentence=sentence,
        semantics="12 C4, 12.1",
        fault=Fault.FAILED_PROCESSING,
    )


def abort_and_go_on(pipeline: Pipeline, leader: Replica, count: int) -> Action:
    """Abort the transaction with the results, and poll on from the position, which stays ahead (11.3)."""
    effect = Effect()
    advance(pipeline, effect, leader, count)
    return Action(
        "abort_and_go_on",
        "consumer",
        lane="consumer",
        arguments={"leader": leader.number, "count": count},
        guard=pollable(pipeline, leader, count),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the consumer polls {records_in_words(pipeline, before, leader, count)} from {leader.name}, aborts the "
            "transaction with what comes of it, and polls on"
        ),
        semantics="11.3",
        fault=Fault.FAILED_PROCESSING,
    )


def confirm(pipeline: Pipeline, offset: int) -> Action:
    """Let the other topic acknowledge the record, which will be processed from there (12.1)."""
    forwarded = pipeline.consumer.forwarded[offset]
    effect = Effect()
    process(pipeline, effect, forwarded.term - 1, offset, moves_on=False)
    effect[forwarded] = 0
    return Action(
        "confirm_forward",
        "consumer",
        lane="consumer",
        arguments={"offset": offset},
        guard=forwarded.term > 0,
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the retry topic acknowledges record {before[forwarded.name]}, which is processed there"
        ),
        semantics="12.1",
    )


def lose_forwarded(pipeline: Pipeline, offset: int) -> Action:
    """Let writing the record to the other topic fail, which the application does not check (12.1)."""
    forwarded = pipeline.consumer.forwarded[offset]
    return Action(
        "lose_forward",
        "consumer",
        lane="consumer",
        arguments={"offset": offset},
        guard=forwarded.term > 0,
        updates={forwarded: IntVal(0)},
        sentence=lambda before, after: (
            f"writing record {before[forwarded.name]} to the retry topic fails, and the consumer does not check"
        ),
        semantics="12.1",
        fault=Fault.FAILED_PROCESSING,
    )


def fail_in_worker(pipeline: Pipeline, offset: int) -> Action:
    """Let a worker fail: the consumer goes back to its record, and no longer to an earlier one that failed (12.1)."""

    def sentence(before: State, after: State) -> str:
        return f"{_fails(pipeline, before, offset)}{_gives_up_earlier(pipeline, before, offset)}"

    return Action(
        "fail_in_worker",
        "consumer",
        lane="consumer",
        arguments={"offset": offset},
        guard=_may_fail(pipeline, offset),
        updates=_go_back(pipeline, offset).updates,
        sentence=sentence,
        semantics="12.1",
        fault=Fault.FAILED_PROCESSING,
    )


def fail_before_finished(pipeline: Pipeline, offset: int) -> Action:
    """Let a worker fail after others finished later records, which poll() returns again as well (12.1)."""
    consumer, effect = pipeline.consumer, _go_back(pipeline, offset)
    later = list(enumerate(consumer.queued))[offset + 1 :]
    for place, queued in later:
        finish(pipeline, effect, place, queued, BoolVal(True))

    def sentence(before: State, after: State) -> str:
        again = ", ".join(f"record {before[queued.name]}" for _, queued in later if before[queued.name])
        words = f"{_fails(pipeline, before, offset)}, and with it to {again}, which others have finished"
        return words + _gives_up_earlier(pipeline, before, offset)

    return Action(
        "fail_before_finished",
        "consumer",
        lane="consumer",
        arguments={"offset": offset},
        guard=And(_may_fail(pipeline, offset), Or(*(queued.term > 0 for _, queued in later))),
        updates=effect.updates,
        sentence=sentence,
        semantics="12.1",
        fault=Fault.FAILED_PROCESSING,
    )


def _may_fail(pipeline: Pipeline, offset: int) -> z3.BoolRef:
    consumer = pipeline.consumer
    assert consumer.failed is not None
    with_a_worker = And(consumer.running.is_set, consumer.queued[offset].term > 0)
    return And(with_a_worker, consumer.failed.term != offset + 1)


def _go_back(pipeline: Pipeline, offset: int) -> Effect:
    consumer, effect = pipeline.consumer, Effect()
    assert consumer.failed is not None
    for earlier, queued in enumerate(consumer.queued[:offset]):
        effect.set_when(consumer.failed.term == earlier + 1, queued, 0)
    effect[consumer.failed] = offset + 1
    return effect


def _fails(pipeline: Pipeline, before: State, offset: int) -> str:
    record = before[pipeline.consumer.queued[offset].name]
    return f"a worker fails to process record {record}: the consumer will go back to it"


def _gives_up_earlier(pipeline: Pipeline, before: State, offset: int) -> str:
    consumer = pipeline.consumer
    assert consumer.failed is not None
    waits = before[consumer.failed.name]
    if not 0 < waits <= offset:
        return ""
    return f", and no longer to record {before[consumer.queued[waits - 1].name]}, which failed before"


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the actions in which processing fails and the process survives."""
    deployment = pipeline.deployment
    most = min(deployment.consumer.max_poll_records, deployment.bounds.log)
    closes = deployment.application.on_processing_error is OnProcessingError.CLOSE
    by_workers = deployment.application.processing is Processing.HANDED_OFF
    if closes and by_workers:
        yield close_with_workers(pipeline)
    for offset in range(len(pipeline.consumer.forwarded)):
        yield confirm(pipeline, offset)
        yield lose_forwarded(pipeline, offset)
    if pipeline.consumer.failed is not None:
        for offset in range(len(pipeline.consumer.queued)):
            yield fail_in_worker(pipeline, offset)
        for offset in range(len(pipeline.consumer.queued) - 1):
            yield fail_before_finished(pipeline, offset)
    for leader in pipeline.replicas:
        if deployment.application.on_processing_error in _GO_ON:
            yield go_on(pipeline, leader)
        if closes and not by_workers:
            for count in range(1, most + 1):
                for done in parts_done(deployment, count):
                    yield close(pipeline, leader, count, done)
        if deployment.application.on_processing_error is OnProcessingError.ABORT:
            for count in range(1, most + 1):
                yield abort_and_go_on(pipeline, leader, count)
