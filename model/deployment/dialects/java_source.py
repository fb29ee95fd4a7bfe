"""Java programs: properties for Kafka's clients, by the names of ProducerConfig and similar classes.

A client gets the contents of its map at the place where the client is made (``java_maps``). A field that Spring fills
(``@Value``) is known only with the properties. Kafka's first clients (in Scala, to 1.x) and Kafka Streams are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.dialects.dialect import Dialect
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.formats.java import Program, program_of, shape_of
from proofka.model.deployment.dialects.formats.java_flow import returns_of, routine_of
from proofka.model.deployment.dialects.formats.java_names import Declared
from proofka.model.deployment.dialects.formats.syntax import all_of, line_of, named, text_of
from proofka.model.deployment.dialects.java_container import of_container, touched
from proofka.model.deployment.dialects.java_keys import KAFKAS, Key
from proofka.model.deployment.dialects.java_maps import Content, Entry, Maps, unknown
from proofka.model.deployment.dialects.java_topics import NO_NAME, topics_of
from proofka.model.deployment.dialects.java_uses import PUTS, Act, kind_of
from proofka.model.deployment.dialects.keys import has_key
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.dialects.written import Configured, check_number, components_of
from proofka.model.deployment.release import JAVA

if TYPE_CHECKING:
    from tree_sitter import Node

_IMPORT = re.compile(
    r"^[^\S\n]*import\s+(static\s+)?(org\.apache\.kafka\.(clients|streams|common)|org\.springframework\.kafka"
    r"|kafka\.(producer|consumer|javaapi))\.",
    re.MULTILINE,
)
_MAKERS = {
    "KafkaProducer": Role.PRODUCER,
    "DefaultKafkaProducerFactory": Role.PRODUCER,
    "KafkaConsumer": Role.CONSUMER,
    "DefaultKafkaConsumerFactory": Role.CONSUMER,
}
_ROLES = {"ProducerConfig": Role.PRODUCER, "ConsumerConfig": Role.CONSUMER}
_OLD = "Kafka's first clients (in Scala, to 1.x) are not modelled"
_STREAMS = "is a setting of Kafka Streams, which is not read from programs"
_FLINK = ("FlinkKafkaConsumer", "FlinkKafkaProducer")
_OF_FLINK = "Flink's connector is not modelled: its commits follow its checkpoints"
_OF_STREAMS = ("KafkaStreams", "StreamsConfig", "KafkaStreamsConfiguration")
_OLD_KEYS = ("zookeeper.connect", "metadata.broker.list", "request.required.acks", "producer.type")
_PAIRS = ("Map.of", "ImmutableMap.of", "Collections.singletonMap", "Map.ofEntries")
_ELSEWHERE = "its settings are not in this file"
_ADMIN = "is for an admin client, which sends and reads no records"
_UNUSED = "is set after every client took its settings"


def fits(document: Document) -> bool:
    """Tell whether the document is a Java file that imports Kafka's clients."""
    return document.suffix == ".java" and _IMPORT.search(document.text) is not None


def read(document: Document, fillings: Fillings) -> Found:
    """Return the producers and consumers whose settings a Java file builds, and the topics that it creates."""
    program = program_of(document.text, document.file)
    accounts = Accounts(document, fillings, separators=(":",))
    components: list[Component] = []
    reading = _Reading(program)
    for configured in reading.all():
        components += components_of(configured, accounts, document.file)
    for key, line in reading.unused:
        accounts.ignore(Said((key,), "", line), _UNUSED)
    for line in reading.unnamed:
        accounts.reject(Said(("NewTopic",), "", line), NO_NAME)
    for line, name, reason in touched(program):
        accounts.reject(Said((name,), "", line), reason)
    return accounts.found("Java source", components, reading.notes)


