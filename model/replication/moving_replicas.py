"""A replica that moves to another broker: added there, in sync after a while, and then removed here (semantics 6.8)."""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.model.faults import Fault
from proofka.model.language import Action, Effect, State
from proofka.model.language.terms import And, BoolVal, If, Not
from proofka.model.log.replica import keep_prefix
from proofka.model.log.unserved import note_unserved
from proofka.model.replication.controller import epoch_left, unfenced
from proofka.model.replication.elections import chosen, current, record, with_isr
from proofka.model.state.outages import note_outage_of_brokers
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.model.state.reassignment import Reassignment
from proofka.model.state.wording import broker_name, membership


def leave_if_removed(pipeline: Pipeline, effect: Effect, replica: Replica) -> None:
    """Delete the log of a broker that hears that it has no replica any more (semantics 6.8)."""
    reassignment = pipeline.controller.reassignment
    if reassignment is None or replica.number == reassignment.to:
        return
    removed = reassignment.removed(replica.number)
    effect.set_when(removed, replica.leader, 0)
    effect.set_when(removed, replica.slow, 0)
    keep_prefix(effect, replica, If(removed, 0, replica.log.end.term))


def was_removed(pipeline: Pipeline, state: State, replica: Replica) -> bool:
    """Tell whether, in a concrete state, the broker's replica was moved to another broker."""
    reassignment = pipeline.controller.reassignment
    if reassignment is None:
        return False
    return bool(state[reassignment.is_complete.name]) and state[reassignment.moved.name] == replica.number


def begin_reassignment(pipeline: Pipeline, reassignment: Reassignment, replica: Replica) -> Action:
    """Ask for a reassignment: the new broker starts to fetch, in the old one's place in the assignment (6.8, M1)."""
    to = broker_name(reassignment.to)
    effect = Effect()
    effect[reassignment.moved] = replica.number
    note_outage_of_brokers(pipeline, effect)
    return Action(
        "begin_reassignment",
        "controller",
        lane="controller",
        arguments={"broker": replica.number},
        guard=reassignment.moved.term == 0,
        updates=effect.updates,
        sentence=lambda before, after: f"the replica of {replica.name} is to be moved to {to}, which has an empty log",
        semantics="6.8 M1",
        fault=Fault.REASSIGNMENT,
    )


def _all_in_sync(pipeline: Pipeline, reassignment: Reassignment, replica: Replica) -> z3.BoolRef:
    """Tell whether enough replicas are in the ISR to remove the old one: all that stay, or the new one (M2).

    KRaft controllers before 3.8 look at the new replica only (KAFKA-15665).
    """
    isr = pipeline.controller.isr
    if pipeline.deployment.cluster.new_replica_suffices:
        return isr[reassignment.to].is_set
    return And(*(member.is_set for number, member in isr.items() if number != replica.number))


def complete_reassignment(pipeline: Pipeline, reassignment: Reassignment, replica: Replica) -> Action:
    """Remove the old replica from the ISR and delete it; another one leads if it led (semantics 6.8, M2 M3)."""
    controller = pipeline.controller
    isr = {**current(pipeline).isr, replica.number: BoolVal(False)}
    among = with_isr(pipeline, isr)
    led = controller.leader.term == replica.number
    leader = If(led, chosen(pipeline, among, unfenced(pipeline)), controller.leader.term)
    effect = Effect()
    record(pipeline, effect, among, leader, BoolVal(True))
    effect[reassignment.is_complete] = True
    hears = And(replica.up.is_set, replica.leader.term != 0)
    keep_prefix(effect, replica, If(hears, replica.log.end.term, 0))
    note_unserved(pipeline, effect)

    def sentence(before: State, after: State) -> str:
        now = after[controller.leader.name]
        leads = ""
        if before[controller.leader.name] == replica.number:
            leads = f" and elects {broker_name(now)}" if now else " and finds no replica to lead"
        return (
            f"{broker_name(reassignment.to)} is in sync: the controller removes the replica of {replica.name}{leads}; "
            f"{membership(pipeline, after)}"
        )

    return Action(
        "complete_reassignment",
        "controller",
        lane="controller",
        arguments={"broker": replica.number},
        guard=And(
            reassignment.takes_from(replica.number),
            Not(reassignment.is_complete.is_set),
            controller.leader.term != 0,
            _all_in_sync(pipeline, reassignment, replica),
            epoch_left(pipeline),
        ),
        updates=effect.updates,
        sentence=sentence,
        semantics="6.8 M2 M3",
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the reassignment of each replica, where the deployment names that fault."""
    reassignment = pipeline.controller.reassignment
    if reassignment is None:
        return
    for replica in pipeline.replicas[:-1]:
        yield begin_reassignment(pipeline, reassignment, replica)
        yield complete_reassignment(pipeline, reassignment, replica)
