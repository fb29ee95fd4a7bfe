"""Profiles of Spring: the expressions that say for which of them a document counts, and which are active together.

Expressions are those of ``org.springframework.core.env.ProfilesParser``: names, ``!``, and ``&`` or ``|``, of which one
level has only one kind. Of several expressions one is enough (``Profiles.of``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

DEFAULT = "default"
"""The profile that is active where no other one is (``AbstractEnvironment.RESERVED_DEFAULT_PROFILE_NAME``)."""

LONGEST = 1_000
"""No expression is longer than this, in characters."""

DEEPEST = 20
"""Nor has it more parentheses, or signs of negation, in each other."""

_TOKENS = re.compile(r"[()&|!]|[^()&|!]+")

Active = frozenset[str]
Test = Callable[[Active], bool]


@dataclass(frozen=True)
class Expression:
    """When it holds, and the names in it: those that it asks for, and all."""

    holds: Test
    wanted: frozenset[str]
    names: frozenset[str]


def parsed(text: str) -> Expression | None:
    """The expression that a text is; None of one that Spring refuses as malformed.

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
    """Operands with one kind of sign between them, up to the end or a closing parenthesis."""
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
    """For which profiles a document counts: always without ``any_of``. ``unknown``: why nobody can say it here."""

    any_of: tuple[Expression, ...] = ()
    unknown: str = ""

    def holds(self, active: Iterable[str]) -> bool:
        """Whether the document counts with these profiles."""
        among = frozenset(active) or frozenset({DEFAULT})
        return not self.unknown and (not self.any_of or any(one.holds(among) for one in self.any_of))

    @property
    def names(self) -> tuple[str, ...]:
        """The profiles that it speaks of."""
        return tuple(sorted({name for one in self.any_of for name in one.names} - {DEFAULT}))

    @property
    def wanted(self) -> Iterator[tuple[str, ...]]:
        """For each expression the profiles that it wants to be active."""
        return (tuple(sorted(one.wanted - {DEFAULT})) for one in self.any_of)


def condition_of(texts: Iterable[str]) -> Condition:
    """The condition of expressions, each of which may be several with commas between them."""
    expressions: list[Expression] = []
    for text in (part.strip() for whole in texts for part in whole.split(",")):
        if "@" in text or "${" in text or "{{" in text:
            return Condition(unknown="counts only for a profile that is told elsewhere; fill the placeholder in first")
        one = parsed(text)
        if one is None:
            return Condition(unknown="counts for a profile expression that Spring refuses as malformed")
        expressions.append(one)
    return Condition(tuple(expressions))


def expanded(profiles: Iterable[str], groups: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The profiles with those of their groups, in the order in which they outrank each other, the lowest first.

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
