"""Kafka Connect: workers and connectors, in ``.properties`` or JSON.

A worker's ``producer.`` and ``consumer.`` settings are for the tasks of all its connectors, a connector's
``producer.override.`` and ``consumer.override.`` for its own tasks. Connect's own defaults are in Kafka's source, in
``Worker.baseProducerConfigs`` and ``baseConsumerConfigs``. Its tasks' behaviour is in ``AbstractWorkerSourceTask`` and
``WorkerSinkTask``: a source's position is stored once its records are acknowledged, a sink's offset is committed
without waiting.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from proofka.model.deployment.dialects.accounts import NOT_KAFKAS, Accounts
from proofka.model.deployment.dialects.client_names import CLIENTS, owners
from proofka.model.deployment.dialects.client_settings import pass_on, with_defaults
from proofka.model.deployment.dialects.component import ASSUMED_REPLICAS, Component, Found, Role
from proofka.model.deployment.dialects.dialect import Dialect, of_what_parses
from proofka.model.deployment.dialects.document import PROPERTIES, Document
from proofka.model.deployment.dialects.formats.yaml import documents_of, values_of
from proofka.model.deployment.dialects.java_properties import read_properties
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.given import Given

NAME = "Kafka Connect configuration"
CONNECT = "Kafka Connect"
EXACTLY_ONCE = "exactly.once.source.support"
POLICY = "connector.client.config.override.policy"
DEFAULTS: Mapping[Role, Mapping[str, str]] = {
    Role.PRODUCER: {
        "acks": "all",
        "enable.idempotence": "false",
        "max.in.flight.requests.per.connection": "1",
        "max.block.ms": "9223372036854775807",
        "delivery.timeout.ms": "2147483647",
        "retries": "2147483647",
    },
    Role.CONSUMER: {"enable.auto.commit": "false", "auto.offset.reset": "earliest"},
}
"""Connect's own values for its clients. It has set retries since before delivery.timeout.ms existed."""

TELLING = frozenset(
    {
        "offset.storage.topic",
        "config.storage.topic",
        "status.storage.topic",
        "offset.storage.file.filename",
        "offset.flush.interval.ms",
        "plugin.path",
        "key.converter",
        "value.converter",
        "internal.key.converter",
        EXACTLY_ONCE,
        POLICY,
    }
)
"""Keys of a worker's file; two are needed, one of them not in ``OF_OTHERS``."""

OF_OTHERS = frozenset({"key.converter", "value.converter"})
"""Keys of a worker's file that programs with Connect's converters have too, such as Debezium's for Cassandra."""

CONNECTOR = "connector.class"
_OF_ENGINE = "offset.storage"
"""The key of Debezium's engine, which runs a connector in a program and hands the records to that program."""
WORKERS_OWN = "is for the worker itself and does not change the deliveries of its connectors"
NOT_PASSED_ON = "is for the worker's own clients; settings for connectors begin with producer. or consumer."
TOPICS_OF_ITS_OWN = (
    "is for topics that the connector creates, whose names the file does not give: set it for the topic "
    "(--assume replicas=N) and use --partial"
)
AS_ASSUMED = "is for topics that the connector creates, and equals the assumption about topics without a file"
PARTITIONS = "only one partition is modelled"


def is_of_created_topics(key: str) -> bool:
    """Tell whether a connector's setting is one of the topics that Connect or MirrorMaker creates."""
    names_topics = key.endswith((".include", ".exclude", ".groups", ".enable"))
    return key == "replication.factor" or (key.startswith("topic.creation.") and not names_topics)


def of_created_topics(said: Said, key: str, accounts: Accounts) -> None:
    """Ignore a setting of topics that a tool creates if it equals the assumption about such topics; otherwise reject
    it."""
    if key.endswith("partitions"):
        accounts.ignore(said, PARTITIONS)
    elif key.endswith("replication.factor") and accounts.text(said) == ASSUMED_REPLICAS:
        accounts.ignore(said, AS_ASSUMED)
    else:
        accounts.reject(said, TOPICS_OF_ITS_OWN)


_OTHER_CLIENTS = "the tasks of this connector send and read no records with such a client"
_ERRORS = "determines the reaction to failed records, with errors.tolerance"
_TOPIC_NAME = re.compile(r"[\w.-]{1,249}", re.ASCII)


@dataclass
class _Clients:
    """The values for the clients of a worker, or of one connector."""

    settings: dict[Role, dict[str, Given]] = field(default_factory=lambda: {role: {} for role in CLIENTS})
    known: dict[str, Given] = field(default_factory=dict)


@of_what_parses
def fits(document: Document) -> bool:
    """Tell whether the document is a worker's file, by two of its keys, or a connector's, by its class."""
    if _is_json(document) and CONNECTOR not in document.text:
        return False
    keys = {said.path[-1] if _is_json(document) else said.key for said in _values(document)}
    if _OF_ENGINE in keys:
        return False
    of_worker = len(keys & TELLING) >= 2 and (keys & TELLING - OF_OTHERS or "bootstrap.servers" in keys)
    return CONNECTOR in keys or (document.suffix in PROPERTIES and bool(of_worker))


