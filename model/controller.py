"""The controller: fencing, elections and planned leader moves (semantics 6.3, 6.4)."""

from __future__ import annotations

from collections.abc import Iterator

import z3

from model.faults import Fault
from model.language import Action, Effect, State
from model.state import Pipeline, Replica
from model.wording import broker_name, members


def eligible(pipeline: Pipeline, number: int) -> z3.BoolRef:
    """In the ISR and unfenced: may be elected cleanly (semantics 6.3)."""
    controller = pipeline.controller
    return z3.And(controller.isr[number].is_set, controller.unfenced[number].is_set)


def epoch_left(pipeline: Pipeline) -> z3.BoolRef:
    """The bound on leader epochs leaves room for another election."""
    return pipeline.controller.epoch.term < pipeline.deployment.bounds.epochs


def elect_clean(pipeline: Pipeline, number: int) -> z3.ArithRef:
    """Who leads once ``number`` is gone: the first eligible replica in assignment order, 0 if none (E1, E8)."""
    chosen = z3.IntVal(0)
    for candidate in reversed(pipeline.replicas):
        if candidate.number != number:
            chosen = z3.If(eligible(pipeline, candidate.number), z3.IntVal(candidate.number), chosen)
    return chosen


def make_leader(pipeline: Pipeline, effect: Effect, number: z3.ArithRef | int, when: z3.BoolRef) -> None:
    """Record a leader in a new leader epoch."""
    controller = pipeline.controller
    effect.set_when(when, controller.leader, number)
    effect.set_when(when, controller.epoch, controller.epoch.term + 1)


def welcome(pipeline: Pipeline, effect: Effect, replica: Replica) -> None:
    """Unfence a broker; a leaderless partition whose ISR contains it gets it as leader (semantics 6.3, E7)."""
    controller = pipeline.controller
    effect[controller.unfenced[replica.number]] = True
    leaderless = z3.And(controller.leader.term == 0, controller.isr[replica.number].is_set)
    make_leader(pipeline, effect, replica.number, leaderless)


def welcome_has_room(pipeline: Pipeline, replica: Replica) -> z3.BoolRef:
    """Unfencing the broker needs no leader epoch beyond the bound."""
    controller = pipeline.controller
    elects = z3.And(controller.leader.term == 0, controller.isr[replica.number].is_set)
    return z3.Or(z3.Not(elects), epoch_left(pipeline))


def fence(pipeline: Pipeline, replica: Replica) -> Action:
    """The session of a dead or cut-off broker expires: out of the ISR, and another leader if it led (I5, E1, E8)."""
    controller, number = pipeline.controller, replica.number
    others = z3.Or(*(flag.is_set for other, flag in controller.isr.items() if other != number))
    leads = controller.leader.term == number
    effect = Effect()
    effect[controller.unfenced[number]] = False
    effect.set_when(others, controller.isr[number], 0)
    make_leader(pipeline, effect, elect_clean(pipeline, number), leads)

    def sentence(before: State, after: State) -> str:
        text = f"the controller fences {replica.name}"
        if before[controller.leader.name] == number:
            leader = after[controller.leader.name]
            text += f" and elects {broker_name(leader)}" if leader else " and finds no replica to lead"
        return f"{text}; ISR {members(after, controller.isr)}"

    return Action(
        "fence",
        "controller",
        "controller",
        {"broker": number},
        z3.And(
            controller.unfenced[number].is_set,
            z3.Or(z3.Not(replica.up.is_set), replica.cut_off.is_set),
            z3.Or(z3.Not(leads), epoch_left(pipeline)),
        ),
        effect.updates,
        sentence,
        "6.2 I5, 6.3 E1 E8, 6.4",
    )


def elect_unclean(pipeline: Pipeline, replica: Replica) -> Action:
    """No leader and nobody eligible: a replica outside the ISR is elected, and whatever it has is the truth (E4)."""
    controller = pipeline.controller
    effect = Effect()
    make_leader(pipeline, effect, replica.number, z3.BoolVal(True))
    for number, member in controller.isr.items():
        effect[member] = number == replica.number
    return Action(
        "elect_unclean",
        "controller",
        "controller",
        {"broker": replica.number},
        z3.And(
            controller.leader.term == 0,
            z3.Not(z3.Or(*(eligible(pipeline, other.number) for other in pipeline.replicas))),
            controller.unfenced[replica.number].is_set,
            epoch_left(pipeline),
        ),
        effect.updates,
        lambda before, after: f"the controller elects {replica.name} uncleanly; ISR {{{replica.number}}}",
        "6.3 E4",
    )


def move_leader(pipeline: Pipeline, replica: Replica) -> Action:
    """A planned move to another eligible replica, without waiting for it to have the whole log (E5)."""
    controller = pipeline.controller
    effect = Effect()
    make_leader(pipeline, effect, replica.number, z3.BoolVal(True))
    return Action(
        "move_leader",
        "controller",
        "controller",
        {"broker": replica.number},
        z3.And(
            controller.leader.term != 0,
            controller.leader.term != replica.number,
            eligible(pipeline, replica.number),
            epoch_left(pipeline),
        ),
        effect.updates,
        lambda before, after: f"the controller moves leadership to {replica.name} (planned)",
        "6.3 E5",
        Fault.LEADER_MOVE,
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Everything the controller decides by itself."""
    for replica in pipeline.replicas:
        yield fence(pipeline, replica)
        yield move_leader(pipeline, replica)
        if pipeline.deployment.unclean_leader_election:
            yield elect_unclean(pipeline, replica)
