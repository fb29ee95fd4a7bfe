"""Brokers that start while their old session lasts: they fetch, and are registered later (semantics 6.4).

The controller refuses to register a broker whose old session is not over. From 3.5 on, in KRaft mode, a broker applies
metadata and fetches all the same; it accepts no requests. Leaders count its fetches, and can take it into the ISR. This
is part of the model where it can matter (:func:`model.deployment.implied.outages.brokers_start_early`).
"""

from __future__ import annotations

from collections.abc import Iterator

from proofka.model.language import Action, Effect, State, Variable
from proofka.model.language.terms import And, If, IntVal, Not
from proofka.model.log.restoring import numbers_in_words
from proofka.model.replication.broker import elected_now, start
from proofka.model.replication.controller import welcome, welcome_has_room
from proofka.model.replication.elections import after_stop
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.model.state.taking_part import while_it_takes_part


def start_early(pipeline: Pipeline, replica: Replica, unregistered: Variable) -> Action:
    """Let a dead broker start before the controller fences it: it follows, and waits until it is registered (6.4)."""
    controller = pipeline.controller
    leader = controller.leader.term
    effect = start(pipeline, replica, If(leader == replica.number, IntVal(0), leader))
    effect[unregistered] = True
    dead = And(Not(replica.up.is_set), controller.unfenced[replica.number].is_set)
    return Action(
        "start_early",
        replica.name,
        lane="brokers",
        arguments={"broker": replica.number},
        guard=while_it_takes_part(pipeline, replica, dead),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{replica.name} starts while its old session lasts: it fetches, and is not registered yet"
            + numbers_in_words(replica, before, after)
        ),
        semantics="6.4",
    )


def register(pipeline: Pipeline, replica: Replica, unregistered: Variable) -> Action:
    """Let a broker that started early register once it was fenced and has heard of that, and be unfenced (6.3 E7)."""
    controller = pipeline.controller
    among = after_stop(pipeline, replica)
    effect = Effect()
    effect[unregistered] = False
    welcome(pipeline, effect, replica, among)
    fenced = And(unregistered.is_set, Not(controller.unfenced[replica.number].is_set))
    knows = replica.epoch.term == controller.epoch.term

    def sentence(before: State, after: State) -> str:
        return f"{replica.name} is registered" + elected_now(pipeline, replica, before, after, was_away=True)

    return Action(
        "register",
        replica.name,
        lane="brokers",
        arguments={"broker": replica.number},
        guard=while_it_takes_part(pipeline, replica, And(fenced, knows, welcome_has_room(pipeline, replica, among))),
        updates=effect.updates,
        sentence=sentence,
        semantics="6.3 E3 E7, 6.4",
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the actions of brokers that start early, where that can matter."""
    for replica in pipeline.replicas:
        if replica.unregistered is not None:
            yield start_early(pipeline, replica, replica.unregistered)
            yield register(pipeline, replica, replica.unregistered)
