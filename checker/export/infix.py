"""Expressions as infix text, broken over lines if they are long."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from proofka.checker.export.expressions import COMPARISONS, Expressions, Op

Lines = list[str]
Words = Mapping[int, str]
"""The names of a variable's values."""

WIDTH = 110
"""Largest length of a line, in characters."""
SHORT = 50
"""Largest length of an expression that always stays on one line."""


def hang(prefix: str, lines: Lines, suffix: str = "") -> Lines:
    """Return the lines behind a prefix, each indented below the first, with a suffix behind the last."""
    first, *others = lines
    found = [prefix + first, *(" " * len(prefix) + line for line in others)]
    found[-1] += suffix
    return found


@dataclass(frozen=True)
class Dialect:
    """The operators of a language; ``chooses`` writes a choice on one line, ``breaks_choice`` on several lines."""

    operators: Mapping[Op, str]
    truths: tuple[str, str]
    negates: str
    chooses: Callable[[str, str, str], str]
    breaks_choice: Callable[[list[tuple[Lines, Lines]], Lines], Lines]
    bullets: bool
    """A conjunction over several lines also has its operator before the first part."""
    implies: str | None
    """The operator for implication; None if it is written as a disjunction."""
    choice_needs_parentheses: bool


_CHOICE, _IMPLIES, _JOINED, _COMPARED, _SUM, _FACTOR, _ATOM = range(7)
"""The binding strengths of operators."""


