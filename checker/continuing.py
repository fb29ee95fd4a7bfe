"""The runs that go on from a state without further faults."""

from __future__ import annotations

from dataclasses import replace

from proofka.model.language import State, TransitionSystem


def continued(system: TransitionSystem, state: State) -> TransitionSystem:
    """Return the system that begins in a state of another one, and has none of its faults."""
    started = {variable: replace(variable, initial=state[variable.name]) for variable in system.variables}
    actions = tuple(
        replace(action, updates={started[variable]: value for variable, value in action.updates.items()})
        for action in system.actions
        if action.fault is None
    )
    return replace(system, variables=tuple(started.values()), actions=actions)
