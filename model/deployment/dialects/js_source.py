"""JavaScript and TypeScript: settings for node-rdkafka (librdkafka) and KafkaJS; kafka-node is not modelled."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from proofka.model.deployment.dialects import js_kafkajs, js_nest
from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.dialects.dialect import Dialect
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.formats.javascript import LANGUAGES, Program, program_of
from proofka.model.deployment.dialects.formats.syntax import LARGEST, all_of, line_of, named, text_of
from proofka.model.deployment.dialects.js_objects import Objects
from proofka.model.deployment.dialects.keys import LIBRDKAFKA
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.written import Configured, Written, check_number, components_of

if TYPE_CHECKING:
    from tree_sitter import Node

_RDKAFKA = ("node-rdkafka", "@confluentinc/kafka-javascript")
_KAFKAJS, _NODE = "kafkajs", "kafka-node"
_IMPORT = re.compile(
    r"""(from|require\(|import)\s*['"](node-rdkafka|@confluentinc/kafka-javascript|kafkajs|kafka-node)['"]"""
)
_SHAPE = re.compile(r"new Kafka\(\{[^}]{0,500}?\b(brokers|clientId)\b")
"""The form of a KafkaJS client that comes from a module of the project's own."""

_NEST = re.compile(r"\btransport:\s*Transport\.KAFKA\b")

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
_PLAIN = ("brokers", "clientId", "kafkaHost", "connectionString", "ssl", "sasl", "topic", "topics")


def fits(document: Document) -> bool:
    """Tell whether the document is a JavaScript or TypeScript file with a client library."""
    if document.suffix not in LANGUAGES:
        return False
    return any(sign.search(document.text, 0, LARGEST) is not None for sign in (_IMPORT, _SHAPE, _NEST))


def read(document: Document, fillings: Fillings) -> Found:
    """Return the producers and consumers that a file makes, with the settings in the file."""
    program = program_of(document.text, document.file, document.suffix)
    accounts = Accounts(document, fillings)
    components: list[Component] = []
    notes: list[str] = []
    # The first pass finds which names of objects are read, so that the second can report all others.
    for configured in _clients(program):
        check_number(len(components) + 1, document.file, configured.line)
    for number, configured in enumerate(_clients(program), 1):
        check_number(number, document.file, configured.line)
        components += components_of(configured, accounts, document.file)
        notes += configured.notes
    return accounts.found("JavaScript source", components, dict.fromkeys(notes))


def _clients(program: Program) -> Iterator[Configured]:
    modules = {name.partition(":")[0] for name in program.modules.values()}
    if _SHAPE.search(text_of(program.root)):
        modules.add(_KAFKAJS)
    rdkafka = bool(modules & {*_RDKAFKA})
    makers: list[Node] = []
    for node in all_of(program.root, "new_expression", "call_expression"):
        maker = node.child_by_field_name("constructor") or node.child_by_field_name("function")
        arguments = named(node.child_by_field_name("arguments"))
        full = _full_name(program, maker, arguments)
        module, name = full.partition(":")[::2] if ":" in full else ("", full)
        method = text_of(maker.child_by_field_name("property")) if maker is not None else ""
        if module in _RDKAFKA and name in _CLASSES:
            configured = _new(node, name, LIBRDKAFKA, _CLASSES[name])
            for argument in arguments[:2]:
                Objects(program, configured, node).take(argument)
            if name.endswith("Stream"):
                _topics(program, configured, arguments[2:])
            yield configured
        elif module == _KAFKAJS and name == "Kafka":
            makers.append(node)
        elif module == _NODE and name in _CLASSES:
            yield _refused(program, _new(node, name, _NODE, _CLASSES[name]), node, arguments)
        elif method in _METHODS and rdkafka and not module and node.type == "call_expression":
            configured = _new(node, method, LIBRDKAFKA, _METHODS[method])
            for argument in arguments[:1]:
                Objects(program, configured, node).take(argument)
            yield configured
    if _KAFKAJS in modules and not rdkafka:
        yield from js_kafkajs.clients(program, makers)
    yield from js_nest.clients(program)


def _full_name(program: Program, maker: Node | None, arguments: list[Node]) -> str:
    """Return the name of a called function with its module; KafkaJS is also recognised by its form."""
    full = program.full_name(maker)
    module, _, name = full.partition(":")
    by_shape = (
        name == "Kafka"
        and module.startswith(".")
        and any(_SHAPE.match(f"new Kafka({text_of(one)}") for one in arguments)
    )
    return "kafkajs:Kafka" if by_shape else full


def _new(node: Node, name: str, library: str, role: Role) -> Configured:
    return Configured(js_kafkajs.target_of(node) or name, line_of(node), library, roles={role})


def _refused(program: Program, configured: Configured, node: Node, arguments: list[Node]) -> Configured:
    """Return a client of a library that is not modelled: each of its options is named, none is used."""
    reason = f"{configured.library} is not modelled, so none of its settings is used"
    reading = Objects(program, configured, node)
    for argument in arguments:
        if argument.type in ("object", "identifier"):
            reading.take(argument)
    configured.written = [
        Written(one.key, one.line, one.value, ignored=js_kafkajs.NO_DELIVERY)
        if one.key in _PLAIN
        else Written(one.key, one.line, one.value, rejected=reason)
        for one in configured.written
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


DIALECT = Dialect("JavaScript source", fits, read)
