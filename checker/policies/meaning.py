"""The meaning of a parsed rule in CEL or Rego: a condition over settings, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from proofka.checker.policies.errors import OutsideSubsetError
from proofka.checker.policies.expression import (
    FALSE,
    TRUE,
    AllOf,
    Among,
    AnyOf,
    Compare,
    Expression,
    Has,
    Literal,
    Not,
    Order,
    Read,
    Sum,
    Term,
    reads_of,
)
from proofka.checker.policies.names import written
from proofka.checker.policies.paths import is_section, value_at
from proofka.checker.policies.scanning import Kind, Token


@dataclass(frozen=True)
class Path:
    """A name with fields or keys below it, such as ``spec.configs["acks"]``."""

    parts: tuple[str, ...]
    token: Token


@dataclass(frozen=True)
class Value:
    """A text, a whole number, or true or false."""

    value: str | int | bool
    token: Token


@dataclass(frozen=True)
class Listed:
    """A list or set of values."""

    items: tuple[Node, ...]
    token: Token


@dataclass(frozen=True)
class Operation:
    """An operation of CEL or Rego, or a function.

    ``sign`` is that of CEL for both languages, ``in``, ``has``, ``?``, ``number`` and ``text`` (conversions), or the
    name of a function that has no meaning.
    """

    sign: str
    parts: tuple[Node, ...]
    token: Token


Node = Path | Value | Listed | Operation


class Meaning:
    """The reading of one rule.

    ``absent_is_false``: a comparison with a setting without a value is false, as in Rego; in CEL it is an error.
    """

    def __init__(self, file: str, *, absent_is_false: bool) -> None:
        self._file = file
        self._absent_is_false = absent_is_false

    def condition(self, node: Node) -> Expression:
        """Return the condition that a node means. Raise PolicyError."""
        match node:
            case Value(bool() as value, _):
                return TRUE if value else FALSE
            case Path():
                return self._truth(node)
            case Operation("&&", parts, _):
                return AllOf(tuple(map(self.condition, parts)))
            case Operation("||", parts, _):
                return AnyOf(tuple(map(self.condition, parts)))
            case Operation("!", (part,), _):
                return Not(self.condition(part))
            case Operation("?", (asked, then, otherwise), _):
                first = self.condition(asked)
                return AnyOf((AllOf((first, self.condition(then))), AllOf((Not(first), self.condition(otherwise)))))
            case Operation("has", (part,), _):
                return self._has(part)
            case Operation("in", (left, right), _):
                return self._among(left, right)
            case Operation(sign, (left, right), _) if sign in tuple(Order):
                return self._compared(sign, left, right)
            case Operation(sign, _, _) if sign.endswith("()"):
                raise self._outside(f"the function {sign}", node)
            case _:
                raise self._outside("is no condition: write a comparison", node)

    def _truth(self, node: Path) -> Expression:
        """Return the condition that a value stands for: true in CEL; there and not false in Rego."""
        if not self._absent_is_false:
            return self._compared("==", node, Value(True, node.token))
        return self._compared("!=", node, Value(False, node.token))

    def _has(self, node: Node) -> Expression:
        if isinstance(node, Path) and is_section(node.parts):
            raise self._outside("asks for a whole section; ask for each setting that the rule reads", node)
        term = self._term(node)
        if isinstance(term, Read):
            return Has(term)
        raise self._outside("has() takes a setting", node)

    def _among(self, left: Node, right: Node) -> Expression:
        if isinstance(right, Path) and is_section(right.parts) and isinstance(left, Value):
            return self._has(Path((*right.parts, str(left.value)), left.token))
        if not isinstance(right, Listed):
            raise self._outside("in takes a list of values, or the mapping of the settings", right)
        term = self._term(left)
        values = tuple(self._literal(item, term) for item in right.items)
        return self._guarded(Among(term, values))

    def _compared(self, sign: str, left: Node, right: Node) -> Expression:
        order = Order(sign)
        one, other = self._term(left), self._term(right)
        if isinstance(one, Literal) and isinstance(other, Literal):
            if order not in (Order.EQUAL, Order.DIFFERENT):
                raise self._outside("compares no setting", left)
            same = type(one.value) is type(other.value) and one == other
            return TRUE if same is (order is Order.EQUAL) else FALSE
        one, other = _usual(one, other), _usual(other, one)
        for term, node in ((one, left), (other, right)):
            if order not in (Order.EQUAL, Order.DIFFERENT) and isinstance(term, Literal) and not _is_number(term):
                raise self._outside("only whole numbers have an order here; remove the quotes", node)
        return self._guarded(Compare(order, one, other))

    def _guarded(self, found: Expression) -> Expression:
        if not self._absent_is_false:
            return found
        return AllOf((*(Has(read) for read in dict.fromkeys(reads_of(found))), found))

    def _term(self, node: Node) -> Term:
        match node:
            case Path(parts, token):
                return value_at(parts, line=token.line, column=token.column, file=self._file)
            case Value(value, _):
                return Literal(value)
            case Operation("number", (part,), _):
                return Sum(self._number(part), Literal(0), 1)
            case Operation("text", (part,), _):
                return self._term(part)
            case Operation("+" | "-" as sign, (left, right), _):
                return Sum(self._number(left), self._number(right), 1 if sign == "+" else -1)
            case Operation(sign, _, _) if sign.endswith("()"):
                raise self._outside(f"the function {sign}", node)
            case _:
                raise self._outside("is no value: write a setting, a text or a whole number", node)

    def _number(self, node: Node) -> Term:
        term = self._term(node)
        if isinstance(term, Literal) and not _is_number(term):
            raise self._outside("only whole numbers have a sum", node)
        return term

    def _literal(self, node: Node, beside: Term) -> Literal:
        if not isinstance(node, Value):
            raise self._outside("a list can hold only texts, whole numbers, true and false", node)
        found = _usual(Literal(node.value), beside)
        assert isinstance(found, Literal)
        return found

    def _outside(self, message: str, node: Node) -> OutsideSubsetError:
        return outside(message, node.token, self._file)


def literal(token: Token) -> Value | None:
    """Return the value that a token is: a text, a whole number, or true or false; None for another token."""
    match token.kind:
        case Kind.NUMBER:
            return Value(int(token.text), token)
        case Kind.TEXT:
            return Value(token.text, token)
        case Kind.WORD if token.text in ("true", "false"):
            return Value(token.text == "true", token)
    return None


def outside(message: str, token: Token, file: str) -> OutsideSubsetError:
    """Return the error about a part of a language that Proofka does not decide."""
    return OutsideSubsetError(f"not decided: {message}", file=file, line=token.line, column=token.column)


def conjunction(parts: Iterable[Expression]) -> Expression:
    """Return the conjunction of conditions, without a bracket around a single one."""
    found = tuple(parts)
    return found[0] if len(found) == 1 else AllOf(found)


def disjunction(parts: Iterable[Expression]) -> Expression:
    """Return the disjunction of conditions, without a bracket around a single one."""
    found = tuple(parts)
    return found[0] if len(found) == 1 else AnyOf(found)


def _usual(term: Term, beside: Term) -> Term:
    if isinstance(term, Literal) and isinstance(beside, Read) and not isinstance(term.value, bool):
        text = written(beside, str(term.value))
        return term if text == str(term.value) else Literal(text)
    return term


def _is_number(term: Literal) -> bool:
    return isinstance(term.value, int) and not isinstance(term.value, bool)
