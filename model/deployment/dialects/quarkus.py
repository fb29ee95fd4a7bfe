"""Quarkus and SmallRye: channels (``mp.messaging.incoming.NAME.*``) in ``application.properties`` or YAML.

Each channel is a client. Settings of the connector, and under ``kafka.``, are for all channels. By default, the
connector for Kafka writes acks=1, waits for each write before it acknowledges the incoming message, and commits by
itself the records that were processed without a gap (``throttled``).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from proofka.model.deployment.dialects import streams
from proofka.model.deployment.dialects.accounts import NOT_KAFKAS, Accounts
from proofka.model.deployment.dialects.application_files import ALONE, UNREAD, beside_for_quarkus, name_of
from proofka.model.deployment.dialects.client_names import CLIENTS, owners
from proofka.model.deployment.dialects.client_settings import pass_on, with_defaults
from proofka.model.deployment.dialects.component import MOST_COMPONENTS, Component, Found, Role
from proofka.model.deployment.dialects.connect import names_of_topics
from proofka.model.deployment.dialects.dialect import Dialect, of_what_parses
from proofka.model.deployment.dialects.document import PROPERTIES, YAML, Document
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.java_properties import read_properties
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.references import References
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.given import Given
from proofka.model.deployment.hiding import is_secret

NAME = "Quarkus application"
SMALLRYE = "SmallRye's Kafka connector"
CONNECTOR = "smallrye-kafka"
UNLIMITED = "2147483647"
DEFAULTS: Mapping[Role, Mapping[str, str]] = {
    Role.PRODUCER: {"acks": "1", "retries": UNLIMITED},
    Role.CONSUMER: {"enable.auto.commit": "false"},
}
"""The connector's defaults for its clients' settings (KafkaConnector.java)."""

_DIRECTIONS = {"incoming": Role.CONSUMER, "outgoing": Role.PRODUCER}
_PARTS = re.compile(r'"([^"]*)"|([^."]+)')
_FAILS = {"fail": "stop", "ignore": "skip", "dead-letter-queue": "forward", "delayed-retry-topic": "forward"}
_COMMITS = {"throttled": "after", "ignore": "never"}
_STRATEGIES = ("throttled", "latest", "ignore", "checkpoint")
_TABLE = Path(__file__).with_name("tables") / "quarkus.csv"
_GROUPS = ("dead-letter-queue.", "delayed-retry-topic.", "throttled.", "checkpoint.", "cloud-events-", "health-")
AGAIN = "limits the connector's retries, after which it gives up: not modelled; remove it, or set it to 0"
CHANNELS = ("mp", "messaging")
_CHANNEL = 3
"""The position of a channel's name among the names of a key."""

_FORMS = ("properties", "yml", "yaml")
_WITH_DOTS = "has a key with dots, which is one name in YAML, so Quarkus ignores it; write each name on its own line"
OF_THE_CONNECTOR = "is for the connector and does not change the client's deliveries"


@cache
def _attributes() -> Mapping[str, frozenset[Role]]:
    with _TABLE.open(encoding="utf-8", newline="") as table:
        return {
            row["attribute"]: frozenset(Role(role) for role in row["roles"].split("|")) for row in csv.DictReader(table)
        }


@dataclass
class _Channel:
    """The values of a channel, or of all channels: for clients, and for the connector."""

    settings: dict[Role, dict[str, Given]] = field(default_factory=lambda: {role: {} for role in CLIENTS})
    own: dict[str, Given] = field(default_factory=dict)


@dataclass
class _Profile:
    """The values of a file for one profile, or for all (without a name)."""

    channels: dict[tuple[Role, str], _Channel] = field(default_factory=dict)
    connector: _Channel = field(default_factory=_Channel)
    everywhere: _Channel = field(default_factory=_Channel)
    streams: streams.Streams | None = None
    application: Given | None = None

    @property
    def is_for_all(self) -> bool:
        """Tell whether the profile has values for every channel."""
        return any(any(one.settings.values()) or one.own for one in (self.connector, self.everywhere))


@of_what_parses
def fits(document: Document) -> bool:
    """Tell whether the document has channels and another sign of Kafka, or Streams in Quarkus's form."""
    values = [(_split(".".join(said.path))[1], said.value) for said in _said(document)]
    kafka = any("kafka" in ".".join(names) or "kafka" in value.lower() for names, value in values)
    channels = [names for names, _ in values if names[:2] == CHANNELS and names[2:3] and len(names) > 4]
    own = any(owners(".".join(names[4:])) for names in channels if names[2] in _DIRECTIONS)
    is_streams = any(
        names[:2] == ("quarkus", "kafka-streams") or names[:1] == ("kafka-streams",) for names, _ in values
    )
    return bool(channels and (kafka or own)) or is_streams


