"""Spring Cloud Stream's binder for Kafka: ``spring.cloud.stream.kafka.*`` and the bindings.

The binder writes acks=1 where nobody says otherwise (``required-acks``; from 5.0.2 on all), reads a named group from
the start, commits by itself, and after three attempts, and those of the container, passes a record over, or writes it
to another topic. What Spring Boot says (``spring.kafka``) counts where the binder says nothing, but over required-acks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from model.deployment.dialects import streams
from model.deployment.dialects.accounts import NOT_KAFKAS, Accounts
from model.deployment.dialects.client_names import CLIENTS, owners
from model.deployment.dialects.client_settings import pass_on
from model.deployment.dialects.component import Component, Role
from model.deployment.dialects.connect import names_of_topics
from model.deployment.dialects.keys import has_key, matters
from model.deployment.dialects.said import Said
from model.deployment.dialects.spring_container import BY_HAND, DECIDES, Mode, mode_of
from model.deployment.given import Given
from model.deployment.release import JAVA

BINDER = "Spring Cloud Stream's binder"
PREFIX = ("spring", "cloud", "stream")
OWN = "of the binder; it does not change what the client does to a record"
ANOTHER = "of a second binder, and which bindings that is for is not followed"
SPLIT = "which bindings Kafka Streams has, and which the plain binder, depends on the application's functions"
NEWER = "before 5.0.2 the binder writes acks=1 where nobody says otherwise, as is taken here; later ones write all"
_SKIPS = {"logandcontinue": "LogAndContinueExceptionHandler", "skipandcontinue": "LogAndContinueExceptionHandler"}
_PREFIXES = {"producerproperties": (Role.PRODUCER,), "consumerproperties": (Role.CONSUMER,), "configuration": CLIENTS}


@dataclass
class _Binding:
    """What is said of one binding, or by default of all."""

    settings: dict[Role, dict[str, Given]] = field(default_factory=lambda: {role: {} for role in CLIENTS})
    known: dict[str, Given] = field(default_factory=dict)
    roles: set[Role] = field(default_factory=set)
    mode: Mode | None = None


@dataclass
class Cloud:
    """What is said of the binder, and of each binding."""

    binder: _Binding = field(default_factory=_Binding)
    every: _Binding = field(default_factory=_Binding)
    bindings: dict[str, _Binding] = field(default_factory=dict)
    kafka: bool = False
    streams: streams.Streams | None = None
    named: str = ""
    """The binder of several whose environment was read."""


@dataclass(frozen=True)
class Boot:
    """What ``spring.kafka`` says of each client, and of when listeners commit; ``own``: in this very profile."""

    settings: Mapping[Role, Mapping[str, Given]]
    mode: Mode | None
    own: bool


def is_cloud(names: tuple[str, ...]) -> bool:
    """Whether a key, in its relaxed form, is one of Spring Cloud Stream."""
    return names[:3] == PREFIX


def is_for_kafka(names: tuple[str, ...]) -> bool:
    """Whether it is one for Kafka, also in the environment of a binder of its own."""
    return names[:4] == (*PREFIX, "kafka") or (is_cloud(names) and names[6:10] == (*PREFIX, "kafka"))


def sort(said: Said, accounts: Accounts, cloud: Cloud) -> None:
    """Put a value where it belongs."""
    _sort(said, said.path[3:], accounts, cloud)


def _sort(said: Said, path: tuple[str, ...], accounts: Accounts, cloud: Cloud) -> None:
    names = tuple(name.replace("-", "").replace("_", "").lower() for name in path)
    if said.null:
        accounts.ignore(said, "says nothing")
    elif names[:2] == ("kafka", "streams"):
        cloud.streams = cloud.streams or streams.Streams()
        _of_streams(said, path[2:], names[2:], accounts, cloud.streams)
    elif names[:2] == ("kafka", "binder"):
        cloud.kafka = True
        _of_binder(said, path[2:], names[2:], accounts, cloud.binder)
    elif names[:2] == ("kafka", "default"):
        cloud.kafka = True
        _of_a_binding(said, path[2:], names[2:], accounts, cloud.every)
    elif names[:2] == ("kafka", "bindings") and len(names) > 3:
        cloud.kafka = True
        _of_a_binding(said, path[3:], names[3:], accounts, cloud.bindings.setdefault(path[2], _Binding()))
    elif names[:1] == ("bindings",) and len(names) > 2:
        _of_a_binding(said, path[2:], names[2:], accounts, cloud.bindings.setdefault(path[1], _Binding()))
    elif names[:1] == ("default",):
        _of_a_binding(said, path[1:], names[1:], accounts, cloud.every)
    elif names[:1] == ("binders",) and names[2:6] == ("environment", *PREFIX) and len(names) > 7:
        _of_one_of_several(said, path, accounts, cloud)
    elif names[:1] == ("binders",) and names[2:5] == ("environment", "spring", "kafka"):
        accounts.reject(said, "of one of several binders, whose spring.kafka is not read")
    else:
        accounts.ignore(said, OWN if names[:1] == ("kafka",) else NOT_KAFKAS)


def _of_one_of_several(said: Said, path: tuple[str, ...], accounts: Accounts, cloud: Cloud) -> None:
    """What the environment of a binder of its own says: of the first for Kafka as if it were the only one."""
    if path[6].lower() != "kafka":
        accounts.ignore(said)
        return
    cloud.named = cloud.named or path[1]
    if cloud.named == path[1]:
        _sort(said, path[6:], accounts, cloud)
    elif _matters(path):
        accounts.reject(said, ANOTHER)
    else:
        accounts.ignore(said, f"{ANOTHER}; it does not change what a client does to a record")


def _matters(path: tuple[str, ...]) -> bool:
    """Whether a value may change what some client of a binder does."""
    names = [name.replace("-", "").replace("_", "").lower() for name in path]
    at = next((at for at, name in enumerate(names) if name in _PREFIXES), len(path))
    key = ".".join(path[at + 1 :])
    by_key = any(has_key(JAVA, role, key) and matters(JAVA, role, key) for role in CLIENTS)
    return by_key or key == streams.GUARANTEE or names[-1] in ("requiredacks", "transactionidprefix")


def _of_streams(
    said: Said, path: tuple[str, ...], names: tuple[str, ...], accounts: Accounts, found: streams.Streams
) -> None:
    """What is said for the binder of Kafka Streams: its own names, and those of Streams."""
    inner = next((at for at, name in enumerate(names) if name in _PREFIXES and len(names) > at + 1), None)
    if names[-1:] == ("applicationid",):
        streams.sort(said, "application.id", found, accounts)
    elif names[:2] == ("binder", "brokers"):
        streams.sort(said, "bootstrap.servers", found, accounts)
    elif inner is not None:
        kinds = {"producerproperties": "producer.", "consumerproperties": "consumer."}
        streams.sort(said, kinds.get(names[inner], "") + ".".join(path[inner + 1 :]), found, accounts)
    elif names[-1:] == ("deserializationexceptionhandler",):
        key = "deserialization.exception.handler"
        value = accounts.text(said).replace("-", "").lower()
        found.known[key] = accounts.take(said, key, _SKIPS.get(value, accounts.text(said)))
        accounts.ignore(said, "what is done about records that cannot be read")
    else:
        accounts.ignore(said, OWN)


def _of_binder(said: Said, path: tuple[str, ...], names: tuple[str, ...], accounts: Accounts, binder: _Binding) -> None:
    if names == ("requiredacks",):
        binder.known["acks"] = accounts.take(said, "acks")
    elif names[:1] == ("brokers",):
        for role in CLIENTS:
            binder.settings[role]["bootstrap.servers"] = accounts.take(said, "bootstrap.servers")
    elif names == ("transaction", "transactionidprefix"):
        binder.settings[Role.PRODUCER]["transactional.id"] = accounts.take(said, "transactional.id")
    elif names[:1] and names[0] in _PREFIXES and len(path) > 1:
        key = ".".join(path[1:])
        roles = _PREFIXES[names[0]]
        for role in [role for role in roles if len(roles) == 1 or role in owners(key)] or roles:
            pass_on(said, key, role, accounts, binder.settings[role])
    else:
        accounts.ignore(said, OWN)


def _of_a_binding(
    said: Said, path: tuple[str, ...], names: tuple[str, ...], accounts: Accounts, binding: _Binding
) -> None:
    role = Role(names[0]) if names and names[0] in CLIENTS else None
    if role is not None:
        binding.roles.add(role)
    if names in (("destination",), ("group",)):
        binding.known[names[0]] = accounts.take(said, names[0])
        accounts.ignore(said, f"names the {'topic' if names == ('destination',) else 'group'}")
    elif role is not None and names[1:2] == ("configuration",) and len(path) > 2:
        pass_on(said, ".".join(path[2:]), role, accounts, binding.settings[role])
    elif names == ("consumer", "ackmode"):
        binding.mode = mode_of(said, accounts) or binding.mode
    elif role is not None and names[1:] in (("enabledlq",), ("sync",), ("startoffset",), ("autocommitoffset",)):
        binding.known[names[1]] = accounts.take(said, names[1])
        accounts.ignore(said, OWN)
    else:
        accounts.ignore(said, OWN)


def components_of(
    cloud: Cloud, shared: Cloud, boot: Boot, profile: str, accounts: Accounts, notes: list[str]
) -> Iterator[Component]:
    """A client for each binding whose direction is known, by its settings or its name."""
    if cloud.streams is not None:
        yield from _streams(cloud.streams, cloud, shared, accounts, notes)
    if not (cloud.kafka or shared.kafka):
        return
    said = bool(
        boot.own or any(cloud.binder.settings.values()) or cloud.binder.known or any(cloud.every.settings.values())
    )
    for name in dict.fromkeys((*shared.bindings, *cloud.bindings)):
        if cloud is not shared and not said and name not in cloud.bindings:
            continue
        layers = [shared.binder, cloud.binder, shared.every, cloud.every]
        layers += [one.bindings[name] for one in (shared, cloud) if name in one.bindings]
        yield _client(name, layers, boot, profile, accounts, notes)


def _streams(
    found: streams.Streams, cloud: Cloud, shared: Cloud, accounts: Accounts, notes: list[str]
) -> Iterator[Component]:
    if cloud.kafka or shared.kafka:
        notes.append(SPLIT)
    else:
        for role in CLIENTS:
            bindings = {**shared.bindings, **cloud.bindings}.items()
            topics = [
                one.known["destination"].value
                for name, one in bindings
                if _reads_by(name, one) is (role is Role.CONSUMER) and "destination" in one.known
            ]
            found.topics[role] = tuple(dict.fromkeys(topic for text in topics for topic in names_of_topics(text)))
    yield from streams.components_of(found, accounts, notes)


def _reads_by(name: str, *own: _Binding) -> bool:
    """Whether a binding is for reading, by its settings, or its name."""
    roles = {role for one in own for role in one.roles}
    return roles == {Role.CONSUMER} or (not roles and ("-in-" in name or "input" in name or "group" in own[-1].known))


def _client(
    name: str, layers: list[_Binding], boot: Boot, profile: str, accounts: Accounts, notes: list[str]
) -> Component:
    role = Role.CONSUMER if _reads_by(name, *layers[4:]) else Role.PRODUCER
    settings: dict[str, Given] = dict(boot.settings[role])
    known: dict[str, Given] = {}
    mode = boot.mode
    for number, one in enumerate(layers):
        settings |= one.settings[role]
        if number == 1 and role is Role.CONSUMER:
            _filter(settings)
        known |= one.known
        mode = one.mode or mode
    topics = names_of_topics(known["destination"].value) if "destination" in known else ()
    answers = _writes(settings, known, accounts, notes) if role is Role.PRODUCER else {}
    if role is Role.CONSUMER:
        answers = _reads(settings, known, mode, accounts, notes)
    label = f"{name} ({profile})" if profile else name
    return Component(role, label, settings, topics, application=answers, profile=profile)


def _filter(settings: dict[str, Given]) -> None:
    """The binder leaves these out, and says so, where they are not said of a binding."""
    settings.pop("group.id", None)
    if "enable.auto.commit" in settings and settings["enable.auto.commit"].value.strip().lower() == "true":
        del settings["enable.auto.commit"]


def _writes(
    settings: dict[str, Given], known: Mapping[str, Given], accounts: Accounts, notes: list[str]
) -> dict[str, Given]:
    if "acks" not in settings and "acks" not in known:
        notes.append(NEWER)
    settings.setdefault("acks", known.get("acks", accounts.by_framework("acks", "1", BINDER)))
    sync = known.get("sync")
    waits = sync is not None and sync.value.strip().lower() == "true"
    return {"sends": Given("sends", "sync", sync.origin)} if waits and sync is not None else {}


def _reads(
    settings: dict[str, Given], known: Mapping[str, Given], mode: Mode | None, accounts: Accounts, notes: list[str]
) -> dict[str, Given]:
    settings.setdefault("enable.auto.commit", accounts.by_framework("enable.auto.commit", "false", BINDER))
    group, start, letters = known.get("group"), known.get("startoffset"), known.get("enabledlq")
    if group is not None:
        settings.setdefault("group.id", Given("group.id", group.value, group.origin))
    if start is not None and start.value.strip().lower() in ("earliest", "latest"):
        settings["auto.offset.reset"] = Given("auto.offset.reset", start.value.strip().lower(), start.origin)
    else:
        reset = "latest" if group is None else "earliest"
        settings.setdefault("auto.offset.reset", accounts.by_framework("auto.offset.reset", reset, BINDER))
    by_hand = mode is not None and mode.value in BY_HAND
    old = known.get("autocommitoffset")
    by_hand = by_hand or (old is not None and old.value.strip().lower() == "false")
    answers: dict[str, Given] = {}
    if by_hand:
        notes.append(DECIDES.format("MANUAL"))
    elif settings["enable.auto.commit"].value.strip().lower() == "false":
        answers["commit"] = accounts.by_framework("commit", "after", BINDER)
        if mode is not None:
            answers["commit"] = Given("commit", "after", mode.given.origin)
    if letters is not None and letters.value.strip().lower() == "true":
        answers["on_processing_error"] = Given("on_processing_error", "forward", letters.origin)
    else:
        answers["on_processing_error"] = accounts.by_framework("on_processing_error", "skip", BINDER)
    return answers
