"""Java programs: properties that are put together for Kafka's clients, by the names of ProducerConfig and its like.

A field that Spring fills (``@Value``) is known only to those who have the properties. Kafka's first clients (in Scala,
to 1.x) and Kafka Streams are not read from programs.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from model.deployment.dialects.accounts import Accounts
from model.deployment.dialects.component import Component, Found, Role
from model.deployment.dialects.dialect import Dialect
from model.deployment.dialects.document import Document
from model.deployment.dialects.formats.java import METHODS, Program, program_of
from model.deployment.dialects.formats.syntax import all_of, around, in_one_line, line_of, named, text_of
from model.deployment.dialects.keys import has_key
from model.deployment.dialects.placeholders import Fillings
from model.deployment.dialects.written import Configured, Value, Written, check_number, components_of
from model.deployment.release import JAVA

if TYPE_CHECKING:
    from tree_sitter import Node

_TABLE = Path(__file__).with_name("tables") / "java_constants.csv"
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
_CONSTANTS = {"ProducerConfig": Role.PRODUCER, "ConsumerConfig": Role.CONSUMER}
_PUTS = ("put", "setProperty", "putIfAbsent")
_MAPS = ("Map.of", "ImmutableMap.of", "Collections.singletonMap", "Map.entry")
_CONTAINER = ("ConcurrentKafkaListenerContainerFactory", "KafkaMessageListenerContainer", "ConcurrentMessageListener")
_OLD = "Kafka's first clients (in Scala, to 1.x) are not modelled"
_STREAMS = "a setting of Kafka Streams, which is not read from programs"
_FLINK = ("FlinkKafkaConsumer", "FlinkKafkaProducer")
_OF_FLINK = "Flink's connector is not modelled: it goes by its checkpoints"
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+")
_OLD_KEYS = ("zookeeper.connect", "metadata.broker.list", "request.required.acks", "producer.type")


@dataclass
class _Group:
    """The properties by one name in one method, or in fields."""

    configured: Configured
    method: str
    streams: bool = False


@cache
def _irregular() -> dict[str, str]:
    with _TABLE.open(encoding="utf-8", newline="") as table:
        return {row["constant"]: row["key"] for row in csv.DictReader(table)}


def key_of(constant: str) -> str:
    """The setting that a constant of ``ProducerConfig`` and its like stands for.

    >>> key_of("MAX_POLL_INTERVAL_MS_CONFIG"), key_of("SEND_BUFFER_CONFIG")
    ('max.poll.interval.ms', 'send.buffer.bytes')
    """
    return _irregular().get(constant) or constant.removesuffix("_CONFIG").lower().replace("_", ".")


def fits(document: Document) -> bool:
    """A Java file that imports Kafka's clients."""
    return document.suffix == ".java" and _IMPORT.search(document.text) is not None


def read(document: Document, fillings: Fillings) -> Found:
    """The producers and consumers that a Java file puts settings together for."""
    program = program_of(document.text, document.file)
    accounts = Accounts(document, fillings, separators=(":",))
    components: list[Component] = []
    for configured in _Reading(program).all():
        components += components_of(configured, accounts, document.file)
    return accounts.found("Java source", components)


