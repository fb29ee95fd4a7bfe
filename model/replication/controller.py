"""The controller: fencing, elections and planned leader moves (semantics 6.3, 6.4)."""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.model.faults import Fault
from proofka.model.language import Action, Effect, State
from proofka.model.language.terms import And, BoolVal, If, IntVal, Not, Or
from proofka.model.log.unserved import note_unserved
from proofka.model.replication.elections import Membership, chosen, current, elect, record, without
from proofka.model.state.outages import note_outage_of_brokers
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.model.state.taking_part import waits_for_registration
from proofka.model.state.wording import elected, membership


def eligible(pipeline: Pipeline, number: int) -> z3.BoolRef:
    """Tell whether a broker is in the ISR and unfenced, and so can be elected cleanly (semantics 6.3)."""
    controller = pipeline.controller
    return And(controller.isr[number].is_set, controller.unfenced[number].is_set)


def epoch_left(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether the bound on leader epochs leaves room for another election."""
    return pipeline.controller.epoch.term < pipeline.deployment.bounds.epochs


def unfenced(pipeline: Pipeline) -> dict[int, z3.BoolRef]:
    """Return, by broker number, the condition that the controller has not fenced the broker."""
    return {number: flag.is_set for number, flag in pipeline.controller.unfenced.items()}


def elect_clean(pipeline: Pipeline, number: int) -> z3.ArithRef:
    """Return the leader once ``number`` is fenced: the first eligible replica in assignment order, or 0 (E1 E2 E8)."""
    return chosen(pipeline, without(pipeline, number), unfenced(pipeline) | {number: BoolVal(False)})


def _chosen_with(pipeline: Pipeline, replica: Replica, among: Membership) -> z3.ArithRef:
    """Return the leader that the unfencing of ``replica`` can elect, 0 if none.

    Without ELR that is the broker itself: any other member of the ISR would lead already.
    """
    if not among.elr:
        return If(among.isr[replica.number], IntVal(replica.number), IntVal(0))
    return chosen(pipeline, among, unfenced(pipeline) | {replica.number: BoolVal(True)})


def welcome(pipeline: Pipeline, effect: Effect, replica: Replica, among: Membership) -> None:
    """Unfence a broker; a partition without a leader gets one if a replica can be elected (semantics 6.3, E2, E3, E7).

    ``among``: the ISR and the eligible leader replicas by then.
    """
    controller = pipeline.controller
    effect[controller.unfenced[replica.number]] = True
    leader = _chosen_with(pipeline, replica, among)
    record(pipeline, effect, among, leader, And(controller.leader.term == 0, leader != 0))


def welcome_has_room(pipeline: Pipeline, replica: Replica, among: Membership) -> z3.BoolRef:
    """Tell whether unfencing the broker needs no leader epoch beyond the bound."""
    elects = And(pipeline.controller.leader.term == 0, _chosen_with(pipeline, replica, among) != 0)
    return Or(Not(elects), epoch_left(pipeline))


def take_out(pipeline: Pipeline, replica: Replica) -> Effect:
    """Return the effect of taking a broker out of the ISR; another replica leads if it led (I5, E1, E2, E6, E8)."""
    controller, number = pipeline.controller, replica.number
    effect = Effect()
    effect[controller.unfenced[number]] = False
    leads = controller.leader.term == number
    record(pipeline, effect, without(pipeline, number), elect_clean(pipeline, number), leads)
    return effect


def take_out_has_room(pipeline: Pipeline, replica: Replica) -> z3.BoolRef:
    """Tell whether taking the broker out needs no leader epoch beyond the bound."""
    leads = pipeline.controller.leader.term == replica.number
    return Or(Not(leads), epoch_left(pipeline))


def sentence_on_leader(pipeline: Pipeline, replica: Replica, before: State, after: State) -> str:
    """Return the words for the new leader if the broker that was taken out led; else an empty string."""
    leader = pipeline.controller.leader.name
    if before[leader] != replica.number:
        return ""
    return f" and elects {elected(pipeline, before, after)}" if after[leader] else " and finds no replica to lead"


def fence(pipeline: Pipeline, replica: Replica) -> Action:
    """Let the session of a dead or cut-off broker end (semantics 6.2 I5, 6.3 E1 E2 E8).

    The old session of a broker that runs again and is not registered yet ends in the same way (6.4).
    """
    effect = take_out(pipeline, replica)
    note_unserved(pipeline, effect)

    def sentence(before: State, after: State) -> str:
        text = f"the controller fences {replica.name}{sentence_on_leader(pipeline, replica, before, after)}"
        return f"{text}; {membership(pipeline, after)}"

    return Action(
        "fence",
        "controller",
        lane="controller",
        arguments={"broker": replica.number},
        guard=And(
            pipeline.controller.unfenced[replica.number].is_set,
            Or(Not(replica.up.is_set), replica.cut_off.is_set, *waits_for_registration(replica)),
            take_out_has_room(pipeline, replica),
        ),
        updates=effect.updates,
        sentence=sentence,
        semantics="6.2 I5, 6.3 E1 E2 E8, 6.4",
    )


def elect_unclean(pipeline: Pipeline, replica: Replica) -> Action:
    """Elect an unfenced replica if there is neither a leader nor an eligible replica; its log is the truth (E4)."""
    controller = pipeline.controller
    effect = Effect()
    elect(pipeline, effect, replica.number, BoolVal(True))
    for number, member in controller.isr.items():
        effect[member] = number == replica.number
    for forgotten in (*controller.elr.values(), controller.last_known_leader):
        effect[forgotten] = 0
    return Action(
        "elect_unclean",
        "controller",
        lane="controller",
        arguments={"broker": replica.number},
        guard=And(
            controller.leader.term == 0,
            chosen(pipeline, current(pipeline), unfenced(pipeline)) == 0,
            controller.unfenced[replica.number].is_set,
            *(() if controller.reassignment is None else (controller.reassignment.assigned(replica.number),)),
            epoch_left(pipeline),
        ),
        updates=effect.updates,
        sentence=lambda before, after: f"the controller elects {replica.name} uncleanly; ISR {{{replica.number}}}",
        semantics="6.3 E4",
    )


def move_leader(pipeline: Pipeline, replica: Replica) -> Action:
    """Move leadership, as planned, to another eligible replica, which need not have the whole log (E5)."""
    controller = pipeline.controller
    effect = Effect()
    elect(pipeline, effect, replica.number, BoolVal(True))
    note_outage_of_brokers(pipeline, effect)
    return Action(
        "move_leader",
        "controller",
        lane="controller",
        arguments={"broker": replica.number},
        guard=And(
            controller.leader.term != 0,
            controller.leader.term != replica.number,
            eligible(pipeline, replica.number),
            epoch_left(pipeline),
        ),
        updates=effect.updates,
        sentence=lambda before, after: f"the controller moves leadership to {replica.name} (planned)",
        semantics="6.3 E5",
        fault=Fault.LEADER_MOVE,
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the controller's own decisions."""
    for replica in pipeline.replicas:
        yield fence(pipeline, replica)
        yield move_leader(pipeline, replica)
        if pipeline.deployment.cluster.unclean_leader_election:
            yield elect_unclean(pipeline, replica)
