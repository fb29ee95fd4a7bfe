"""Readable expressions: Z3's terms with constants folded, negations pushed inward and choices resolved.

The rules are local and do not depend on earlier terms, so the same model gives the same text in every run.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

import z3

from proofka.checker.kernel.emission import UnsupportedTerm
from proofka.checker.terms import Node as TermNode
from proofka.checker.terms import TermTable
from proofka.model.language import Variable


class Op(Enum):
    """The kinds of expressions."""

    VARIABLE = "variable"
    NUMBER = "number"
    TRUTH = "truth"
    NAMED = "named"
    NOT = "not"
    AND = "and"
    OR = "or"
    IMPLIES = "implies"
    SAME = "same truth"
    EQUAL = "="
    DIFFERENT = "/="
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="
    PLUS = "+"
    NEGATIVE = "-"
    TIMES = "*"
    CHOICE = "choice"


COMPARISONS: Mapping[Op, Callable[[int, int], bool]] = {
    Op.EQUAL: operator.eq,
    Op.DIFFERENT: operator.ne,
    Op.LESS: operator.lt,
    Op.AT_MOST: operator.le,
    Op.GREATER: operator.gt,
    Op.AT_LEAST: operator.ge,
}
OPPOSITE = {
    Op.EQUAL: Op.DIFFERENT,
    Op.DIFFERENT: Op.EQUAL,
    Op.LESS: Op.AT_LEAST,
    Op.AT_LEAST: Op.LESS,
    Op.GREATER: Op.AT_MOST,
    Op.AT_MOST: Op.GREATER,
}
MIRRORED = {
    Op.EQUAL: Op.EQUAL,
    Op.DIFFERENT: Op.DIFFERENT,
    Op.LESS: Op.GREATER,
    Op.GREATER: Op.LESS,
    Op.AT_MOST: Op.AT_LEAST,
    Op.AT_LEAST: Op.AT_MOST,
}
_PLAIN = {Op.VARIABLE, Op.NUMBER, Op.TRUTH, Op.NAMED, *COMPARISONS}
"""Kinds of expressions that need no name of their own, or have one."""

_TRUTHS = {Op.TRUTH, Op.NOT, Op.AND, Op.OR, Op.IMPLIES, Op.SAME, *COMPARISONS}


@dataclass(frozen=True)
class Expression:
    """An operator over earlier expressions; ``leaf`` is a name, a number or a truth value."""

    op: Op
    children: tuple[int, ...] = ()
    leaf: str | int = 0


@dataclass
class Expressions:
    """A table of expressions, each once, children first.

    The numbers that its methods return are places in ``nodes``.

    ``variables`` are the variables with a reliable domain: a comparison that their domain decides is folded.
    """

    variables: Mapping[str, Variable] = field(default_factory=dict)
    nodes: list[Expression] = field(default_factory=list)
    mentions: list[frozenset[str]] = field(default_factory=list)
    """The variables in each expression."""
    weights: list[int] = field(default_factory=list)
    """The number of parts of each expression, written out."""
    _places: dict[Expression, int] = field(default_factory=dict)
    _terms: TermTable = field(default_factory=TermTable)
    _read: list[int] = field(default_factory=list)
    _negations: dict[int, int] = field(default_factory=dict)
    _comparisons: dict[tuple[Op, int, int], int] = field(default_factory=dict)

    # Reading of terms

    def define(self, name: str, term: z3.ExprRef) -> int:
        """Name a term wherever it occurs in terms that are read from now on; return the named expression."""
        place = self._terms.add(term)
        self._catch_up()
        body = self._read[place]
        if self.nodes[body].op not in _PLAIN:
            self._read[place] = self._enter(Op.NAMED, (body,), name)
        return self._read[place]

    def read(self, term: z3.ExprRef) -> int:
        """Return the expression of a term."""
        place = self._terms.add(term)
        self._catch_up()
        return self._read[place]

    def _catch_up(self) -> None:
        for node in self._terms.nodes[len(self._read) :]:
            self._read.append(self._of(node))

    def _of(self, node: TermNode) -> int:
        if node.is_variable:
            return self._enter(Op.VARIABLE, (), str(node.leaf))
        if node.kind == z3.Z3_OP_ANUM:
            assert isinstance(node.leaf, int)
            return self.number(node.leaf)
        children = [self._read[child] for child in node.children]
        if node.kind in (z3.Z3_OP_EQ, z3.Z3_OP_IFF) and self.is_truth(children[0]):
            return self.same(*children)
        if node.kind in _READERS:
            return _READERS[node.kind](self, children)
        raise UnsupportedTerm(f"unknown operator {node.leaf or node.kind}: add it to _READERS")

    # Construction of expressions

    def _enter(self, op: Op, children: tuple[int, ...] = (), leaf: str | int = 0) -> int:
        node = Expression(op, children, leaf)
        place = self._places.get(node)
        if place is None:
            place = self._places[node] = len(self.nodes)
            self.nodes.append(node)
            own = frozenset({str(leaf)}) if op is Op.VARIABLE else frozenset()
            self.mentions.append(own.union(*(self.mentions[child] for child in children)))
            self.weights.append(1 + sum(self.weights[child] for child in children))
        return place

    def is_truth(self, place: int) -> bool:
        """Tell whether the expression is a truth value instead of a number."""
        node = self.nodes[place]
        if node.op in (Op.NAMED, Op.CHOICE):
            return self.is_truth(node.children[-1])
        return node.op in _TRUTHS

    def number(self, value: int) -> int:
        return self._enter(Op.NUMBER, (), value)

    def truth(self, value: bool) -> int:
        return self._enter(Op.TRUTH, (), int(value))

    def value(self, place: int) -> int | None:
        """Return the value of a constant, else None; truth values are 0 and 1."""
        node = self.nodes[place]
        return int(node.leaf) if node.op in (Op.NUMBER, Op.TRUTH) else None

    def is_(self, place: int, value: bool) -> bool:
        """Tell whether the expression is this truth value."""
        return self.nodes[place].op is Op.TRUTH and self.value(place) == int(value)

    def negation(self, place: int) -> int:
        if place not in self._negations:
            self._negations[place] = self._negated(place)
        return self._negations[place]

    def _negated(self, place: int) -> int:
        node = self.nodes[place]
        if node.op is Op.TRUTH:
            return self.truth(not node.leaf)
        if node.op is Op.NOT:
            return node.children[0]
        if node.op in OPPOSITE:
            return self.comparison(OPPOSITE[node.op], *node.children)
        if node.op is Op.OR:
            return self.all_of(self.negation(child) for child in node.children)
        if node.op is Op.AND and all(self.nodes[c].op in {Op.NOT, *COMPARISONS} for c in node.children):
            return self.any_of(self.negation(child) for child in node.children)
        if node.op is Op.IMPLIES:
            return self.all_of([node.children[0], self.negation(node.children[1])])
        return self._enter(Op.NOT, (place,))

    def all_of(self, places: Iterable[int]) -> int:
        return self._joined(Op.AND, places, neutral=True)

    def any_of(self, places: Iterable[int]) -> int:
        return self._joined(Op.OR, places, neutral=False)

    def _joined(self, op: Op, places: Iterable[int], neutral: bool) -> int:
        parts: dict[int, None] = {}
        for place in places:
            for part in self.nodes[place].children if self.nodes[place].op is op else (place,):
                if self.is_(part, not neutral):
                    return self.truth(not neutral)
                if not self.is_(part, neutral):
                    parts[part] = None
        if not parts:
            return self.truth(neutral)
        return next(iter(parts)) if len(parts) == 1 else self._enter(op, tuple(parts))

    def implication(self, condition: int, consequence: int) -> int:
        if self.is_(condition, True):
            return consequence
        if self.is_(condition, False) or self.is_(consequence, True):
            return self.truth(True)
        if self.is_(consequence, False):
            return self.negation(condition)
        return self._enter(Op.IMPLIES, (condition, consequence))

    def same(self, one: int, other: int) -> int:
        """Return the expression that is true if both parts are true or both are false."""
        for known, unknown in ((one, other), (other, one)):
            if self.nodes[known].op is Op.TRUTH:
                return unknown if self.value(known) else self.negation(unknown)
        return self.truth(True) if one == other else self._enter(Op.SAME, (one, other))

    def comparison(self, op: Op, one: int, other: int) -> int:
        left, right = self.value(one), self.value(other)
        if left is not None and right is not None:
            return self.truth(COMPARISONS[op](left, right))
        if left is not None:
            return self.comparison(MIRRORED[op], other, one)
        if one == other:
            return self.truth(op in (Op.EQUAL, Op.AT_MOST, Op.AT_LEAST))
        if right is None:
            return self._enter(op, (one, other))
        key = op, one, right
        if key not in self._comparisons:
            self._comparisons[key] = self._compared_to(op, one, right)
        return self._comparisons[key]

    def _compared_to(self, op: Op, one: int, number: int) -> int:
        node = self.nodes[one]
        if node.op is Op.CHOICE and any(self.value(branch) is not None for branch in node.children[1:]):
            condition, *branches = node.children
            compared = [self.comparison(op, branch, self.number(number)) for branch in branches]
            if any(self.nodes[branch].op is Op.TRUTH for branch in compared):
                return self.choice(condition, *compared)
        if node.op is Op.PLUS and (added := self.value(node.children[-1])) is not None:
            return self.comparison(op, self.sum_of(node.children[:-1]), self.number(number - added))
        if node.op is Op.NEGATIVE:
            return self.comparison(MIRRORED[op], node.children[0], self.number(-number))
        variable = self.variables.get(str(node.leaf)) if node.op is Op.VARIABLE else None
        if variable is not None:
            met = [v for v in range(variable.low, variable.high + 1) if COMPARISONS[op](v, number)]
            if not met or len(met) == variable.high - variable.low + 1:
                return self.truth(bool(met))
            if variable.high - variable.low == 1:
                return self._enter(Op.EQUAL, (one, self.number(met[0])))
        return self._enter(op, (one, self.number(number)))

    def sum_of(self, places: Iterable[int]) -> int:
        """Return a sum, its constant last."""
        terms: list[int] = []
        constant = 0
        for place in places:
            for part in self.nodes[place].children if self.nodes[place].op is Op.PLUS else (place,):
                value = self.value(part)
                if value is None:
                    terms.append(part)
                else:
                    constant += value
        if constant or not terms:
            terms.append(self.number(constant))
        return terms[0] if len(terms) == 1 else self._enter(Op.PLUS, tuple(terms))

    def negative(self, place: int) -> int:
        node = self.nodes[place]
        if node.op is Op.NUMBER:
            return self.number(-int(node.leaf))
        if node.op is Op.NEGATIVE:
            return node.children[0]
        if node.op is Op.PLUS:
            return self.sum_of(self.negative(child) for child in node.children)
        return self._enter(Op.NEGATIVE, (place,))

    def product(self, places: Sequence[int]) -> int:
        factor = 1
        for value in map(self.value, places):
            factor *= 1 if value is None else value
        others = [place for place in places if self.value(place) is None]
        if not others or factor == 0:
            return self.number(factor)
        product = others[0] if len(others) == 1 else self._enter(Op.TIMES, tuple(others))
        if factor in (1, -1):
            return product if factor == 1 else self.negative(product)
        return self._enter(Op.TIMES, (self.number(factor), *others))

    def choice(self, condition: int, then: int, otherwise: int) -> int:
        if self.nodes[condition].op is Op.TRUTH:
            return then if self.value(condition) else otherwise
        if then == otherwise:
            return then
        if self.nodes[condition].op is Op.NOT:
            return self.choice(self.nodes[condition].children[0], otherwise, then)
        if self.nodes[then].op is Op.TRUTH:
            if self.value(then):
                return self.any_of([condition, otherwise])
            return self.all_of([self.negation(condition), otherwise])
        if self.nodes[otherwise].op is Op.TRUTH:
            if self.value(otherwise):
                return self.implication(condition, then)
            return self.all_of([condition, then])
        inner = self.nodes[otherwise]
        if inner.op is Op.CHOICE and inner.children[1] == then:
            return self.choice(self.any_of([condition, inner.children[0]]), then, inner.children[2])
        inner = self.nodes[then]
        if inner.op is Op.CHOICE and inner.children[2] == otherwise:
            return self.choice(self.all_of([condition, inner.children[0]]), inner.children[1], otherwise)
        return self._enter(Op.CHOICE, (condition, then, otherwise))


def _distinct(expressions: Expressions, children: Sequence[int]) -> int:
    pairs = [(one, other) for number, one in enumerate(children) for other in children[:number]]
    if expressions.is_truth(children[0]):
        return expressions.all_of(expressions.negation(expressions.same(*pair)) for pair in pairs)
    return expressions.all_of(expressions.comparison(Op.DIFFERENT, other, one) for one, other in pairs)


_READERS: Mapping[int, Callable[[Expressions, Sequence[int]], int]] = {
    z3.Z3_OP_TRUE: lambda e, c: e.truth(True),
    z3.Z3_OP_FALSE: lambda e, c: e.truth(False),
    z3.Z3_OP_NOT: lambda e, c: e.negation(c[0]),
    z3.Z3_OP_AND: lambda e, c: e.all_of(c),
    z3.Z3_OP_OR: lambda e, c: e.any_of(c),
    z3.Z3_OP_XOR: lambda e, c: e.negation(e.same(c[0], c[1])),
    z3.Z3_OP_IMPLIES: lambda e, c: e.implication(c[0], c[1]),
    z3.Z3_OP_EQ: lambda e, c: e.comparison(Op.EQUAL, c[0], c[1]),
    z3.Z3_OP_DISTINCT: _distinct,
    z3.Z3_OP_LE: lambda e, c: e.comparison(Op.AT_MOST, c[0], c[1]),
    z3.Z3_OP_LT: lambda e, c: e.comparison(Op.LESS, c[0], c[1]),
    z3.Z3_OP_GE: lambda e, c: e.comparison(Op.AT_LEAST, c[0], c[1]),
    z3.Z3_OP_GT: lambda e, c: e.comparison(Op.GREATER, c[0], c[1]),
    z3.Z3_OP_ADD: lambda e, c: e.sum_of(c),
    z3.Z3_OP_SUB: lambda e, c: e.sum_of([c[0], *(e.negative(child) for child in c[1:])]),
    z3.Z3_OP_UMINUS: lambda e, c: e.negative(c[0]),
    z3.Z3_OP_MUL: lambda e, c: e.product(c),
    z3.Z3_OP_ITE: lambda e, c: e.choice(c[0], c[1], c[2]),
}
