"""Bounded logs: a length and a fixed number of slots, each slot a record of named fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import z3

from proofka.model.language.actions import Effect
from proofka.model.language.terms import And, BoolVal, If, Implies, IntVal, Or, Sum
from proofka.model.language.variables import State, Variable

Slot = Mapping[str, Variable]
"""A slot of a log: field name -> variable."""


@dataclass(frozen=True)
class Log:
    """A sequence of at most ``len(slots)`` entries. Slots at ``end`` and above hold zeros."""

    end: Variable
    slots: tuple[Slot, ...]

    @property
    def capacity(self) -> int:
        return len(self.slots)

    @property
    def variables(self) -> tuple[Variable, ...]:
        return (self.end, *(variable for slot in self.slots for variable in slot.values()))

    def has(self, offset: int) -> z3.BoolRef:
        """Tell whether there is an entry at ``offset``."""
        return self.end.term > offset

    def at(self, offset: z3.ArithRef, name: str) -> z3.ArithRef:
        """Return field ``name`` of the entry at ``offset``; the last slot's where ``offset`` is out of range."""
        value: z3.ArithRef = self.slots[-1][name].term
        for index in range(self.capacity - 2, -1, -1):
            value = If(offset == index, self.slots[index][name].term, value)
        return value

    def some(self, condition: Callable[[int, Slot], z3.BoolRef]) -> z3.BoolRef:
        """Tell whether some entry meets ``condition(offset, slot)``."""
        return Or(*(And(self.has(i), condition(i, slot)) for i, slot in enumerate(self.slots)))

    def every(self, condition: Callable[[int, Slot], z3.BoolRef]) -> z3.BoolRef:
        """Tell whether every entry meets ``condition(offset, slot)``."""
        return And(*(Implies(self.has(i), condition(i, slot)) for i, slot in enumerate(self.slots)))

    def count(self, condition: Callable[[int, Slot], z3.BoolRef]) -> z3.ArithRef:
        """Return the number of entries that meet ``condition(offset, slot)``."""
        return Sum(*(If(And(self.has(i), condition(i, slot)), 1, 0) for i, slot in enumerate(self.slots)))

    def append(self, effect: Effect, entry: Mapping[str, z3.ArithRef | int], when: z3.BoolRef | None = None) -> None:
        """Add ``entry`` at the end (where ``when`` holds); the guard must make sure that there is room."""
        appending = BoolVal(True) if when is None else when
        for index, slot in enumerate(self.slots):
            here = And(appending, self.end.term == index)
            for name, variable in slot.items():
                effect.set_when(here, variable, entry[name])
        effect.set_when(appending, self.end, self.end.term + 1)

    def truncate(self, effect: Effect, length: z3.ArithRef | int) -> None:
        """Drop the entries at ``length`` and above."""
        for index, slot in enumerate(self.slots):
            for variable in slot.values():
                effect.set_when(index >= _term(length), variable, 0)
        effect.set_when(self.end.term > length, self.end, length)

    def entries(self, state: State) -> list[dict[str, int]]:
        """Return the entries of a concrete state."""
        return [
            {name: state[variable.name] for name, variable in slot.items()}
            for slot in self.slots[: state[self.end.name]]
        ]


def _term(value: z3.ArithRef | int) -> z3.ArithRef:
    return IntVal(value) if isinstance(value, int) else value


def log(name: str, capacity: int, fields: Mapping[str, tuple[int, int]]) -> Log:
    """Return an empty log of ``capacity`` slots; ``fields`` maps a field's name to its (low, high)."""
    return Log(
        Variable(f"{name}_end", 0, capacity, 0),
        tuple(
            {field: Variable(f"{name}_{index}_{field}", low, high, 0) for field, (low, high) in fields.items()}
            for index in range(capacity)
        ),
    )
