"""Statements about one variable or two, of which candidates for lemmas are made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from typing import Any

import numpy as np
import z3
from numpy.typing import NDArray

from proofka.checker.invariants.seen_states import Values
from proofka.model.language import Variable

FEW_VALUES = 8
"""Largest number of values of a variable for which each value has a statement."""


class Form(Enum):
    """The forms of statements, with the words of a false statement and of a true one."""

    IS_VALUE = ("is not", "is")
    IS = ("differs from", "equals")
    BELOW = ("is at least", "is below")
    AT_MOST = ("is above", "is at most")


@dataclass(frozen=True)
class Statement:
    """A comparison of a variable with a value, or with another variable."""

    form: Form
    left: str
    right: str | int

    @property
    def variables(self) -> frozenset[str]:
        """The names of the variables."""
        return frozenset({self.left} | ({self.right} if isinstance(self.right, str) else set()))

    def holds_in(self, values: Values) -> NDArray[np.bool_]:
        """Tell for each state whether the statement is true."""
        right = values[self.right] if isinstance(self.right, str) else self.right
        return np.asarray(self._compared(values[self.left], right))

    def term(self, value_of: Callable[[str], Any]) -> z3.BoolRef:
        """Return the statement as a term. ``value_of``: the term of a variable's value."""
        return self._compared(value_of(self.left), value_of(self.right) if isinstance(self.right, str) else self.right)

    def _compared(self, left: Any, right: Any) -> Any:
        if self.form is Form.BELOW:
            return left < right
        return left <= right if self.form is Form.AT_MOST else left == right


@dataclass(frozen=True)
class Statements:
    """The statements about a system that some states confirm and others refute, then those that all states agree on.

    ``bits``: for each of the first, the states in which the statement is true, 64 in a word. ``full``: the words with
    the bits of all states. ``settled``: for each of the others, whether it is true.
    """

    all: tuple[Statement, ...]
    bits: NDArray[np.uint64]
    full: NDArray[np.uint64]
    settled: tuple[bool, ...]

    @property
    def open(self) -> int:
        """The number of statements that some states confirm and others refute."""
        return len(self.bits)

    def values_in(self, state: Mapping[str, int]) -> NDArray[np.bool_]:
        """Tell for each statement whether it is true in a state."""
        values = {name: np.array([value], dtype=np.int16) for name, value in state.items()}
        return np.array([bool(one.holds_in(values)[0]) for one in self.all])


def statements(variables: Sequence[Variable], epochs: Collection[str], reserved: int, values: Values) -> Statements:
    """Return the statements about variables. ``epochs``: names of the variables with an epoch, whose values above
    ``reserved`` mean nothing besides their order."""
    number = len(next(iter(values.values())))
    undecided, settled = [], []
    for one in _possible(variables, epochs, reserved, values):
        holds = one.holds_in(values)
        if holds.all() or not holds.any():
            settled.append((one, bool(holds[0])))
        else:
            undecided.append((one, packed(holds)))
    bits = np.array([row for _, row in undecided], dtype=np.uint64).reshape(len(undecided), (number + 63) // 64)
    full = packed(np.ones(number, dtype=np.bool_))
    every = (*(one for one, _ in undecided), *(one for one, _ in settled))
    return Statements(every, bits, full, tuple(truth for _, truth in settled))


def packed(truths: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return truth values as bits, 64 in a word."""
    octets = np.packbits(truths, bitorder="little")
    return np.pad(octets, (0, -len(octets) % 8)).view(np.uint64)


def _possible(
    variables: Sequence[Variable], epochs: Collection[str], reserved: int, values: Values
) -> Iterator[Statement]:
    for variable in variables:
        if variable.name in epochs:
            yield from (Statement(Form.IS_VALUE, variable.name, value) for value in range(reserved + 1))
        else:
            yield from _of_one(variable, values[variable.name])
    for first, second in combinations([one.name for one in variables if one.name in epochs], 2):
        yield Statement(Form.BELOW, first, second)
        yield Statement(Form.IS, first, second)
        yield Statement(Form.BELOW, second, first)
    numbers = [one for one in variables if one.name not in epochs and _is_number(one, values[one.name])]
    for left, right in combinations(numbers, 2):
        if left.name.split("_")[:2] == right.name.split("_")[:2]:
            yield Statement(Form.BELOW, left.name, right.name)
            yield Statement(Form.BELOW, right.name, left.name)


def _of_one(variable: Variable, seen: NDArray[np.int16]) -> Iterator[Statement]:
    """Yield the statements about one variable. Two values need one statement; unseen values have statements, too."""
    different = [int(value) for value in np.unique(seen)]
    domain = range(variable.low, variable.high + 1)
    if len(different) == 1:
        yield Statement(Form.IS_VALUE, variable.name, different[0])
        return
    if len(domain) > FEW_VALUES:
        yield from (Statement(Form.AT_MOST, variable.name, value) for value in domain[:-1])
    for value in domain:
        if len(different) != 2 or value != different[0]:
            yield Statement(Form.IS_VALUE, variable.name, value)


def _is_number(variable: Variable, seen: NDArray[np.int16]) -> bool:
    """Tell whether the order of a variable's values can matter."""
    return variable.high - variable.low > 1 and len(np.unique(seen)) > 2 and "leader" not in variable.name
