"""``.properties`` of Java clients: of one or both, plain or under a prefix, by today's names or the old ones.

The role of a setting follows from its prefix (``producer.``, ``kafka.consumer.``), otherwise from the file's name,
otherwise from the keys. A flat file of librdkafka's properties counts too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from proofka.model.deployment.defaults import is_known
from proofka.model.deployment.dialects import old_clients
from proofka.model.deployment.dialects.accounts import NOT_KAFKAS, Accounts
from proofka.model.deployment.dialects.client_names import (
    CLIENTS,
    LIBRDKAFKA,
    is_legacy,
    is_misspelt,
    is_named,
    is_of,
    matters,
    owners,
    reason_to_leave_out,
)
from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.dialects.dialect import Dialect, of_what_parses
from proofka.model.deployment.dialects.document import PROPERTIES, Document
from proofka.model.deployment.dialects.java_properties import read_properties
from proofka.model.deployment.dialects.librdkafka_words import told_by, unquoted, with_topic_settings
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.given import Given

NAME = "Kafka client's properties"
_TABLE = Path(__file__).with_name("tables") / "telling.csv"
TELLING = frozenset(_TABLE.read_text(encoding="utf-8").split()[1:])
"""Keys that show a client's configuration anywhere, even under an unknown prefix."""

SHARED = "is for all kinds of clients, and the file has no producer or consumer"
BESIDES = "is not under the prefix that the client's settings have"
TOPICS = frozenset({"topic", "topics", "topic.name", "topic.names"})
_LOOSE = frozenset({".conf", ".cfg", ".j2", ".template", ".tpl"})
_SECTION = re.compile(r"\[([\w .-]{1,60})\]")
_GROUP = "group.id"
REPLICAS = "replication.factor"
"""The setting with which an application creates its topic."""

_WEAK = frozenset({"session.timeout.ms", "send.buffer.bytes"})
"""Settings of one client that files for all clients contain too."""


@dataclass(frozen=True)
class _Key:
    """A key taken apart: the file's own prefix, the role in the prefix, and Kafka's name."""

    base: str
    role: Role | None
    name: str


@dataclass
class _Clients:
    """The settings under one prefix: of one client, or of both."""

    said: list[tuple[_Key, Said]] = field(default_factory=list)

    def roles(self, by_name: Role | None, library: str) -> tuple[Role, ...]:
        """Return the roles of the clients: those with a prefix of their own, and those that the other keys belong
        to."""
        found = {key.role for key, _ in self.said if key.role is not None}
        plain = [key.name for key, _ in self.said if key.role is None]
        if plain and by_name is not None:
            return tuple(role for role in CLIENTS if role in found | {by_name})
        for name in plain:
            own = owners(name, library)
            if len(own) == 1 and (name in TELLING or name == _GROUP):
                found.add(own[0])
        if not found:
            found |= {own[0] for own in (owners(name, library) for name in plain if name not in _WEAK) if len(own) == 1}
        return tuple(role for role in CLIENTS if role in found)


@of_what_parses
def fits(document: Document) -> bool:
    """Tell whether a key is a client's, plain or behind a prefix."""
    if document.suffix not in PROPERTIES:
        return False
    keys = [unquoted(said.key) for said in document.properties]
    parts = [_parted(key) for key in keys]
    telling = _telling(parts, document)
    if document.suffix in _LOOSE:
        # Many tools have files with such an ending: only a flat file of mostly Kafka's keys is a client's.
        return bool(telling) and 2 * sum(_is_kafkas(one.name) and not one.base for one in parts) >= len(parts)
    return bool(telling)


