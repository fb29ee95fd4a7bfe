"""State variables: named integers with finite domains, each one a Z3 constant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import z3

from proofka.model.language.terms import And, Int

State = Mapping[str, int]
"""A concrete state: the value of every variable, by name."""


@dataclass(frozen=True)
class Variable:
    """A state variable with values ``low..high`` (both inclusive), starting at ``initial``.

    Flags are variables with values 0 and 1: :attr:`is_set` reads them as a Boolean term.
    """

    name: str
    low: int
    high: int
    initial: int

    def __post_init__(self) -> None:
        if not self.low <= self.initial <= self.high:
            raise ValueError(f"{self.name} starts at {self.initial}, outside {self.low}..{self.high}")

    def __hash__(self) -> int:
        return hash(self.name)

    @cached_property
    def term(self) -> z3.ArithRef:
        """The variable as an integer term."""
        return Int(self.name)

    @cached_property
    def is_set(self) -> z3.BoolRef:
        """The flag as a Boolean term."""
        return self.term == 1

    @cached_property
    def domain(self) -> z3.BoolRef:
        """The condition ``low <= variable <= high``."""
        return And(self.term >= self.low, self.term <= self.high)


def present(*variables: Variable | None) -> tuple[Variable, ...]:
    """Return the variables without None, which stands for a variable that the deployment does without."""
    return tuple(variable for variable in variables if variable is not None)


class Mechanism(Protocol):
    """A mechanism that some deployments do without, as a record of its variables."""

    @property
    def variables(self) -> tuple[Variable, ...]: ...


def variables_of(*mechanisms: Mechanism | None) -> tuple[Variable, ...]:
    """Return all variables of the mechanisms; None stands for a mechanism that the deployment does without."""
    return tuple(variable for each in mechanisms if each is not None for variable in each.variables)


def flag(name: str, initial: bool = False) -> Variable:
    """Return a variable that is 0 or 1."""
    return Variable(name, 0, 1, int(initial))
