"""Transfer of runs between deployments: the test whether a run is also a run of another deployment with the same
violation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proofka.checker.solver import Replayer
from proofka.checker.timing.constraints import RunningClocks, constraints_along
from proofka.checker.timing.schedule import Schedule, schedule
from proofka.checker.traces import ReplayMismatch, replay
from proofka.model.language import Action, TransitionSystem
from proofka.model.pipeline import Model
from proofka.properties.catalogue import properties_of
from proofka.properties.property import Property
from proofka.properties.verdict import Step

Run = tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
"""The steps of a run: names and arguments of actions."""


@dataclass(frozen=True)
class Counterexample:
    """A run that violates a property of some deployment."""

    property: str
    run: Run


def run_of(steps: Iterable[Step]) -> Run:
    """Return the run of a trace."""
    return tuple((step.action, tuple(sorted(step.arguments.items()))) for step in steps)


def run_along(actions: Iterable[Action]) -> Run:
    """Return the run of these actions."""
    return tuple((action.name, tuple(sorted(action.arguments.items()))) for action in actions)


class RunTransfer:
    """A test of other deployments' runs on a model."""

    def __init__(self, model: Model) -> None:
        self._system = model.system
        self._properties = {prop.name: prop for prop in properties_of(model.pipeline)}
        self._replayer = Replayer(model.system)
        self._clocks = RunningClocks.of(model.system)

    def of(self, counterexample: Counterexample) -> bool:
        """Tell whether the same steps are possible on this model, in time, and violate the property at their end.

        True proves that the property can be violated; False does not prove the opposite, because another run can
        violate it. The end of a run for a property with a goal is not examined: the result is then False.
        """
        prop = self._properties.get(counterexample.property)
        actions = _actions_in(self._system, counterexample.run)
        return prop is not None and actions is not None and self._violates(prop, actions)

    def _violates(self, prop: Property, actions: Sequence[Action]) -> bool:
        if prop.goal is not None:
            return False
        try:
            states = replay(self._system, self._replayer, actions)
        except ReplayMismatch:
            return False
        if not self._replayer.holds(states[-1], prop.violated):
            return False
        return isinstance(schedule(len(actions), constraints_along(self._clocks, actions, states)), Schedule)


def _actions_in(system: TransitionSystem, run: Run) -> list[Action] | None:
    found = [system.action(name, dict(arguments)) for name, arguments in run]
    actions = [action for action in found if action is not None]
    return actions if len(actions) == len(found) else None
