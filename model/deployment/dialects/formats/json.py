"""JSON as tools read it: with comments, and on request with missing or extra commas, as in HOCON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from proofka.model.deployment.dialects.formats.syntax import line_of, named, text_of, tree_of
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.yaml_tree import Entry, Mapping, Node, Scalar, Sequence

if TYPE_CHECKING:
    from tree_sitter import Node as Part

DEEPEST = 128
"""The deepest nesting of the tree, which has two levels for each object in another one."""


def json_of(text: str, file: str, *, loose: bool = False) -> Node:
    """Return the value of a JSON text. ``loose``: commas may be missing or extra. Raises DeploymentError with the
    line."""
    root = tree_of(text, file, "json", "JSON", broken=loose, deepest=DEEPEST)
    values = named(root)
    if len(values) != 1:
        raise DeploymentError("is not valid JSON: the text must be one value", file=file, line=line_of(root))
    return _Reading(file).node(values[0])


class _Reading:
    def __init__(self, file: str) -> None:
        self._file = file

    def node(self, part: Part) -> Node:
        line = line_of(part)
        if part.type == "object":
            return Mapping(tuple(self._entry(one) for one in self._inside(part)), line)
        if part.type == "array":
            return Sequence(tuple(self.node(one) for one in self._inside(part)), line)
        if part.type == "string":
            return Scalar(self._text(part), line)
        if part.type in ("number", "true", "false", "null"):
            return Scalar(text_of(part), line, part.type == "null")
        raise DeploymentError("is not valid JSON", file=self._file, line=line)

    def _inside(self, part: Part) -> list[Part]:
        """Return the parts of an object or list; in loose JSON, also those with a missing comma."""
        inside: list[Part] = []
        for one in named(part):
            if one.is_missing:
                continue
            if one.type == "ERROR":
                if any(not sub.is_named and sub.type != "," for sub in one.children):
                    raise DeploymentError("is not valid JSON", file=self._file, line=line_of(one))
                inside += named(one)
            else:
                inside.append(one)
        return inside

    def _entry(self, part: Part) -> Entry:
        key, value = part.child_by_field_name("key"), part.child_by_field_name("value")
        if part.type != "pair" or key is None or value is None:
            raise DeploymentError("is not valid JSON", file=self._file, line=line_of(part))
        return Entry(self._text(key) if key.type == "string" else text_of(key), line_of(key), self.node(value))

    def _text(self, part: Part) -> str:
        try:
            return str(json.loads(text_of(part), strict=False))
        except ValueError:
            raise DeploymentError("is not valid JSON: a malformed text", file=self._file, line=line_of(part)) from None
