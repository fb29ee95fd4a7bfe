"""The values that a rule compares a setting with: a value that no release accepts is a mistake of the rule."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from proofka.checker.policies.errors import InvalidValueError
from proofka.checker.policies.expression import (
    AllOf,
    Among,
    AnyOf,
    Compare,
    Expression,
    Literal,
    Not,
    Order,
    Read,
)
from proofka.checker.policies.names import WITH_LIBRARIES
from proofka.model.deployment.assumptions import ASSUMPTIONS
from proofka.model.deployment.defaults import Definition, definitions_of, names_in
from proofka.model.deployment.hiding import printable
from proofka.model.deployment.libraries import LIBRARIES
from proofka.model.deployment.values import problem_of


def check_values_exist(expression: Expression, file: str) -> None:
    """Raise InvalidValueError if a condition asks whether a setting has a value that no release accepts.

    The empty text is accepted: a rule can ask with it whether a setting is written.
    """
    match expression:
        case Compare(Order.DIFFERENT, Read(), Literal(False)):
            pass  # a name alone in Rego
        case Compare(Order.EQUAL | Order.DIFFERENT, Read() as read, Literal() as literal):
            _check(read, literal, file)
        case Compare(Order.EQUAL | Order.DIFFERENT, Literal() as literal, Read() as read):
            _check(read, literal, file)
        case Among(Read() as read, values):
            for literal in values:
                _check(read, literal, file)
        case Not(part):
            check_values_exist(part, file)
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                check_values_exist(part, file)


def _check(read: Read, literal: Literal, file: str) -> None:
    text = str(literal.value).lower() if isinstance(literal.value, bool) else str(literal.value)
    if not text:
        return
    if read.scope == "application":
        values = ASSUMPTIONS[read.key].values
        problem = "" if text in values else f"must be one of {', '.join(values)}"
    else:
        definitions = [*_definitions(read)]
        problems = [problem_of(text, one) for one in definitions]
        problem = "" if None in problems or not problems else str(problems[0])
        values = tuple(name for one in definitions for name in names_in(one))
    if problem:
        near = get_close_matches(text, values, n=1, cutoff=0.5)
        advice = f"did you mean {near[0]}?" if near else problem
        message = f"{read.name} is never {printable(text)}; {advice}"
        raise InvalidValueError(message, file=file, line=read.line, column=read.column)


def _definitions(read: Read) -> Iterator[Definition]:
    """Yield the definitions of a setting: those of Kafka's own software, and those of libraries that name values."""
    own = definitions_of(read.scope, read.key)
    yield from own
    for library in LIBRARIES if read.scope in WITH_LIBRARIES else ():
        for one in definitions_of(f"{library} {read.scope}", read.key):
            if not own or one.valid or one.type != "string":
                yield one
