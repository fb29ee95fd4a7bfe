"""A leader sends what a follower fetched so late that its log is another one by then (semantics 6.1, KAFKA-18723).

It looks how much there is when it handles the fetch, and reads the file itself as it sends it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import z3

from model.faults import Fault
from model.fetching import copied, fetches_from, has_reconciled
from model.language import Action, Effect, State
from model.late_answers import LateAnswers
from model.replica import advance_high_watermark, flush_if_due
from model.state import Pipeline, Replica
from model.wording import entry_name


def hold_back(pipeline: Pipeline, late: LateAnswers, follower: Replica, leader: Replica) -> Action:
    """The leader learns how far a follower is, and what it has for it stays on its way (6.1 R1, R2)."""
    end, until = follower.log.end.term, late.until[follower.number]
    effect = Effect()
    effect[leader.fetched[follower.number]] = end + 1
    advance_high_watermark(pipeline, effect, leader)
    effect[until] = leader.log.end.term
    reconciled = has_reconciled(pipeline, follower, leader)
    return Action(
        "hold_back",
        follower.name,
        lane="brokers",
        arguments={"follower": follower.number, "leader": leader.number},
        guard=z3.And(fetches_from(pipeline, follower, leader), reconciled, leader.log.end.term > end),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{follower.name} fetches at offset {before[follower.log.end.name]} from {leader.name}, which has records "
            f"up to offset {after[until.name] - 1} for it, and is slow to send them"
        ),
        semantics="6.1 R1 R2",
        fault=Fault.LATE_ANSWER,
    )


def receive(pipeline: Pipeline, late: LateAnswers, follower: Replica, leader: Replica) -> Action:
    """The follower appends what stands in that place of the file by now, of whatever epoch (6.1, KAFKA-18723)."""
    end, until = follower.log.end.term, late.until[follower.number]
    effect = Effect()
    follower.log.append(effect, copied(pipeline, leader, end))
    flush_if_due(pipeline, effect, follower)
    effect[until] = z3.If(end + 1 < until.term, until.term, 0)

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
        guard=z3.And(
            follower.up.is_set,
            leader.up.is_set,
            follower.leader.term == leader.number,
            until.term > end,
            leader.log.end.term > end,
        ),
        updates=effect.updates,
        sentence=sentence,
        semantics="6.1",
    )


def lose(late: LateAnswers, follower: Replica) -> Action:
    """The connection breaks, or times out, and the follower fetches again."""
    until = late.until[follower.number]
    return Action(
        "lose_late_answer",
        follower.name,
        lane="brokers",
        arguments={"broker": follower.number},
        guard=until.term > 0,
        updates={until: z3.IntVal(0)},
        sentence=lambda before, after: f"{follower.name} gets no answer to its fetch, and will fetch again",
        semantics="6.1",
    )


def broken_off(pipeline: Pipeline, action: Action) -> Action:
    """Nothing comes to a follower that has another leader, or epoch, or was down, nor from a leader that was."""
    if pipeline.late_answers is None:
        return action
    updates = dict(action.updates)
    for follower in pipeline.replicas:
        until = pipeline.late_answers.until[follower.number]
        if not action.updates.keys().isdisjoint((follower.up, follower.leader, follower.epoch)):
            updates[until] = z3.IntVal(0)
            continue
        for leader in pipeline.followers_of(follower):
            if leader.up in action.updates:
                updates[until] = z3.If(follower.leader.term == leader.number, 0, updates.get(until, until.term))
    return replace(action, updates=updates)


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Answers that are late, where something comes of that."""
    late = pipeline.late_answers
    if late is None:
        return
    for follower in pipeline.replicas:
        yield lose(late, follower)
        for leader in pipeline.followers_of(follower):
            yield hold_back(pipeline, late, follower, leader)
            yield receive(pipeline, late, follower, leader)