@dataclass
class Infix:
    """A writer for expressions of one table.

    ``names`` are the names of parts in the surrounding text.

    ``words`` are names for values, by variable. They are written if a variable is compared with a number, or assigned a
    number.
    """

    dialect: Dialect
    expressions: Expressions
    rename: Callable[[str], str]
    words: Mapping[str, Words] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)
    _known: dict[tuple[int, int], tuple[str, int]] = field(default_factory=dict)

    def with_names(self, names: Mapping[int, str]) -> Infix:
        """Return the same writer with other names for parts."""
        return Infix(self.dialect, self.expressions, self.rename, self.words, names)

    def text(self, place: int, words: Words | None = None) -> str:
        """Return the expression on one line."""
        return self._text(place, words)[0]

    def body(self, place: int, room: int = WIDTH) -> Lines:
        """Return the text of a named part, instead of its name."""
        names = {other: name for other, name in self.names.items() if other != place}
        node = self.expressions.nodes[place]
        return self.with_names(names).lines(node.children[0] if node.op is Op.NAMED else place, room)

    # Text on one line

    def _text(self, place: int, words: Words | None = None) -> tuple[str, int]:
        """Return the text, and its binding strength."""
        key = place, id(words)
        if key not in self._known:
            self._known[key] = self._written(place, words)
        return self._known[key]

    def _written(self, place: int, words: Words | None) -> tuple[str, int]:
        if place in self.names:
            return self.names[place], _ATOM
        node, write = self.expressions.nodes[place], self.dialect.operators
        match node.op:
            case Op.VARIABLE | Op.NAMED:
                return self.rename(str(node.leaf)), _ATOM
            case Op.NUMBER:
                value = int(node.leaf)
                return (words or {}).get(value, str(value)), _ATOM if value >= 0 else _SUM
            case Op.TRUTH:
                return self.dialect.truths[int(node.leaf)], _ATOM
            case Op.NOT:
                return f"{self.dialect.negates}{self._atom(node.children[0])}", _ATOM
            case Op.AND | Op.OR:
                parts = (self._operand(child, _COMPARED) for child in node.children)
                return f" {write[node.op]} ".join(parts), _JOINED
            case Op.IMPLIES:
                return self._implication(*node.children)
            case Op.SAME:
                return f" {write[node.op]} ".join(self._atom(child) for child in node.children), _COMPARED
            case Op.PLUS:
                return self._sum(list(node.children)), _SUM
            case Op.NEGATIVE:
                return f"-{self._atom(node.children[0])}", _SUM
            case Op.TIMES:
                return f" {write[node.op]} ".join(self._atom(child) for child in node.children), _FACTOR
            case Op.CHOICE:
                condition, then, otherwise = node.children
                texts = self.text(condition), self.text(then, words), self.text(otherwise, words)
                return self.dialect.chooses(*texts), _CHOICE if self.dialect.choice_needs_parentheses else _ATOM
            case _:
                sides = self._sides(place)
                return f" {write[node.op]} ".join(self._operand(child, _SUM, w) for child, w in sides), _COMPARED

    def _sides(self, place: int) -> list[tuple[int, Words | None]]:
        """Return the two sides of a comparison, the second with the names of the first side's values."""
        one, other = self.expressions.nodes[place].children
        left = self.expressions.nodes[one]
        words = self.words.get(str(left.leaf)) if left.op is Op.VARIABLE else None
        return [(one, None), (other, words)]

    def _operand(self, place: int, binds: int, words: Words | None = None) -> str:
        text, strength = self._text(place, words)
        return text if strength >= binds else f"({text})"

    def _atom(self, place: int) -> str:
        return self._operand(place, _ATOM)

    def _implication(self, condition: int, consequence: int) -> tuple[str, int]:
        if self.dialect.implies is None:
            return self._text(self._as_disjunction(condition, consequence))
        parts = self._operand(condition, _COMPARED), self._operand(consequence, _COMPARED)
        return f" {self.dialect.implies} ".join(parts), _IMPLIES

    def _as_disjunction(self, condition: int, consequence: int) -> int:
        return self.expressions.any_of([self.expressions.negation(condition), consequence])

    def _sum(self, terms: list[int]) -> str:
        text = self._operand(terms[0], _SUM)
        for term in terms[1:]:
            sign, absolute = self._signed(term)
            text += f" {sign} {self._operand(absolute, _FACTOR)}"
        return text

    def _signed(self, term: int) -> tuple[str, int]:
        node = self.expressions.nodes[term]
        if term not in self.names and (node.op is Op.NEGATIVE or (node.op is Op.NUMBER and int(node.leaf) < 0)):
            return "-", self.expressions.negative(term)
        return "+", term

    # Text on several lines

    def lines(self, place: int, room: int = WIDTH, words: Words | None = None) -> Lines:
        """Return the expression on one line if it is short enough, else on several."""
        text = self.text(place, words)
        node = self.expressions.nodes[place]
        if len(text) <= max(room, SHORT) or place in self.names or not node.children or node.op is Op.NAMED:
            return [text]
        write = self.dialect.operators
        if node.op in (Op.AND, Op.OR):
            return self._listed(write[node.op], node.children, room)
        if node.op is Op.IMPLIES:
            return self._broken_implication(node.children[0], node.children[1], room)
        if node.op is Op.CHOICE:
            return self._broken_choice(place, room, words)
        if node.op is Op.NOT:
            return hang(self.dialect.negates, self._enclosed(node.children[0], room - 2))
        if node.op in COMPARISONS or node.op is Op.SAME:
            return self._broken_comparison(place, room)
        if node.op is Op.PLUS:
            return self._broken_sum(node.children, room)
        return [text]

    def _enclosed(self, place: int, room: int, words: Words | None = None) -> Lines:
        """Return the expression, in parentheses unless it is a single word."""
        if self._text(place, words)[1] == _ATOM:
            return self.lines(place, room, words)
        return hang("(", self.lines(place, room - 2, words), ")")

    def _listed(self, operator: str, children: tuple[int, ...], room: int) -> Lines:
        found: Lines = []
        indent = len(operator) + 1
        for number, child in enumerate(children):
            prefix = f"{operator} " if number or self.dialect.bullets else " " * indent
            inside = self.lines(child, room - indent)
            if len(inside) > 1 and not self.dialect.bullets:
                inside = self._enclosed(child, room - indent)
            elif len(inside) == 1 and not self.dialect.bullets:
                inside = [self._operand(child, _COMPARED)]
            found += hang(prefix, inside)
        return found

    def _broken_implication(self, condition: int, consequence: int, room: int) -> Lines:
        if self.dialect.implies is None:
            return self.lines(self._as_disjunction(condition, consequence), room)
        operator = f"{self.dialect.implies} "
        first = self._enclosed(condition, room)
        return [*first, *hang(operator, self._enclosed(consequence, room - len(operator)))]

    def _broken_choice(self, place: int, room: int, words: Words | None) -> Lines:
        cases = []
        nodes = self.expressions.nodes
        first = True
        while nodes[place].op is Op.CHOICE and (first or place not in self.names):
            condition, then, place = nodes[place].children
            cases.append((self.lines(condition, room - 8), self.lines(then, room - 8, words)))
            first = False
        return self.dialect.breaks_choice(cases, self.lines(place, room - 8, words))

    def _broken_comparison(self, place: int, room: int) -> Lines:
        node = self.expressions.nodes[place]
        (one, _), (other, words) = self._sides(place)
        operator = f" {self.dialect.operators[node.op]} "
        left, right = self._operand(one, _SUM), self._operand(other, _SUM, words)
        if len(left) <= room // 2:
            return hang(left + operator, self._enclosed(other, room - len(left) - len(operator), words))
        if len(right) <= room // 2:
            return hang("", self._enclosed(one, room - len(right)), operator + right)
        return [*hang("", self._enclosed(one, room), operator.rstrip()), *self._enclosed(other, room, words)]

    def _broken_sum(self, terms: tuple[int, ...], room: int) -> Lines:
        found = self._enclosed(terms[0], room)
        for term in terms[1:]:
            sign, absolute = self._signed(term)
            lines = self._enclosed(absolute, room - 2)
            if len(lines) == 1 and len(found[-1]) + len(lines[0]) + 3 <= room:
                found[-1] += f" {sign} {lines[0]}"
            else:
                found += hang(f"{sign} ", lines)
        return found
