"""Kafka Streams: its own settings, and those of its main consumer and its producer.

The settings that Streams sets for them, and those that nobody can change, are in ``StreamsConfig`` of Kafka's source.
Streams commits processed and flushed records; with exactly-once, one transaction contains results and offsets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from proofka.model.deployment.dialects.accounts import NOT_KAFKAS, Accounts
from proofka.model.deployment.dialects.client_names import CLIENTS, SECRET, is_misspelt, is_named, is_of
from proofka.model.deployment.dialects.client_settings import pass_on, with_defaults
from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.dialects.connect import names_of_topics
from proofka.model.deployment.dialects.dialect import Dialect, of_what_parses
from proofka.model.deployment.dialects.document import PROPERTIES, Document
from proofka.model.deployment.dialects.java_properties import read_properties
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.given import Given
from proofka.model.deployment.hiding import is_secret

NAME = "Kafka Streams configuration"
STREAMS = "Kafka Streams"
GUARANTEE = "processing.guarantee"
GUARANTEES = ("at_least_once", "exactly_once", "exactly_once_beta", "exactly_once_v2")
_TABLE = Path(__file__).with_name("tables") / "streams.csv"
OWN = frozenset(_TABLE.read_text(encoding="utf-8").split()[1:])
"""Streams' own settings, of this and earlier releases, except the processing guarantee."""

NEVER = {Role.CONSUMER: frozenset({"enable.auto.commit"}), Role.PRODUCER: frozenset[str]()}
NEVER_EXACTLY_ONCE = {
    Role.CONSUMER: frozenset({"isolation.level"}),
    Role.PRODUCER: frozenset({"enable.idempotence", "transactional.id"}),
}
DEFAULTS: Mapping[Role, Mapping[str, str]] = {
    Role.CONSUMER: {"max.poll.records": "1000", "auto.offset.reset": "earliest", "enable.auto.commit": "false"},
    Role.PRODUCER: {"linger.ms": "100"},
}
EXACTLY_ONCE: Mapping[Role, Mapping[str, str]] = {
    Role.CONSUMER: {**DEFAULTS[Role.CONSUMER], "isolation.level": "read_committed"},
    Role.PRODUCER: {
        **DEFAULTS[Role.PRODUCER],
        "delivery.timeout.ms": "2147483647",
        "retries": "2147483647",
        "enable.idempotence": "true",
        "transaction.timeout.ms": "10000",
    },
}
IN_FLIGHT, MOST_IN_FLIGHT = "max.in.flight.requests.per.connection", 5
COMMITS, LASTS = "commit.interval.ms", "transaction.timeout.ms"
_PREFIXES = (
    ("main.consumer.", Role.CONSUMER, 2),
    ("consumer.", Role.CONSUMER, 1),
    ("producer.", Role.PRODUCER, 1),
)
_OTHER_CLIENTS = ("restore.consumer.", "global.consumer.", "admin.")
_TOPICS = {"input.topic.name": Role.CONSUMER, "input.topic": Role.CONSUMER, "output.topic.name": Role.PRODUCER}
_TOPICS |= {"output.topic": Role.PRODUCER}
_SKIPS = ("LogAndContinueExceptionHandler", "LogAndContinueProcessingExceptionHandler")


@dataclass
class Streams:
    """The values of one application; those of each client are in layers, of which a later one outranks an earlier
    one."""

    layers: dict[Role, list[dict[str, Given]]] = field(default_factory=lambda: {role: [{}, {}, {}] for role in CLIENTS})
    topics: dict[Role, tuple[str, ...]] = field(default_factory=dict)
    known: dict[str, Given] = field(default_factory=dict)
    held: list[tuple[Said, Role, str]] = field(default_factory=list)
    """Values that only some guarantees allow."""

    @property
    def exactly_once(self) -> Given | None:
        """The guarantee, if it is exactly once."""
        given = self.known.get(GUARANTEE)
        return given if given is not None and given.value.strip().lower().startswith("exactly") else None


