"""TOML, with the line of each value."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from proofka.model.deployment.dialects.formats.syntax import line_of, named, text_of, tree_of
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.errors import DeploymentError

if TYPE_CHECKING:
    from tree_sitter import Node


def said_in_toml(text: str, file: str) -> tuple[Said, ...]:
    """Return every value; a table of an array has its number as a name. Raises DeploymentError with the line."""
    root = tree_of(text, file, "toml", "TOML")
    numbers: dict[tuple[str, ...], int] = {}
    said: list[Said] = []
    for part in named(root):
        if part.type == "pair":
            said += _pair(part, (), file)
            continue
        inner = named(part)
        path = _key(inner[0], file) if inner else ()
        if part.type == "table_array_element":
            numbers[path] = numbers.get(path, -1) + 1
        own = _numbered(path, numbers)
        pairs = [one for one in inner[1:] if one.type == "pair"]
        for pair in pairs:
            said += _pair(pair, own, file)
        if not pairs:
            said.append(Said(own, "", line_of(part), null=True))
    return tuple(said)


def _numbered(path: tuple[str, ...], numbers: dict[tuple[str, ...], int]) -> tuple[str, ...]:
    """Return the path with the number of each array of tables in it."""
    names: list[str] = []
    for length in range(1, len(path) + 1):
        names.append(path[length - 1])
        if path[:length] in numbers:
            names.append(f"[{numbers[path[:length]]}]")
    return tuple(names)


def _pair(pair: Node, above: tuple[str, ...], file: str) -> Iterator[Said]:
    key, value = [*named(pair), pair, pair][:2]
    yield from _value(value, (*above, *_key(key, file)), file)


def _key(node: Node, file: str) -> tuple[str, ...]:
    if node.type == "dotted_key":
        return tuple(name for one in named(node) for name in _key(one, file))
    return (_scalar(node, file),) if node.type == "quoted_key" else (text_of(node),)


def _value(node: Node, path: tuple[str, ...], file: str) -> Iterator[Said]:
    inner = named(node)
    if node.type == "inline_table":
        for pair in inner:
            yield from _pair(pair, path, file)
    elif node.type == "array" and any(one.type in ("array", "inline_table") for one in inner):
        for number, one in enumerate(inner):
            yield from _value(one, (*path, f"[{number}]"), file)
    elif node.type == "array":
        yield Said(path, ",".join(_scalar(one, file) for one in inner), line_of(node), null=not inner)
    else:
        yield Said(path, _scalar(node, file), line_of(node))


def _scalar(node: Node, file: str) -> str:
    """Return the text of a value; TOML's own parser resolves the escapes of a string."""
    text = text_of(node)
    if text[:1] not in ('"', "'"):
        return text
    try:
        return str(tomllib.loads(f"x = {text}")["x"])
    except (tomllib.TOMLDecodeError, RecursionError):
        raise DeploymentError("is not valid TOML: a malformed text", file=file, line=line_of(node)) from None
