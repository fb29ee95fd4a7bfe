"""Settings of Confluent's client for .NET in ``appsettings.json``: properties of its ``ClientConfig`` and their words.

A program binds a section to ``ProducerConfig`` or ``ConsumerConfig``; keys without a property of that name are skipped.
The client is based on librdkafka, whose names have dots where the properties have capitals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from proofka.model.deployment.dialects.accounts import NOT_KAFKAS, Accounts
from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.dialects.dialect import Dialect, of_what_parses
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.keys import LIBRDKAFKA, has_key
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.given import Given
from proofka.model.deployment.setting import Origin
from proofka.model.deployment.yaml_tree import Mapping

NAME = "settings of a .NET program"
NOTE = "the program can change values that it binds from this file, and can name other sections"
ADDRESS = "bootstrap.servers"
UNREPORTED, TOPICS = "enable.delivery.reports", ("topic", "topics", "topic.name", "topic.names")
_ROLES = (Role.PRODUCER, Role.CONSUMER)
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PASCAL = re.compile(r"[A-Z][A-Za-z0-9]{1,60}")
_WORDS = {"acks": {"leader": "1", "none": "0", "all": "all", "-1": "all"}}
_SPLIT = {"isolation.level": "_", "security.protocol": "_", "partition.assignment.strategy": "-"}
_WHOLE = {"roundrobin": "roundrobin", "round-robin": "roundrobin"}
_OTHERS_KEEP = "is no property of this client, so it has no effect"


@dataclass
class _Section:
    """The values of one object, by librdkafka's names; ``above``: the object around it."""

    path: tuple[str, ...]
    above: _Section | None
    said: list[tuple[str, Said]] = field(default_factory=list)

    @property
    def role(self) -> Role | None:
        """The role in the name of the object or of an enclosing object."""
        for name in reversed(self.path):
            found = [role for role in _ROLES if role.value in name.lower()]
            if len(found) == 1:
                return found[0]
        return None

    @property
    def has_address(self) -> bool:
        """Tell whether the object, or an enclosing one, names brokers."""
        around = self.above is not None and self.above.has_address
        return around or any(key == ADDRESS for key, _ in self.said)

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles of the clients of this object: by its name, otherwise by settings that only one role has."""
        if not any("kafka" in name.lower() for name in self.path) and not self.has_address:
            return ()
        own = [key for key, _ in self.said if key not in ("client.id", ADDRESS)]
        told = [key for key in own if sum(has_key(LIBRDKAFKA, role, key) for role in _ROLES) == 1]
        if self.role is not None:
            known = any(has_key(LIBRDKAFKA, self.role, key) for key, _ in self.said)
            return (self.role,) if known else ()
        return tuple(role for role in _ROLES if any(has_key(LIBRDKAFKA, role, key) for key in told))


def _key(name: str) -> str:
    return _CAPITAL.sub(".", name).lower() if _PASCAL.fullmatch(name) else ""


def _sections(document: Document) -> list[_Section]:
    sections: list[_Section] = []
    if document.suffix == ".json" and '"BootstrapServers"' in document.text:
        _walk(document.json, (), None, sections)
    return sections


def _walk(node: object, path: tuple[str, ...], above: _Section | None, sections: list[_Section]) -> None:
    if not isinstance(node, Mapping):
        return
    section = _Section(path, above)
    sections.append(section)
    for entry in node.entries:
        if isinstance(entry.node, Mapping):
            _walk(entry.node, (*path, entry.key), section, sections)
        else:
            section.said += [(_key(entry.key), said) for said in values_of(entry.node, (*path, entry.key))]


@of_what_parses
def fits(document: Document) -> bool:
    """Tell whether JSON has broker addresses under the property's name, and a client with another setting."""
    return any(section.roles for section in _sections(document))


def read(document: Document, fillings: Fillings) -> Found:
    """Return the clients of the sections of a file."""
    accounts = Accounts(document, fillings)
    components = [
        _component(role, section, accounts, document.file) for section in _sections(document) for role in section.roles
    ]
    for said in values_of(document.json):
        key = _key(next((name for name in reversed(said.path) if not name.startswith("[")), ""))
        of_client = any(has_key(LIBRDKAFKA, role, key) for role in _ROLES)
        accounts.ignore(said, "names topics" if key in TOPICS else _OTHERS_KEEP if of_client else NOT_KAFKAS)
    return accounts.found(NAME, components, (NOTE,))


def _component(role: Role, section: _Section, accounts: Accounts, file: str) -> Component:
    settings: dict[str, Given] = {}
    answers: dict[str, Given] = {}
    topics: list[str] = []
    for one in _chain(section):
        for key, said in one.said:
            if said.null:
                continue
            if key in TOPICS and one is section:
                topics += [name.strip() for name in accounts.text(said).split(",") if name.strip()]
            elif has_key(LIBRDKAFKA, role, key) and key not in settings:
                settings[key] = accounts.take(said, key, _word(key, accounts.text(said)))
            elif key == UNREPORTED and role is Role.PRODUCER and accounts.text(said).lower() == "false":
                answers["on_send_error"] = accounts.take(said, "on_send_error", "ignore")
    line = min((said.line for _, said in section.said), default=1)
    client = Given("client", LIBRDKAFKA, Origin("rule", "Confluent's client for .NET uses it", file, line))
    name = ".".join(section.path) or role.value
    return Component(role, name, settings, tuple(dict.fromkeys(topics)), client=client, application=answers)


def _chain(section: _Section) -> Iterator[_Section]:
    """Yield a section, and enclosing sections that contain only values shared by all their clients."""
    one: _Section | None = section
    while one is not None:
        if one is section or not one.roles:
            yield one
        one = one.above


def _word(key: str, text: str) -> str:
    """Return librdkafka's word for an enumeration's value; a boolean in lower case."""
    if key in _WORDS:
        return _WORDS[key].get(text.lower(), text)
    if key in _SPLIT and _PASCAL.fullmatch(text):
        word = _CAPITAL.sub(_SPLIT[key], text).lower()
        return _WHOLE.get(word, word)
    lower = key in ("auto.offset.reset", "compression.type", "compression.codec") or text.lower() in ("true", "false")
    return text.lower() if lower else text


DIALECT = Dialect(NAME, fits, read)
