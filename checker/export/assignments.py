"""Changes as a sequence of assignments, although each change refers to the values before the step."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from proofka.checker.export.expressions import Expressions
from proofka.checker.export.steps import Change


@dataclass(frozen=True)
class Assignment:
    """A change in its place among others. ``early``: its only value must be computed before all assignments."""

    change: Change
    early: bool = False


class Sequencer:
    """An order of changes in which no change reads a variable that was assigned before.

    Parts in ``held`` are computed before the first assignment, and read nothing afterwards. If reading and assigning
    form a cycle, one new value is computed early.
    """

    def __init__(self, expressions: Expressions, held: Collection[int]) -> None:
        self._expressions = expressions
        self._held = frozenset(held)
        self._known: dict[int, frozenset[str]] = {}

    def sequence(self, changes: Sequence[Change]) -> list[Assignment]:
        """Return the changes in this order."""
        pending = [unit for change in changes for unit in self._units(change)]
        done: list[Assignment] = []
        while pending:
            ready = next((one for one in pending if not self._is_needed(one, pending)), None)
            several = next((one for one in pending if len(one.change.values) > 1), None)
            if ready is not None:
                done.append(ready)
                pending.remove(ready)
            elif several is not None:
                place = pending.index(several)
                pending[place : place + 1] = _one_by_one(several.change)
            else:
                place = next(number for number, one in enumerate(pending) if not one.early)
                pending[place] = replace(pending[place], early=True)
        return done

    def _units(self, change: Change) -> list[Assignment]:
        """Keep the assignments of one condition together if they can be ordered among themselves."""
        alone = _one_by_one(change)
        if change.condition is None or len(alone) == 1:
            return alone
        ordered = self.sequence([replace(one.change, condition=None) for one in alone])
        if any(one.early for one in ordered):
            return alone
        return [Assignment(replace(change, values=tuple(value for one in ordered for value in one.change.values)))]

    def _is_needed(self, one: Assignment, pending: Sequence[Assignment]) -> bool:
        """Tell whether another assignment still reads the variables of this assignment."""
        written = {variable.name for variable in one.change.variables}
        return any(not written.isdisjoint(self._reads(other)) for other in pending if other is not one)

    def _reads(self, one: Assignment) -> frozenset[str]:
        if one.early:
            return frozenset()
        condition = () if one.change.condition is None else (one.change.condition,)
        return frozenset().union(*map(self.read_by, (*condition, *(value for _, value in one.change.values))))

    def read_by(self, place: int) -> frozenset[str]:
        """Return the variables that are read when an expression is evaluated."""
        if place not in self._known:
            children = self._expressions.nodes[place].children
            if place in self._held:
                self._known[place] = frozenset()
            elif children:
                self._known[place] = frozenset().union(*map(self.read_by, children))
            else:
                self._known[place] = self._expressions.mentions[place]
        return self._known[place]


def _one_by_one(change: Change) -> list[Assignment]:
    return [Assignment(replace(change, values=(value,))) for value in change.values]
