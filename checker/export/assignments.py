"""Changes as assignments one after the other, although each means the values before the step."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from checker.export.expressions import Expressions
from checker.export.steps import Change


@dataclass(frozen=True)
class Assignment:
    """A change in its place among others. ``early``: its only value must be computed before all of them."""

    change: Change
    early: bool = False


class Sequencer:
    """Puts changes in an order in which nothing reads a variable that was assigned before.

    What is in ``held`` was computed before the first of them, and reads nothing any more. Where reading and assigning
    go round in a circle, a new value is computed early.
    """

    def __init__(self, expressions: Expressions, held: Collection[int]) -> None:
        self._expressions = expressions
        self._held = frozenset(held)
        self._known: dict[int, frozenset[str]] = {}

    def sequence(self, changes: Sequence[Change]) -> list[Assignment]:
        """The changes in such an order."""
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
        """What changes under one condition stays together where it can be put in order by itself."""
        alone = _one_by_one(change)
        if change.condition is None or len(alone) == 1:
            return alone
        ordered = self.sequence([replace(one.change, condition=None) for one in alone])
        if any(one.early for one in ordered):
            return alone
        return [Assignment(replace(change, values=tuple(value for one in ordered for value in one.change.values)))]

    def _is_needed(self, one: Assignment, pending: Sequence[Assignment]) -> bool:
        """Something else still reads what this assigns."""
        written = {variable.name for variable in one.change.variables}
        return any(not written.isdisjoint(self._reads(other)) for other in pending if other is not one)

    def _reads(self, one: Assignment) -> frozenset[str]:
        if one.early:
            return frozenset()
        condition = () if one.change.condition is None else (one.change.condition,)
        return frozenset().union(*map(self.read_by, (*condition, *(value for _, value in one.change.values))))

    def read_by(self, place: int) -> frozenset[str]:
        """The variables that are read where an expression is evaluated."""
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