class _Reading:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._maps = Maps(program)
        self._configured: dict[tuple[Content, str], Configured] = {}  # by settings and use of the map
        self._taken: set[int] = set()  # nodes of settings that a configuration has
        self.notes: list[str] = []
        self.unused: list[tuple[str, int]] = []
        self.unnamed: list[int] = []

    def all(self) -> Iterator[Configured]:
        """Yield every configuration: of clients in the order of the file, then those that no client of the file
        takes."""
        for topic, content in topics_of(self._program, self._maps):
            self._taken |= {one.place for one in content}
            if topic.name:
                yield topic
            else:
                self.unnamed.append(topic.line)
        for node in all_of(self._program.root, "object_creation_expression"):
            self._made(node)
        self._left()
        for (content, _), configured in self._configured.items():
            _settle(configured, content)
            yield configured

    def _made(self, node: Node) -> None:
        """Read ``new KafkaProducer<>(props)`` and similar expressions."""
        kind, arguments = kind_of(node), named(node.child_by_field_name("arguments"))
        if kind in self._maps.uses.classes or self._maps.keys.is_foreign(kind):
            return
        if kind.startswith(_FLINK):
            for argument in arguments:
                content = self._maps.content(argument)
                if any(not one.written.rejected for one in content):
                    self._add(node, argument, content).refused = _OF_FLINK
        elif arguments and kind in (*_MAKERS, *_ROLES, *_OF_STREAMS):
            argument = arguments[1] if kind == "KafkaStreams" and len(arguments) > 1 else arguments[0]
            content = self._maps.content(argument)
            nothing = all(one.written.rejected for one in content)
            if kind in _MAKERS:
                configured = self._add(node, argument, content, kind if nothing and content else "")
                configured.roles.add(_MAKERS[kind])
                if kind == "DefaultKafkaConsumerFactory":
                    self.notes += of_container(configured, self._program)
            elif not nothing:
                self._add(node, argument, content).refused = _OLD if kind in _ROLES else _STREAMS

    def _add(self, node: Node, argument: Node, content: Content, name: str = "") -> Configured:
        """Add a configuration, or return the one that has these settings already.

        One map for several clients is one configuration, and another one for other uses of the map (``StreamsConfig``).
        A map without known settings is of its own client alone.
        """
        use = kind_of(node) if node.type == "object_creation_expression" else ""
        if name or not content:
            use = f"{name} {node.id}"
        elif use in _MAKERS:
            use = ""
        place = (content, use)
        if place not in self._configured:
            check_number(len(self._configured), self._program.file, line_of(node))
            self._taken |= {one.place for one in content}
            label = name or self._label(argument)
            alike = [one for one in self._configured.values() if one.name.partition(" (")[0] == label]
            label = f"{label} (line {line_of(node)})" if alike and not name else label
            line = min((one.written.line for one in content if not one.written.rejected), default=line_of(node))
            self._configured[place] = Configured(label, line, JAVA, [one.written for one in content])
        return self._configured[place]

    def _label(self, argument: Node) -> str:
        """Return a readable name of a map: its own name, and that of the method that builds it.

        The map can be the result of a method, or the argument of a copy: a few such steps lead to its own name.
        """
        for _ in range(5):
            variable = self._program.names.meant(argument)
            value = argument if variable is None else variable.value
            inner: list[Node] = []
            if value is not None and value.type == "method_invocation":
                routine = self._maps.uses.routine(value)
                inner = [named(one)[-1] for one in returns_of(routine) if named(one)] if routine is not None else []
            elif variable is None and argument.type == "object_creation_expression":
                inner = named(argument.child_by_field_name("arguments"))[:1]
            if not inner:
                break
            argument = inner[-1]
        variable = self._program.names.meant(argument)
        name = variable.name if variable is not None else f"map {line_of(argument)}"
        where = routine_of(variable.node if variable is not None else argument)
        method = text_of(where.child_by_field_name("name")) if where is not None else ""
        return f"{method}: {name}" if method and (variable is None or not variable.is_field) else name

    def _left(self) -> None:
        """Read the settings that this file builds for clients in other files."""
        unnamed: dict[tuple[int, str], list[Node]] = {}
        for node in all_of(self._program.root, "method_invocation"):
            given = named(node.child_by_field_name("arguments"))
            receiver, name = node.child_by_field_name("object"), text_of(node.child_by_field_name("name"))
            if node.id in self._taken or receiver is None:
                continue
            if name in PUTS and len(given) == 2 and _is_kafkas(self._maps.keys.of(given[0])):
                variable = self._program.names.meant(receiver)
                if variable is not None:
                    self._of_variable(node, variable)
                else:
                    routine = routine_of(node)
                    place = (routine.id if routine is not None else 0, text_of(receiver))
                    unnamed.setdefault(place, []).append(node)
            elif f"{text_of(receiver)}.{name}" in _PAIRS:
                content = self._maps.content(node)
                if any(_is_of_kafka(one) for one in content):
                    self._add(node, node, content)
        for puts in unnamed.values():
            receiver = puts[0].child_by_field_name("object")
            first = [] if receiver is None else [unknown(puts[0], f"{_ELSEWHERE}: {shape_of(receiver)[:80]}")]
            self._add(puts[0], puts[0], (*first, *(self._maps.put(one) for one in puts)))

    def _of_variable(self, node: Node, variable: Declared) -> None:
        """Read a variable whose settings no client takes, or whose client is in another file."""
        content = self._maps.state(variable, None)
        uses = [self._maps.uses.of(one) for one in variable.uses]
        later = any(one.node.start_byte > node.end_byte and one.act is not Act.PUT for one in uses)
        taken = any(one.node.id in self._taken for one in uses)
        if node.id not in {one.place for one in content} or (taken and not later):
            entry = self._maps.put(node)
            self.unused.append((entry.written.key, entry.written.line))
            self._taken.add(node.id)
        else:
            self._add(node, variable.uses[0], content)


def _settle(configured: Configured, content: Content) -> None:
    """Derive roles and refusals of a configuration from all of its entries."""
    keys = {one.key for one in configured.written}
    owners = {one.owner for one in content}
    if not configured.refused and "StreamsConfig" in owners:
        configured.refused = _STREAMS
    if not configured.refused and not configured.roles:
        if keys & {*_OLD_KEYS}:
            configured.refused = _OLD
        elif "AdminClientConfig" in owners and not owners & {*_ROLES}:
            configured.written = [replace(one, ignored=_ADMIN, rejected="") for one in configured.written]
        else:
            has = {role: {key for key in keys if has_key(JAVA, role, key)} for role in _ROLES.values()}
            common = has[Role.PRODUCER] & has[Role.CONSUMER]
            by_key = {role for role, own in has.items() if own - common}
            by_class = {_ROLES[one] for one in owners if one in _ROLES}
            configured.roles = (by_class & by_key) or by_key or by_class
    if configured.refused:
        configured.roles = set()


def _is_kafkas(key: Key) -> bool:
    if key.owner in KAFKAS or key.text in _OLD_KEYS:
        return True
    return key.text is not None and any(has_key(JAVA, role, key.text) for role in _ROLES.values())


def _is_of_kafka(entry: Entry) -> bool:
    return _is_kafkas(Key(entry.written.key, entry.owner))


DIALECT = Dialect("Java source", fits, read)
