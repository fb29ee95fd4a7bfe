"""Guarded actions: steps with a guard, and the variables that they change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field

import z3

from proofka.model.faults import Fault
from proofka.model.language.terms import If, IntVal
from proofka.model.language.variables import State, Variable, present

ActionKey = tuple[str, tuple[tuple[str, int], ...]]
"""The name and arguments that identify an action."""

Sentence = Callable[[State, State], str]
"""A function of the states before and after a step that returns the words for the step."""


class Effect:
    """The next value of each variable that an action changes; every other variable keeps its value.

    Reading returns the value *after* the assignments so far, so that effects compose in sequence. Assigning to None
    changes nothing: it stands for a variable that the deployment does without.
    """

    def __init__(self) -> None:
        self._next: dict[Variable, z3.ArithRef] = {}

    def __getitem__(self, variable: Variable) -> z3.ArithRef:
        return self._next.get(variable, variable.term)

    def __setitem__(self, variable: Variable | None, value: z3.ArithRef | z3.BoolRef | int) -> None:
        if variable is None:
            return
        if isinstance(value, bool | int):
            self._next[variable] = IntVal(int(value))
        elif z3.is_bool(value):
            self._next[variable] = If(value, IntVal(1), IntVal(0))
        else:
            self._next[variable] = value

    def set_when(self, condition: z3.BoolRef, variable: Variable | None, value: z3.ArithRef | int) -> None:
        """Assign ``value`` where ``condition`` holds, and keep the value assigned so far elsewhere."""
        if variable is not None:
            self[variable] = If(condition, value, self[variable])

    def reset(self, *variables: Variable | None) -> None:
        """Assign their initial values to ``variables``."""
        for variable in present(*variables):
            self[variable] = variable.initial

    def reset_when(self, condition: z3.BoolRef, *variables: Variable | None) -> None:
        """Assign their initial values to ``variables`` where ``condition`` holds."""
        for variable in present(*variables):
            self.set_when(condition, variable, variable.initial)

    @property
    def updates(self) -> Mapping[Variable, z3.ArithRef]:
        """Variable -> its next value as a term over the current state."""
        return dict(self._next)


@dataclass(frozen=True)
class Action:
    """A guarded action with its parameters fixed.

    ``actor`` is who acts ("broker 2"). ``lane`` is where a trace draws the action (producer, brokers, controller,
    consumer). ``fault`` is the kind of fault that the action is, or None. ``semantics`` is the section of Kafka's
    semantics that it follows (docs/semantics.md).
    """

    name: str
    actor: str
    _: KW_ONLY
    lane: str
    arguments: Mapping[str, int]
    guard: z3.BoolRef
    updates: Mapping[Variable, z3.ArithRef]
    sentence: Sentence
    semantics: str
    fault: Fault | None = None
    key: ActionKey = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", (self.name, tuple(sorted(self.arguments.items()))))

    def __str__(self) -> str:
        arguments = ", ".join(f"{name}={value}" for name, value in self.arguments.items())
        return f"{self.name}({arguments})"