@of_what_parses
def fits(document: Document) -> bool:
    """Tell whether the document has an application.id, and an address or a guarantee."""
    if document.suffix not in PROPERTIES:
        return False
    keys = {said.key for said in document.properties}
    return GUARANTEE in keys or ("application.id" in keys and ("bootstrap.servers" in keys or len(keys & OWN) > 1))


def read(document: Document, fillings: Fillings) -> Found:
    """Return the main consumer and the producer of an application."""
    accounts = Accounts(document, fillings, separators=())
    streams = Streams()
    notes: list[str] = []
    for said in read_properties(document, accounts, lambda _: True, STREAMS):
        sort(said, said.key, streams, accounts)
    components = components_of(streams, accounts, notes)
    return accounts.found(NAME, components, notes)


def sort(said: Said, key: str, streams: Streams, accounts: Accounts) -> None:
    """Put a value where it belongs, by its name among the settings of Streams."""
    text = accounts.text(said)
    for prefix, role, layer in _PREFIXES:
        if key.startswith(prefix) and len(key) > len(prefix):
            _for_client(said, key[len(prefix) :], role, layer, streams, accounts)
            return
    if key == GUARANTEE:
        if text.lower() in GUARANTEES:
            streams.known[key] = accounts.take(said, key)
            accounts.ignore(said, "determines the settings that Streams sets for its clients")
        else:
            accounts.reject(said, f"must be one of {', '.join(GUARANTEES)}")
    elif key in _TOPICS:
        streams.topics[_TOPICS[key]] = names_of_topics(text)
        accounts.ignore(said, "names the topic")
    elif key in OWN:
        streams.known[key] = accounts.take(said, key)
        accounts.ignore(said, "is for Streams itself and does not change its clients' deliveries")
    elif key.startswith(_OTHER_CLIENTS):
        accounts.ignore(said, "is for a client that neither reads input nor writes results")
    elif key.startswith("topic."):
        accounts.ignore(said, "is for topics that Streams creates for itself")
    elif is_secret(key):
        accounts.ignore(said, SECRET)
    else:
        _without_prefix(said, key, streams, accounts)


def _without_prefix(said: Said, key: str, streams: Streams, accounts: Accounts) -> None:
    """Take a client's setting without a prefix for each client that has it; unknown ones reach both unchanged."""
    roles = [role for role in CLIENTS if is_of(role, key)]
    if not roles and (is_named(key) or any(is_misspelt(key, role) for role in CLIENTS)):
        roles = list(CLIENTS)
    if not roles:
        accounts.ignore(said, NOT_KAFKAS)
    for role in roles:
        _for_client(said, key, role, 0, streams, accounts)


def _for_client(said: Said, key: str, role: Role, layer: int, streams: Streams, accounts: Accounts) -> None:
    if key in NEVER[role]:
        accounts.ignore(said, f"has no effect, because {STREAMS} always sets its own value")
    elif key in NEVER_EXACTLY_ONCE[role]:
        streams.held.append((said, role, key))
        streams.layers[role][layer][key] = accounts.take(said, key)
    else:
        pass_on(said, key, role, accounts, streams.layers[role][layer])


