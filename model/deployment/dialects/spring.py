"""Spring Boot: ``spring.kafka.*`` in ``application.yml`` or ``.properties``, with names in any of their relaxed forms.

The behaviour of Spring Kafka's containers is in ``spring_container.py``; Spring Cloud Stream has its own module.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from proofka.model.deployment.defaults import is_known
from proofka.model.deployment.dialects import spring_cloud, streams
from proofka.model.deployment.dialects.accounts import NOT_KAFKAS, Accounts
from proofka.model.deployment.dialects.application_files import beside_for_spring
from proofka.model.deployment.dialects.client_names import CLIENTS, SECRET, owners
from proofka.model.deployment.dialects.client_settings import pass_on
from proofka.model.deployment.dialects.component import MOST_COMPONENTS, Component, Found, Role
from proofka.model.deployment.dialects.dialect import Dialect, of_what_parses
from proofka.model.deployment.dialects.document import YAML, Document
from proofka.model.deployment.dialects.java_properties import MARKED, MAY_BE_LEFT_OUT
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.dialects.spring_container import BESIDE, TRANSACTIONS, Mode, container, mode_of
from proofka.model.deployment.dialects.spring_names import documents_in, relaxed, truth
from proofka.model.deployment.dialects.spring_sections import is_of_profiles, sections_of
from proofka.model.deployment.dialects.templates import is_place, is_tag
from proofka.model.deployment.dialects.units import in_bytes, in_ms
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.given import Given
from proofka.model.deployment.hiding import is_secret, shown_value
from proofka.model.deployment.known_keys import MEANT, NEAR

NAME = "Spring Boot application"
PREFIX = ("spring", "kafka")
NOT_BOUND = "is no property of Spring Boot and has no effect"
UNREAD = "does not change the deliveries of this producer or consumer"
_RAW = "properties"
_LAYERS = range(4)
"""The sources of a setting, lowest precedence first: for both clients by name, for both under ``properties``, for one
by name, for one under ``properties``."""
_AS_IT_IS = (1, 3)

_TABLES = Path(__file__).with_name("tables")
_STREAMS = {
    ("applicationid",): "application.id",
    ("bootstrapservers",): "bootstrap.servers",
    ("clientid",): "client.id",
    ("replicationfactor",): "replication.factor",
    ("statedir",): "state.dir",
    ("cachemaxsizebuffering",): "cache.max.bytes.buffering",
    ("statestorecachemaxsize",): "statestore.cache.max.bytes",
}


@dataclass(frozen=True)
class _Row:
    roles: tuple[Role, ...]
    setting: str
    unit: str


@cache
def _table() -> Mapping[tuple[str, ...], _Row]:
    with (_TABLES / "spring.csv").open(encoding="utf-8", newline="") as table:
        return {
            relaxed(tuple(row["property"].split("."))): _Row(
                tuple(Role(role) for role in row["roles"].split("|")), row["setting"], row["unit"]
            )
            for row in csv.DictReader(table)
        }


@cache
def _joined() -> Mapping[str, tuple[str, ...]]:
    """Return the names of each property by their joined form, as environment variables have them."""
    return {"".join(names): names for names in (*_table(), *_unread(), ("listener", "ackmode"))}


def properties() -> tuple[str, ...]:
    """Return the properties that are bound to settings, below ``spring.kafka``, in their documented form."""
    with (_TABLES / "spring.csv").open(encoding="utf-8", newline="") as table:
        return (*(row["property"] for row in csv.DictReader(table)), "listener.ack-mode", "template.default-topic")


@cache
def _unread() -> frozenset[tuple[str, ...]]:
    lines = (_TABLES / "spring_unread.csv").read_text(encoding="utf-8").split()[1:]
    return frozenset(relaxed(tuple(line.split("."))) for line in lines)


@dataclass
class _Application:
    """The values of a file for one profile."""

    layers: dict[Role, list[dict[str, Given]]] = field(
        default_factory=lambda: {r: [{} for _ in _LAYERS] for r in CLIENTS}
    )
    mode: Mode | None = None
    retries: Given | None = None
    topics: dict[str, str] = field(default_factory=dict)
    mentioned: set[Role] = field(default_factory=set)
    streams: streams.Streams | None = None
    cloud: spring_cloud.Cloud = field(default_factory=spring_cloud.Cloud)

    def settings(self, role: Role) -> dict[str, Given]:
        """Return the values of a client, by precedence."""
        return {key: given for layer in self.layers[role] for key, given in layer.items()}

    @property
    def boot(self) -> spring_cloud.Boot:
        """The values that also count for the clients of bindings: all except the template's own transaction prefix."""
        settings = {
            role: {
                key: given
                for number, layer in enumerate(self.layers[role])
                for key, given in layer.items()
                if key != "transactional.id" or number in _AS_IT_IS
            }
            for role in CLIENTS
        }
        return spring_cloud.Boot(settings, self.mode)


