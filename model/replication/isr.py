"""In-sync replicas: a leader shrinks and expands the ISR, and learns the controller's changes (semantics 6.2).

The leader's proposal, the controller's approval and the leader's learning of it are one step. Until the leader learns
the answer it waits for the larger of the two sets. So nothing is acknowledged in between that could not be acknowledged
before (docs/semantics.md).
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.model.language import Action, Effect
from proofka.model.language.terms import And, BoolVal, Not, Or
from proofka.model.log.replica import advance_high_watermark
from proofka.model.log.unserved import note_unserved
from proofka.model.replication.elections import current, with_isr
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.model.state.taking_part import while_it_is_answered, while_it_takes_part
from proofka.model.state.wording import members


def may_change_isr(pipeline: Pipeline, leader: Replica) -> z3.BoolRef:
    """Tell whether the controller accepts an ISR change of this leader: it is current in every respect (6.2, I3)."""
    same_isr = And(*(leader.isr[number].term == flag.term for number, flag in pipeline.controller.isr.items()))
    return And(pipeline.serves(leader), Not(leader.cut_off.is_set), same_isr)


def _change_isr(pipeline: Pipeline, effect: Effect, follower: Replica, *, stays: bool) -> None:
    """Record a follower in the ISR, or out of it, and the resulting eligible leader replicas (6.2 I3, 6.3)."""
    isr = dict(current(pipeline).isr)
    isr[follower.number] = BoolVal(stays)
    after = with_isr(pipeline, isr)
    effect[pipeline.controller.isr[follower.number]] = stays
    for number, eligible in after.elr.items():
        effect[pipeline.controller.elr[number]] = eligible


def _forget_fetches(pipeline: Pipeline, effect: Effect, leader: Replica, number: int, when: z3.BoolRef) -> None:
    """Reset what a leader knows of a replica that left the ISR: only later fetches count for its return.

    A leader proposes a replica when that fetches.

    Where fetches before a restart never count (KIP-903), the restart resets this knowledge instead.
    """
    if number == leader.number:
        return
    if pipeline.deployment.cluster.old_fetches_count or leader.fetched_before:
        effect.set_when(when, leader.fetched[number], 0)
    if leader.fetched_before:
        effect.set_when(when, leader.fetched_before[number], 0)


def shrink_isr(pipeline: Pipeline, leader: Replica, follower: Replica) -> Action:
    """Let a leader drop a follower that does not fetch and is not known to have the whole log (semantics 6.2, I1)."""
    controller = pipeline.controller
    effect = Effect()
    _change_isr(pipeline, effect, follower, stays=False)
    effect[leader.isr[follower.number]] = False
    _forget_fetches(pipeline, effect, leader, follower.number, BoolVal(True))
    advance_high_watermark(pipeline, effect, leader)
    note_unserved(pipeline, effect)
    return Action(
        "shrink_isr",
        leader.name,
        lane="brokers",
        arguments={"leader": leader.number, "follower": follower.number},
        guard=while_it_is_answered(
            pipeline,
            follower,
            leader,
            And(
                may_change_isr(pipeline, leader),
                controller.isr[follower.number].is_set,
                follower.does_not_fetch_from(leader),
                leader.known_end(follower.number, leader.fetched[follower.number].term) < leader.log.end.term,
            ),
        ),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} removes {follower.name} from the ISR, now {members(after, controller.isr)}"
        ),
        semantics="6.2 I1 I3",
    )


def join_isr(pipeline: Pipeline, effect: Effect, leader: Replica, follower: Replica) -> None:
    """Record a follower in the ISR, at the controller and at the leader (semantics 6.2, I3).

    The high watermark can move now that more replicas are in sync; the leader checks that whenever its ISR changes.
    """
    _change_isr(pipeline, effect, follower, stays=True)
    effect[leader.isr[follower.number]] = True
    advance_high_watermark(pipeline, effect, leader)


def joins_isr(pipeline: Pipeline, leader: Replica, follower: Replica, known_end: z3.ArithRef) -> tuple[z3.BoolRef, ...]:
    """Return the conditions under which leader and controller take in a follower that has all before ``known_end``."""
    controller, fenced_may_join = pipeline.controller, pipeline.deployment.cluster.fenced_may_join
    epoch_start = leader.log.count(lambda _, slot: slot["epoch"].term < leader.epoch.term)
    return (
        may_change_isr(pipeline, leader),
        Not(controller.isr[follower.number].is_set),
        BoolVal(True) if fenced_may_join else controller.unfenced[follower.number].is_set,
        known_end >= leader.high_watermark.term,
        known_end >= epoch_start if pipeline.deployment.cluster.mends_of_2_0_1 else BoolVal(True),
    )


def expand_isr(pipeline: Pipeline, leader: Replica, follower: Replica) -> Action:
    """Let a leader add a follower that reached its high watermark and the start of its epoch (semantics 6.2, I2).

    Before 2.0.1 the high watermark suffices, of which a new leader can know an old value only (KAFKA-7128). Before 3.3
    a follower that died meanwhile can join as well: the controller does not check that it is alive (KIP-841).
    """
    controller = pipeline.controller
    effect = Effect()
    join_isr(pipeline, effect, leader, follower)
    fetched = leader.fetched[follower.number]
    of_this_epoch = (fetched.term <= leader.fresh,) if leader.can_be_older(follower.number) else ()
    again = "" if controller.reassignment is not None and controller.reassignment.to == follower.number else "back "
    return Action(
        "expand_isr",
        leader.name,
        lane="brokers",
        arguments={"leader": leader.number, "follower": follower.number},
        guard=while_it_is_answered(
            pipeline,
            follower,
            leader,
            And(*joins_isr(pipeline, leader, follower, fetched.term - 1), *of_this_epoch),
        ),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} takes {follower.name} {again}into the ISR, now {members(after, controller.isr)}"
        ),
        semantics="6.2 I2 I3",
    )


def learn_isr(pipeline: Pipeline, leader: Replica) -> Action:
    """Let a leader learn that the controller took a fenced broker out of the ISR (semantics 6.2, I5)."""
    controller = pipeline.controller
    effect = Effect()
    for number, member in controller.isr.items():
        effect[leader.isr[number]] = member.term
        left = And(leader.isr[number].is_set, Not(member.is_set))
        _forget_fetches(pipeline, effect, leader, number, left)
    advance_high_watermark(pipeline, effect, leader)
    note_unserved(pipeline, effect)
    differs = Or(*(leader.isr[number].term != member.term for number, member in controller.isr.items()))
    return Action(
        "learn_isr",
        leader.name,
        lane="brokers",
        arguments={"broker": leader.number},
        guard=while_it_takes_part(pipeline, leader, And(pipeline.serves(leader), Not(leader.cut_off.is_set), differs)),
        updates=effect.updates,
        sentence=lambda before, after: f"{leader.name} learns the ISR {members(after, leader.isr)}",
        semantics="6.2 I5",
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield every change of the ISR that a leader proposes or learns."""
    for leader in pipeline.replicas:
        yield learn_isr(pipeline, leader)
        for follower in pipeline.followers_of(leader):
            yield shrink_isr(pipeline, leader, follower)
            yield expand_isr(pipeline, leader, follower)