def read(document: Document, fillings: Fillings) -> Found:
    """Return the clients of a worker, or those of each connector."""
    accounts = Accounts(document, fillings, separators=())
    components: list[Component] = []
    notes: list[str] = []
    for values in _configurations(document, accounts):
        if any(said.path[-1] == CONNECTOR for said in values):
            components += _connector(values, accounts, notes)
        else:
            components += _worker(values, accounts)
    return accounts.found(NAME, components, dict.fromkeys(notes))


def names_of_topics(text: str) -> tuple[str, ...]:
    """Return the topics of a list, without patterns and placeholders."""
    return tuple(one for one in (part.strip() for part in text.split(",")) if _TOPIC_NAME.fullmatch(one))


def source_answers(accounts: Accounts, tolerant: Given | None, exactly_once: bool) -> dict[str, Given]:
    """Return the behaviour of a source's task: it fails with a send, or skips the record; its position follows the
    stored records."""
    all_errors = tolerant is not None and tolerant.value.strip().lower() == "all"
    answers: dict[str, Given] = {}
    if all_errors and tolerant is not None:
        answers["on_send_error"] = Given("on_send_error", "drop", tolerant.origin)
    else:
        answers["on_send_error"] = accounts.by_framework("on_send_error", "halt", CONNECT)
    if not exactly_once:
        answers["on_restart"] = accounts.by_framework("on_restart", "from-acknowledged", CONNECT)
    return answers


def source_settings(
    said: Mapping[str, Given], accounts: Accounts, exactly_once: Given | None, transactional_id: str
) -> dict[str, Given]:
    """Return the settings of a source's producer: with Connect's own values, and those of exactly-once support."""
    settings = with_defaults(said, DEFAULTS[Role.PRODUCER], accounts, CONNECT)
    if exactly_once is not None:
        if "enable.idempotence" not in said:
            settings["enable.idempotence"] = Given("enable.idempotence", "true", exactly_once.origin)
        settings["transactional.id"] = Given("transactional.id", transactional_id, exactly_once.origin)
    return settings


def is_enabled(given: Given | None) -> bool:
    """Tell whether exactly-once support is on; ``preparing`` is only a preparation."""
    return given is not None and given.value.strip().lower() == "enabled"


def _is_json(document: Document) -> bool:
    """Tell whether the document is JSON, by its name or, for ``.config``, its text."""
    return document.suffix == ".json" or (document.suffix == ".config" and document.text.lstrip().startswith("{"))


def _values(document: Document) -> list[Said]:
    """Return the document's values; JSON is read as YAML, with spaces for tabs."""
    if _is_json(document):
        nodes = documents_of(document.text.replace("\t", " "), document.file)
        return [said for node in nodes for said in values_of(node) if said.path]
    return list(document.properties) if document.suffix in PROPERTIES else []


def _configurations(document: Document, accounts: Accounts) -> Iterator[list[Said]]:
    """Yield the values of each worker or connector in the file; JSON has one object for each."""
    if not _is_json(document):
        yield read_properties(document, accounts, lambda key: key.startswith(("producer.", "consumer.")), CONNECT)
        return
    objects: dict[tuple[str, ...], list[Said]] = {}
    values = accounts.last_of_each(_values(document), CONNECT)
    connectors = {said.path[:-1] for said in values if said.path[-1] == CONNECTOR}
    for said in values:
        if said.path[:-1] in connectors:
            objects.setdefault(said.path[:-1], []).append(said)
        else:
            accounts.ignore(said, NOT_KAFKAS)
    for path, inside in objects.items():
        named = next((one for one in values if one.path == (*path[:-1], "name")), None) if path else None
        own = [Said(one.path[len(path) :], one.value, one.line, one.null) for one in inside]
        if named is not None and not any(one.key == "name" for one in own):
            own.append(Said(("name",), named.value, named.line))
        yield own


def _worker(values: list[Said], accounts: Accounts) -> Iterator[Component]:
    clients = _Clients()
    for said in values:
        role, key = _client_key(said.key, "")
        if role is not None:
            pass_on(said, key, role, accounts, clients.settings[role])
        elif said.key == EXACTLY_ONCE:
            _one_of(said, ("disabled", "preparing", "enabled"), accounts, clients)
        elif said.key == "group.id":
            clients.known[said.key] = accounts.take(said, said.key)
            accounts.ignore(said, "is the group of workers, not of consumers")
        elif said.key == "bootstrap.servers":
            for one in CLIENTS:
                clients.settings[one].setdefault(said.key, accounts.take(said, said.key))
        elif said.key == POLICY:
            clients.known[said.key] = accounts.take(said, said.key)
            accounts.ignore(said, "determines which overrides of connectors the worker allows")
        elif owners(said.key):
            accounts.ignore(said, NOT_PASSED_ON)
        else:
            accounts.ignore(said, WORKERS_OWN)
    exactly_once = clients.known.get(EXACTLY_ONCE)
    if not is_enabled(exactly_once):
        exactly_once = None
    group = clients.known.get("group.id")
    prefix = "connect" if group is None else group.value.strip()
    told = {POLICY: clients.known[POLICY]} if POLICY in clients.known else {}
    yield Component(
        Role.PRODUCER,
        "connect.producer",
        source_settings(clients.settings[Role.PRODUCER], accounts, exactly_once, f"{prefix}-CONNECTOR-TASK"),
        application=source_answers(accounts, None, exactly_once is not None),
        layer="worker",
        told=told,
    )
    yield replace(_sink("connect.consumer", clients, {}, (), accounts), layer="worker", told=told)