@of_what_parses
def fits(document: Document) -> bool:
    """Tell whether a key begins with ``spring.kafka``, or is one of Spring Cloud Stream's for Kafka."""
    return any(
        relaxed(said.path)[:2] == PREFIX or spring_cloud.is_for_kafka(relaxed(said.path))
        for values in documents_in(document)
        for said in values
    )


def read(document: Document, fillings: Fillings) -> Found:
    """Return the producer and the consumer of an application, for each choice of profiles that makes a difference."""
    accounts = Accounts(document, fillings, separators=(":",))
    sections = sections_of(document, accounts, _is_ours, lambda said, of: _is_settled(said, of, accounts))
    components: list[Component] = []
    notes: list[str] = []
    for profiles, counting in sections.choices(accounts):
        application = _Application()
        for said in (said for section in counting for said in section.values):
            _sort(said, accounts, application)
        components += _components(",".join(profiles), application, accounts, notes)
        if len(components) > MOST_COMPONENTS:
            raise DeploymentError(f"has more than {MOST_COMPONENTS} clients", file=document.file)
    sections.account(lambda said: _sort(said, accounts, _Application()))
    return accounts.found(NAME, components, dict.fromkeys((*sections.notes, *notes)))


def _is_ours(said: Said) -> bool:
    names = relaxed(said.path)
    return (names[:2] == PREFIX and names != PREFIX) or spring_cloud.is_cloud(names)


def _is_settled(said: Said, document: Document, accounts: Accounts) -> bool:
    """Tell whether a setting is present in any case: not behind a byte order mark, nor in a template's part."""
    if document.suffix in YAML:
        return True
    if said.line == 1 and document.has_byte_order_mark:
        accounts.reject(said, MARKED)
    elif said.line in document.template.inside and not is_tag(said.key):
        (accounts.reject if _is_ours(said) else accounts.ignore)(said, MAY_BE_LEFT_OUT)
    else:
        return True
    return False


def _sort(said: Said, accounts: Accounts, application: _Application) -> None:
    names = relaxed(said.path)
    if is_of_profiles(names):
        accounts.ignore(said, "is for profiles and files, not a setting of Kafka")
    elif names and is_tag(said.path[0]):
        accounts.ignore(said, "belongs to a template, not to a setting")
    elif names and is_place(said.key):
        accounts.reject(said, "has a template in place of the key; render the template first")
    elif spring_cloud.is_cloud(names):
        spring_cloud.sort(said, accounts, application.cloud)
    elif names[:2] != PREFIX or names == PREFIX:
        accounts.ignore(said, NOT_KAFKAS)
    elif said.null:
        accounts.ignore(said, "has no value")
    elif is_secret(said.key):
        accounts.ignore(said, SECRET)
    else:
        _sort_own(said, _known(said.path[2:]), accounts, application)


