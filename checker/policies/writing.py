"""A condition over settings as text: in words, and in CEL."""

from __future__ import annotations

import json
import re

from proofka.checker.policies.expression import (
    AllOf,
    Among,
    AnyOf,
    Compare,
    Expression,
    Has,
    Literal,
    Not,
    Read,
    Sum,
    Term,
)
from proofka.checker.policies.names import find

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_WORDS = frozenset({"and", "or", "not", "in", "has", "true", "false"})


def in_words(expression: Expression) -> str:
    """Return a condition in words, as :func:`proofka.checker.policies.words.read_words` reads it."""
    match expression:
        case AllOf(()):
            return "true"
        case AnyOf(()):
            return "false"
        case AllOf(parts):
            return " and ".join(_bracketed(part, in_words(part)) for part in parts)
        case AnyOf(parts):
            return " or ".join(_bracketed(part, in_words(part)) for part in parts)
        case Not(part):
            return f"not ({in_words(part)})"
        case Has(read):
            return f"has({_name(read)})"
        case Among(term, values):
            return f"{_term(term)} in [{', '.join(map(_term, values))}]"
        case Compare(order, left, right):
            return f"{_term(left)} {order} {_term(right)}"


def in_cel(expression: Expression) -> str:
    """Return a condition in CEL, as :func:`proofka.checker.policies.cel.read_cel` reads it."""
    match expression:
        case AllOf(()):
            return "true"
        case AnyOf(()):
            return "false"
        case AllOf(parts):
            return " && ".join(_bracketed(part, in_cel(part)) for part in parts)
        case AnyOf(parts):
            return " || ".join(_bracketed(part, in_cel(part)) for part in parts)
        case Not(part):
            return f"!({in_cel(part)})"
        case Has(read):
            return f"{json.dumps(read.key)} in {read.scope}"
        case Among(term, values):
            return f"{_cel_term(term)} in [{', '.join(map(_cel_term, values))}]"
        case Compare(order, left, right):
            return f"{_cel_term(left)} {order} {_cel_term(right)}"


def _bracketed(part: Expression, text: str) -> str:
    return f"({text})" if isinstance(part, AllOf | AnyOf) and len(part.parts) > 1 else text


def _name(read: Read) -> str:
    """Return the name of a setting, without its component where the name means the same."""
    return read.key if find(read.key) == (read,) else read.name


def _term(term: Term) -> str:
    match term:
        case Read():
            return _name(term)
        case Sum(left, right, sign):
            return f"{_term(left)} {'+' if sign == 1 else '-'} {_term(right)}"
        case Literal(bool() as value):
            return str(value).lower()
        case Literal(int() as value):
            return str(value)
        case Literal(value):
            text = str(value)
            is_plain = _PLAIN.fullmatch(text) and text not in _WORDS and not find(text)
            return text if is_plain else json.dumps(text)


def _cel_term(term: Term) -> str:
    match term:
        case Read(scope, key):
            return f"{scope}[{json.dumps(key)}]"
        case Sum(left, right, sign):
            return f"{_cel_term(left)} {'+' if sign == 1 else '-'} {_cel_term(right)}"
        case Literal(bool() as value):
            return str(value).lower()
        case Literal(value):
            return json.dumps(value)
