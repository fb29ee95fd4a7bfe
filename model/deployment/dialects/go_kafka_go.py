"""kafka-go (segmentio) in Go programs: literals of ``Writer``, ``WriterConfig`` and ``ReaderConfig``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from model.deployment.dialects.component import Role
from model.deployment.dialects.formats.go import FUNCTIONS, Program
from model.deployment.dialects.formats.syntax import all_of, around, line_of, named, text_of
from model.deployment.dialects.keys import KAFKA_GO
from model.deployment.dialects.written import Configured, Value, Written, check_number
from model.deployment.kafka_go import APPLICATION_COMMITS as FETCHES
from model.deployment.kafka_go import ASYNC, COMMITS_AT_ONCE, COMPLETION, GROUP, READS, REQUIRED

if TYPE_CHECKING:
    from tree_sitter import Node

PATH = "github.com/segmentio/kafka-go"
_TYPES = {"Writer": Role.PRODUCER, "WriterConfig": Role.PRODUCER, "ReaderConfig": Role.CONSUMER}
_TOPICS = ("Topic", "GroupTopics")
_PLAIN = (
    *_TOPICS,
    "Addr",
    "Brokers",
    "Balancer",
    "Transport",
    "Dialer",
    "Logger",
    "ErrorLogger",
    "Compression",
    "CompressionCodec",
    "GroupBalancers",
)
NO_DELIVERY = "does not change which deliveries are possible"
HOW_IT_READS = f"whether its group is read with {COMMITS_AT_ONCE}, which commits, or {FETCHES} is not in this file"
NEW_WRITER = "kafka-go's NewWriter"


def is_used(program: Program) -> bool:
    """The file imports kafka-go."""
    return PATH in program.packages.values()


def configurations(program: Program) -> Iterator[Configured]:
    """Every writer and reader of a file."""
    packages = [name for name, path in program.packages.items() if path == PATH]
    found: dict[tuple[int, str], tuple[Configured, Node]] = {}
    alone: list[Configured] = []
    for package in packages:
        for node in all_of(program.root, "composite_literal"):
            kind = text_of(node.child_by_field_name("type"))
            name = kind.removeprefix(f"{package}.")
            if kind == f"{package}.{name}" and name in _TYPES:
                check_number(len(found) + len(alone) + 1, program.file, line_of(node))
                configured = Configured(kind, line_of(node), KAFKA_GO, roles={_TYPES[name]})
                _literal(program, package, configured, node)
                variable = _variable(node)
                if variable:
                    found[_function(node), variable] = (configured, node)
                else:
                    alone.append(configured)
        _assignments(program, package, found)
    for configured in (*(one for one, _ in found.values()), *alone):
        _complete(program, configured)
        yield configured


def _literal(program: Program, package: str, configured: Configured, node: Node) -> None:
    for element in named(node.child_by_field_name("body")):
        parts = named(element)
        if element.type == "keyed_element" and len(parts) == 2:
            _field(program, package, configured, text_of(parts[0]), parts[1], element, node)
        else:
            reason = "is not given by its name"
            configured.written.append(Written("(a field)", line_of(element), Value(None, ""), rejected=reason))


def _field(
    program: Program, package: str, configured: Configured, key: str, value: Node, statement: Node, made: Node
) -> None:
    line, only_if = line_of(statement), program.conditions(statement, made)
    if key in _TOPICS:
        items = list(all_of(value, "interpreted_string_literal", "raw_string_literal", "identifier"))
        said = [program.value(item, (package,)) for item in items]
        configured.topics += [one.text for one in said if one.known and one.text]
    if key in _PLAIN:
        configured.written.append(Written(key, line, Value("", ""), ignored=NO_DELIVERY))
        inner = next(all_of(value, "composite_literal"), None) if key == "Dialer" else None
        for element in named(inner.child_by_field_name("body")) if inner is not None else []:
            parts = named(element)
            if len(parts) == 2 and text_of(parts[0]) == "Timeout" and Role.CONSUMER in configured.roles:
                said_of_dialer = program.value(parts[1], (package,))
                configured.written.append(Written("Dialer.Timeout", line_of(element), said_of_dialer, only_if))
        return
    if key == COMPLETION:
        configured.written.append(Written(key, line, Value("a function", ""), only_if))
        return
    configured.written.append(Written(key, line, _acks(program.value(value, (package,)), configured, key), only_if))


def _acks(value: Value, configured: Configured, key: str) -> Value:
    """``WriterConfig`` takes 0 for all; constants may be in a conversion, as ``int(kafka.RequireAll)``."""
    old = configured.name.endswith("WriterConfig")
    return replace(value, text="RequireAll") if key == REQUIRED and old and value.text == "0" else value


def _variable(node: Node) -> str:
    """The variable that a literal, or a pointer to it, is kept in."""
    statement = around(node, "short_var_declaration", "var_spec", "assignment_statement", "call_expression", "block")
    if statement is None or statement.type in ("call_expression", "block"):
        return ""
    left = named(statement.child_by_field_name("left")) or statement.children_by_field_name("name")
    return text_of(left[0]) if len(left) == 1 else ""


def _function(node: Node) -> int:
    function = around(node, *FUNCTIONS)
    return 0 if function is None else function.id


def _assignments(program: Program, package: str, found: dict[tuple[int, str], tuple[Configured, Node]]) -> None:
    """``writer.Async = true`` after the literal, in the same function."""
    for node in all_of(program.root, "assignment_statement"):
        left, right = (named(node.child_by_field_name(side)) for side in ("left", "right"))
        if len(left) != 1 or len(right) != 1 or left[0].type != "selector_expression":
            continue
        variable = text_of(left[0].child_by_field_name("operand"))
        owner = found.get((_function(node), variable))
        if owner is not None:
            _field(program, package, owner[0], text_of(left[0].child_by_field_name("field")), right[0], node, owner[1])


def _complete(program: Program, configured: Configured) -> None:
    """What follows from what is not said: acks of old writers, whether there is a group, and how it is read."""
    keys = {one.key for one in configured.written}
    if configured.name.endswith("WriterConfig") and REQUIRED not in keys:
        configured.rules[Role.PRODUCER] = {REQUIRED: ("RequireAll", NEW_WRITER)}
    asynchronous = any(one.key == ASYNC and one.value.text == "true" for one in configured.written)
    if Role.PRODUCER in configured.roles:
        if asynchronous and COMPLETION not in keys:
            configured.answers["on_send_error"] = ("ignore", configured.line)
        return
    if GROUP not in keys:
        configured.written.append(Written(GROUP, configured.line, Value("", "")))
        return
    calls = all_of(program.root, "selector_expression")
    methods = {text_of(one.child_by_field_name("field")) for one in calls} & {COMMITS_AT_ONCE, FETCHES}
    reads = Written(READS, configured.line, Value(next(iter(methods), None), ""))
    configured.written.append(reads if len(methods) == 1 else replace(reads, rejected=HOW_IT_READS))