def _known(path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names, or those of the property that an environment variable with more names means."""
    names = relaxed(path)
    return path if names in _table() or _RAW in names else _joined().get("".join(names), path)


def _sort_own(said: Said, path: tuple[str, ...], accounts: Accounts, application: _Application) -> None:
    names = relaxed(path)
    row = _table().get(names) or (_table().get(names[:-1]) if names and names[-1].isdigit() else None)
    if row is not None:
        _by_name(said, names, row, accounts, application)
    elif names[:1] == (_RAW,) and len(path) > 1:
        key = ".".join(path[1:])
        for role in owners(key) or CLIENTS:
            pass_on(said, key, role, accounts, application.layers[role][1])
        if application.streams is not None and not owners(key):
            streams.sort(said, key, application.streams, accounts)
        application.mentioned.update(CLIENTS)
    elif names[:1] and names[0] in CLIENTS and names[1:2] == (_RAW,) and len(path) > 2:
        role = Role(names[0])
        pass_on(said, ".".join(path[2:]), role, accounts, application.layers[role][3])
        application.mentioned.add(role)
    elif names == ("listener", "ackmode"):
        application.mode = mode_of(said, accounts) or application.mode
        application.mentioned.add(Role.CONSUMER)
    elif names == ("retry", "topic", "enabled"):
        application.retries = accounts.take(said, "on_processing_error", truth(accounts.text(said)))
        accounts.ignore(said, "disables retry topics: failed records are retried in place")
        application.mentioned.add(Role.CONSUMER)
    elif names == ("template", "defaulttopic"):
        application.topics[Role.PRODUCER] = accounts.text(said)
        accounts.ignore(said, "names the topic of the producer")
        application.mentioned.add(Role.PRODUCER)
    elif names[:1] == ("streams",) and len(names) > 1:
        _of_streams(said, path[1:], accounts, application)
    elif any(names[:length] in _unread() for length in range(1, len(names) + 1)):
        accounts.ignore(said, UNREAD)
        if names[0] == "listener":
            application.mentioned.add(Role.CONSUMER)
    else:
        accounts.ignore(said, f"{NOT_BOUND}; {near}" if (near := _meant(path)) else NOT_BOUND)


def _meant(path: tuple[str, ...]) -> str:
    """Return the question for the property that a name resembles, or under which Spring passes on a setting
    unchanged."""
    key = ".".join(path[1:])
    if path[0] in CLIENTS and is_known(path[0], key):
        return f"{MEANT} {'.'.join(PREFIX)}.{path[0]}.{_RAW}.{key}?"
    documented = {".".join(relaxed(tuple(name.split(".")))): name for name in properties()}
    names = (*documented, *(".".join(names) for names in _unread()))
    near = get_close_matches(".".join(relaxed(path)), names, n=1, cutoff=NEAR)
    return f"{MEANT} {'.'.join(PREFIX)}.{documented[near[0]]}?" if near and near[0] in documented else ""


def _by_name(said: Said, names: tuple[str, ...], row: _Row, accounts: Accounts, application: _Application) -> None:
    value = _in_unit(accounts.text(said), row.unit)
    if value is None:
        given = shown_value(row.setting, accounts.text(said).strip())
        accounts.reject(said, f"{given} is no value of {row.setting} in Spring; write {_VALID[row.unit]}")
        return
    layer = 0 if len(row.roles) == 2 else 2
    for role in row.roles:
        into = application.layers[role][layer]
        if names not in _table() and row.setting in into and names[-1] != "0":
            # The numbered items of a list become one value, in the line of the first.
            first = into[row.setting]
            into[row.setting] = Given(row.setting, f"{first.value},{value}", first.origin)
            accounts.ignore(said, f"is an item of the list in line {first.origin.line}")
        else:
            into[row.setting] = accounts.take(said, row.setting, value)
    application.mentioned.update(row.roles)


def _of_streams(said: Said, path: tuple[str, ...], accounts: Accounts, application: _Application) -> None:
    names = relaxed(path)
    if application.streams is None:
        application.streams = streams.Streams()
    if names in _STREAMS:
        streams.sort(said, _STREAMS[names], application.streams, accounts)
    elif names[0] == _RAW and len(path) > 1:
        streams.sort(said, ".".join(path[1:]), application.streams, accounts)
    else:
        accounts.ignore(said, UNREAD)


_VALID = {
    "ms": "a number of ms, or a duration with its unit, as in 500ms, 5s or PT5S",
    "bytes": "a number of bytes, or a size with its unit, as in 16KB",
    "truth": "true or false (also on, off, yes, no, 1 or 0)",
}
"""The valid values of properties, by the unit in the table."""


def _in_unit(text: str, unit: str) -> str | None:
    if "${" in text or "#{" in text:
        return text
    if unit == "ms":
        return in_ms(text)
    if unit == "bytes":
        return in_bytes(text)
    if unit == "truth":
        return truth(text)
    return text.lower().replace("-", "_") if unit == "lower" else text


def _components(profiles: str, application: _Application, accounts: Accounts, notes: list[str]) -> Iterator[Component]:
    """Yield the producer and the consumer, the clients of Streams, and those of bindings."""
    settings = {role: application.settings(role) for role in CLIENTS}
    for role in CLIENTS:
        if role not in application.mentioned:
            continue
        answers: dict[str, Given] = {}
        if role is Role.CONSUMER:
            settings[role], answers = container(settings[role], application.mode, application.retries, accounts, notes)
            if "transactional.id" in settings[Role.PRODUCER]:
                automatic = settings[role]["enable.auto.commit"].value.strip().lower() == "true"
                notes.append(BESIDE if automatic else TRANSACTIONS)
        topic = application.topics.get(role, "")
        name = f"spring.kafka.{role}" + (f" ({profiles})" if profiles else "")
        topics = (topic,) if topic else ()
        yield Component(role, name, settings[role], topics, application=answers, profile=profiles)
    if application.streams is not None:
        yield from streams.components_of(application.streams, accounts, notes, profiles)
    yield from spring_cloud.components_of(application.cloud, application.boot, profiles, accounts, notes)


DIALECT = Dialect(NAME, fits, read, beside_for_spring)
