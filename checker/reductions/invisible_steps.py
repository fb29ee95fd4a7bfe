"""Priority of invisible steps: an invisible step that disturbs no other step happens before all others.

While such a step is enabled, other steps wait, so states in which it is late are never generated. Z3 proves the
required conditions for every state within the domains. They are the conditions of a confluent internal step, which
imply the ample-set conditions C0 to C3. docs/reductions.md gives the proof, and lists the preserved properties.

References: E. M. Clarke, O. Grumberg, D. Peled, *Model Checking*, chapter 10; J. F. Groote, J. van de Pol, "State space
reduction using partial tau-confluence", MFCS 2000.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter

import z3

from checker.cone import FreeVariables
from model.language import Action, TransitionSystem, Variable

TIMEOUT = 2_000
"""Milliseconds for one question to Z3; without an answer in this time, the step is not merged."""


@dataclass(frozen=True)
class Obstacle:
    """The reason why ``action`` is not merged; ``other`` is the action that shows the reason, if any."""

    action: Action
    reason: str
    other: Action | None = None

    def __str__(self) -> str:
        return f"{self.action} {self.reason}" + ("" if self.other is None else f" {self.other}")


@dataclass(frozen=True)
class InvisibleSteps:
    """The actions of a system that can go before all others, and the obstacles of the other fault-free actions."""

    merged: tuple[Action, ...]
    obstacles: tuple[Obstacle, ...]


def prioritise_invisible_steps(
    system: TransitionSystem, roots: Iterable[z3.BoolRef], steps: InvisibleSteps | None = None
) -> TransitionSystem:
    """Return the system in which every action waits for the merged actions, and these for earlier merged actions.

    The system violates the same roots with the same fault combinations, and can reach the same roots without a fault,
    but not in as few steps. ``steps`` is the result of :func:`find_invisible_steps`, if already known.
    """
    merged = (find_invisible_steps(system, roots) if steps is None else steps).merged
    first = {action.key: number for number, action in enumerate(merged)}
    actions = []
    for action in system.actions:
        before = merged[: first.get(action.key, len(merged))]
        guard = z3.And(action.guard, *(z3.Not(other.guard) for other in before)) if before else action.guard
        actions.append(replace(action, guard=guard))
    return replace(system, actions=tuple(actions))


def find_invisible_steps(system: TransitionSystem, roots: Iterable[z3.BoolRef]) -> InvisibleSteps:
    """Return the actions that are confluent, invisible to the root terms, and cannot form infinite runs among
    themselves.
    """
    proofs = _Proofs(system, tuple(roots))
    found, obstacles = [], []
    for action in system.actions:
        if action.fault is None:
            obstacle = proofs.obstacle(action)
            if obstacle is None:
                found.append(action)
            else:
                obstacles.append(obstacle)
    merged: list[Action] = []
    for action in found:
        if proofs.terminates([*merged, action]):
            merged.append(action)
        else:
            obstacles.append(Obstacle(action, "could repeat forever with other merged steps"))
    return InvisibleSteps(tuple(merged), tuple(obstacles))


class _Proofs:
    """Proofs by Z3 about single actions and pairs of actions, for every state within the domains."""

    def __init__(self, system: TransitionSystem, roots: Sequence[z3.BoolRef]) -> None:
        self._system = system
        self._roots = roots
        self._free = FreeVariables()
        self._solver = z3.Solver()
        self._solver.set("ctrl_c", False)
        self._solver.set("timeout", TIMEOUT)
        self._solver.add(system.domain)
        self._enables: dict[tuple[object, object], bool] = {}

    def obstacle(self, action: Action) -> Obstacle | None:
        """Return the first reason found why an action must not be merged."""
        if not self._is_invisible(action):
            return Obstacle(action, "can be seen")
        if not self._disables_itself(action):
            return Obstacle(action, "can happen again at once")
        for other in self._likely_obstacles_first(action):
            reason = self._why_not_confluent(action, other)
            if reason is not None:
                return Obstacle(action, reason, other)
        return None

    def terminates(self, actions: Sequence[Action]) -> bool:
        """Tell whether no action can enable itself again through others, so that runs of these actions alone are
        finite.
        """
        enabled_by = {
            number: {place for place, other in enumerate(actions) if self._may_enable(other, action)}
            for number, action in enumerate(actions)
        }
        try:
            TopologicalSorter(enabled_by).prepare()
        except CycleError:
            return False
        return True

    def _is_invisible(self, action: Action) -> bool:
        written = {variable.name for variable in action.updates}
        seeing = (root for root in self._roots if self._free.of(root) & written)
        return all(self._never(action.guard, root != after(action, root)) for root in seeing)

    def _disables_itself(self, action: Action) -> bool:
        return self._never(action.guard, after(action, action.guard))

    def _may_enable(self, action: Action, other: Action) -> bool:
        key = action.key, other.key
        if key not in self._enables:
            touched = self._free.of(other.guard) & {variable.name for variable in action.updates}
            disabled = z3.Not(other.guard)
            self._enables[key] = bool(touched) and not self._never(action.guard, disabled, after(action, other.guard))
        return self._enables[key]

    def _likely_obstacles_first(self, action: Action) -> Iterator[Action]:
        """Yield the other actions that touch the action's variables; faults of the same actor first."""
        others = [other for other in self._system.actions if other.key != action.key and self._touch(action, other)]
        yield from sorted(others, key=lambda other: (other.actor != action.actor, other.fault is None))

    def _touch(self, one: Action, other: Action) -> bool:
        """Tell whether one of the two actions writes variables that the other reads or writes."""
        return bool(
            self._written(one) & (self._written(other) | self._read(other)) or self._written(other) & self._read(one)
        )

    def _written(self, action: Action) -> frozenset[str]:
        return frozenset(variable.name for variable in action.updates)

    def _read(self, action: Action) -> frozenset[str]:
        return self._free.of(action.guard).union(*(self._free.of(value) for value in action.updates.values()))

    def _why_not_confluent(self, action: Action, other: Action) -> str | None:
        """Return None if the two actions are confluent, else the reason why not.

        Confluent means: the other action stays possible after the action. Then either it undoes all changes of the
        action, or the action stays possible after it, and both orders lead to the same state.
        """
        both = z3.And(action.guard, other.guard)
        if not self._never(both, z3.Not(after(action, other.guard))):
            return "may disable"
        second = _in_turn(action, other)
        undone = z3.And(*(value == other.updates.get(variable, variable.term) for variable, value in second.items()))
        swapped = _in_turn(other, action)
        same = z3.And(*(value == swapped[variable] for variable, value in second.items()))
        if not self._never(both, z3.Not(undone), z3.Not(after(other, action.guard))):
            return "may be disabled by"
        return None if self._never(both, z3.Not(undone), z3.Not(same)) else "does not commute with"

    def _never(self, *conditions: z3.BoolRef) -> bool:
        """Tell whether Z3 proves that no state within the domains meets the conditions."""
        return bool(self._solver.check(*conditions) == z3.unsat)


def after(action: Action, term: z3.ExprRef) -> z3.ExprRef:
    """Return the value of a term after an action, over the state before the action."""
    return z3.substitute(term, *((variable.term, value) for variable, value in action.updates.items()))


def _in_turn(first: Action, second: Action) -> Mapping[Variable, z3.ExprRef]:
    """Return the values of all variables that one of the two actions changes, after both."""
    values: dict[Variable, z3.ExprRef] = dict(first.updates)
    values.update({variable: after(first, value) for variable, value in second.updates.items()})
    return values
