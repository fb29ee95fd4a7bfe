"""Templates of text: the parts of a file that a tool such as Jinja2, Helm or ERB will render, line by line.

No template is rendered. Parts that a template can omit or repeat are known only by their place.
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
    """Lines of a text, counted from 1. ``inside``: lines whose presence or number depends on a template."""

    inside: frozenset[int]
    blocks: frozenset[int]
    """Lines that begin or end such a part."""


def templated(text: str) -> Templated:
    """Return the lines of a text that depend on a template.

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
"""The number of characters of a line that are examined."""

_LONGEST_TAG = 500


def is_tag(key: str) -> bool:
    """Tell whether a template's own words stand in place of a key: ``{% if``, ``{{- end``.

    >>> is_tag("{%"), is_tag("{{"), is_tag("acks")
    (True, True, False)
    """
    return key.startswith(("{%", "{{", "<%", "{#"))


def is_place(key: str) -> bool:
    """Tell whether a whole key is a placeholder: ``{sasl_config}``, ``${EXTRA}``.

    >>> is_place("{sasl_config}"), is_place("bootstrap.servers")
    (True, False)
    """
    return _ONLY_NAME.fullmatch(key) is not None