def read(document: Document, fillings: Fillings) -> Found:
    """Return the clients of the channels, for each profile with values of its own."""
    accounts = Accounts(document, fillings, separators=(":",))
    profiles: dict[str, _Profile] = {"": _Profile()}
    name = name_of(document.name)
    of_file = "" if name is None else name.profile
    for said, its_profiles, names in _followed(list(_all_said(document, accounts)), accounts):
        for one in its_profiles:
            _sort(said, names, profiles.setdefault(one, _Profile()), accounts)
    shared = profiles[""]
    components: list[Component] = []
    notes: list[str] = [ALONE] if of_file and not document.others else []
    for one, profile in profiles.items():
        if of_file and one != of_file:
            continue
        for key in dict.fromkeys((*shared.channels, *profile.channels)):
            if profile is shared or key in profile.channels or profile.is_for_all:
                components += _client(key, one, profile, shared, accounts, notes)
                if len(components) > MOST_COMPONENTS:
                    raise DeploymentError(f"has more than {MOST_COMPONENTS} clients", file=document.file)
        if profile.streams is not None:
            components += streams.components_of(profile.streams, accounts, notes)
    return accounts.found(NAME, components, dict.fromkeys(notes))


_Sorted = tuple[Said, tuple[str, ...], tuple[str, ...]]
"""A value, its profiles, and its names."""


def _all_said(document: Document, accounts: Accounts) -> Iterator[_Sorted]:
    """Yield the values of an application in all its files; a later one outranks an earlier one of the same profile.

    A profile's own file outranks ``%profile.`` keys of other files, and YAML outranks ``.properties``
    (``ApplicationYamlConfigSourceLoader``, ``AbstractLocationConfigSourceLoader`` and Quarkus' guide to profiles).
    """
    for file, reason in document.unread:
        accounts.reject(Said((file,), "", 1, file=file), UNREAD.format(reason))
    highest = -1
    for one in sorted((document, *document.others), key=_rank):
        name = name_of(one.name)
        profile = "" if name is None else name.profile
        file = "" if one is document else one.file
        try:
            values = list(_of_document(one, accounts, file))
        except DeploymentError as error:
            if one is document:
                raise
            accounts.reject(Said((one.name,), "", error.line or 1, file=file), UNREAD.format(error.message))
            continue
        form = _rank(one)[1]
        for said, profiles, names in values:
            ours = _is_ours(names)
            if profile and form < highest and ours:
                accounts.reject(
                    said,
                    "another file of another form has settings too, and their precedence is not followed; keep one "
                    "form",
                )
                continue
            highest = max(highest, form) if ours and not profile else highest
            yield said, profiles if profiles != ("",) else (profile,), names


def _followed(values: list[_Sorted], accounts: Accounts) -> Iterator[_Sorted]:
    """Yield the values with references to the application's own keys replaced by their values."""
    references = References(lambda name: _split(name)[1], accounts.fillings)
    for said, profiles, names in values:
        references.add(names, said.value, profiles == ("",))
    for said, profiles, names in values:
        yield references.followed(said), profiles, names


def _rank(document: Document) -> tuple[bool, int]:
    name = name_of(document.name)
    return (False, 0) if name is None else (bool(name.profile), _FORMS.index(name.form))


def _is_ours(names: tuple[str, ...]) -> bool:
    return names[:2] in (CHANNELS, ("quarkus", "kafka-streams")) or names[:1] in (("kafka",), ("kafka-streams",))


def _said(document: Document) -> Iterator[Said]:
    if document.suffix in YAML:
        for node in document.yaml:
            yield from (said for said in values_of(node) if said.path)
    elif document.suffix in PROPERTIES:
        yield from document.properties


def _of_document(document: Document, accounts: Accounts, file: str) -> Iterator[_Sorted]:
    if document.suffix not in YAML:
        for said in read_properties(
            document, accounts, lambda key: "kafka" in key or "messaging" in key, "Quarkus", file
        ):
            yield (said, *_split(said.key))
        return
    for said in accounts.last_of_each((replace(one, file=file) for one in _said(document)), "Quarkus"):
        profiles, names = _nested(said.path)
        dots = [name for at, name in enumerate(names) if "." in name and (at != _CHANNEL or names[:2] != CHANNELS)]
        if not dots:
            yield said, profiles, names
            continue
        meant = _split(".".join(said.path))[1]
        idle = meant[-1].endswith("serializer") or is_secret(said.key) or not _is_ours(meant)
        (accounts.ignore if idle else accounts.reject)(said, _WITH_DOTS)


