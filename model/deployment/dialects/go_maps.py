"""confluent-kafka-go in Go programs: its maps are librdkafka's settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from model.deployment.dialects.bindings import of_binding
from model.deployment.dialects.component import Role
from model.deployment.dialects.formats.go import FUNCTIONS, Program
from model.deployment.dialects.formats.syntax import all_of, around, in_one_line, line_of, named, text_of
from model.deployment.dialects.keys import LIBRDKAFKA, has_key
from model.deployment.dialects.written import Configured, Written, check_number

if TYPE_CHECKING:
    from tree_sitter import Node

CONFLUENT = "confluentinc/confluent-kafka-go"
_MAKERS = {"NewProducer": Role.PRODUCER, "NewConsumer": Role.CONSUMER}


def is_used(program: Program) -> bool:
    """The file imports it."""
    return any(CONFLUENT in path for path in program.packages.values())


def configurations(program: Program) -> Iterator[Configured]:
    """Every map of settings for confluent-kafka-go in a file."""
    for package, path in program.packages.items():
        if CONFLUENT in path and path.rstrip("/").rpartition("/")[2] not in ("schemaregistry", "serde", "avro"):
            yield from _Maps(program, package).all()


class _Maps:
    def __init__(self, program: Program, package: str) -> None:
        self._program = program
        self._package = package
        self._maps: dict[tuple[int, str], tuple[Configured, Node]] = {}
        self._alone: list[Configured] = []

    def all(self) -> Iterator[Configured]:
        """Every map, in the order of the file."""
        for node in all_of(self._program.root, "composite_literal"):
            if text_of(node.child_by_field_name("type")) == f"{self._package}.ConfigMap" and not self._is_inside(node):
                self._literal(node)
                check_number(len(self._maps) + len(self._alone), self._program.file, line_of(node))
        for node in all_of(self._program.root, "assignment_statement", "call_expression"):
            if node.type == "assignment_statement":
                self._entry(node)
            else:
                self._called(node)
        for configured in (*(found for found, _ in self._maps.values()), *self._alone):
            if not configured.roles:
                configured.roles = _roles(configured)
            yield configured

    def _is_inside(self, node: Node) -> bool:
        """It is the map of a topic's settings in another one."""
        outer = around(node, "composite_literal")
        return outer is not None and text_of(outer.child_by_field_name("type")) == f"{self._package}.ConfigMap"

    def _literal(self, node: Node) -> None:
        statement = around(node, "short_var_declaration", "var_spec", "assignment_statement", "call_expression")
        configured = Configured(f"{self._package}.ConfigMap", line_of(node), LIBRDKAFKA)
        for element in named(node.child_by_field_name("body")):
            if element.type == "keyed_element" and len(named(element)) == 2:
                key, value = named(element)
                self._set(configured, key, value, element, node)
        if statement is not None and statement.type == "call_expression":
            name = text_of(statement.child_by_field_name("function")).removeprefix(f"{self._package}.")
            if name in _MAKERS:
                configured.roles.add(_MAKERS[name])
        left = None if statement is None else statement.child_by_field_name("left")
        names = named(left) or (statement.children_by_field_name("name") if statement is not None else [])
        if statement is not None and statement.type != "call_expression" and names:
            configured.name = text_of(names[0])
            self._maps[(_function(node), text_of(names[0]))] = (configured, node)
        else:
            self._alone.append(configured)

    def _set(self, configured: Configured, key: Node, value: Node, statement: Node, made: Node) -> None:
        known = self._program.known(key)
        inner = next(all_of(value, "composite_literal"), None)
        name = known.text if known is not None and known.kind == "text" else ""
        if name == "default.topic.config" and inner is not None:
            for element in named(inner.child_by_field_name("body")):
                parts = named(element)
                if len(parts) == 2:
                    self._set(configured, parts[0], parts[1], element, made)
            return
        said = self._program.value(value, (self._package,))
        if not name:
            written = Written("(a setting)", line_of(statement), said, rejected=f"its name is {in_one_line(key)}")
        else:
            only_if = self._program.conditions(statement, made)
            written = Written(name, line_of(statement), said, only_if, ignored=of_binding(name))
        configured.written.append(written)

    def _find(self, node: Node, text: str) -> tuple[Configured, Node] | None:
        owner: Node | None = node
        while owner is not None:
            owner = around(owner, *FUNCTIONS)
            found = self._maps.get((0 if owner is None else owner.id, text))
            if found is not None:
                return found
        return None

    def _entry(self, node: Node) -> None:
        """``config["key"] = value``, or through a pointer."""
        left, right = (named(node.child_by_field_name(side)) for side in ("left", "right"))
        if len(left) != 1 or len(right) != 1 or left[0].type != "index_expression":
            return
        base = text_of(left[0].child_by_field_name("operand")).strip("()*")
        found, key = self._find(node, base), left[0].child_by_field_name("index")
        if found is not None and key is not None:
            self._set(found[0], key, right[0], node, found[1])

    def _called(self, node: Node) -> None:
        function = text_of(node.child_by_field_name("function"))
        arguments = named(node.child_by_field_name("arguments"))
        base, _, name = function.rpartition(".")
        found = self._find(node, base.strip("()*&"))
        if name in ("SetKey", "Set") and found is not None and len(arguments) == 2:
            self._set(found[0], arguments[0], arguments[1], node, found[1])
        elif base == self._package and name in _MAKERS and arguments:
            found = self._find(node, text_of(arguments[0]).lstrip("&*"))
            if found is not None:
                found[0].roles.add(_MAKERS[name])


def _function(node: Node) -> int:
    function = around(node, *FUNCTIONS)
    return 0 if function is None else function.id


def _roles(configured: Configured) -> set[Role]:
    roles = (Role.PRODUCER, Role.CONSUMER)
    keys = {one.key for one in configured.written}
    has = {role: {key for key in keys if has_key(LIBRDKAFKA, role, key)} for role in roles}
    return {role for role, other in zip(roles, reversed(roles), strict=True) if has[role] - has[other]}
