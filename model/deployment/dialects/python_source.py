"""Python programs: settings for confluent-kafka (librdkafka), kafka-python and aiokafka."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from model.deployment.dialects import python_arguments
from model.deployment.dialects.accounts import Accounts
from model.deployment.dialects.bindings import of_binding
from model.deployment.dialects.component import Component, Found, Role
from model.deployment.dialects.dialect import Dialect
from model.deployment.dialects.document import Document
from model.deployment.dialects.formats.python import Program, program_of, shown
from model.deployment.dialects.keys import LIBRDKAFKA
from model.deployment.dialects.placeholders import Fillings
from model.deployment.dialects.written import Configured, Value, Written, check_number, components_of

_IMPORT = re.compile(r"^[ \t]*(from|import)[ \t]+(confluent_kafka|kafka|aiokafka)\b", re.MULTILINE)
_CLIENTS = {
    "Producer": Role.PRODUCER,
    "SerializingProducer": Role.PRODUCER,
    "AvroProducer": Role.PRODUCER,
    "AIOProducer": Role.PRODUCER,
    "Consumer": Role.CONSUMER,
    "DeserializingConsumer": Role.CONSUMER,
    "AvroConsumer": Role.CONSUMER,
    "AIOConsumer": Role.CONSUMER,
}
_SHARED = ("confluent_kafka.ShareConsumer", "share consumers are not modelled: none of its settings is used")
_DICTIONARIES = ("config", "conf", "producer_conf", "consumer_conf")
_REPORTS = ("callback", "on_delivery")
_WITHOUT_REPORT = 4
"""The arguments of produce() before its callback."""


def fits(document: Document) -> bool:
    """A Python file that imports a client library."""
    return document.suffix == ".py" and _IMPORT.search(document.text) is not None


def read(document: Document, fillings: Fillings) -> Found:
    """The producers and consumers that a Python file makes, as far as the file says their settings."""
    program = program_of(document.text, document.file)
    accounts = Accounts(document, fillings)
    configured: list[Configured] = []
    for client in _clients(program):
        configured.append(client)
        check_number(len(configured), document.file, client.line)
    _topics(program, configured)
    _reports(program, configured)
    _transactions(program, configured)
    python_arguments.complete(program, configured)
    configured += python_arguments.topics_of(program, accounts, document.file)
    components: list[Component] = []
    for one in configured:
        components += components_of(one, accounts, document.file)
    return accounts.found("Python source", components)


def _clients(program: Program) -> Iterator[Configured]:
    for node in sorted(
        (node for node in ast.walk(program.tree) if isinstance(node, ast.Call)), key=lambda node: node.lineno
    ):
        name = program.full_name(node.func)
        module, _, short = name.rpartition(".")
        if module.startswith("confluent_kafka") and short in _CLIENTS:
            found = _client(program, node, _name(program, node, short), LIBRDKAFKA, _CLIENTS[short])
            found.waits = short.startswith("AIO")
            yield found
        elif python_arguments.is_class(name, _SHARED[0]):
            found = _client(program, node, _name(program, node, short), LIBRDKAFKA, Role.CONSUMER)
            found.roles, found.refused = set(), _SHARED[1]
            yield found
        else:
            known = python_arguments.CLIENTS.items()
            other = next((one for full, one in known if python_arguments.is_class(name, full)), None)
            if other is not None:
                yield _client(program, node, _name(program, node, short), *other)


def _name(program: Program, node: ast.Call, short: str) -> str:
    above = program.parents.get(id(node))
    target = above.targets[0] if isinstance(above, ast.Assign) else None
    return short if target is None else shown(target)


def _client(program: Program, node: ast.Call, name: str, library: str, role: Role) -> Configured:
    configured = Configured(name, node.lineno, library, roles={role})
    reading = _Settings(program, configured, node)
    if library == LIBRDKAFKA:
        for argument in node.args[:1]:
            reading.take(argument)
    for keyword in node.keywords:
        if keyword.arg is None or (library == LIBRDKAFKA and keyword.arg in _DICTIONARIES):
            reading.take(keyword.value)
        else:
            reading.entry(keyword.arg, keyword.value)
    if library != LIBRDKAFKA:
        configured.topics += [str(topic) for topic in (program.plain(one, 0) for one in node.args) if topic]
    return configured


class _Settings:
    """What a client is given, through names, copies and updates of dictionaries."""

    def __init__(self, program: Program, configured: Configured, client: ast.Call) -> None:
        self._program = program
        self._configured = configured
        self._client = client
        self._seen: set[str] = set()

    def take(self, node: ast.expr, depth: int = 0, only_if: str = "") -> None:
        """The settings in a dictionary; of what is none, that they are unknown."""
        if depth > 20:
            self._unknown(node)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is None:
                    self.take(value, depth + 1, only_if)
                else:
                    self._entry_of(key, value, only_if)
        elif isinstance(node, ast.Call) and shown(node.func) == "dict":
            for argument in node.args:
                self.take(argument, depth + 1, only_if)
            for keyword in node.keywords:
                if keyword.arg is None:
                    self.take(keyword.value, depth + 1, only_if)
                else:
                    self.entry(keyword.arg, keyword.value, only_if)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            self.take(node.left, depth + 1, only_if)
            self.take(node.right, depth + 1, only_if)
        elif (
            isinstance(node, ast.Call)
            and not node.args
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "copy"
        ):
            self.take(node.func.value, depth + 1, only_if)
        elif isinstance(node, ast.Name | ast.Attribute):
            self._named(node, depth, only_if)
        elif not (isinstance(node, ast.Call) and self._returned(node, depth, only_if)):
            self._unknown(node)

    def _returned(self, call: ast.Call, depth: int, only_if: str) -> bool:
        """The settings that a function of the file returns, or adds to those it gets."""
        functions = [
            one
            for one in ast.walk(self._program.tree)
            if isinstance(one, ast.FunctionDef) and one.name == shown(call.func).removeprefix("self.")
        ]
        inside = [one for one in ast.walk(functions[0]) if isinstance(one, ast.Return)] if len(functions) == 1 else []
        if len(inside) != 1 or inside[0].value is None:
            return False
        parameters = [one.arg for one in functions[0].args.args if one.arg != "self"]
        name = shown(inside[0].value)
        if name not in parameters:
            self.take(inside[0].value, depth + 1, only_if)
        elif parameters.index(name) < len(call.args):
            self.take(call.args[parameters.index(name)], depth + 1, only_if)
            for statement in ast.walk(functions[0]):
                if isinstance(statement, ast.Assign | ast.Call):
                    self._changed(statement, name, functions[0], depth)
        else:
            return False
        return True

    def entry(self, key: str, value: ast.expr, only_if: str = "") -> None:
        """One setting."""
        if key in ("default.topic.config",) and isinstance(value, ast.Dict):
            self.take(value, 1, only_if)
            return
        none = isinstance(value, ast.Constant) and value.value is None
        told = self._program.value(value)
        if self._configured.library in python_arguments.LIBRARIES:
            told = python_arguments.value_of(self._program, key, value)
            none = none and key != python_arguments.GROUP
        ignored = "says nothing" if none else of_binding(key)
        self._configured.written.append(Written(key, value.lineno, told, only_if, ignored=ignored))

    def _entry_of(self, key: ast.expr, value: ast.expr, only_if: str) -> None:
        name = self._program.plain(key, 0)
        if isinstance(name, str):
            self.entry(name, value, only_if)
        else:
            written = Written(
                "a setting", key.lineno, Value(None, shown(key)), rejected=f"its name is {shown(key)[:60]}"
            )
            self._configured.written.append(written)

    def _unknown(self, node: ast.expr) -> None:
        reason = f"its settings are not in this file: {shown(node)[:80]}"
        self._configured.written.append(Written("settings", node.lineno, Value(None, ""), rejected=reason))

    def _named(self, node: ast.expr, depth: int, only_if: str) -> None:
        """A dictionary by its name, and what is set in it before the client is made."""
        name = shown(node)
        if name in self._seen:
            return
        self._seen.add(name)
        value = self._program.value_of(node)
        if value is None:
            self._unknown(node)
        else:
            self.take(value, depth + 1, only_if)
        for statement in self._program.changes:
            if not _changes(statement, name):
                continue
            elsewhere = self._program.owner(statement) != self._program.owner(self._client)
            if elsewhere or statement.lineno <= self._client.lineno:
                self._changed(statement, name, value, depth)

    def _changed(self, node: ast.Assign | ast.Call, name: str, made: ast.AST | None, depth: int) -> None:
        condition = self._program.conditions(node, made if made is not None else self._client)
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Subscript) and shown(target.value) == name:
                    self._entry_of(target.slice, node.value, condition)
        elif isinstance(node.func, ast.Attribute) and shown(node.func.value) == name:
            if node.func.attr == "update":
                for argument in node.args:
                    self.take(argument, depth + 1, condition)
                for keyword in node.keywords:
                    if keyword.arg is None:
                        self.take(keyword.value, depth + 1, condition)
                    else:
                        self.entry(keyword.arg, keyword.value, condition)
            elif node.func.attr in ("pop", "setdefault", "clear", "popitem"):
                self._unknown(node)


def _changes(node: ast.Assign | ast.Call, name: str) -> bool:
    """It sets something in a dictionary of this name."""
    if isinstance(node, ast.Assign):
        return any(isinstance(one, ast.Subscript) and shown(one.value) == name for one in node.targets)
    return isinstance(node.func, ast.Attribute) and shown(node.func.value) == name


def _topics(program: Program, configured: list[Configured]) -> None:
    """What is subscribed to and produced to, where one client only can be meant."""
    for role, method in ((Role.CONSUMER, "subscribe"), (Role.PRODUCER, "produce")):
        own = [one for one in configured if role in one.roles and one.library == LIBRDKAFKA]
        for call in _calls(program, method) if len(own) == 1 else ():
            for argument in (*call.args[:1], *(one.value for one in call.keywords if one.arg in ("topic", "topics"))):
                for item in argument.elts if isinstance(argument, ast.List) else (argument,):
                    topic = program.plain(item, 0)
                    if isinstance(topic, str):
                        own[0].topics.append(topic)


def _reports(program: Program, configured: list[Configured]) -> None:
    """Whether anybody asks for the reports of what is sent."""
    calls = list(_calls(program, "produce"))
    asks = any(
        len(call.args) > _WITHOUT_REPORT or any(one.arg in (*_REPORTS, None) for one in call.keywords) for call in calls
    )
    for one in configured:
        if one.library != LIBRDKAFKA or Role.PRODUCER not in one.roles or not calls or asks:
            continue
        keys = {written.key for written in one.written}
        if not keys & {*_REPORTS, "delivery.callback", "settings", "transactional.id"} and not one.waits:
            one.answers["on_send_error"] = ("ignore", calls[0].lineno)


def _transactions(program: Program, configured: list[Configured]) -> None:
    """Whether the offsets of what is read are part of a transaction with what is written."""
    own = [one for one in configured if Role.CONSUMER in one.roles and one.library == LIBRDKAFKA]
    for call in _calls(program, "send_offsets_to_transaction"):
        for one in own if len(own) == 1 else ():
            one.answers["sink"] = ("kafka", call.lineno)


def _calls(program: Program, method: str) -> Iterator[ast.Call]:
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method:
            yield node


DIALECT = Dialect("Python source", fits, read)
