"""Simplification of expressions by known facts: behind a guard, or in a branch of a choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from proofka.checker.export.expressions import COMPARISONS, Expressions, Op

MOST_PARTS = 50_000
"""Largest number of parts of an expression into which the facts of its own conditions are propagated."""


@dataclass
class Known:
    """Known facts: the possible values of variables, and conditions that hold or do not hold."""

    expressions: Expressions
    values: Mapping[str, frozenset[int]] = field(default_factory=dict)
    truths: Mapping[int, bool] = field(default_factory=dict)
    about: frozenset[str] = frozenset()
    _small: dict[int, int] = field(default_factory=dict)

    def and_(self, place: int, holds: bool = True) -> Known:
        """Return these facts together with the fact that a condition holds, or does not hold."""
        values, truths = dict(self.values), dict(self.truths)
        self._assume(place, holds, values, truths)
        return Known(self.expressions, values, truths, self.about | self.expressions.mentions[place])

    def _assume(self, place: int, holds: bool, values: dict[str, frozenset[int]], truths: dict[int, bool]) -> None:
        truths[place] = holds
        truths[self.expressions.negation(place)] = not holds
        node = self.expressions.nodes[place]
        if node.op is Op.NOT:
            self._assume(node.children[0], not holds, values, truths)
        elif node.op is (Op.AND if holds else Op.OR):
            for child in node.children:
                self._assume(child, holds, values, truths)
        elif node.op is Op.NAMED:
            self._assume(node.children[0], holds, values, truths)
        elif node.op is Op.IMPLIES and not holds:
            self._assume(node.children[0], True, values, truths)
            self._assume(node.children[1], False, values, truths)
        elif (compared := self._compared(place)) is not None:
            name, number = compared
            met = {v for v in self._values(name, values) if COMPARISONS[node.op](v, number) == holds}
            values[name] = frozenset(met)

    def _compared(self, place: int) -> tuple[str, int] | None:
        """Return variable and number of a comparison, if the domain of the variable is known, else None."""
        node = self.expressions.nodes[place]
        if node.op not in COMPARISONS:
            return None
        left, right = (self.expressions.nodes[child] for child in node.children)
        if left.op is not Op.VARIABLE or right.op is not Op.NUMBER or left.leaf not in self.expressions.variables:
            return None
        return str(left.leaf), int(right.leaf)

    def _values(self, name: str, values: Mapping[str, frozenset[int]]) -> frozenset[int]:
        if name in values:
            return values[name]
        variable = self.expressions.variables[name]
        return frozenset(range(variable.low, variable.high + 1))

    def simplify(self, place: int) -> int:
        """Return an expression that has the same value wherever all these facts hold."""
        if self.truths and self.about.isdisjoint(self.expressions.mentions[place]):
            return place
        small = self._small.get(place)
        if small is None:
            small = self._small[place] = self._simplified(place)
        return small

    def _simplified(self, place: int) -> int:
        expressions = self.expressions
        node = expressions.nodes[place]
        if place in self.truths:
            return expressions.truth(self.truths[place])
        if node.op in COMPARISONS and (decided := self._decided(place)) is not None:
            return expressions.truth(decided)
        if node.op is Op.NAMED:
            body = self.simplify(node.children[0])
            return body if expressions.value(body) is not None else place
        if node.op in (Op.AND, Op.OR):
            return self._in_sequence(place)
        if node.op is Op.IMPLIES:
            condition = self.simplify(node.children[0])
            return expressions.implication(condition, self._inside(place, condition).simplify(node.children[1]))
        if node.op is Op.CHOICE:
            condition = self.simplify(node.children[0])
            then, otherwise = (self._inside(place, condition, holds) for holds in (True, False))
            return expressions.choice(condition, then.simplify(node.children[1]), otherwise.simplify(node.children[2]))
        return self._rebuilt(place, [self.simplify(child) for child in node.children])

    def _decided(self, place: int) -> bool | None:
        compared = self._compared(place)
        if compared is None or compared[0] not in self.values:
            return None
        op = self.expressions.nodes[place].op
        outcomes = {COMPARISONS[op](value, compared[1]) for value in self.values[compared[0]]}
        return outcomes.pop() if len(outcomes) == 1 else None

    def _inside(self, place: int, condition: int, holds: bool = True) -> Known:
        """Return the facts in a part of an expression that is evaluated only if a condition holds, or does not hold."""
        return self if self.expressions.weights[place] > MOST_PARTS else self.and_(condition, holds)

    def _in_sequence(self, place: int) -> int:
        """Simplify parts in order: in a conjunction, later parts assume the earlier ones; in a disjunction, their
        negations.
        """
        node = self.expressions.nodes[place]
        known = self
        parts = []
        for child in node.children:
            parts.append(known.simplify(child))
            known = known._inside(place, parts[-1], node.op is Op.AND)
        return self.expressions.all_of(parts) if node.op is Op.AND else self.expressions.any_of(parts)

    def _rebuilt(self, place: int, children: list[int]) -> int:
        expressions = self.expressions
        node = expressions.nodes[place]
        if list(node.children) == children:
            return place
        match node.op:
            case Op.NOT:
                return expressions.negation(children[0])
            case Op.SAME:
                return expressions.same(*children)
            case Op.PLUS:
                return expressions.sum_of(children)
            case Op.NEGATIVE:
                return expressions.negative(children[0])
            case Op.TIMES:
                return expressions.product(children)
            case _:
                return expressions.comparison(node.op, *children)