def read(document: Document, fillings: Fillings) -> Found:
    """Return the producer and the consumer under each prefix."""
    separators = (":-", ":") if document.name.startswith("application") else (":-",)
    accounts = Accounts(document, fillings, separators)
    values = read_properties(document, accounts, _matters)
    values = list(_without_sections(values, accounts))
    witness = told_by(values)
    client = None if witness is None else Given("client", LIBRDKAFKA, accounts.take(witness, "client").origin)
    library = "" if client is None else client.value
    if library:
        values = list(with_topic_settings(values, accounts))
    groups, notes = _grouped(values, accounts, document), []
    components: list[Component] = []
    for base, group in groups.items():
        roles = group.roles(_role_of_file(document), library)
        for role in roles:
            component, note = _component(base, role, roles, group, accounts, client)
            components.append(component)
            notes += note
        created, told = _created_topic(group, accounts) if roles else (None, [])
        components += [created] if created is not None else []
        notes += told
        for key, said in group.said:
            if created is None or key.name != REPLICAS:
                _leave_out(key, said, roles, accounts, library)
    return accounts.found(NAME, components, dict.fromkeys(notes))


def _without_sections(values: Iterable[Said], accounts: Accounts) -> Iterator[Said]:
    """Yield the values under ``[producer]`` and ``[consumer]`` as if they had that prefix; ``[default]`` is for all."""
    section = ""
    for said in values:
        head = _SECTION.fullmatch(said.key)
        if head is not None:
            section = head[1].strip()
            accounts.ignore(said, "names the section of the following settings")
            section = "" if section.lower() == "default" else section + "."
        else:
            yield Said((section + unquoted(said.key),), said.value, said.line, said.null)


def _telling(parts: Iterable[_Key], document: Document) -> list[_Key]:
    """Return the keys that show a client. A group does so in a consumer's file, or beside an old consumer's
    ZooKeeper."""
    keys = list(parts)
    old = any(key.name == "zookeeper.connect" for key in keys) or _role_of_file(document) is Role.CONSUMER
    return [key for key in keys if key.name in TELLING or (old and key.name == _GROUP)]


def _role_of_file(document: Document) -> Role | None:
    return _one_role(document.name)


def _one_role(text: str) -> Role | None:
    named = [role for role in CLIENTS if role.value in text.lower()]
    return named[0] if len(named) == 1 else None


def _is_kafkas(name: str) -> bool:
    return bool(owners(name)) or is_named(name) or name in TELLING or is_of(Role.PRODUCER, name, LIBRDKAFKA)


def _matters(key: str) -> bool:
    name = _parted(key).name
    return any(matters(role.value, name) or is_legacy(role, name) for role in CLIENTS)


@lru_cache(20_000)
def _parted(key: str) -> _Key:
    """Split a key into prefix and Kafka's longest known name; an unknown key is all name."""
    names = key.split(".")
    if "" in names:
        # Kafka knows no name with an empty part, and ".acks" is not acks.
        return _Key("", None, key)
    for start in range(min(len(names), 8)):
        name = ".".join(names[start:])
        prefix = ".".join(names[:start])
        # A name that only a pattern knows, as all of ssl., shows nothing behind any other prefix.
        whole = start == 0 or any(word in prefix.lower() for word in ("kafka", *CLIENTS))
        if name in TELLING or ((len(names) - start > 1 or not start) and (_is_kafkas(name) if whole else owners(name))):
            return _split(prefix, name)
    return _Key("", None, key)


def _split(prefix: str, name: str) -> _Key:
    """Split a prefix at the part that names the role, together with everything after it."""
    parts = prefix.split(".") if prefix else []
    for number, part in enumerate(parts):
        role = _one_role(part)
        if role is not None:
            rest = ".".join((*parts[number + 1 :], name))
            alone = part.lower().strip("-_") in (role.value, f"{role.value}s", f"kafka-{role.value}", "config")
            return _Key(".".join((*parts[:number], "" if alone else part)).strip("."), role, rest)
    return _Key(prefix, None, name)


def _grouped(values: Iterable[Said], accounts: Accounts, document: Document) -> dict[str, _Clients]:
    """Return the settings by their common prefix; settings under none are ignored."""
    parts = [(_parted(said.key), said) for said in values]
    telling = _telling((key for key, _ in parts), document)
    bases = sorted({key.base for key in telling}, key=lambda base: -len(base))
    groups: dict[str, _Clients] = {base: _Clients() for base in sorted(bases, key=len)}
    for key, said in parts:
        if key.base in groups and (key.base or _is_kafkas(key.name)):
            groups[key.base].said.append((key, said))
            continue
        base = next((base for base in bases if not base or said.key.startswith(base + ".")), None)
        if base is None:
            accounts.ignore(said, BESIDES if owners(key.name) else NOT_KAFKAS)
        else:
            groups[base].said.append((_split("", said.key.removeprefix(base).lstrip(".")), said))
    for group in groups.values():
        group.said = [(_with_role(key, group), said) for key, said in group.said]
    return groups