def components_of(streams: Streams, accounts: Accounts, notes: list[str], profiles: str = "") -> list[Component]:
    """Return the two clients, with Streams' own settings and behaviour. ``profiles``: the profiles of the values."""
    exactly_once = streams.exactly_once
    settings: dict[Role, dict[str, Given]] = {}
    for role, layers in streams.layers.items():
        settings[role] = {key: given for layer in layers for key, given in layer.items()}
    if exactly_once is not None:
        for said, role, key in streams.held:
            settings[role].pop(key, None)
            accounts.ignore(
                said, f"has no effect, because {STREAMS} sets its own value with {exactly_once.value.strip()}"
            )
    defaults = DEFAULTS if exactly_once is None else EXACTLY_ONCE
    for role in CLIENTS:
        settings[role] = with_defaults(settings[role], defaults[role], accounts, STREAMS)
    group = streams.known.get("application.id")
    if group is not None:
        settings[Role.CONSUMER]["group.id"] = Given("group.id", group.value, group.origin)
    if exactly_once is not None:
        name = "application" if group is None else group.value.strip()
        settings[Role.PRODUCER]["transactional.id"] = Given("transactional.id", f"{name}-TASK", exactly_once.origin)
        if exactly_once.value.strip().lower() == "exactly_once":
            notes.append("exactly_once uses a producer for each task; Kafka 4.0 removed it (use exactly_once_v2)")
    _refuse(streams, settings, accounts)
    return [
        Component(
            role,
            f"streams.{role} ({profiles})" if profiles else f"streams.{role}",
            settings[role],
            streams.topics.get(role, ()),
            application=_answers(role, streams, accounts),
            profile=profiles,
        )
        for role in (Role.CONSUMER, Role.PRODUCER)
    ]


def _refuse(streams: Streams, settings: Mapping[Role, dict[str, Given]], accounts: Accounts) -> None:
    """Refuse the settings with which Streams does not start (``StreamsConfig``)."""
    producer, consumer = settings[Role.PRODUCER], settings[Role.CONSUMER]
    if streams.exactly_once is not None:
        guarantee = streams.exactly_once.value.strip()
        in_flight = producer.get(IN_FLIGHT)
        if in_flight is not None and _number(in_flight) > MOST_IN_FLIGHT:
            why = f"{IN_FLIGHT} can't exceed {MOST_IN_FLIGHT} with {guarantee}"
            accounts.refuse(producer.pop(IN_FLIGHT), f"refused by {STREAMS} with ConfigException: {why} (rule S03)")
        interval = streams.known.get(COMMITS)
        commits, lasts = 100 if interval is None else _number(interval), producer[LASTS]
        if 0 <= _number(lasts) < commits:
            why = f"{LASTS} ({_number(lasts)}) is lower than {COMMITS} ({commits})"
            told = interval if interval is not None else producer.pop(LASTS)
            accounts.refuse(told, f"refused by {STREAMS} with IllegalArgumentException: {why} (rule S04)")
    protocol = streams.known.get("group.protocol", consumer.get("group.protocol"))
    if protocol is not None and protocol.value.strip().lower() == "streams" and "group.instance.id" in consumer:
        why = "static membership is not supported with the Streams protocol"
        told = consumer.pop("group.instance.id")
        accounts.refuse(told, f"refused by {STREAMS} with ConfigException: {why} (rule S08)")


def _number(given: Given) -> int:
    """Return the number in a value; -1 for any other text, which the client itself refuses."""
    text = given.value.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else -1


def _answers(role: Role, streams: Streams, accounts: Accounts) -> dict[str, Given]:
    exactly_once = streams.exactly_once
    answers: dict[str, Given] = {}
    if role is Role.PRODUCER:
        if not any("production.exception.handler" in key for key in streams.known):
            answers["on_send_error"] = accounts.by_framework("on_send_error", "halt", STREAMS)
        if exactly_once is None:
            answers["on_restart"] = accounts.by_framework("on_restart", "from-acknowledged", STREAMS)
        return answers
    answers["processing"] = accounts.by_framework("processing", "poll-thread", STREAMS)
    if exactly_once is None:
        answers["commit"] = accounts.by_framework("commit", "after", STREAMS)
    else:
        answers["sink"] = Given("sink", "kafka", exactly_once.origin)
        if exactly_once.value.strip().lower() != "exactly_once":
            answers["group_metadata"] = Given("group_metadata", "passed", exactly_once.origin)
    for key, given in streams.known.items():
        fails = key.endswith(("deserialization.exception.handler", "processing.exception.handler"))
        if fails and given.value.strip().endswith(_SKIPS):
            answers["on_processing_error"] = Given("on_processing_error", "skip", given.origin)
    return answers


DIALECT = Dialect(NAME, fits, read)
