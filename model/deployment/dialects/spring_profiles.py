"""Profiles of Spring: the expressions for which a document counts, and the profiles that are active together.

Expressions are those of ``org.springframework.core.env.ProfilesParser``: names, ``!``, and ``&`` or ``|``; one level
has only one kind. Of several expressions one must hold (``Profiles.of``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

DEFAULT = "default"
"""The profile that is active without any other (``AbstractEnvironment.RESERVED_DEFAULT_PROFILE_NAME``)."""

LONGEST = 1_000
"""The largest length of an expression, in characters."""

DEEPEST = 20
"""The deepest nesting of parentheses or negations in an expression."""

_TOKENS = re.compile(r"[()&|!]|[^()&|!]+")

Active = frozenset[str]
Test = Callable[[Active], bool]


@dataclass(frozen=True)
class Expression:
    """An expression: its test, the names that it requires, and all of its names."""

    holds: Test
    wanted: frozenset[str]
    names: frozenset[str]


def parsed(text: str) -> Expression | None:
    """Parse an expression; None if Spring refuses it as malformed.

    >>> one = parsed("prod & !(eu | us)")
    >>> one is not None and one.holds(frozenset({"prod"})), one is not None and one.holds(frozenset({"prod", "eu"}))
    (True, False)
    >>> parsed("a & b | c") is None
    True
    """
    if len(text) > LONGEST or not text.strip():
        return None
    tokens = [token.strip() for token in _TOKENS.findall(text) if token.strip()]
    try:
        expression, rest = _level(tokens, 0)
    except ValueError:
        return None
    return None if rest else expression


def _level(tokens: list[str], depth: int) -> tuple[Expression, list[str]]:
    """Parse operands with one kind of sign between them, up to the end or a closing parenthesis."""
    first, tokens = _operand(tokens, depth)
    operands, sign = [first], ""
    while tokens and tokens[0] != ")":
        if tokens[0] not in "&|" or sign not in ("", tokens[0]):
            raise ValueError
        sign = tokens[0]
        operand, tokens = _operand(tokens[1:], depth)
        operands.append(operand)
    return _joined(operands, all if sign == "&" else any), tokens


def _operand(tokens: list[str], depth: int) -> tuple[Expression, list[str]]:
    if not tokens or tokens[0] in (")", "&", "|") or depth > DEEPEST:
        raise ValueError
    token, tokens = tokens[0], tokens[1:]
    if token == "!":
        operand, tokens = _operand(tokens, depth + 1)
        return Expression(lambda active: not operand.holds(active), frozenset(), operand.names), tokens
    if token == "(":
        inner, tokens = _level(tokens, depth + 1)
        if not tokens:
            raise ValueError
        return inner, tokens[1:]
    name = frozenset({token})
    return Expression(lambda active: token in active, name, name), tokens


def _joined(operands: list[Expression], how: Callable[[Iterable[bool]], bool]) -> Expression:
    return Expression(
        lambda active: how(one.holds(active) for one in operands),
        frozenset().union(*(one.wanted for one in operands)),
        frozenset().union(*(one.names for one in operands)),
    )


@dataclass(frozen=True)
class Condition:
    """The profiles for which a document counts: always without ``any_of``. ``unknown``: the reason for which this is
    unknown."""

    any_of: tuple[Expression, ...] = ()
    unknown: str = ""

    def holds(self, active: Iterable[str]) -> bool:
        """Tell whether the document counts with these profiles."""
        among = frozenset(active) or frozenset({DEFAULT})
        return not self.unknown and (not self.any_of or any(one.holds(among) for one in self.any_of))

    @property
    def names(self) -> tuple[str, ...]:
        """The profiles in the condition."""
        return tuple(sorted({name for one in self.any_of for name in one.names} - {DEFAULT}))

    @property
    def wanted(self) -> Iterator[tuple[str, ...]]:
        """For each expression, the profiles that it requires."""
        return (tuple(sorted(one.wanted - {DEFAULT})) for one in self.any_of)


def condition_of(texts: Iterable[str]) -> Condition:
    """Return the condition of expressions, each of which can be several with commas between them."""
    expressions: list[Expression] = []
    for text in (part.strip() for whole in texts for part in whole.split(",")):
        if "@" in text or "${" in text or "{{" in text:
            return Condition(unknown="counts only for a profile from elsewhere; replace the placeholder with a value")
        one = parsed(text)
        if one is None:
            return Condition(unknown="counts for a profile expression that Spring refuses as malformed")
        expressions.append(one)
    return Condition(tuple(expressions))


def expanded(profiles: Iterable[str], groups: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the profiles with those of their groups, lowest precedence first.

    ``org.springframework.boot.context.config.Profiles.expandProfiles``.
    """
    waiting = list(reversed(list(profiles)))
    found: dict[str, None] = {}
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = None
            waiting += reversed(groups.get(name, ()))
    return tuple(found)