def _connector(values: list[Said], accounts: Accounts, notes: list[str]) -> Iterator[Component]:
    said_of = {said.key: said for said in values}
    kind = accounts.text(said_of[CONNECTOR]) if CONNECTOR in said_of else ""
    name = accounts.text(said_of["name"]) if "name" in said_of else "connector"
    role = role_of(kind, said_of)
    clients = _Clients()
    topics: tuple[str, ...] = ()
    for said in values:
        whose, key = _client_key(said.key, "override.")
        if whose is not None:
            notes.append("overrides need a worker whose connector.client.config.override.policy allows them")
            if whose is role:
                pass_on(said, key, role, accounts, clients.settings[role])
            else:
                accounts.ignore(said, _OTHER_CLIENTS)
        elif said.key == "errors.tolerance":
            _one_of(said, ("none", "all"), accounts, clients)
        elif said.key == "errors.deadletterqueue.topic.name":
            clients.known[said.key] = accounts.take(said, said.key)
            accounts.ignore(said, _ERRORS)
        elif said.key == "exactly.once.support":
            _one_of(said, ("requested", "required"), accounts, clients)
        elif role is Role.CONSUMER and said.key == "topics":
            topics = names_of_topics(accounts.text(said))
            accounts.ignore(said, "names the topics")
        elif role is Role.PRODUCER and said.key in ("topic", "kafka.topic"):
            topics = names_of_topics(accounts.text(said))
            accounts.ignore(said, "names the topic")
        elif is_of_created_topics(said.key):
            of_created_topics(said, said.key, accounts)
        elif said.key.startswith("errors."):
            accounts.ignore(said, _ERRORS)
        else:
            accounts.ignore(said, "is for the connector itself, not a setting of its Kafka clients")
    tolerant = clients.known.get("errors.tolerance")
    if role is Role.CONSUMER:
        yield replace(_sink(name, clients, _failing(clients, tolerant), topics, accounts), layer="connector")
        return
    if "exactly.once.support" in clients.known:
        notes.append("the worker determines whether it writes in transactions, with exactly.once.source.support")
    settings = source_settings(clients.settings[role], accounts, None, "")
    answers = source_answers(accounts, tolerant, False)
    yield Component(role, name, settings, topics, application=answers, layer="connector")


def role_of(kind: str, said: Collection[str]) -> Role:
    """Return the role of a connector, by Source or Sink in its class name, or by the topics that a sink must name."""
    simple = kind.rsplit(".", 1)[-1].lower()
    if "source" in simple or "sink" in simple:
        return Role.PRODUCER if "source" in simple else Role.CONSUMER
    return Role.CONSUMER if {"topics", "topics.regex"} & set(said) else Role.PRODUCER


def _sink(
    name: str, clients: _Clients, failing: Mapping[str, Given], topics: tuple[str, ...], accounts: Accounts
) -> Component:
    settings = with_defaults(clients.settings[Role.CONSUMER], DEFAULTS[Role.CONSUMER], accounts, CONNECT)
    if "group.id" not in settings and topics:
        settings["group.id"] = accounts.by_framework("group.id", f"connect-{name}", CONNECT)
    answers = dict(failing)
    if settings["enable.auto.commit"].value.strip().lower() == "false":
        answers["commit"] = accounts.by_framework("commit", "async", CONNECT)
    return Component(Role.CONSUMER, name, settings, topics, application=answers)


def _failing(clients: _Clients, tolerant: Given | None) -> dict[str, Given]:
    """Return the reaction to a record that cannot be converted. The report to another topic is not awaited."""
    if tolerant is None or tolerant.value.strip().lower() != "all":
        return {}
    letters = clients.known.get("errors.deadletterqueue.topic.name")
    if letters is not None and letters.value.strip():
        return {"on_processing_error": Given("on_processing_error", "forward-unconfirmed", letters.origin)}
    return {"on_processing_error": Given("on_processing_error", "skip", tolerant.origin)}


def _client_key(key: str, infix: str) -> tuple[Role | None, str]:
    for role in CLIENTS:
        prefix = f"{role}.{infix}"
        if key.startswith(prefix) and len(key) > len(prefix):
            return role, key[len(prefix) :]
    return None, key


def _one_of(said: Said, allowed: tuple[str, ...], accounts: Accounts, clients: _Clients) -> None:
    if accounts.text(said).lower() in allowed:
        clients.known[said.key] = accounts.take(said, said.key)
        accounts.ignore(said, "determines the behaviour of the tasks, not a setting of their clients")
    else:
        accounts.reject(said, f"must be one of {', '.join(allowed)}")


DIALECT = Dialect(NAME, fits, read)
