"""kafka-go (segmentio) in Go programs: literals of ``Writer``, ``WriterConfig`` and ``ReaderConfig``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.formats.go import Program
from proofka.model.deployment.dialects.formats.syntax import all_of, around, line_of, named, text_of
from proofka.model.deployment.dialects.go_flow import UNKNOWN, Flow, plain
from proofka.model.deployment.dialects.keys import KAFKA_GO
from proofka.model.deployment.dialects.written import Configured, Value, Written, check_number
from proofka.model.deployment.kafka_go import APPLICATION_COMMITS as FETCHES
from proofka.model.deployment.kafka_go import ASYNC, COMMITS_AT_ONCE, COMPLETION, GROUP, READS, REQUIRED

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
_CLIENT = "Writer"
"""The struct that is the client itself, so that its holder can send with it."""

_MAKERS = {"NewWriter": "WriterConfig", "NewReader": "ReaderConfig"}
_OF_WRITERS = ("RequiredAcks", "Async", "MaxAttempts", "Completion")
"""Fields whose assignment almost always means a writer."""

CHANGED = "{} of a writer is changed here, but the writer cannot be followed"
NO_DELIVERY = "does not change which deliveries are possible"
HOW_IT_READS = f"this file does not show whether the reader uses {COMMITS_AT_ONCE}, which commits, or {FETCHES}"
NEW_WRITER = "kafka-go's NewWriter"


def is_used(program: Program) -> bool:
    """Tell whether the file imports kafka-go."""
    return PATH in program.packages.values()


def configurations(program: Program) -> Iterator[Configured]:
    """Yield every writer and reader of a file."""
    for package, path in program.packages.items():
        if path == PATH:
            yield from _Structs(program, package).all()


class _Structs(Flow):
    """Structs of settings, by the names that hold them, and nameless structs."""

    library = KAFKA_GO
    types = ("WriterConfig", "ReaderConfig")

    def __init__(self, program: Program, package: str) -> None:
        super().__init__(program, package)
        self._alone: list[tuple[Configured, str]] = []
        self._of_names: set[int] = set()

    def all(self) -> Iterator[Configured]:
        """Yield every struct of the file, with the values that follow from missing fields."""
        self.find()
        for node in all_of(self.program.root, "composite_literal"):
            if self._kind(node) and node.id not in self._of_names:
                self._nameless(node)
        for node in self.calls:
            self._called(node)
        for node in all_of(self.program.root, "assignment_statement"):
            self._assigned(node)
        for held in self.follow():
            kind = next(iter(held.kinds), "")
            held.configured.roles = {_TYPES[kind]} if kind in _TYPES else set()
            held.configured.written = self.all_fields(held)
            if not held.taken_over:
                _complete(self.program, held.configured, kind)
                yield held.configured
        for configured, kind in self._alone:
            _complete(self.program, configured, kind)
            yield configured

    def _kind(self, node: Node | None) -> str:
        kind = "" if node is None else text_of(node.child_by_field_name("type"))
        name = kind.removeprefix(f"{self.package}.")
        return name if kind != name and name in _TYPES else ""

    def made(self, name: Node, value: Node) -> None:
        """Begin to follow a name whose value is a literal, or a pointer to a literal."""
        node = plain(value)
        kind = self._kind(node)
        if node is not None and kind:
            held = self.new(name, value, client=kind == _CLIENT)
            held.configured.name = f"{self.package}.{kind}"
            held.kinds.add(kind)
            self._of_names.add(node.id)
            one = Configured(held.configured.name, held.configured.line, KAFKA_GO, roles={_TYPES[kind]})
            _literal(self.program, self.package, one, node)
            held.fields += [(node.start_byte, written) for written in one.written]
            held.configured.topics += one.topics

    def _nameless(self, node: Node) -> None:
        kind = self._kind(node)
        configured = Configured(f"{self.package}.{kind}", line_of(node), KAFKA_GO, roles={_TYPES[kind]})
        _literal(self.program, self.package, configured, node)
        self._alone.append((configured, kind))
        check_number(len(self._alone) + len(self.held), self.program.file, line_of(node))
        call = around(node, "call_expression", "block")
        maker = "" if call is None else text_of(call.child_by_field_name("function"))
        why = "" if kind == _CLIENT or maker.removeprefix(f"{self.package}.") in _MAKERS else self.unread(node)
        if why:
            configured.written.append(Written("settings", line_of(node), Value(None, ""), why, rejected=why))

    def _called(self, node: Node) -> None:
        """Note that a constructor gets a named configuration, or the result of a function of the file."""
        package, _, name = text_of(node.child_by_field_name("function")).partition(".")
        arguments = named(node.child_by_field_name("arguments"))
        if package != self.package or name not in _MAKERS or len(arguments) != 1 or self._kind(arguments[0]):
            return
        held = self.held_by(plain(arguments[0]))
        if held is not None:
            held.given.append(arguments[0])
        elif arguments[0].type == "call_expression":
            self.given_at_once.add(arguments[0].id)
            held = self.result_of(arguments[0], 0)
        if held is None:
            told = Written("settings", line_of(node), Value(None, ""), rejected=UNKNOWN)
            configured = Configured(name, line_of(node), KAFKA_GO, [told], {_TYPES[_MAKERS[name]]})
            self._alone.append((configured, ""))

    def _assigned(self, node: Node) -> None:
        """Read an assignment such as ``writer.Async = true``. An assignment to an unknown struct is rejected as a
        writer's."""
        left, right = (named(node.child_by_field_name(side)) for side in ("left", "right"))
        for number, target in enumerate(left):
            base = plain(target.child_by_field_name("operand")) if target.type == "selector_expression" else None
            key = text_of(target.child_by_field_name("field"))
            held = self.held_by(base)
            if held is not None and base is not None:
                held.writes.append(base)
                kind = next(iter(held.kinds), "")
                one = Configured(f".{kind}", 0, KAFKA_GO, roles={_TYPES[kind]} if kind else set())
                value = right[number] if len(left) == len(right) else node
                _field(self.program, self.package, one, key, value, node, held.made)
                held.fields += [(node.start_byte, written) for written in one.written]
                held.configured.topics += one.topics
            elif base is not None and key in _OF_WRITERS:
                configured = Configured(text_of(base), line_of(node), KAFKA_GO, roles={Role.PRODUCER})
                why = CHANGED.format(key)
                configured.written.append(Written(key, line_of(node), Value(None, ""), why, rejected=why))
                self._alone.append((configured, ""))


