"""Mutated models: negative controls of the lab. A lab that accepts the runs of a mutated model proves nothing.

A mutation that takes actions away is rejected by runs of a real cluster that need these actions. A mutation that adds
behaviour accepts every such run; here a run of the mutated model must be rejected by the model.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import z3

from proofka.model.consuming.consumer import reaches
from proofka.model.deployment.choices import Acks
from proofka.model.deployment.deployment import Deployment
from proofka.model.language import Action
from proofka.model.language.terms import And, Not
from proofka.model.pipeline import Model
from proofka.model.producing.produce import has_room
from proofka.model.replication.controller import elect_unclean
from proofka.model.replication.fetching import fetches_from
from proofka.model.replication.isr import may_change_isr
from proofka.model.sequencing.arrival import arrives, waits_at
from proofka.model.state.pipeline import Pipeline

_TABLE = Path(__file__).parent / "tables" / "mutations.csv"


@dataclass(frozen=True)
class Mutation:
    """A deliberate change of the model: names of actions that it takes away, whose guards it weakens, or that it adds.

    ``sets``: another value of a setting of the deployment, as KEY=VALUE, empty where there is none. ``meaning``: the
    behaviour of the mutated model, in words.
    """

    name: str
    removes: frozenset[str]
    weakens: frozenset[str]
    adds: frozenset[str]
    sets: str
    meaning: str

    @property
    def only_removes(self) -> bool:
        """Tell whether each run of the mutated model is a run of the model."""
        return bool(self.removes) and not self.weakens and not self.adds

    def concerns(self, model: Model) -> bool:
        """Tell whether the mutation changes this model."""
        if self.sets:
            return self.deployment(model.pipeline.deployment) != model.pipeline.deployment
        names = {action.name for action in model.system.actions}
        return bool((self.removes | self.weakens) & names or self.adds - names)

    def deployment(self, deployment: Deployment) -> Deployment:
        """Return the deployment with the mutation's value of its setting, or the deployment as it is."""
        key, _, value = self.sets.partition("=")
        if key == "acks":
            return replace(deployment, producer=replace(deployment.producer, acks=Acks(value)))
        if key == "min_insync_replicas":
            return replace(deployment, cluster=replace(deployment.cluster, min_insync_replicas=int(value)))
        return deployment


MUTATIONS: tuple[Mutation, ...] = tuple(
    Mutation(
        row["mutation"],
        frozenset(row["removes"].split()),
        frozenset(row["weakens"].split()),
        frozenset(row["adds"].split()),
        row["sets"],
        row["meaning"],
    )
    for row in csv.DictReader(_TABLE.read_text(encoding="utf-8").splitlines())
)


def without(name: str) -> Mutation:
    """Return the mutation that takes one action away: a run that it rejects needs this action."""
    return Mutation(f"without {name}", frozenset({name}), frozenset(), frozenset(), "", f"there is no {name}")


def mutated(model: Model, mutation: Mutation) -> Model:
    """Return the model with the mutation of its actions."""
    pipeline, system = model.pipeline, model.system
    kept = [
        replace(action, guard=_WEAKER[action.name](pipeline, action)) if action.name in mutation.weakens else action
        for action in system.actions
        if action.name not in mutation.removes
    ]
    there = {action.key for action in kept}
    added = [action for name in sorted(mutation.adds) for action in _ADDED[name](pipeline) if action.key not in there]
    return replace(model, system=replace(system, actions=(*kept, *added), clocks=(), needs={}))


def _append(pipeline: Pipeline, action: Action) -> z3.BoolRef:
    batch, leader = pipeline.producer.batches[action.arguments["batch"]], pipeline.replica(action.arguments["leader"])
    return And(arrives(pipeline, batch, leader), has_room(leader))


def _acknowledge(pipeline: Pipeline, action: Action) -> z3.BoolRef:
    batch, leader = pipeline.producer.batches[action.arguments["batch"]], pipeline.replica(action.arguments["leader"])
    return waits_at(batch, leader)


def _fetch(pipeline: Pipeline, action: Action) -> z3.BoolRef:
    follower, leader = (pipeline.replica(action.arguments[name]) for name in ("follower", "leader"))
    fits = follower.log.end.term <= leader.log.end.term
    return And(fetches_from(pipeline, follower, leader), fits)


def _expand_isr(pipeline: Pipeline, action: Action) -> z3.BoolRef:
    follower, leader = action.arguments["follower"], pipeline.replica(action.arguments["leader"])
    controller = pipeline.controller
    may_join = And(Not(controller.isr[follower].is_set), controller.unfenced[follower].is_set)
    return And(may_change_isr(pipeline, leader), may_join)


def _poll(pipeline: Pipeline, action: Action) -> z3.BoolRef:
    leader, position = pipeline.replica(action.arguments["leader"]), pipeline.consumer.position.term
    return And(reaches(pipeline, leader), position + action.arguments["count"] <= leader.log.end.term)


_WEAKER: Mapping[str, Callable[[Pipeline, Action], z3.BoolRef]] = {
    "append": _append,
    "acknowledge": _acknowledge,
    "fetch": _fetch,
    "expand_isr": _expand_isr,
    "poll": _poll,
}
"""Name of an action -> a function that returns a weaker guard."""


def _elect_unclean(pipeline: Pipeline) -> Iterator[Action]:
    for replica in pipeline.replicas:
        yield elect_unclean(pipeline, replica)


_ADDED: Mapping[str, Callable[[Pipeline], Iterator[Action]]] = {"elect_unclean": _elect_unclean}
"""Name of an action -> a function that yields the action for a model without that action."""
