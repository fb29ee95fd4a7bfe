"""Objects of settings in JavaScript: a client's options, followed through names, spreads and assignments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from proofka.model.deployment.dialects.bindings import of_binding
from proofka.model.deployment.dialects.formats.javascript import Program
from proofka.model.deployment.dialects.formats.syntax import in_one_line, line_of, named, text_of
from proofka.model.deployment.dialects.js_uses import CHANGED, not_followed, order
from proofka.model.deployment.dialects.written import Configured, Value, Written

if TYPE_CHECKING:
    from tree_sitter import Node

WRAPPED = ("as_expression", "satisfies_expression", "parenthesized_expression")
"""Syntax around an expression that does not change its value."""

FUNCTIONS = ("arrow_function", "function_expression", "function")

_NAMES = ("identifier", "shorthand_property_identifier", "member_expression")
_NESTED = "its KafkaJS block is not modelled: use librdkafka's name of the setting"


class Objects:
    """The options of a client. ``inside``: objects among its settings, with the prefix of their names.

    ``binding``: the client is a binding of librdkafka, which uses some settings itself.
    """

    def __init__(
        self,
        program: Program,
        configured: Configured,
        client: Node,
        inside: Mapping[str, str] | None = None,
        *,
        binding: bool = True,
    ) -> None:
        self._program = program
        self._configured = configured
        self._client = client
        self._inside = inside or {}
        self._binding = binding
        self._prefix = ""
        self._seen: set[str] = set()

    def take(self, node: Node, depth: int = 0) -> None:
        """Add the settings in an object; add unknown settings for any other expression."""
        inner = named(node)
        if depth > 20:
            self._unknown(node)
        elif node.type in WRAPPED and inner:
            self.take(inner[0], depth + 1)
        elif node.type == "object":
            for one in inner:
                self._member(one, depth)
        elif node.type in _NAMES:
            self._named(node, depth)
        elif node.type == "call_expression" and text_of(node.child_by_field_name("function")) == "Object.assign":
            for argument in named(node.child_by_field_name("arguments")):
                self.take(argument, depth + 1)
        elif node.type not in ("null", "undefined", *FUNCTIONS):
            self._unknown(node)

    def object_of(self, node: Node, depth: int = 0) -> Node | None:
        """Return the object that an expression is, or stands for; None if it is none."""
        inner = named(node)
        if node.type == "object" or depth > 20:
            return node if node.type == "object" else None
        if node.type in WRAPPED and inner:
            return self.object_of(inner[0], depth + 1)
        value = self._program.value_of(node) if node.type in _NAMES else None
        if value is not None:
            self._program.understood.add(node.id)
        return None if value is None else self.object_of(value, depth + 1)

    def _member(self, node: Node, depth: int) -> None:
        inner = named(node)
        if node.type == "spread_element" and inner:
            self.take(inner[0], depth + 1)
        elif node.type == "shorthand_property_identifier":
            self._entry(text_of(node), node, node, depth)
        elif node.type == "method_definition":
            self._write(text_of(node.child_by_field_name("name")), line_of(node), Value(None, "a function"), "")
        elif node.type == "pair":
            key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
            if key is None or value is None:
                return
            name = self._key(key)
            if name in ("kafkaJS", "default.topic.config") and value.type == "object":
                before = len(self._configured.written)
                self.take(value, depth + 1)
                if name == "kafkaJS":
                    self._configured.written[before:] = [
                        Written(one.key, one.line, one.value, rejected=_NESTED)
                        for one in self._configured.written[before:]
                    ]
            elif name:
                self._entry(name, value, node, depth)
            else:
                reason = f"its name is computed: {in_one_line(key)}"
                written = Written("a setting", line_of(node), Value(None, ""), rejected=reason)
                self._configured.written.append(written)

    def _key(self, node: Node) -> str:
        if node.type == "computed_property_name":
            return self._program.value(named(node)[0]).text or "" if named(node) else ""
        return text_of(node).strip("'\"")

    def _entry(self, key: str, value: Node, statement: Node, depth: int = 0) -> None:
        inner = self.object_of(value) if key in self._inside else None
        if inner is not None and not self._prefix:
            self._prefix = self._inside[key]
            self.take(value, depth + 1)
            self._prefix = ""
            return
        if text_of(value) in ("null", "undefined"):
            self._write(key, line_of(statement), Value("", ""), "has no value")
            return
        assigned = statement.type == "assignment_expression"
        only_if = self._program.conditions(statement, self._client) if assigned else ""
        self._write(key, line_of(statement), self._program.value(value), "", only_if)

    def _write(self, key: str, line: int, value: Value, ignored: str, only_if: str = "") -> None:
        why = ignored or (of_binding(key) if self._binding else "")
        self._configured.written.append(Written(f"{self._prefix}{key}", line, value, only_if, ignored=why))

    def _unknown(self, node: Node) -> None:
        reason = f"its settings are not in this file: {in_one_line(node)}"
        name = f"{self._prefix}settings"
        self._configured.written.append(Written(name, line_of(node), Value(None, ""), rejected=reason))

    def _named(self, node: Node, depth: int) -> None:
        """Add the settings of a named object, and later assignments to its keys."""
        name = text_of(node)
        self._program.understood.add(node.id)
        if name in self._seen or name == "undefined":
            return
        self._seen.add(name)
        value = self._program.value_of(node)
        if value is None:
            self._unknown(node)
            return
        self.take(value, depth + 1)
        self._program.count(len(self._program.set_in(name)))
        for one in self._program.set_in(name):
            target, right = one.child_by_field_name("left"), one.child_by_field_name("right")
            if target is None or right is None:
                continue
            index = target.child_by_field_name("index") or target.child_by_field_name("property")
            owner = target.child_by_field_name("object")
            if owner is not None and index is not None:
                self._program.understood.add(owner.id)
                self._set(name, node, one, index, right)
        for line, why in not_followed(self._program, name):
            self._changed(line, why)

    def _set(self, name: str, use: Node, statement: Node, index: Node, value: Node) -> None:
        """Add an assignment ``config.key = value`` or ``config["key"] = value``."""
        plain = index.type in ("property_identifier", "private_property_identifier")
        key = text_of(index) if plain else self._program.value(index).text
        why = order(self._program, name, use, statement)
        if key and not why:
            self._entry(key, value, statement)
        else:
            self._changed(line_of(statement), why or CHANGED.format(name))

    def _changed(self, line: int, why: str) -> None:
        key = f"{self._prefix}settings"
        self._configured.written.append(Written(key, line, Value(None, ""), only_if=why, rejected=why))
