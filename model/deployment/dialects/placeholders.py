"""What something else has yet to fill in: ``${NAME:default}`` and its like, filled with values that somebody gives.

Nothing is looked up by itself: neither files nor the environment, unless the command is told to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from model.deployment.values import has_placeholder

Fillings = Mapping[str, str]
"""Values by the name of the placeholder, as ``--set NAME=VALUE`` gives them."""

DEEPEST = 8
"""A placeholder in the default of another one, and so on, at most so often."""

_INNERMOST = re.compile(
    r"\$\{([^${}]*)\}|\{\{([^{}]+)\}\}|%\(([\w.-]+)\)s"
    r"|^(?:\$([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\}|<([\w. -]+)>|@([\w.-]+)@)$"
)

_SHELL_DEFAULT = ":-"
_SHELL = (":=", "=", ":?", "?", ":+", "+")
"""The signs of a shell that may stand where this one may."""

_KEPT = re.compile("\0([0-9]+)\0")


@dataclass(frozen=True)
class Filled:
    """A text after filling. ``missing``: the names of the placeholders that are left in it."""

    text: str
    missing: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Nothing is left to fill in."""
        return not self.missing and not has_placeholder(self.text)


def fill(text: str, fillings: Fillings, separators: tuple[str, ...] = (":-", ":", "-")) -> Filled:
    """Fill what can be filled, innermost first; ``separators`` stand between a name and its default.

    A value that is given wins over the default. Without either the placeholder stays. Where ``:-`` stands before a
    default, as in a shell, its other signs mean what they mean there ("Interpolation" of the Compose specification):
    ``:=`` is before a default as well, ``:?`` before a message, and ``:+`` before what stands for any value that is
    given; each also without its colon.

    >>> fill("${ACKS:all}", {})
    Filled(text='all', missing=())
    >>> fill("${ACKS:all}", {"ACKS": "1"}).text
    '1'
    >>> fill("${ACKS}", {}).missing
    ('ACKS',)
    >>> fill("${ACKS:+all}", {}).missing, fill("${ACKS:+all}", {"ACKS": "1"}).text, fill("${ACKS:?say it}", {}).missing
    (('ACKS',), 'all', ('ACKS',))
    """
    kept: list[str] = []

    def replaced(match: re.Match[str]) -> str:
        inner = next(group for group in match.groups() if group is not None)
        name, sign, text = _parted(inner, separators) if match.group(1) is not None else (_bare(inner), "", "")
        for known in (inner, name, name.lstrip(".")):
            if known in fillings and (fillings[known] or sign not in (":-", ":=", ":?", ":+")):
                return text if sign.endswith("+") else fillings[known]
            if known in fillings and sign == ":+":
                return ""
        if sign and not sign.endswith(("+", "?")):
            return text
        kept.append(match.group(0))
        return f"\0{len(kept) - 1}\0"

    for _ in range(DEEPEST):
        before, text = text, _INNERMOST.sub(replaced, text)
        if text == before:
            break
    names = tuple(dict.fromkeys(_name(one, separators) for one in kept if one))
    whole: list[str] = []
    for one in kept:
        # What was kept may hold only what was kept before it: each is put back once, in one pass.
        whole.append(_KEPT.sub(lambda match: whole[int(match[1])], one))
    return Filled(_KEPT.sub(lambda match: whole[int(match[1])], text), names)


def _bare(inner: str) -> str:
    """What stands in double braces, without blanks and without the dashes that take blanks away around them."""
    return inner.removeprefix("-").removesuffix("-").strip()


def _parted(inner: str, separators: tuple[str, ...]) -> tuple[str, str, str]:
    """The name of a placeholder, the first sign after it, the longest that stands there, and what follows.

    Both are empty where there is only a name.
    """
    signs = (*separators, *_SHELL) if _SHELL_DEFAULT in separators else separators
    places = [(inner.index(one), -len(one), one) for one in signs if one in inner]
    if not places:
        return inner.strip(), "", ""
    at, _, sign = min(places)
    return inner[:at].strip(), sign, inner[at + len(sign) :]


def _name(placeholder: str, separators: tuple[str, ...]) -> str:
    match = _INNERMOST.fullmatch(placeholder)
    if match is None:
        return placeholder
    return _parted(next(group for group in match.groups() if group is not None), separators)[0]
