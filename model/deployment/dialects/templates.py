"""Templates of text: what a tool such as Jinja2, Helm or ERB has yet to make of a file, line by line.

Nothing of a template is carried out. What it may leave out or repeat is known by its place only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TAG = re.compile(r"\{%([^{}%]*)%\}|\{\{([^{}]*)\}\}|<%([^<>%]*)%>")
_BEGINS = re.compile(
    r"[-+~=]?\s*(?:if|unless|for|range|with|define|block|macro|call|filter|raw)\b|.*\bdo\b\s*(?:\|.*)?-?$"
)
_ENDS = re.compile(r"[-+~]?\s*end\w*\b")
_LINE_END = re.compile(r"\r\n|\r|\n")
_ONLY_NAME = re.compile(r"\{[A-Za-z_]\w*\}|\$\{[^{}]*\}|<[^<>]*>|@[\w.-]+@|\$[A-Za-z_]\w*|\$\([^()]*\)")


@dataclass(frozen=True)
class Templated:
    """Lines of a text, counted from 1. ``inside``: a template decides whether, or how often, they are there."""

    inside: frozenset[int]
    blocks: frozenset[int]
    """Lines that begin or end such a part."""


def templated(text: str) -> Templated:
    """Which lines of a text a template decides about.

    >>> templated("a=1\\n{% if x %}\\nb=2\\n{% endif %}\\n").inside
    frozenset({3})
    """
    inside: set[int] = set()
    blocks: set[int] = set()
    depth = 0
    for number, line in enumerate(_LINE_END.split(text), start=1):
        if depth:
            inside.add(number)
        for tag in _TAG.finditer(line[:_LONGEST]):
            words = next(group for group in tag.groups() if group is not None).strip()[:_LONGEST_TAG]
            if _ENDS.match(words):
                depth = max(0, depth - 1)
                blocks.add(number)
                inside.discard(number)
            elif _BEGINS.match(words):
                depth += 1
                blocks.add(number)
    return Templated(frozenset(inside), frozenset(blocks))


_LONGEST = 20_000
"""A longer line is looked at so far."""

_LONGEST_TAG = 500


def is_tag(key: str) -> bool:
    """Whether a template's own words stand where a key should be: ``{% if``, ``{{- end``.

    >>> is_tag("{%"), is_tag("{{"), is_tag("acks")
    (True, True, False)
    """
    return key.startswith(("{%", "{{", "<%", "{#"))


def is_place(key: str) -> bool:
    """Whether a whole key has yet to be filled in: ``{sasl_config}``, ``${EXTRA}``.

    >>> is_place("{sasl_config}"), is_place("bootstrap.servers")
    (True, False)
    """
    return _ONLY_NAME.fullmatch(key) is not None
