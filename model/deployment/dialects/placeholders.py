"""Placeholders such as ``${NAME:default}``, filled with values that the user gives.

Nothing is looked up by itself: neither files nor the environment, unless the command requests it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from proofka.model.deployment.values import has_placeholder

Fillings = Mapping[str, str]
"""Values by the name of the placeholder, from ``--set NAME=VALUE``."""

DEEPEST = 8
"""The deepest nesting of placeholders in defaults of other placeholders."""

_INNERMOST = re.compile(
    r"\$\{([^${}]*)\}|\{\{([^{}]+)\}\}|%\(([\w.-]+)\)s"
    r"|^(?:\$([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\}|<([\w. -]+)>|@([\w.-]+)@)$"
)

_SHELL_DEFAULT = ":-"
_SHELL = (":=", "=", ":?", "?", ":+", "+")
"""The signs of a shell that can replace this one."""

_KEPT = re.compile("\0([0-9]+)\0")


@dataclass(frozen=True)
class Filled:
    """A text after filling. ``missing``: the names of the remaining placeholders."""

    text: str
    missing: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Tell whether nothing remains to fill in."""
        return not self.missing and not has_placeholder(self.text)


def fill(text: str, fillings: Fillings, separators: tuple[str, ...] = (":-", ":", "-")) -> Filled:
    """Fill the placeholders that can be filled, innermost first; ``separators`` stand between a name and its default.

    A given value outranks the default. Without either, the placeholder remains. If ``:-`` is a separator, as in a
    shell, the shell's other signs have their meaning ("Interpolation" of the Compose specification): ``:=`` precedes a
    default too, ``:?`` a message, and ``:+`` the replacement of any given value; each also without its colon.

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
        # A kept placeholder can contain only earlier kept ones, so one pass puts each back once.
        whole.append(_KEPT.sub(lambda match: whole[int(match[1])], one))
    return Filled(_KEPT.sub(lambda match: whole[int(match[1])], text), names)


def _bare(inner: str) -> str:
    """Return the text in double braces, without spaces and the dashes that trim spaces around them."""
    return inner.removeprefix("-").removesuffix("-").strip()


def _parted(inner: str, separators: tuple[str, ...]) -> tuple[str, str, str]:
    """Return the name of a placeholder, its first and longest sign, and the text after the sign.

    Sign and text are empty if there is only a name.
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
