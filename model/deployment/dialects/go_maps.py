"""confluent-kafka-go in Go programs: its maps contain librdkafka's settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from proofka.model.deployment.dialects.bindings import of_binding
from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.formats.go import Program
from proofka.model.deployment.dialects.formats.syntax import all_of, around, in_one_line, line_of, named, text_of
from proofka.model.deployment.dialects.go_flow import UNKNOWN, Flow, plain
from proofka.model.deployment.dialects.go_functions import function_called, results_of
from proofka.model.deployment.dialects.keys import LIBRDKAFKA, has_key
from proofka.model.deployment.dialects.written import Configured, Value, Written, check_number

if TYPE_CHECKING:
    from tree_sitter import Node

CONFLUENT = "confluentinc/confluent-kafka-go"
_MAKERS = {"NewProducer": Role.PRODUCER, "NewConsumer": Role.CONSUMER}
_ADMIN = "NewAdminClient"


def is_used(program: Program) -> bool:
    """Tell whether the file imports confluent-kafka-go."""
    return any(CONFLUENT in path for path in program.packages.values())


def configurations(program: Program) -> Iterator[Configured]:
    """Yield every map of settings for confluent-kafka-go in a file."""
    for package, path in program.packages.items():
        if CONFLUENT in path and path.rstrip("/").rpartition("/")[2] not in ("schemaregistry", "serde", "avro"):
            yield from _Maps(program, package).all()


class _Maps(Flow):
    library = LIBRDKAFKA
    types = ("ConfigMap",)

    def __init__(self, program: Program, package: str) -> None:
        super().__init__(program, package)
        self._alone: list[Configured] = []
        self._of_names: set[int] = set()
        self._without: dict[int, Configured] = {}
        self._none = {f"new({package}.ConfigMap)", f"make({package}.ConfigMap)"}

    def all(self) -> Iterator[Configured]:
        """Yield every map, in the order of the file."""
        self.find()
        for node in all_of(self.program.root, "composite_literal"):
            if self._is_map(node) and not self._is_inside(node) and node.id not in self._of_names:
                self._nameless(node)
                check_number(len(self.held) + len(self._alone), self.program.file, line_of(node))
        for node in all_of(self.program.root, "assignment_statement", "call_expression"):
            if node.type == "assignment_statement":
                self._entry(node)
            else:
                self._called(node)
        for held in self.follow():
            held.configured.written = self.all_fields(held)
            held.configured.roles = held.configured.roles or _roles(held.configured)
            yield held.configured
        for alone in self._alone:
            alone.roles = alone.roles or _roles(alone)
            yield alone

    def _is_map(self, node: Node) -> bool:
        return text_of(node.child_by_field_name("type")) == f"{self.package}.ConfigMap"

    def _is_inside(self, node: Node) -> bool:
        """Tell whether a map is the map of a topic's settings within another map."""
        outer = around(node, "composite_literal")
        return outer is not None and self._is_map(outer)

    def made(self, name: Node, value: Node) -> None:
        """Begin to follow a name whose value is a written map, or an empty one."""
        node = plain(value)
        if node is None or not (self._is_map(node) or re.sub(r",.*\)$", ")", text_of(node)) in self._none):
            return
        held = self.new(name, value)
        held.configured.name = held.name
        self._of_names.add(node.id)
        held.fields += [(node.start_byte, one) for one in self._entries(node)]

    def _entries(self, node: Node) -> Iterator[Written]:
        body = node.child_by_field_name("body") if node.type == "composite_literal" else None
        for element in named(body):
            if element.type == "keyed_element" and len(named(element)) == 2:
                key, value = named(element)
                yield from self._set(key, value, element, node)

    def _nameless(self, node: Node) -> None:
        """Read a nameless map: a constructor gets it, or a function returns it."""
        configured = Configured(f"{self.package}.ConfigMap", line_of(node), LIBRDKAFKA)
        configured.written += self._entries(node)
        call = around(node, "call_expression", "block")
        name = "" if call is None else text_of(call.child_by_field_name("function")).removeprefix(f"{self.package}.")
        if name in _MAKERS and call is not None and node in [plain(one) for one in _arguments(call)]:
            configured.roles.add(_MAKERS[name])
        else:
            why = self.unread(node)
            if why:
                configured.written.append(Written("settings", line_of(node), Value(None, ""), why, rejected=why))
        self._alone.append(configured)
        self._without[node.id] = configured

    def _set(self, key: Node, value: Node, statement: Node, made: Node | None) -> Iterator[Written]:
        known = self.program.known(key)
        inner = next(all_of(value, "composite_literal"), None)
        name = known.text if known is not None and known.kind == "text" else ""
        if name == "default.topic.config" and inner is not None:
            for element in named(inner.child_by_field_name("body")):
                parts = named(element)
                if len(parts) == 2:
                    yield from self._set(parts[0], parts[1], element, made)
            return
        said = self.program.value(value, (self.package,))
        if not name:
            reason = f"its name is computed: {in_one_line(key)}"
            yield Written("(a setting)", line_of(statement), said, reason, rejected=reason)
        else:
            yield Written(
                name, line_of(statement), said, self.program.conditions(statement, made), ignored=of_binding(name)
            )

    def _write(self, base: Node | None, key: Node, value: Node, statement: Node) -> None:
        """Add a value to the map that a name holds."""
        held = self.held_by(base)
        if held is not None and base is not None:
            held.writes.append(base)
            held.fields += [(statement.start_byte, one) for one in self._set(key, value, statement, held.made)]

    def _entry(self, node: Node) -> None:
        """Read an assignment ``config["key"] = value``, also through a pointer."""
        left, right = (named(node.child_by_field_name(side)) for side in ("left", "right"))
        for number, target in enumerate(left):
            key = target.child_by_field_name("index") if target.type == "index_expression" else None
            if key is not None and len(left) == len(right) and text_of(node.child_by_field_name("operator")) == "=":
                self._write(plain(target.child_by_field_name("operand")), key, right[number], node)

    def _called(self, node: Node) -> None:
        function, arguments = node.child_by_field_name("function"), _arguments(node)
        base, _, name = text_of(function).rpartition(".")
        if base == self.package and name == _ADMIN and arguments:
            held, target = self.held_by(plain(arguments[0])), plain(arguments[0])
            if held is not None and target is not None:
                held.given.append(target)
        elif base == self.package and name in _MAKERS and arguments:
            self._constructed(node, arguments[0], name)
        elif name == "SetKey" and len(arguments) == 2 and function is not None:
            self._write(plain(function.child_by_field_name("operand")), arguments[0], arguments[1], node)

    def _constructed(self, node: Node, argument: Node, name: str) -> None:
        """Note that a constructor gets a map: a named one, or the result of a function of the file."""
        target = plain(argument)
        if target is None or target.type == "composite_literal":
            return
        held = self.held_by(target)
        if target.type == "call_expression":
            self.given_at_once.add(target.id)
            held = self.result_of(target, 0)
            function = function_called(self.program, self.functions, target)
            results = [plain(one) for one in results_of(function, 0)] if function is not None else []
            written_out = self._without.get(results[0].id) if len(results) == 1 and results[0] is not None else None
            if written_out is not None:
                written_out.roles.add(_MAKERS[name])
                return
        elif held is not None:
            held.given.append(target)
        if held is not None:
            held.configured.roles.add(_MAKERS[name])
            return
        told = Written("settings", line_of(node), Value(None, ""), rejected=UNKNOWN)
        self._alone.append(Configured(name, line_of(node), LIBRDKAFKA, [told], {_MAKERS[name]}))
        check_number(len(self._alone), self.program.file, line_of(node))


def _arguments(call: Node) -> list[Node]:
    return named(call.child_by_field_name("arguments"))


def _roles(configured: Configured) -> set[Role]:
    roles = (Role.PRODUCER, Role.CONSUMER)
    keys = {one.key for one in configured.written}
    has = {role: {key for key in keys if has_key(LIBRDKAFKA, role, key)} for role in roles}
    return {role for role, other in zip(roles, reversed(roles), strict=True) if has[role] - has[other]}
