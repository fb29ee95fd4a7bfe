"""Conditions over settings: the meaning of a rule, whatever language the rule is written in."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from proofka.checker.policies.errors import AbsentSettingError, NotComparableError


class Order(StrEnum):
    """A comparison of two values."""

    EQUAL = "=="
    DIFFERENT = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="


ORDERS: Mapping[Order, Callable[[int, int], bool]] = {
    Order.LESS: operator.lt,
    Order.AT_MOST: operator.le,
    Order.MORE: operator.gt,
    Order.AT_LEAST: operator.ge,
}
"""The comparisons that need numbers."""

FLIPPED: Mapping[Order, Order] = {
    Order.LESS: Order.MORE,
    Order.AT_MOST: Order.AT_LEAST,
    Order.MORE: Order.LESS,
    Order.AT_LEAST: Order.AT_MOST,
    Order.EQUAL: Order.EQUAL,
    Order.DIFFERENT: Order.DIFFERENT,
}
"""The comparison that means the same with both sides exchanged."""


@dataclass(frozen=True)
class Read:
    """The value of a setting; ``line`` and ``column`` are its place in the rule."""

    scope: str
    key: str
    line: int = field(default=1, compare=False)
    column: int = field(default=1, compare=False)

    @property
    def name(self) -> str:
        """The name of the setting with its component."""
        return f"{self.scope}.{self.key}"


@dataclass(frozen=True)
class Literal:
    """A value that the rule writes: a text, a whole number, or true or false."""

    value: str | int | bool


@dataclass(frozen=True)
class Sum:
    """The sum of two whole numbers, or their difference if ``sign`` is -1."""

    left: Term
    right: Term
    sign: int


Term = Read | Literal | Sum


@dataclass(frozen=True)
class Compare:
    """A comparison of two terms."""

    order: Order
    left: Term
    right: Term


@dataclass(frozen=True)
class Among:
    """The condition that a term has one of the listed values."""

    term: Term
    values: tuple[Literal, ...]


@dataclass(frozen=True)
class Has:
    """The condition that a setting has a value."""

    read: Read


@dataclass(frozen=True)
class Not:
    """The negation of a condition."""

    part: Expression


@dataclass(frozen=True)
class AllOf:
    """A conjunction, decided from the left; without parts it is true."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class AnyOf:
    """A disjunction, decided from the left; without parts it is false."""

    parts: tuple[Expression, ...]


Expression = Compare | Among | Has | Not | AllOf | AnyOf

TRUE = AllOf(())
FALSE = AnyOf(())

Values = Callable[[Read], str | None]
"""A function that returns the value of a setting as text; None if the setting has no value."""


def is_true(expression: Expression, values: Values) -> bool:
    """Tell whether a condition is true of these values.

    Raise AbsentSettingError for a comparison with a setting without a value, and NotComparableError for an order of
    values that are no whole numbers.
    """
    match expression:
        case Compare(order, left, right):
            return _compared(order, left, right, values)
        case Among(term, listed):
            _compared(Order.EQUAL, term, term, values)  # raises also where nothing is listed
            return any(_compared(Order.EQUAL, term, one, values) for one in listed)
        case Has(read):
            return values(read) is not None
        case Not(part):
            return not is_true(part, values)
        case AllOf(parts):
            return all(is_true(part, values) for part in parts)
        case AnyOf(parts):
            return any(is_true(part, values) for part in parts)


def reads_of(expression: Expression) -> Iterator[Read]:
    """Yield every setting that a condition reads, from the left; a setting can come several times."""
    match expression:
        case Compare(_, left, right):
            yield from (*_reads_in(left), *_reads_in(right))
        case Among(term, _):
            yield from _reads_in(term)
        case Has(read):
            yield read
        case Not(part):
            yield from reads_of(part)
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from reads_of(part)


def _reads_in(term: Term) -> Iterator[Read]:
    match term:
        case Read():
            yield term
        case Sum(left, right, _):
            yield from (*_reads_in(left), *_reads_in(right))


def _compared(order: Order, left: Term, right: Term, values: Values) -> bool:
    if order in ORDERS:
        return ORDERS[order](_number(left, values), _number(right, values))
    return _are_equal(left, right, values) is (order is Order.EQUAL)


def _are_equal(left: Term, right: Term, values: Values) -> bool:
    if isinstance(left, Sum) or isinstance(right, Sum):
        return _number(left, values) == _number(right, values)
    one, other = _text(left, values), _text(right, values)
    numbers = whole_number(one), whole_number(other)
    return one == other if None in numbers else numbers[0] == numbers[1]


def _text(term: Read | Literal, values: Values) -> str:
    if isinstance(term, Read):
        return _value(term, values)
    return str(term.value).lower() if isinstance(term.value, bool) else str(term.value)


def _number(term: Term, values: Values) -> int:
    match term:
        case Sum(left, right, sign):
            return _number(left, values) + sign * _number(right, values)
        case Read():
            text = _value(term, values)
            number = whole_number(text)
            if number is None:
                message = f"{term.name} is {text} in a deployment, which is no whole number; compare with =="
                raise NotComparableError(message, line=term.line, column=term.column)
            return number
        case Literal(value):
            if isinstance(value, int) and not isinstance(value, bool):
                return value
            raise NotComparableError(f"{value} is no whole number, and only whole numbers have an order")


def _value(read: Read, values: Values) -> str:
    value = values(read)
    if value is None:
        message = f"compares {read.name}, which a deployment of the matrix does not set; ask for it with has() before"
        raise AbsentSettingError(message, line=read.line, column=read.column)
    return value


def whole_number(text: str) -> int | None:
    """Return the whole number that a text is; None for other texts."""
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= 20 else None
