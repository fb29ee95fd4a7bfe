"""Answers to followers' fetches that a leader sends late (semantics 6.1, KAFKA-18723).

A leader determines how many records it has when it handles the fetch, but reads its file only as it sends the answer.
In between it can stop leading, truncate its log and fetch other records.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofka.model.faults import Fault
from proofka.model.language import Action, Effect, State
from proofka.model.language.terms import And, If, IntVal
from proofka.model.log.replica import advance_high_watermark, flush_if_due, learn_end_of
from proofka.model.replication.fetching import copied, fetches_from, has_reconciled
from proofka.model.state.late_answers import LateAnswers
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.model.state.taking_part import while_it_is_answered, while_it_takes_part
from proofka.model.state.wording import entry_name


def hold_back(pipeline: Pipeline, late: LateAnswers, follower: Replica, leader: Replica) -> Action:
    """Let the leader learn the follower's log end, while its answer with records stays on its way (6.1 R1, R2)."""
    end, until = follower.log.end.term, late.until[follower.number]
    effect = Effect()
    learn_end_of(effect, leader, follower)
    advance_high_watermark(pipeline, effect, leader)
    effect[until] = leader.log.end.term
    reconciled = has_reconciled(pipeline, follower, leader)
    return Action(
        "hold_back",
        follower.name,
        lane="brokers",
        arguments={"follower": follower.number, "leader": leader.number},
        guard=while_it_is_answered(
            pipeline,
            follower,
            leader,
            And(fetches_from(pipeline, follower, leader), reconciled, leader.log.end.term > end),
        ),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{follower.name} fetches at offset {before[follower.log.end.name]} from {leader.name}, which has records "
            f"up to offset {after[until.name] - 1} for it, and is slow to send them"
        ),
        semantics="6.1 R1 R2",
        fault=Fault.LATE_ANSWER,
    )


def receive(pipeline: Pipeline, late: LateAnswers, follower: Replica, leader: Replica) -> Action:
    """Let the follower append what stands at that offset of the leader's file now, of any epoch (6.1, KAFKA-18723)."""
    end, until = follower.log.end.term, late.until[follower.number]
    effect = Effect()
    follower.log.append(effect, copied(pipeline, leader, end))
    flush_if_due(pipeline, effect, follower)
    effect[until] = If(end + 1 < until.term, until.term, 0)

    def sentence(before: State, after: State) -> str:
        offset = before[follower.log.end.name]
        name = entry_name(pipeline, after, follower, offset)
        words = f"the answer of {leader.name} comes: {follower.name} appends {name}"
        epoch, own = after[follower.log.slots[offset]["epoch"].name], before[follower.epoch.name]
        return f"{words} of epoch {epoch}, which is new to it" if epoch > own else words

    return Action(
        "receive_late",
        follower.name,
        lane="brokers",
        arguments={"follower": follower.number, "leader": leader.number},
        guard=while_it_is_answered(
            pipeline,
            follower,
            leader,
            And(
                follower.up.is_set,
                leader.up.is_set,
                follower.leader.term == leader.number,
                until.term > end,
                leader.log.end.term > end,
            ),
        ),
        updates=effect.updates,
        sentence=sentence,
        semantics="6.1",
    )


def lose(pipeline: Pipeline, late: LateAnswers, follower: Replica) -> Action:
    """Let the connection break or time out; the follower will fetch again."""
    until = late.until[follower.number]
    return Action(
        "lose_late_answer",
        follower.name,
        lane="brokers",
        arguments={"broker": follower.number},
        guard=while_it_takes_part(pipeline, follower, until.term > 0),
        updates={until: IntVal(0)},
        sentence=lambda before, after: f"{follower.name} gets no answer to its fetch, and will fetch again",
        semantics="6.1",
    )


def break_off_own_fetch(pipeline: Pipeline, effect: Effect, follower: Replica) -> None:
    """Drop the late answer to a follower that gets another leader or leader epoch, or that starts or stops."""
    if pipeline.late_answers is not None:
        effect[pipeline.late_answers.until[follower.number]] = 0


def break_off_fetches(pipeline: Pipeline, effect: Effect, replica: Replica) -> None:
    """Drop the late answers that a broker would get or send, as it starts or stops."""
    break_off_own_fetch(pipeline, effect, replica)
    if pipeline.late_answers is not None:
        for follower in pipeline.followers_of(replica):
            until = pipeline.late_answers.until[follower.number]
            effect.set_when(follower.leader.term == replica.number, until, 0)


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the actions of late answers, where the deployment can have such answers and they can change something."""
    late = pipeline.late_answers
    if late is None:
        return
    for follower in pipeline.replicas:
        yield lose(pipeline, late, follower)
        for leader in pipeline.followers_of(follower):
            yield hold_back(pipeline, late, follower, leader)
            yield receive(pipeline, late, follower, leader)