class _Reading:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._groups: dict[tuple[int, str], _Group] = {}
        self._container = any(name in text_of(program.root) for name in _CONTAINER)

    def all(self) -> Iterator[Configured]:
        """Every configuration, in the order of the file."""
        for node in all_of(self._program.root, "method_invocation"):
            self._put(node)
        for node in all_of(self._program.root, "object_creation_expression"):
            self._made(node)
        for node in all_of(self._program.root, "method_invocation"):
            self._passed_on(node)
        for group in self._groups.values():
            configured = group.configured
            self._settle(group)
            yield configured

    def _put(self, node: Node) -> None:
        arguments = named(node.child_by_field_name("arguments"))
        receiver, name = node.child_by_field_name("object"), text_of(node.child_by_field_name("name"))
        full = f"{text_of(receiver)}.{name}"
        if receiver is not None and name in _PUTS and len(arguments) == 2:
            known = self._key(arguments[0])
            if known is not None:
                self._write(self._group(node, text_of(receiver)), known, arguments[1], node)
        elif full in _MAPS and len(arguments) % 2 == 0:
            pairs = [(self._key(arguments[at]), arguments[at + 1]) for at in range(0, len(arguments), 2)]
            if any(key is not None and _is_kafkas(key[0]) for key, _ in pairs):
                group = self._group(node, self._target(node))
                for key, value in pairs:
                    if key is not None:
                        self._write(group, key, value, value)

    def _target(self, node: Node) -> str:
        above = around(node, "variable_declarator", "assignment_expression", "return_statement", "argument_list")
        target = above.child_by_field_name("name") or above.child_by_field_name("left") if above is not None else None
        return text_of(target) if target is not None else f"map {line_of(node)}"

    def _group(self, node: Node, name: str) -> _Group:
        name = name.removeprefix("this.")
        owner = around(node, *METHODS)
        where = owner.id if owner is not None and self._program.is_local(node, name) else 0
        if where == 0 and owner is not None and name.startswith("map "):
            where = owner.id
        method = text_of(owner.child_by_field_name("name")) if owner is not None else ""
        label = f"{method}: {name}" if method else name
        check_number(len(self._groups), self._program.file, line_of(node))
        return self._groups.setdefault((where, name), _Group(Configured(label, line_of(node), JAVA), method))

    def _key(self, node: Node) -> tuple[str, str] | None:
        """The setting, and the class of its constant; None for what cannot be a setting."""
        text = text_of(node)
        if node.type == "string_literal":
            return text.strip('"'), ""
        owner, _, constant = text.rpartition(".")
        if _CONSTANT.fullmatch(constant) is None:
            return None
        value = self._program.value(node)
        if value.known and value.text is not None and not value.text.isdigit():
            return value.text, ""
        known = owner.endswith(("Config", "Configs")) or (not owner and constant.endswith("_CONFIG"))
        return (key_of(constant), owner.rpartition(".")[2]) if known else None

    def _write(self, group: _Group, known: tuple[str, str], value: Node, statement: Node) -> None:
        key, constants = known
        said = self._program.value(value)
        only_if = self._program.conditions(statement)
        if text_of(statement.child_by_field_name("name")) == "putIfAbsent":
            only_if = only_if or "nothing is there before"
        if constants == "StreamsConfig":
            group.streams = True
        if constants in _CONSTANTS:
            group.configured.roles.add(_CONSTANTS[constants])
        secure = constants in ("SslConfigs", "SaslConfigs") or key.startswith(("ssl.", "sasl."))
        written = Written(key, line_of(statement), said, only_if, "security does not change delivery" if secure else "")
        group.configured.written.append(written)

    def _made(self, node: Node) -> None:
        """``new KafkaProducer<>(props)`` and its like."""
        kind = text_of(node.child_by_field_name("type")).partition("<")[0].rpartition(".")[2]
        arguments = named(node.child_by_field_name("arguments"))
        if kind.startswith(_FLINK):
            for given in filter(None, (self._meant(node, one) for one in arguments)):
                given.configured.refused, given.configured.roles = _OF_FLINK, set()
            return
        group = self._meant(node, arguments[0]) if arguments else None
        if group is None and kind in _MAKERS and arguments:
            group = self._unknown(node, kind, arguments[0])
        if group is None:
            return
        if kind in _MAKERS:
            self._gets(group, kind)
        elif kind in _CONSTANTS:
            group.configured.refused = _OLD
            group.configured.roles = set()
        elif kind == "KafkaStreams":
            group.streams = True

    def _gets(self, group: _Group, kind: str) -> None:
        role = _MAKERS[kind]
        other = Role.CONSUMER if role is Role.PRODUCER else Role.PRODUCER
        if not any(
            has_key(JAVA, other, one.key) and not has_key(JAVA, role, one.key) for one in group.configured.written
        ):
            group.configured.roles.discard(other)
        group.configured.roles.add(role)
        if role is Role.CONSUMER and kind.startswith("Default") and self._container:
            rule = ("false", "Spring Kafka's container")
            group.configured.rules[role] = {"enable.auto.commit": rule}
            said = [one for one in group.configured.written if one.key == "enable.auto.commit"]
            if all(one.value.text == "false" and not one.only_if for one in said):
                group.configured.answers["commit"] = ("after", _first_line(group))

    def _unknown(self, node: Node, kind: str, argument: Node) -> _Group | None:
        """A client whose settings come from elsewhere."""
        reason = f"its settings are not in this file: {in_one_line(argument)}"
        configured = Configured(kind, line_of(node), JAVA)
        configured.written.append(Written("settings", line_of(node), Value(None, ""), rejected=reason))
        check_number(len(self._groups), self._program.file, line_of(node))
        return self._groups.setdefault((node.id, kind), _Group(configured, ""))

    def _meant(self, node: Node, argument: Node, depth: int = 0) -> _Group | None:
        """The properties that an argument stands for: a name, or a method that returns them."""
        if argument.type in ("identifier", "field_access"):
            name = text_of(argument).removeprefix("this.")
            owner = around(node, *METHODS)
            found = self._groups.get((owner.id if owner is not None else 0, name)) or self._groups.get((0, name))
            value = self._program.value_of(argument) if found is None and depth < 5 else None
            return self._meant(node, value, depth + 1) if value is not None else found
        if argument.type == "method_invocation":
            name = text_of(argument.child_by_field_name("name"))
            own = [one for one in self._groups.values() if one.method == name]
            if len(own) == 1:
                return own[0]
            mapped = f"{text_of(argument.child_by_field_name('object'))}.{name}" in _MAPS
            return self._group(node, self._target(argument)) if mapped else None
        if argument.type == "object_creation_expression":
            inner = named(argument.child_by_field_name("arguments"))
            return self._meant(node, inner[0], depth + 1) if inner and depth < 5 else None
        return None

    def _passed_on(self, node: Node) -> None:
        """``props.putAll(others)``: more settings, which are known if the others are."""
        if text_of(node.child_by_field_name("name")) != "putAll":
            return
        receiver = text_of(node.child_by_field_name("object"))
        owner = around(node, *METHODS)
        own = self._groups.get((owner.id if owner is not None else 0, receiver)) or self._groups.get((0, receiver))
        arguments = named(node.child_by_field_name("arguments"))
        if own is None or not arguments:
            return
        other = self._meant(node, arguments[0])
        if other is not None and other is not own:
            own.configured.written = [*other.configured.written, *own.configured.written]
        else:
            reason = f"its settings are not in this file: {in_one_line(arguments[0])}"
            own.configured.written.append(Written("settings", line_of(node), Value(None, ""), rejected=reason))

    def _settle(self, group: _Group) -> None:
        """What follows for a configuration from the whole file."""
        configured = group.configured
        keys = {one.key for one in configured.written}
        if group.streams:
            configured.refused, configured.roles = _STREAMS, set()
        elif not configured.roles and keys & {*_OLD_KEYS}:
            configured.refused = configured.refused or _OLD
        elif (
            not configured.refused
            and not any(_is_kafkas(key) for key in keys - {"settings"})
            and "settings" not in keys
        ):
            configured.written = [replace(one, ignored="no setting of Kafka's clients") for one in configured.written]
            configured.roles = set()
        elif not configured.roles and not configured.refused:
            roles = (Role.PRODUCER, Role.CONSUMER)
            has = {role: {key for key in keys if has_key(JAVA, role, key)} for role in roles}
            configured.roles = {a for a, b in zip(roles, reversed(roles), strict=True) if has[a] - has[b]}


def _first_line(group: _Group) -> int:
    return min((one.line for one in group.configured.written), default=group.configured.line)


def _is_kafkas(key: str) -> bool:
    return any(has_key(JAVA, role, key) for role in (Role.PRODUCER, Role.CONSUMER))


DIALECT = Dialect("Java source", fits, read)
