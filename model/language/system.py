"""Transition systems: variables, an initial state and guarded actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import z3

from proofka.model.language.actions import Action
from proofka.model.language.canonical import Ranked, Symmetry, Unread
from proofka.model.language.clocks import Clock, Need, Needs
from proofka.model.language.terms import And
from proofka.model.language.variables import State, Variable


@dataclass(frozen=True)
class Display:
    """The display of a part of the state: its name, and its value in words.

    ``owner``: whose state it is ("producer", "broker 2", "controller"), empty where it is nobody's. ``entries``: for a
    log, the words of its entries, by offset; None otherwise.
    """

    what: str
    render: Callable[[State], str]
    variables: tuple[Variable, ...]
    owner: str = ""
    entries: Callable[[State], tuple[str, ...]] | None = None


@dataclass(frozen=True)
class TransitionSystem:
    """A transition system, whose terms the kernel, the solver and the printers all read.

    ``limits`` names each bound that can stop a behaviour (a log that is full) with the condition under which it does:
    where that is reachable, a larger bound would explore more. ``ranked``, ``symmetries`` and ``unread`` are
    declarations that reductions use. ``clocks`` limit when things happen: without them, anything can take any time.
    ``needs`` of an action are its conditions on clocks; a part of a system keeps the needs of the whole. ``history``
    are variables that only clocks read and that actions set to constants: they remember facts about a run.

    Reference: M. Abadi, L. Lamport, "The existence of refinement mappings", TCS 1991.
    """

    name: str
    variables: tuple[Variable, ...]
    actions: tuple[Action, ...]
    displays: tuple[Display, ...] = ()
    limits: Mapping[str, z3.BoolRef] | None = None
    ranked: tuple[Ranked, ...] = ()
    symmetries: tuple[Symmetry, ...] = ()
    clocks: tuple[Clock, ...] = ()
    needs: Needs = field(default_factory=dict)
    history: tuple[Variable, ...] = ()
    unread: tuple[Unread, ...] = ()

    def __post_init__(self) -> None:
        names = [variable.name for variable in self.variables]
        if len(set(names)) != len(names):
            raise ValueError(f"{self.name}: two variables share a name")
        declared = set(self.variables)
        for action in self.actions:
            undeclared = [variable.name for variable in action.updates if variable not in declared]
            if undeclared:
                raise ValueError(f"{self.name}: {action} assigns undeclared {', '.join(undeclared)}")
        keys = [action.key for action in self.actions]
        if len(set(keys)) != len(keys):
            raise ValueError(f"{self.name}: two actions share name and arguments")
        clocks = [clock.key for clock in self.clocks]
        if len(set(clocks)) != len(clocks):
            raise ValueError(f"{self.name}: two clocks share name and arguments")
        known = set(clocks)
        for action in self.actions:
            strangers = [str(need.clock) for need in self.needs_of(action) if need.clock.key not in known]
            if strangers:
                raise ValueError(f"{self.name}: {action} needs the undeclared clock {', '.join(strangers)}")

    @property
    def initial(self) -> dict[str, int]:
        """The initial state."""
        return {variable.name: variable.initial for variable in self.variables}

    @property
    def domain(self) -> z3.BoolRef:
        """The condition that every variable is within its domain."""
        return And(*(variable.domain for variable in self.variables))

    def needs_of(self, action: Action) -> tuple[Need, ...]:
        """Return what an action needs of the clocks."""
        return self.needs.get(action.key, ())

    def action(self, name: str, arguments: Mapping[str, int]) -> Action | None:
        """Return the action with this name and these arguments, or None."""
        key = (name, tuple(sorted(arguments.items())))
        return next((action for action in self.actions if action.key == key), None)


def describe(system: TransitionSystem, state: State) -> dict[str, str]:
    """Return the whole state in words: what -> value, in the order of the system's displays."""
    return {display.what: display.render(state) for display in system.displays}
