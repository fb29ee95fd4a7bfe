"""Spring Boot: ``spring.kafka.*`` in ``application.yml`` or ``.properties``, names in any of their relaxed forms.

What no file says is Spring's own: a listener container switches auto-commit off and commits by itself (2.3 and later),
after each poll whose records all returned (``ack-mode``), and goes on after ten deliveries of a record that fails.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from model.deployment.dialects.accounts import Accounts
from model.deployment.dialects.component import Component, Found, Role
from model.deployment.dialects.dialect import Dialect
from model.deployment.dialects.document import YAML, Document
from model.deployment.dialects.formats.yaml import values_of
from model.deployment.dialects.placeholders import Fillings
from model.deployment.dialects.said import Said
from model.deployment.dialects.units import in_bytes, in_ms
from model.deployment.errors import DeploymentError
from model.deployment.given import Given

FRAMEWORK = "Spring Kafka"
PREFIX = ("spring", "kafka")
_PROFILE = (("spring", "config", "activate", "onprofile"), ("spring", "profiles"))
_RAW = "properties"
_ROLES = (Role.PRODUCER, Role.CONSUMER)
_TABLE = Path(__file__).with_name("tables") / "spring.csv"

COMMITS = {
    "record": "after",
    "batch": "after",
    "time": "after",
    "count": "after",
    "counttime": "after",
    "manual": "after",
    "manualimmediate": "after",
}
"""When the container commits, by ``ack-mode``: never before a listener has returned."""


@dataclass(frozen=True)
class _Row:
    roles: tuple[Role, ...]
    setting: str
    unit: str


@cache
def _table() -> Mapping[tuple[str, ...], _Row]:
    with _TABLE.open(encoding="utf-8", newline="") as table:
        return {
            relaxed(tuple(row["property"].split("."))): _Row(
                tuple(Role(role) for role in row["roles"].split("|")), row["setting"], row["unit"]
            )
            for row in csv.DictReader(table)
        }


def properties() -> tuple[str, ...]:
    """The properties that are bound to settings, below ``spring.kafka``, as they are documented."""
    with _TABLE.open(encoding="utf-8", newline="") as table:
        return (*(row["property"] for row in csv.DictReader(table)), "listener.ack-mode", "template.default-topic")


def relaxed(path: tuple[str, ...]) -> tuple[str, ...]:
    """Names as Spring compares them: without dashes and underscores, in small letters.

    >>> relaxed(("spring", "kafka", "consumer", "isolationLevel"))
    ('spring', 'kafka', 'consumer', 'isolationlevel')
    """
    return tuple(name.replace("-", "").replace("_", "").lower() for name in path)


@dataclass
class _Application:
    """What one document of a file says, for one profile."""

    profile: str = ""
    settings: dict[Role, dict[str, Given]] = field(default_factory=lambda: {role: {} for role in _ROLES})
    listener: dict[str, Given] = field(default_factory=dict)
    topics: dict[str, str] = field(default_factory=dict)
    mentioned: set[Role] = field(default_factory=set)


def _documents(document: Document) -> Iterator[list[Said]]:
    """The values of each document in a file, names nested or dotted alike."""
    if document.suffix in YAML:
        for node in document.yaml:
            yield [replace(said, path=_names(".".join(said.path))) for said in values_of(node)]
    else:
        yield [replace(said, path=_names(said.key)) for said in document.properties]


def _names(key: str) -> tuple[str, ...]:
    """The names of a key; a name in square brackets keeps its dots, as maps with such keys need it."""
    names: list[str] = []
    for number, part in enumerate(key.split("[")):
        inside, bracket, after = part.partition("]")
        if number and bracket:
            names.append(inside.strip("'\""))
            names += [name for name in after.split(".") if name]
        else:
            names += [name for name in part.split(".") if name]
    return tuple(names)


def fits(document: Document) -> bool:
    """Some key begins with ``spring.kafka``, or is one of Spring Cloud Stream's for Kafka."""
    try:
        return any(relaxed(said.path)[:2] == PREFIX for values in _documents(document) for said in values)
    except DeploymentError:
        return False


