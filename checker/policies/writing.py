"""A condition over settings as text: in words, and in CEL."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

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


@dataclass(frozen=True)
class _Notation:
    """The signs of a language, and its text of ``has``, of a setting and of a value."""

    both: str
    either: str
    negation: str
    has: Callable[[Read], str]
    setting: Callable[[Read], str]
    value: Callable[[int | str], str]


def in_words(expression: Expression) -> str:
    """Return a condition in words, as :func:`proofka.checker.policies.words.read_words` reads it."""
    return _written(expression, _IN_WORDS)


def in_cel(expression: Expression) -> str:
    """Return a condition in CEL, as :func:`proofka.checker.policies.cel.read_cel` reads it."""
    return _written(expression, _IN_CEL)


def _written(expression: Expression, notation: _Notation) -> str:
    match expression:
        case AllOf(()):
            return "true"
        case AnyOf(()):
            return "false"
        case AllOf(parts):
            return f" {notation.both} ".join(_bracketed(part, notation) for part in parts)
        case AnyOf(parts):
            return f" {notation.either} ".join(_bracketed(part, notation) for part in parts)
        case Not(part):
            return f"{notation.negation}({_written(part, notation)})"
        case Has(read):
            return notation.has(read)
        case Among(term, values):
            return f"{_term(term, notation)} in [{', '.join(_term(value, notation) for value in values)}]"
        case Compare(order, left, right):
            return f"{_term(left, notation)} {order} {_term(right, notation)}"


def _bracketed(part: Expression, notation: _Notation) -> str:
    text = _written(part, notation)
    return f"({text})" if isinstance(part, AllOf | AnyOf) and len(part.parts) > 1 else text


def _term(term: Term, notation: _Notation) -> str:
    match term:
        case Read():
            return notation.setting(term)
        case Sum(left, right, sign):
            return f"{_term(left, notation)} {'+' if sign == 1 else '-'} {_term(right, notation)}"
        case Literal(value):
            return str(value).lower() if isinstance(value, bool) else notation.value(value)


def _name(read: Read) -> str:
    """Return the name of a setting, without its component where the name means the same."""
    return read.key if find(read.key) == (read,) else read.name


def _word(value: int | str) -> str:
    """Return a value in words: in quotes where the text alone would mean something else."""
    text = str(value)
    is_plain = isinstance(value, int) or (_PLAIN.fullmatch(text) and text not in _WORDS and not find(text))
    return text if is_plain else json.dumps(text)


_IN_WORDS = _Notation("and", "or", "not ", lambda read: f"has({_name(read)})", _name, _word)
_IN_CEL = _Notation(
    "&&",
    "||",
    "!",
    lambda read: f"{json.dumps(read.key)} in {read.scope}",
    lambda read: f"{read.scope}[{json.dumps(read.key)}]",
    json.dumps,
)
