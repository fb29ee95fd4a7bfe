"""Whether a run of one deployment is a run of another one, and violates there what it violated here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from checker.questions import prepare
from checker.solver import Replayer
from checker.timing.refinement import Timing
from checker.timing.schedule import Schedule
from checker.traces import ReplayMismatch, replay
from model.deployment.deployment import Deployment
from model.language import Action, TransitionSystem
from model.pipeline import build
from properties.catalogue import properties_of
from properties.property import Property
from properties.verdict import Step

Run = tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
"""The steps of a run: names and arguments of actions."""


@dataclass(frozen=True)
class Counterexample:
    """A run that violates a property of some deployment."""

    property: str
    run: Run


def run_of(steps: Sequence[Step]) -> Run:
    """The run that a trace tells."""
    return tuple((step.action, tuple(sorted(step.arguments.items()))) for step in steps)


def survivors(deployment: Deployment, counterexamples: Sequence[Counterexample]) -> list[bool]:
    """Of each: the same steps are possible in ``deployment``, in time, and the property is violated at their end.

    No is no proof that another run does not violate it. What a property of being stuck says of the end is not looked
    at: such a run is taken not to survive.
    """
    model = build(deployment)
    properties = {prop.name: prop for prop in properties_of(model.pipeline)}
    replayer = Replayer(model.system)
    timing: Timing | None = None
    found = []
    for one in counterexamples:
        prop = properties.get(one.property)
        actions = _actions_in(model.system, one.run)
        stays = prop is not None and actions is not None and _violates(model.system, replayer, prop, actions)
        if stays and actions is not None:
            timing = timing or Timing(prepare(model), replayer)
            stays = isinstance(timing.schedule(actions), Schedule)
        found.append(stays)
    return found


def _actions_in(system: TransitionSystem, run: Run) -> list[Action] | None:
    found = [system.action(name, dict(arguments)) for name, arguments in run]
    actions = [action for action in found if action is not None]
    return actions if len(actions) == len(found) else None


def _violates(system: TransitionSystem, replayer: Replayer, prop: Property, actions: Sequence[Action]) -> bool:
    if prop.goal is not None:
        return False
    try:
        states = replay(system, replayer, actions)
    except ReplayMismatch:
        return False
    return replayer.holds(states[-1], prop.violated)
