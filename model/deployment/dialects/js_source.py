"""JavaScript and TypeScript: settings for node-rdkafka (librdkafka); KafkaJS and kafka-node are not modelled."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from model.deployment.dialects.accounts import Accounts
from model.deployment.dialects.bindings import of_binding
from model.deployment.dialects.component import Component, Found, Role
from model.deployment.dialects.dialect import Dialect
from model.deployment.dialects.document import Document
from model.deployment.dialects.formats.javascript import LANGUAGES, Program, program_of
from model.deployment.dialects.formats.syntax import LARGEST, all_of, in_one_line, line_of, named, text_of
from model.deployment.dialects.keys import LIBRDKAFKA
from model.deployment.dialects.placeholders import Fillings
from model.deployment.dialects.written import Configured, Value, Written, check_number, components_of

if TYPE_CHECKING:
    from tree_sitter import Node

_RDKAFKA = ("node-rdkafka", "@confluentinc/kafka-javascript")
_OTHERS = {"kafkajs": "KafkaJS", "kafka-node": "kafka-node"}
_IMPORT = re.compile(
    r"""(from|require\(|import)\s*['"](node-rdkafka|@confluentinc/kafka-javascript|kafkajs|kafka-node)['"]"""
)
_SHAPE = re.compile(r"new Kafka\(\{[^}]{0,500}?\b(brokers|clientId)\b")
"""A client of KafkaJS, where it comes from a module of the project's own."""

_CLASSES = {
    "Producer": Role.PRODUCER,
    "HighLevelProducer": Role.PRODUCER,
    "KafkaConsumer": Role.CONSUMER,
    "Producer.createWriteStream": Role.PRODUCER,
    "createWriteStream": Role.PRODUCER,
    "KafkaConsumer.createReadStream": Role.CONSUMER,
    "createReadStream": Role.CONSUMER,
    "Consumer": Role.CONSUMER,
    "ConsumerGroup": Role.CONSUMER,
    "ConsumerStream": Role.CONSUMER,
}
_METHODS = {"producer": Role.PRODUCER, "consumer": Role.CONSUMER}
_CALLS = {"run": Role.CONSUMER, "subscribe": Role.CONSUMER, "send": Role.PRODUCER, "sendBatch": Role.PRODUCER}
_PLAIN = (
    "brokers",
    "clientId",
    "ssl",
    "sasl",
    "logLevel",
    "logCreator",
    "topic",
    "topics",
    "messages",
    "topicMessages",
)
_NESTED = "its KafkaJS block is not modelled: say the setting by librdkafka's name"


def fits(document: Document) -> bool:
    """A file of JavaScript or TypeScript that has a client library."""
    if document.suffix not in LANGUAGES:
        return False
    return any(sign.search(document.text, 0, LARGEST) is not None for sign in (_IMPORT, _SHAPE))


def read(document: Document, fillings: Fillings) -> Found:
    """The producers and consumers that a file makes, as far as it says their settings."""
    program = program_of(document.text, document.file, document.suffix)
    accounts = Accounts(document, fillings)
    components: list[Component] = []
    for number, configured in enumerate(_clients(program), 1):
        check_number(number, document.file, configured.line)
        components += components_of(configured, accounts, document.file)
    return accounts.found("JavaScript source", components)


def _clients(program: Program) -> Iterator[Configured]:
    modules = {name.partition(":")[0] for name in program.modules.values()}
    if _SHAPE.search(text_of(program.root)):
        modules.add("kafkajs")
    rdkafka = bool(modules & {*_RDKAFKA})
    other = next((name for module, name in _OTHERS.items() if module in modules), "")
    for node in all_of(program.root, "new_expression", "call_expression"):
        maker = node.child_by_field_name("constructor") or node.child_by_field_name("function")
        arguments = named(node.child_by_field_name("arguments"))
        full = _full_name(program, maker, arguments)
        module, name = full.partition(":")[::2] if ":" in full else ("", full)
        method = text_of(maker.child_by_field_name("property")) if maker is not None else ""
        if module in _RDKAFKA and name in _CLASSES:
            configured = _new(node, name, LIBRDKAFKA, _CLASSES[name])
            for argument in arguments[:2]:
                _Settings(program, configured, node).take(argument)
            if name.endswith("Stream"):
                _topics(program, configured, arguments[2:])
            yield configured
        elif module in _OTHERS and (name == "Kafka" or name in _CLASSES):
            configured = _new(node, name, _OTHERS[module], _CLASSES.get(name))
            yield _refused(program, configured, node, arguments, "")
        elif module or node.type == "new_expression":
            continue
        elif method in _METHODS and (rdkafka or other):
            configured = _new(node, method, LIBRDKAFKA if rdkafka else other, _METHODS[method])
            if rdkafka:
                for argument in arguments[:1]:
                    _Settings(program, configured, node).take(argument)
                yield configured
            else:
                yield _refused(program, configured, node, arguments, "")
        elif method in _CALLS and other and any(one.type == "object" for one in arguments):
            yield _refused(program, _new(node, method, other, None), node, arguments, f"{method}.")


def _full_name(program: Program, maker: Node | None, arguments: list[Node]) -> str:
    """The name of what is called, with its module; KafkaJS is known by its shape as well."""
    full = program.full_name(maker)
    module, _, name = full.partition(":")
    by_shape = (
        name == "Kafka"
        and module.startswith(".")
        and any(_SHAPE.match(f"new Kafka({text_of(one)}") for one in arguments)
    )
    return "kafkajs:Kafka" if by_shape else full


def _new(node: Node, name: str, library: str, role: Role | None) -> Configured:
    above = node.parent
    while above is not None and above.type in ("await_expression", "as_expression", "parenthesized_expression"):
        above = above.parent
    target = above.child_by_field_name("name") or above.child_by_field_name("left") if above is not None else None
    called = (
        text_of(target) if above is not None and above.type in ("variable_declarator", "assignment_expression") else ""
    )
    return Configured(called or name, line_of(node), library, roles={role} if role else set())


def _refused(program: Program, configured: Configured, node: Node, arguments: list[Node], before: str) -> Configured:
    """A client of a library that is not modelled: each of its options is named, none is used."""
    name = configured.library
    configured.library = name.lower()
    reason = f"{name} is not modelled: none of its settings is used"
    reading = _Settings(program, configured, node)
    for argument in arguments:
        if argument.type in ("object", "identifier"):
            reading.take(argument)
    kept = [
        one
        for one in configured.written
        if not (before and one.key in _PLAIN) and one.key not in ("eachMessage", "eachBatch")
    ]
    configured.written = [
        Written(f"{before}{one.key}", one.line, one.value, ignored="does not change which deliveries are possible")
        if one.key in _PLAIN
        else Written(f"{before}{one.key}", one.line, one.value, rejected=reason)
        for one in kept
    ]
    return configured


def _topics(program: Program, configured: Configured, arguments: list[Node]) -> None:
    for argument in arguments:
        for pair in all_of(argument, "pair"):
            if text_of(pair.child_by_field_name("key")) in ("topic", "topics"):
                value = pair.child_by_field_name("value")
                for item in named(value) if value is not None and value.type == "array" else [value]:
                    said = program.value(item) if item is not None else None
                    if said is not None and said.known:
                        configured.topics.append(said.text or "")


class _Settings:
    """What a client is given, through names, spreads and assignments."""

    def __init__(self, program: Program, configured: Configured, client: Node) -> None:
        self._program = program
        self._configured = configured
        self._client = client
        self._seen: set[str] = set()

    def take(self, node: Node, depth: int = 0) -> None:
        """The settings in an object; of what is none, that they are unknown."""
        inner = named(node)
        if depth > 20:
            self._unknown(node)
        elif node.type in ("as_expression", "satisfies_expression", "parenthesized_expression") and inner:
            self.take(inner[0], depth + 1)
        elif node.type == "object":
            for one in inner:
                self._member(one, depth)
        elif node.type in ("identifier", "member_expression"):
            self._named(node, depth)
        elif node.type == "call_expression" and text_of(node.child_by_field_name("function")) == "Object.assign":
            for argument in named(node.child_by_field_name("arguments")):
                self.take(argument, depth + 1)
        elif node.type not in ("null", "undefined", "arrow_function", "function_expression"):
            self._unknown(node)

    def _member(self, node: Node, depth: int) -> None:
        inner = named(node)
        if node.type == "spread_element" and inner:
            self.take(inner[0], depth + 1)
        elif node.type == "shorthand_property_identifier":
            self._entry(text_of(node), node, node)
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
                self._entry(name, value, node)
            else:
                reason = f"its name is {in_one_line(key)}"
                written = Written("a setting", line_of(node), Value(None, ""), rejected=reason)
                self._configured.written.append(written)

    def _key(self, node: Node) -> str:
        if node.type == "computed_property_name":
            return self._program.value(named(node)[0]).text or "" if named(node) else ""
        return text_of(node).strip("'\"")

    def _entry(self, key: str, value: Node, statement: Node) -> None:
        if text_of(value) in ("null", "undefined"):
            self._write(key, line_of(statement), Value("", ""), "says nothing")
            return
        only_if = "" if statement.type != "expression_statement" else self._program.conditions(statement, self._client)
        self._write(key, line_of(statement), self._program.value(value), "", only_if)

    def _write(self, key: str, line: int, value: Value, ignored: str, only_if: str = "") -> None:
        self._configured.written.append(Written(key, line, value, only_if, ignored=ignored or of_binding(key)))

    def _unknown(self, node: Node) -> None:
        reason = f"its settings are not in this file: {in_one_line(node)}"
        self._configured.written.append(Written("settings", line_of(node), Value(None, ""), rejected=reason))

    def _named(self, node: Node, depth: int) -> None:
        """An object by its name, and what is set in it."""
        name = text_of(node)
        if name in self._seen or name == "undefined":
            return
        self._seen.add(name)
        value = self._program.value_of(node)
        if value is None:
            self._unknown(node)
        else:
            self.take(value, depth + 1)
        for one in all_of(self._program.root, "assignment_expression"):
            target, right = one.child_by_field_name("left"), one.child_by_field_name("right")
            if target is None or right is None or target.type not in ("subscript_expression", "member_expression"):
                continue
            index = target.child_by_field_name("index") or target.child_by_field_name("property")
            if text_of(target.child_by_field_name("object")) == name and index is not None:
                plain = target.type == "member_expression"
                key = text_of(index) if plain else self._program.value(index).text
                statement = one.parent if one.parent is not None else one
                if key:
                    self._entry(key, right, statement)


DIALECT = Dialect("JavaScript source", fits, read)