def _with_role(key: _Key, group: _Clients) -> _Key:
    """Return an unknown key behind ``producer.`` or ``consumer.`` as that client's if others there are."""
    first, dot, rest = key.name.partition(".")
    role = _one_role(first) if key.role is None and dot else None
    if role is None or _is_kafkas(key.name) or not any(other.role is role for other, _ in group.said):
        return key
    return _Key(key.base, role, rest)


def _component(
    base: str, role: Role, roles: tuple[Role, ...], group: _Clients, accounts: Accounts, client: Given | None
) -> tuple[Component, list[str]]:
    """Return one client: the settings with its prefix, over those without a prefix."""
    library = LIBRDKAFKA if client is not None else ""
    plain: dict[str, Said] = {}
    own: dict[str, Said] = {}
    topics: list[str] = []
    for key, said in group.said:
        if key.role not in (None, role):
            continue
        if key.name in TOPICS:
            topics += [topic for topic in re.split(r"[,;\s]+", accounts.text(said)) if topic]
        elif _goes_in(key, role, roles, library):
            found = own if key.role is role else plain
            if key.name in found:
                accounts.reject(said, f"sets {key.name}, as {found[key.name].key} does: keep one of the two")
            else:
                found[key.name] = said
    settings = {name: accounts.take(said, name) for name, said in {**plain, **own}.items()}
    notes: list[str] = []
    application: dict[str, Given] = {}
    if not library:
        settings, application, notes = old_clients.of_today(role, settings, accounts)
    name = ".".join(part for part in (base, role.value) if part)
    return Component(role, name, settings, tuple(dict.fromkeys(topics)), client, application=application), notes


def _created_topic(group: _Clients, accounts: Accounts) -> tuple[Component | None, list[str]]:
    """Return the topic of a client's file that gives a number of replicas and the name of one topic.

    No client reads the number; the application applies this number. A file without one name gives only a note.
    """
    said = [said for key, said in group.said if key.name == REPLICAS and key.role is None]
    names = {name for key, said in group.said if key.name in TOPICS for name in accounts.text(said).split(",")}
    if len(said) != 1:
        return None, []
    if len(names) == 1:
        return Component(Role.TOPIC, names.pop().strip(), {REPLICAS: accounts.take(said[0], REPLICAS)}), []
    number = accounts.text(said[0])
    return None, [f"no client reads {said[0].key}: if the topic has {number} replicas, use --assume replicas={number}"]


def _goes_in(key: _Key, role: Role, roles: tuple[Role, ...], library: str) -> bool:
    if reason_to_leave_out(role, key.name, library) is not None:
        return False
    if role in owners(key.name, library) or is_named(key.name):
        return True
    if library and (is_of(role, key.name) or is_known(f"{library} {role}", key.name)):
        return True
    others = [other for other in roles if other is not role]
    return is_misspelt(key.name, role, library) and not (
        key.role is None and any(other in owners(key.name, library) for other in others)
    )


def _leave_out(key: _Key, said: Said, roles: tuple[Role, ...], accounts: Accounts, library: str) -> None:
    """Account for a setting that no component has."""
    whose = [role for role in roles if key.role in (None, role)]
    if key.name in TOPICS:
        accounts.ignore(said, "names the topic")
    elif any(_goes_in(key, role, roles, library) for role in whose):
        if not library and any(old_clients.without_successor(role, key.name) for role in whose):
            old_clients.leave_out(key.name, said, accounts)
    elif not whose:
        accounts.ignore(said, SHARED if _is_kafkas(key.name) else NOT_KAFKAS)
    else:
        reasons = [reason_to_leave_out(role, key.name, library) for role in whose]
        accounts.ignore(said, next((reason for reason in reasons if reason), NOT_KAFKAS))


DIALECT = Dialect(NAME, fits, read)