def _literal(program: Program, package: str, configured: Configured, node: Node) -> None:
    for element in named(node.child_by_field_name("body")):
        parts = named(element)
        if element.type == "keyed_element" and len(parts) == 2:
            _field(program, package, configured, text_of(parts[0]), parts[1], element, node)
        else:
            reason = "is set by position, not by name"
            configured.written.append(Written("(a field)", line_of(element), Value(None, ""), rejected=reason))


def _field(
    program: Program, package: str, configured: Configured, key: str, value: Node, statement: Node, made: Node | None
) -> None:
    line, only_if = line_of(statement), program.conditions(statement, made)
    if key in _TOPICS:
        configured.topics += _names(program, package, value)
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


def _names(program: Program, package: str, value: Node) -> Iterator[str]:
    """Yield the topics of an expression: a name, or a list of names. A name that only a call makes is unknown."""
    inner = next(iter(named(value)), None) if value.type == "literal_element" else value
    body = inner.child_by_field_name("body") if inner is not None and inner.type == "composite_literal" else None
    for item in [value] if body is None else named(body):
        said = program.value(item, (package,))
        if said.known and said.text:
            yield from said.text.split(",")


def _acks(value: Value, configured: Configured, key: str) -> Value:
    """Return acks: ``WriterConfig`` uses 0 for all; constants can be in a conversion, as in
    ``int(kafka.RequireAll)``."""
    old = configured.name.endswith("WriterConfig")
    return replace(value, text="RequireAll") if key == REQUIRED and old and value.text == "0" else value


def _complete(program: Program, configured: Configured, kind: str) -> None:
    """Add the values that follow from missing fields: acks of old writers, the group, and the method of reading."""
    keys = {one.key for one in configured.written}
    if kind == "WriterConfig" and REQUIRED not in keys:
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