def read(document: Document, fillings: Fillings) -> Found:
    """The producer and the consumer of an application, for each profile that says something of its own."""
    accounts = Accounts(document, fillings, separators=(":",))
    applications: list[_Application] = []
    for values in _documents(document):
        application = _Application()
        for said in accounts.last_of_each(values, "Spring"):
            _sort(said, accounts, application)
        applications.append(application)
    shared = next((one for one in applications if not one.profile), _Application())
    components: list[Component] = []
    for application in applications:
        if application is shared or application.mentioned:
            components += _components(application, shared, accounts)
    return accounts.found("Spring Boot application", components)


def _sort(said: Said, accounts: Accounts, application: _Application) -> None:
    names = relaxed(said.path)
    if names in _PROFILE:
        application.profile = accounts.text(said)
        accounts.ignore(said, "names the profile of what follows")
    elif names[:2] != PREFIX or names == PREFIX:
        accounts.ignore(said)
    elif said.null:
        accounts.ignore(said, "says nothing")
    else:
        _sort_own(said, said.path[2:], accounts, application)


def _sort_own(said: Said, path: tuple[str, ...], accounts: Accounts, application: _Application) -> None:
    names = relaxed(path)
    row = _table().get(names)
    if row is not None:
        value = _in_unit(accounts.text(said), row.unit)
        if value is None:
            accounts.reject(said, f"is no value that Spring takes for {row.setting}")
            return
        for role in row.roles:
            application.settings[role][row.setting] = accounts.take(said, row.setting, value)
        application.mentioned.update(_ROLES if len(row.roles) == 2 else row.roles)
    elif names[0] == _RAW and len(path) > 1:
        for role in _ROLES:
            application.settings[role].setdefault(".".join(path[1:]), accounts.take(said, ".".join(path[1:])))
        application.mentioned.update(_ROLES)
    elif names[0] in _ROLES and len(path) > 2 and names[1] == _RAW:
        role = Role(names[0])
        application.settings[role][".".join(path[2:])] = accounts.take(said, ".".join(path[2:]))
        application.mentioned.add(role)
    elif names == ("listener", "ackmode"):
        application.listener[names[1]] = accounts.take(said, names[1])
        application.mentioned.add(Role.CONSUMER)
    elif names == ("template", "defaulttopic"):
        application.topics["producer"] = accounts.text(said)
        accounts.ignore(said, "names the topic that is written to")
        application.mentioned.add(Role.PRODUCER)
    elif names[0] in ("ssl", "jaas", "admin", "streams", "template", "retry", "listener") or names[1:2] == ("ssl",):
        accounts.ignore(said, "does not change what this producer or consumer does to a record")
    else:
        accounts.ignore(said, "no property of Spring Boot: it is bound to nothing, and has no effect")


def _in_unit(text: str, unit: str) -> str | None:
    if unit == "ms":
        return in_ms(text)
    if unit == "bytes":
        return in_bytes(text)
    return text.lower().replace("-", "_") if unit == "lower" else text


def _components(application: _Application, shared: _Application, accounts: Accounts) -> Iterator[Component]:
    """The producer and the consumer under a profile: what it says, over what is said for all."""
    for role in _ROLES:
        if role not in application.mentioned | shared.mentioned:
            continue
        settings = {**shared.settings[role], **application.settings[role]}
        answers: dict[str, Given] = {}
        if role is Role.CONSUMER:
            settings, answers = _container(settings, {**shared.listener, **application.listener}, accounts)
        topic = application.topics.get(role, shared.topics.get(role, ""))
        name = f"spring.kafka.{role}" + (f" ({application.profile})" if application.profile else "")
        yield Component(
            role, name, settings, (topic,) if topic else (), application=answers, profile=application.profile
        )


def _container(
    settings: Mapping[str, Given], listener: Mapping[str, Given], accounts: Accounts
) -> tuple[dict[str, Given], dict[str, Given]]:
    """What a listener container makes of a consumer's settings, and when it commits."""
    own = dict(settings)
    mode = listener.get("ackmode")
    answers: dict[str, Given] = {}
    automatic = own.get("enable.auto.commit")
    if automatic is None:
        own["enable.auto.commit"] = accounts.by_framework("enable.auto.commit", "false", f"{FRAMEWORK}'s container")
    if automatic is None or automatic.value.strip().lower() == "false":
        said = (mode.value if mode is not None else "batch").replace("-", "").replace("_", "").lower()
        value = COMMITS.get(said, "after")
        origin = mode.origin if mode is not None else own["enable.auto.commit"].origin
        answers["commit"] = Given("commit", value, origin)
    return own, answers


DIALECT = Dialect("Spring Boot application", fits, read)