def _split(key: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the profiles of a key, and its names; a name in quotation marks keeps its dots.

    >>> _split('%{dev,test}.mp.messaging.outgoing."a.b".acks')
    (('dev', 'test'), ('mp', 'messaging', 'outgoing', 'a.b', 'acks'))
    """
    profiles: tuple[str, ...] = ("",)
    if key.startswith(("%", '"%')):
        first, _, key = key.partition(".")
        profiles = _profiles(first)
    names = [found[1] if found[1] is not None else found[2] for found in _PARTS.finditer(key) if found[0]]
    return profiles, tuple(name for name in names if name != "~")


def _nested(path: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the same for YAML: each key is one name, even with dots (``YamlConfigSource.flattenYaml``)."""
    names = tuple(name.strip('"') for name in path)
    profiles: tuple[str, ...] = ("",)
    if names[0].startswith("%"):
        profiles, names = _profiles(names[0]), names[1:]
    return profiles, tuple(name for name in names if name != "~")


def _profiles(text: str) -> tuple[str, ...]:
    """Return the profiles of a value: ``%{a,b}`` is for each (``ConfigValue``, several profiles in one key)."""
    names = tuple(name.strip() for name in text.strip('%"{}').split(",") if name.strip())
    return names or (text,)


def _sort(said: Said, names: tuple[str, ...], profile: _Profile, accounts: Accounts) -> None:
    if said.null:
        accounts.ignore(said, "has no value")
    elif names[:2] == ("mp", "messaging") and len(names) > 4 and names[2] in _DIRECTIONS:
        role = _DIRECTIONS[names[2]]
        channel = profile.channels.setdefault((role, names[3]), _Channel())
        _of_a_channel(said, ".".join(names[4:]), (role,), channel, accounts)
    elif names[:4] == ("mp", "messaging", "connector", CONNECTOR) and len(names) > 4:
        _of_a_channel(said, ".".join(names[4:]), CLIENTS, profile.connector, accounts)
    elif names[:1] == ("kafka",) and len(names) > 1:
        key = ".".join(names[1:])
        roles = owners(key) or CLIENTS
        for role in roles:
            pass_on(said, key, role, accounts, profile.everywhere.settings[role])
    elif names[:1] == ("kafka-streams",) and len(names) > 1:
        _streams(profile)
        streams.sort(said, ".".join(names[1:]), _streams(profile), accounts)
    elif names == ("quarkus", "kafka-streams", "application-id"):
        streams.sort(said, "application.id", _streams(profile), accounts)
    elif names == ("quarkus", "kafka-streams", "bootstrap-servers"):
        streams.sort(said, "bootstrap.servers", _streams(profile), accounts)
    elif names[:2] == ("quarkus", "kafka-streams"):
        accounts.ignore(said, "is for Streams itself and does not change its clients' deliveries")
    elif names == ("quarkus", "application", "name"):
        profile.application = accounts.take(said, "group.id")
        accounts.ignore(said, "names the application, and the group of consumers without one")
    else:
        accounts.ignore(said, NOT_KAFKAS)


def _streams(profile: _Profile) -> streams.Streams:
    if profile.streams is None:
        profile.streams = streams.Streams()
    return profile.streams


def _of_a_channel(said: Said, key: str, roles: tuple[Role, ...], channel: _Channel, accounts: Accounts) -> None:
    if key in ("share-group", "share-group.enabled") and accounts.text(said).lower() == "true":
        accounts.reject(said, "consumers of share groups are not modelled")
        return
    known = _attributes().get(key)
    if known is not None or key.startswith(_GROUPS):
        if key == "kafka-configuration":
            accounts.reject(said, "names a bean of the application with more settings, which are not read")
        elif known is not None and not known & set(roles):
            accounts.ignore(said, f"is no attribute of an {_direction(roles[0])} channel")
        else:
            channel.own[key] = accounts.take(said, key)
            accounts.ignore(said, "names the topic" if key in ("topic", "topics", "pattern") else OF_THE_CONNECTOR)
        return
    for role in [role for role in roles if len(roles) == 1 or role in owners(key)] or roles:
        pass_on(said, key, role, accounts, channel.settings[role])


def _direction(role: Role) -> str:
    return next(direction for direction, one in _DIRECTIONS.items() if one is role)


def _client(
    key: tuple[Role, str], name: str, profile: _Profile, shared: _Profile, accounts: Accounts, notes: list[str]
) -> Iterator[Component]:
    """Yield the client of a channel: the channel's values, over the connector's, over those for all."""
    role, channel = key
    settings: dict[str, Given] = {}
    own: dict[str, Given] = {}
    for layer in ("everywhere", "connector", "channel"):
        for one in (shared, profile):
            said = one.channels.get(key, _Channel()) if layer == "channel" else getattr(one, layer)
            settings |= said.settings[role]
            own |= said.own
    connector = own["connector"].value.strip() if "connector" in own else CONNECTOR
    if connector != CONNECTOR:
        notes.append(f"{channel}: the defaults of the connector {connector} are unknown")
        if "kafka" not in connector:
            for one in (shared, profile):
                _leave(one.channels.get(key, _Channel()), role, "is for a channel of another connector", accounts)
            return
    if "enabled" in own and own["enabled"].value.strip().lower() == "false":
        notes.append(f"{channel}: the channel is disabled")
        for one in (shared, profile):
            _leave(one.channels.get(key, _Channel()), role, "is for a disabled channel", accounts)
        return
    answers: dict[str, Given] = {}
    if connector == CONNECTOR:
        at = next((one for one in (own.get("connector"), *own.values(), *settings.values()) if one is not None), None)
        settings = with_defaults(settings, DEFAULTS[role], accounts, SMALLRYE, at)
        retries = settings.get("retries")
        if role is Role.PRODUCER and retries is not None and retries.value.strip() not in ("0", UNLIMITED):
            accounts.refuse(retries, AGAIN)
        answers = _reads(settings, own, accounts, notes) if role is Role.CONSUMER else _writes(own)
        application = profile.application or shared.application
        if role is Role.CONSUMER and "group.id" not in settings and application is not None:
            settings["group.id"] = application
    label = f"{_direction(role)} {channel}" + (f" ({name})" if name else "")
    yield Component(role, label, settings, _topics(channel, own), application=answers, profile=name)


def _leave(channel: _Channel, role: Role, reason: str, accounts: Accounts) -> None:
    for given in channel.settings[role].values():
        accounts.leave(given, reason)


def _topics(channel: str, own: Mapping[str, Given]) -> tuple[str, ...]:
    """Return the topics of a channel; by default, the topic of its name."""
    for key in ("topics", "topic"):
        if key in own:
            return names_of_topics(own[key].value)
    return () if "pattern" in own else names_of_topics(channel)


def _reads(
    settings: Mapping[str, Given], own: Mapping[str, Given], accounts: Accounts, notes: list[str]
) -> dict[str, Given]:
    """Return the time of commits, and the reaction to failed records, while another thread polls."""
    answers = {"processing": accounts.by_framework("processing", "handed-off", SMALLRYE)}
    failing = own.get("failure-strategy")
    what = _FAILS.get("fail" if failing is None else failing.value.strip().lower())
    if failing is None:
        answers["on_processing_error"] = accounts.by_framework("on_processing_error", "stop", SMALLRYE)
    elif what is not None:
        answers["on_processing_error"] = Given("on_processing_error", what, failing.origin)
    strategy = own.get("commit-strategy")
    if settings["enable.auto.commit"].value.strip().lower() == "true":
        return answers
    if strategy is None:
        answers["commit"] = accounts.by_framework("commit", "after", SMALLRYE)
    elif strategy.value.strip().lower() in _COMMITS:
        answers["commit"] = Given("commit", _COMMITS[strategy.value.strip().lower()], strategy.origin)
    elif strategy.value.strip().lower() in _STRATEGIES:
        notes.append(
            f"commit-strategy={strategy.value.strip()}: the time of commits depends on the processing of records"
        )
    return answers


def _writes(own: Mapping[str, Given]) -> dict[str, Given]:
    waits = own.get("waitForWriteCompletion")
    at_once = own.get("max-inflight-messages")
    answers: dict[str, Given] = {}
    if waits is not None and waits.value.strip().lower() == "false":
        # The message is acknowledged before the write, so a failed write is reported to nobody.
        answers["on_send_error"] = Given("on_send_error", "ignore", waits.origin)
    elif at_once is not None and at_once.value.strip() == "1":
        answers["sends"] = Given("sends", "sync", at_once.origin)
    return answers


DIALECT = Dialect(NAME, fits, read, beside_for_quarkus)
