"""Models with a single guard or effect broken, to show that the check of the whole would notice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import z3

from proofka.model.language import Action, Variable
from proofka.model.pipeline import Model
from proofka.model.state.pipeline import Batch, Pipeline, Replica

Rewrite = Callable[[Pipeline, Action], Action]
Mutation = Callable[[Model], Model]


def rewrite(name: str, change: Rewrite) -> Mutation:
    """Replace every action of this name by ``change(pipeline, action)``; at least one must come out different."""

    def mutate(model: Model) -> Model:
        mine = [action for action in model.system.actions if action.name == name]
        changed = {action.key: change(model.pipeline, action) for action in mine}
        assert any(not _same(action, changed[action.key]) for action in mine), f"{name} is as it was"
        actions = tuple(changed.get(action.key, action) for action in model.system.actions)
        return replace(model, system=replace(model.system, actions=actions))

    return mutate


def _same(one: Action, other: Action) -> bool:
    same_updates = one.updates.keys() == other.updates.keys() and all(
        value.eq(other.updates[variable]) for variable, value in one.updates.items()
    )
    return one.guard.eq(other.guard) and same_updates


def all_of(*mutations: Mutation) -> Mutation:
    """Apply one mutation after the other: a mechanism that several actions contain."""

    def mutate(model: Model) -> Model:
        for mutation in mutations:
            model = mutation(model)
        return model

    return mutate


def never(name: str) -> Mutation:
    """Prevent the action."""
    return rewrite(name, lambda _, action: replace(action, guard=z3.BoolVal(False)))


def assume(name: str, *conditions: Callable[[Pipeline, Action], z3.BoolRef]) -> Mutation:
    """Drop conditions from a guard: wherever they stand in it, they count as true."""

    def change(pipeline: Pipeline, action: Action) -> Action:
        pairs = [(condition(pipeline, action), z3.BoolVal(True)) for condition in conditions]
        return replace(action, guard=z3.substitute(action.guard, *pairs))

    return rewrite(name, change)


def guard(name: str, condition: Callable[[Pipeline, Action], z3.BoolRef]) -> Mutation:
    """Put another guard in the place of the real one."""
    return rewrite(name, lambda pipeline, action: replace(action, guard=condition(pipeline, action)))


def also(name: str, effect: Callable[[Pipeline, Action], Mapping[Variable, z3.ArithRef]]) -> Mutation:
    """Add to, or overrule, what an action does."""
    return rewrite(
        name, lambda pipeline, action: replace(action, updates={**action.updates, **effect(pipeline, action)})
    )


def leaves(name: str, *variables: Callable[[Pipeline, Action], Variable]) -> Mutation:
    """Let the action leave variables unchanged that it ought to change."""

    def change(pipeline: Pipeline, action: Action) -> Action:
        left = {variable(pipeline, action) for variable in variables}
        return replace(action, updates={v: value for v, value in action.updates.items() if v not in left})

    return rewrite(name, change)


def leader_of(pipeline: Pipeline, action: Action) -> Replica:
    """Return the leader among an action's arguments."""
    return pipeline.replica(action.arguments["leader"])


def follower_of(pipeline: Pipeline, action: Action) -> Replica:
    """Return the follower among an action's arguments."""
    return pipeline.replica(action.arguments["follower"])


def broker_of(pipeline: Pipeline, action: Action) -> Replica:
    """Return the broker among an action's arguments."""
    return pipeline.replica(action.arguments["broker"])


def batch_of(pipeline: Pipeline, action: Action) -> Batch:
    """Return the batch among an action's arguments."""
    return pipeline.producer.batches[action.arguments["batch"]]
