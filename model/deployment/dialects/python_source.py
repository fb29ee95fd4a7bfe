"""Python programs: settings for confluent-kafka (librdkafka), kafka-python and aiokafka."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from proofka.model.deployment.dialects import python_arguments, python_topics
from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.dialects.dialect import Dialect
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.formats.python import Program, form_of, program_of, shown
from proofka.model.deployment.dialects.keys import LIBRDKAFKA
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.python_settings import Following
from proofka.model.deployment.dialects.written import (
    Configured,
    Value,
    Written,
    check_number,
    check_settings,
    components_of,
)

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
_SHARED = ("confluent_kafka.ShareConsumer", "share consumers are not modelled, so none of its settings is used")
_DICTIONARIES = ("config", "conf", "producer_conf", "consumer_conf")
_REPORTS = ("callback", "on_delivery")
_WITHOUT_REPORT = 4
"""The number of arguments of produce() before its callback."""


def fits(document: Document) -> bool:
    """Tell whether the document is a Python file that imports a client library."""
    return document.suffix == ".py" and _IMPORT.search(document.text) is not None


def read(document: Document, fillings: Fillings) -> Found:
    """Return the producers and consumers that a Python file makes, with the settings in the file."""
    program = program_of(document.text, document.file)
    accounts = Accounts(document, fillings)
    configured: list[Configured] = []
    following = Following(program)
    for client in _clients(following):
        configured.append(client)
        check_number(len(configured), document.file, client.line)
        check_settings(configured, document.file)
    _topics(program, configured)
    _reports(program, configured)
    _transactions(program, configured)
    python_arguments.complete(program, configured)
    configured += python_topics.topics_of(following, accounts, document.file)
    components: list[Component] = []
    for one in configured:
        components += components_of(one, accounts, document.file)
    return accounts.found("Python source", components)


def _clients(following: Following) -> Iterator[Configured]:
    program = following.program
    everything = [node for node in ast.walk(program.tree) if isinstance(node, ast.Call | ast.Name | ast.Attribute)]
    for node in sorted(everything, key=lambda node: node.lineno):
        if isinstance(node, ast.Call):
            known = _known(program.full_name(node.func))
            if known is not None and shown(node.func).partition(".")[0] in program.ambiguous:
                yield _unseen(known, node, node.func)
            elif known is not None:
                yield _client(following, node, _name(program, node, known[2]), known)
        elif isinstance(node.ctx, ast.Load):
            above = program.parents.get(id(node))
            if not isinstance(above, ast.Attribute) and _makes(program, node, above):
                known = _known(program.full_name(node))
                if known is not None:
                    yield _unseen(known, node, above)


def _known(name: str) -> tuple[str, Role, str] | None:
    """Return the library, the role and the short name of a client's class; None for any other class."""
    module, _, short = name.rpartition(".")
    if module.startswith("confluent_kafka") and short in _CLIENTS:
        return LIBRDKAFKA, _CLIENTS[short], short
    if python_arguments.is_class(name, _SHARED[0]):
        return LIBRDKAFKA, Role.CONSUMER, short
    known = python_arguments.CLIENTS.items()
    return next(((*one, short) for full, one in known if python_arguments.is_class(name, full)), None)


def _makes(program: Program, node: ast.expr, above: ast.AST | None) -> bool:
    """Tell whether a class that is named but not called can be called: by another name, as a base, or by a receiver."""
    if isinstance(above, ast.Call):
        return above.func is not node and shown(above.func).rpartition(".")[2] == "partial"
    if isinstance(above, ast.ClassDef):
        return any(one is node for one in above.bases)
    return isinstance(above, ast.Assign | ast.Return | ast.IfExp | ast.Dict)


def _unseen(known: tuple[str, Role, str], node: ast.expr, above: ast.AST | None) -> Configured:
    library, role, short = known
    form = f"class {above.name}({short})" if isinstance(above, ast.ClassDef) else form_of(above or node)
    reason = f"a client is made from {short} in a way that cannot be followed: {form}"
    found = Configured(short, node.lineno, library, roles={role})
    found.written.append(Written("settings", node.lineno, Value(None, ""), rejected=reason))
    return found


def _name(program: Program, node: ast.Call, short: str) -> str:
    above = program.parents.get(id(node))
    target = above.targets[0] if isinstance(above, ast.Assign) else None
    return short if target is None else form_of(target)


def _client(following: Following, node: ast.Call, name: str, known: tuple[str, Role, str]) -> Configured:
    library, role, short = known
    configured = Configured(name, node.lineno, library, roles={role})
    reading = following.settings(library)
    if library == LIBRDKAFKA:
        for argument in node.args[:1]:
            reading.take(argument)
    elif role is Role.PRODUCER and node.args:
        reading.reject(node, f"{short} accepts its settings only by name")
    for keyword in node.keywords:
        if keyword.arg is None or (library == LIBRDKAFKA and keyword.arg in _DICTIONARIES):
            reading.take(keyword.value)
        else:
            reading.entry(keyword.arg, keyword.value)
    configured.written, configured.waits = reading.written, library == LIBRDKAFKA and short.startswith("AIO")
    if f"confluent_kafka.{short}" == _SHARED[0]:
        configured.roles, configured.refused = set(), _SHARED[1]
    if library != LIBRDKAFKA:
        configured.topics += [str(topic) for topic in (following.program.plain(one, 0) for one in node.args) if topic]
    return configured


def _topics(program: Program, configured: list[Configured]) -> None:
    """Add the topics of subscribe() and produce() calls if they can belong to only one client."""
    for role, method in ((Role.CONSUMER, "subscribe"), (Role.PRODUCER, "produce")):
        own = [one for one in configured if role in one.roles and one.library == LIBRDKAFKA]
        for call in _calls(program, method) if len(own) == 1 else ():
            for argument in (*call.args[:1], *(one.value for one in call.keywords if one.arg in ("topic", "topics"))):
                for item in argument.elts if isinstance(argument, ast.List) else (argument,):
                    topic = program.plain(item, 0)
                    if isinstance(topic, str):
                        own[0].topics.append(topic)


def _reports(program: Program, configured: list[Configured]) -> None:
    """Add ignored send errors if no call asks for delivery reports."""
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
    """Add the Kafka sink if the consumer's offsets are part of the producer's transactions."""
    own = [one for one in configured if Role.CONSUMER in one.roles and one.library == LIBRDKAFKA]
    for call in _calls(program, "send_offsets_to_transaction"):
        for one in own if len(own) == 1 else ():
            one.answers["sink"] = ("kafka", call.lineno)


def _calls(program: Program, method: str) -> Iterator[ast.Call]:
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method:
            yield node


DIALECT = Dialect("Python source", fits, read)
