"""YAML as SnakeYAML reads it for Java: version 1.1, where ``on`` is a truth value and ``010`` is 8.

``org.yaml.snakeyaml.resolver.Resolver`` recognises numbers and truth values, ``SafeConstructor`` converts them.
"""

from __future__ import annotations

import re
from dataclasses import replace

from proofka.model.deployment.yaml_tree import Mapping, Node, Scalar

_TRUE = re.compile(r"yes|Yes|YES|true|True|TRUE|on|On|ON")
_FALSE = re.compile(r"no|No|NO|false|False|FALSE|off|Off|OFF")
_INTEGER = re.compile(
    r"([-+]?)(?:0b_*(?P<two>[01][01_]*)|0x_*(?P<sixteen>[0-9a-fA-F][0-9a-fA-F_]*)|0_*(?P<eight>[0-7][0-7_]*)"
    r"|(?P<ten>0|[1-9][0-9_]*)|(?P<sixty>[1-9][0-9_]*(?::[0-5]?[0-9])+))",
    re.ASCII,
)
_BASES = {"two": 2, "sixteen": 16, "eight": 8, "ten": 10}
_LONGEST = 40


def as_in_java(node: Node) -> Node:
    """Return the node with each unquoted value as the text of its value in Java."""
    if isinstance(node, Scalar):
        return replace(node, text=_text(node.text)) if node.plain and not node.null else node
    if isinstance(node, Mapping):
        return replace(node, entries=tuple(replace(one, node=as_in_java(one.node)) for one in node.entries))
    return replace(node, items=tuple(as_in_java(item) for item in node.items))


def _text(text: str) -> str:
    """Return the text of a value without quotes.

    >>> [_text(text) for text in ("on", "No", "010", "1_000", "0x10", "1:30", "-1", "all", "3.9")]
    ['true', 'false', '8', '1000', '16', '90', '-1', 'all', '3.9']
    """
    if _TRUE.fullmatch(text):
        return "true"
    if _FALSE.fullmatch(text):
        return "false"
    found = _INTEGER.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        return text
    sign = "-" if found[1] == "-" else ""
    if found["sixty"] is not None:
        number = 0
        for part in found["sixty"].replace("_", "").split(":"):
            number = 60 * number + int(part)
    else:
        kind = next(name for name in _BASES if found[name] is not None)
        number = int(found[kind].replace("_", ""), _BASES[kind])
    return f"{sign if number else ''}{number}"
