"""Spring Cloud Stream's binder for Kafka: ``spring.cloud.stream.kafka.*`` and the bindings.

By default, the binder writes acks=1 (``required-acks``; from 5.0.2 on all), reads a named group from the start, and
commits by itself. After three attempts, and those of the container, it skips a record, or writes it to another topic.

The sources for a client, lowest precedence first: the binder's own values (``required-acks``), ``spring.kafka.*``, the
binder's ``configuration``, its ``producer-properties`` or ``consumer-properties``, and the binding's own
``configuration`` (``BindingUtils.createProducerConfigs``,
``KafkaBinderConfigurationProperties.mergedProducerConfiguration``). For each of these, the environment of a binder of
its own outranks the values outside (``DefaultBinderFactory``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from proofka.model.deployment.dialects import streams
from proofka.model.deployment.dialects.accounts import NOT_KAFKAS, Accounts
from proofka.model.deployment.dialects.client_names import CLIENTS, SECRET, owners
from proofka.model.deployment.dialects.client_settings import pass_on
from proofka.model.deployment.dialects.component import Component, Role
from proofka.model.deployment.dialects.connect import names_of_topics
from proofka.model.deployment.dialects.keys import has_key, matters
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.dialects.spring_container import BY_HAND, DECIDES, Mode, mode_of
from proofka.model.deployment.dialects.spring_names import relaxed, truth
from proofka.model.deployment.given import Given
from proofka.model.deployment.hiding import is_secret
from proofka.model.deployment.release import JAVA

BINDER = "Spring Cloud Stream's binder"
PREFIX = ("spring", "cloud", "stream")
OWN = "is for the binder and does not change the client's deliveries"
ANOTHER = "is for a second binder, whose bindings cannot be followed"
SPLIT = "the application's functions determine which bindings belong to Kafka Streams and which to the plain binder"
NEWER = "acks=1 is assumed, the binder's default before 5.0.2; later binders write all"
_SKIPS = {"logandcontinue": "LogAndContinueExceptionHandler", "skipandcontinue": "LogAndContinueExceptionHandler"}
_PREFIXES = {"producerproperties": (Role.PRODUCER,), "consumerproperties": (Role.CONSUMER,), "configuration": CLIENTS}
_BOOT_OF_ONE = "is for one of several binders, whose spring.kafka is not read"
_CUT_OFF = "hides values outside of its environment from the binder, which cannot be followed"
_OF_TRANSACTIONS = "is for the producer of all transactions, which cannot be followed"
_NEW_GROUP = (
    "belongs to a binding without a group: the binder makes a new group at each start, which is not modelled; set "
    "spring.cloud.stream.bindings.{}.group"
)
_AUTOMATIC = "determines whether the binder commits by itself, or the application decides"
_ADDRESSES = frozenset({"brokers", "bootstrapservers", "zknodes", "defaultbrokerport"})
_OF_BINDINGS = ("enabledlq", "sync", "startoffset", "autocommitoffset")
_OWN_THAT_MATTER = frozenset({"requiredacks", "transactionidprefix", "ackmode", *_OF_BINDINGS})
"""The binder's properties that change a client's behaviour."""


def _for_each_role() -> dict[Role, dict[str, Given]]:
    return {role: {} for role in CLIENTS}


@dataclass
class _Binding:
    """The values of one binding, or the defaults of all."""

    settings: dict[Role, dict[str, Given]] = field(default_factory=_for_each_role)
    lower: dict[Role, dict[str, Given]] = field(default_factory=_for_each_role)
    """The binder's values for both kinds of clients, which ``settings`` outrank."""
    lowest: dict[Role, dict[str, Given]] = field(default_factory=_for_each_role)
    """The values that the binder sets by its own properties, which all others outrank."""
    known: dict[str, Given] = field(default_factory=dict)
    roles: set[Role] = field(default_factory=set)
    mode: Mode | None = None


@dataclass
class Cloud:
    """The values of the binder, and of each binding."""

    binder: _Binding = field(default_factory=_Binding)
    every: _Binding = field(default_factory=_Binding)
    bindings: dict[str, _Binding] = field(default_factory=dict)
    kafka: bool = False
    streams: streams.Streams | None = None
    named: str = ""
    """The binder, of several, whose environment was read."""
    environment: Cloud | None = None
    """The values of that environment."""
    by_default: str = ""
    """The binder of bindings that name none."""
    no_candidates: set[str] = field(default_factory=set)
    """Binders that serve only bindings that name them."""
    cut_off: dict[str, Given] = field(default_factory=dict)
    """Binders for which only their own environment counts."""

    def counting(self, binder: str) -> tuple[Cloud, ...]:
        """Return the values that count for bindings with this binder (empty: they name none), lowest precedence
        first."""
        own = binder == self.named if binder else self.named not in self.no_candidates
        return (self, self.environment) if self.environment is not None and own else (self,)


@dataclass(frozen=True)
class Boot:
    """The values of ``spring.kafka`` for each client, without the prefix of transactions, and the listeners' commit
    mode."""

    settings: Mapping[Role, Mapping[str, Given]]
    mode: Mode | None


def is_cloud(names: tuple[str, ...]) -> bool:
    """Tell whether a key, in its relaxed form, is one of Spring Cloud Stream."""
    return names[:3] == PREFIX


def is_for_kafka(names: tuple[str, ...]) -> bool:
    """Tell whether a key is one for Kafka, also in the environment of a binder of its own."""
    return names[:4] == (*PREFIX, "kafka") or (is_cloud(names) and _apart(names[6:])[:4] == (*PREFIX, "kafka"))


def sort(said: Said, accounts: Accounts, cloud: Cloud) -> None:
    """Put a value where it belongs."""
    _sort(said, said.path[3:], accounts, cloud)


def _sort(said: Said, path: tuple[str, ...], accounts: Accounts, cloud: Cloud) -> None:
    names = relaxed(path)
    cloud.kafka = cloud.kafka or (names[:1] == ("kafka",) and names[1:2] != ("streams",))
    if said.null:
        accounts.ignore(said, "has no value")
    elif names[:2] == ("kafka", "streams"):
        cloud.streams = cloud.streams or streams.Streams()
        _of_streams(said, path[2:], names[2:], accounts, cloud.streams)
    elif names[:2] == ("kafka", "binder"):
        _of_binder(said, path[2:], names[2:], accounts, cloud.binder)
    elif names[:2] == ("kafka", "default"):
        _of_a_binding(said, path[2:], names[2:], accounts, cloud.every)
    elif names[:2] == ("kafka", "bindings") and len(names) > 3:
        _of_a_binding(said, path[3:], names[3:], accounts, cloud.bindings.setdefault(path[2], _Binding()))
    elif names[:1] == ("bindings",) and len(names) > 2:
        _of_a_binding(said, path[2:], names[2:], accounts, cloud.bindings.setdefault(path[1], _Binding()))
    elif names[:1] == ("default",):
        _of_a_binding(said, path[1:], names[1:], accounts, cloud.every)
    elif names[:1] == ("binders",) and len(names) > 2:
        _of_one_of_several(said, path[1], path[2:], accounts, cloud)
    elif names == ("defaultbinder",):
        cloud.by_default = accounts.text(said)
        accounts.ignore(said, "names the binder of bindings that name none")
    else:
        accounts.ignore(said, OWN if names[:1] == ("kafka",) else NOT_KAFKAS)


def _apart(path: tuple[str, ...]) -> tuple[str, ...]:
    """Split names at dots, which a name in square brackets can contain: the environment is a map of such keys."""
    return tuple(name for part in path for name in part.split(".") if name)


def _of_one_of_several(said: Said, binder: str, path: tuple[str, ...], accounts: Accounts, cloud: Cloud) -> None:
    """Sort a value of one of several binders; only the environment of the first one for Kafka is read."""
    of_binder = relaxed(path)
    inner = _apart(path[1:])
    names = relaxed(inner)
    if of_binder == ("defaultcandidate",) and truth(accounts.text(said)) == "false":
        cloud.no_candidates.add(binder)
        accounts.ignore(said, "limits the binder to bindings that name it")
    elif of_binder == ("inheritenvironment",) and truth(accounts.text(said)) == "false":
        cloud.cut_off[binder] = accounts.take(said, "inherit-environment")
        accounts.ignore(said, NOT_KAFKAS)
    elif of_binder[0] != "environment":
        accounts.ignore(said, NOT_KAFKAS)
    elif names[:4] == (*PREFIX, "kafka"):
        cloud.named = cloud.named or binder
        if cloud.named == binder:
            _of_environment(said, inner[3:], accounts, cloud)
        elif _matters(inner):
            accounts.reject(said, ANOTHER)
        else:
            accounts.ignore(said, f"{ANOTHER}; it does not change a client's deliveries")
    elif names[:2] != ("spring", "kafka"):
        accounts.ignore(said, NOT_KAFKAS)
    elif is_secret(said.key):
        accounts.ignore(said, SECRET)
    elif _ADDRESSES & set(names[-2:]):
        accounts.ignore(said, "names brokers")
    else:
        accounts.reject(said, _BOOT_OF_ONE)


def _of_environment(said: Said, path: tuple[str, ...], accounts: Accounts, cloud: Cloud) -> None:
    if relaxed(path[1:2]) == ("streams",):
        _sort(said, path, accounts, cloud)
        return
    if cloud.environment is None:
        cloud.environment = Cloud()
    _sort(said, path, accounts, cloud.environment)


def _matters(path: tuple[str, ...]) -> bool:
    """Tell whether a value can change a client's behaviour."""
    names = relaxed(path)
    at = next((at for at, name in enumerate(names) if name in _PREFIXES), len(path))
    key = ".".join(path[at + 1 :])
    by_key = any(has_key(JAVA, role, key) and matters(JAVA, role, key) for role in CLIENTS)
    return by_key or key == streams.GUARANTEE or names[-1] in _OWN_THAT_MATTER


def _of_streams(
    said: Said, path: tuple[str, ...], names: tuple[str, ...], accounts: Accounts, found: streams.Streams
) -> None:
    """Sort a value of the binder of Kafka Streams: its own names, and those of Streams."""
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
        accounts.ignore(said, "determines the reaction to records that cannot be read")
    else:
        accounts.ignore(said, OWN)


def _of_binder(said: Said, path: tuple[str, ...], names: tuple[str, ...], accounts: Accounts, binder: _Binding) -> None:
    if names == ("requiredacks",):
        binder.lowest[Role.PRODUCER]["acks"] = accounts.take(said, "acks")
    elif names[:1] == ("brokers",):
        binder.known["bootstrap.servers"] = accounts.take(said, "bootstrap.servers")
    elif names == ("transaction", "transactionidprefix"):
        binder.settings[Role.PRODUCER]["transactional.id"] = accounts.take(said, "transactional.id")
    elif names[:3] == ("transaction", "producer", "configuration"):
        accounts.reject(said, _OF_TRANSACTIONS)
    elif names[:1] and names[0] in _PREFIXES and len(path) > 1:
        key = ".".join(path[1:])
        roles = _PREFIXES[names[0]]
        into = binder.lower if len(roles) > 1 else binder.settings
        for role in [role for role in roles if len(roles) == 1 or role in owners(key)] or roles:
            pass_on(said, key, role, accounts, into[role])
    else:
        accounts.ignore(said, OWN)


def _of_a_binding(
    said: Said, path: tuple[str, ...], names: tuple[str, ...], accounts: Accounts, binding: _Binding
) -> None:
    role = Role(names[0]) if names and names[0] in CLIENTS else None
    if role is not None:
        binding.roles.add(role)
    if names in (("destination",), ("group",), ("binder",)):
        binding.known[names[0]] = accounts.take(said, names[0])
        accounts.ignore(said, f"names the {'topic' if names == ('destination',) else names[0]}")
    elif role is not None and names[1:2] == ("configuration",) and len(path) > 2:
        pass_on(said, ".".join(path[2:]), role, accounts, binding.settings[role])
    elif names == ("consumer", "ackmode"):
        binding.mode = mode_of(said, accounts) or binding.mode
    elif role is not None and len(names) == 2 and names[1] in _OF_BINDINGS:
        binding.known[names[1]] = accounts.take(said, names[1], truth(accounts.text(said)))
        accounts.ignore(said, _AUTOMATIC if names[1] == "autocommitoffset" else OWN)
    else:
        accounts.ignore(said, OWN)


def components_of(cloud: Cloud, boot: Boot, profiles: str, accounts: Accounts, notes: list[str]) -> Iterator[Component]:
    """Yield a client for each binding with a known direction, by its settings or name, and those of Kafka Streams."""
    kafka = cloud.kafka or (cloud.environment is not None and cloud.environment.kafka)
    if cloud.streams is not None:
        yield from _streams(cloud.streams, kafka, cloud, profiles, accounts, notes)
    if not kafka:
        return
    named = {one.known["binder"].value.strip() for one in cloud.bindings.values() if "binder" in one.known}
    for binder, given in cloud.cut_off.items():
        if cloud.named in ("", binder) or binder in (*named, cloud.by_default):
            accounts.refuse(given, _CUT_OFF)
    own = {} if cloud.environment is None else cloud.environment.bindings
    for name in dict.fromkeys((*cloud.bindings, *own)):
        yield _client(name, cloud, boot, profiles, accounts, notes)


def _streams(
    found: streams.Streams, kafka: bool, cloud: Cloud, profiles: str, accounts: Accounts, notes: list[str]
) -> Iterator[Component]:
    if kafka:
        notes.append(SPLIT)
    else:
        for role in CLIENTS:
            topics = [
                one.known["destination"].value
                for name, one in cloud.bindings.items()
                if _reads_by(name, one) is (role is Role.CONSUMER) and "destination" in one.known
            ]
            found.topics[role] = tuple(dict.fromkeys(topic for text in topics for topic in names_of_topics(text)))
    yield from streams.components_of(found, accounts, notes, profiles)


def _reads_by(name: str, *own: _Binding) -> bool:
    """Tell whether a binding reads, by its settings or its name."""
    roles = {role for one in own for role in one.roles}
    group = any("group" in one.known for one in own)
    return roles == {Role.CONSUMER} or (not roles and ("-in-" in name or "input" in name or group))


def _client(name: str, cloud: Cloud, boot: Boot, profiles: str, accounts: Accounts, notes: list[str]) -> Component:
    said_of_it = {**cloud.every.known, **cloud.bindings.get(name, _Binding()).known}
    binder = said_of_it["binder"].value.strip() if "binder" in said_of_it else cloud.by_default
    counting = cloud.counting(binder)
    own = [one.bindings[name] for one in counting if name in one.bindings]
    role = Role.CONSUMER if _reads_by(name, *own) else Role.PRODUCER
    settings = _of_the_binder(role, counting, boot)
    known: dict[str, Given] = {}
    mode: Mode | None = None
    for one in (*(one.every for one in counting), *own):
        settings |= one.settings[role]
        known |= one.known
        mode = one.mode or mode
    topics = names_of_topics(known["destination"].value) if "destination" in known else ()
    answers = _writes(settings, known, accounts, notes) if role is Role.PRODUCER else {}
    if role is Role.CONSUMER:
        answers = _reads(settings, known, mode, boot.mode, accounts, notes)
        group = settings.get("group.id")
        at = known.get("destination") or next(iter((*known.values(), *settings.values())), None)
        if at is not None and (group is None or not group.value.strip()):
            accounts.refuse(at, _NEW_GROUP.format(name))
    label = f"{name} ({profiles})" if profiles else name
    return Component(role, label, settings, topics, application=answers, profile=profiles)


def _of_the_binder(role: Role, counting: tuple[Cloud, ...], boot: Boot) -> dict[str, Given]:
    """Return the values of all bindings of a binder, without those that the binder omits
    (``filterStreamManagedConfiguration``)."""
    settings = {key: given for one in counting for key, given in one.binder.lowest[role].items()}
    settings |= boot.settings[role]
    for one in counting:
        settings |= one.binder.lower[role]
    for one in counting:
        settings |= one.binder.settings[role]
    for one in counting:
        settings |= one.binder.known
    if role is Role.CONSUMER:
        settings.pop("group.id", None)
        if "enable.auto.commit" in settings and settings["enable.auto.commit"].value.strip().lower() == "true":
            del settings["enable.auto.commit"]
    return settings


def _writes(
    settings: dict[str, Given], known: Mapping[str, Given], accounts: Accounts, notes: list[str]
) -> dict[str, Given]:
    if "acks" not in settings:
        notes.append(NEWER)
        at = next(iter((*known.values(), *settings.values())), None)
        settings["acks"] = accounts.by_framework("acks", "1", BINDER, at)
    sync = known.get("sync")
    return {"sends": Given("sends", "sync", sync.origin)} if sync is not None and sync.value == "true" else {}


def _reads(
    settings: dict[str, Given],
    known: Mapping[str, Given],
    mode: Mode | None,
    boots: Mode | None,
    accounts: Accounts,
    notes: list[str],
) -> dict[str, Given]:
    """Return the behaviour of a reading binding. ``mode``: the binding's, which outranks ``boots``, that of
    ``spring.kafka``."""
    settings.setdefault("enable.auto.commit", accounts.by_framework("enable.auto.commit", "false", BINDER))
    group, start, letters = known.get("group"), known.get("startoffset"), known.get("enabledlq")
    if group is not None:
        settings.setdefault("group.id", Given("group.id", group.value, group.origin))
    if start is not None and start.value.strip().lower() in ("earliest", "latest"):
        settings["auto.offset.reset"] = Given("auto.offset.reset", start.value.strip().lower(), start.origin)
    else:
        reset = "latest" if group is None else "earliest"
        settings.setdefault("auto.offset.reset", accounts.by_framework("auto.offset.reset", reset, BINDER))
    old = known.get("autocommitoffset")
    answers: dict[str, Given] = {}
    if mode is None and old is not None and old.value == "false":
        notes.append(DECIDES.format("auto-commit-offset", "false"))
    elif (mode := mode or boots) is not None and mode.value in BY_HAND:
        notes.append(DECIDES.format("ack-mode", accounts.text(mode.said)))
    elif settings["enable.auto.commit"].value.strip().lower() == "false":
        answers["commit"] = accounts.by_framework("commit", "after", BINDER)
        if mode is not None:
            answers["commit"] = Given("commit", "after", mode.given.origin)
    if letters is not None and letters.value == "true":
        answers["on_processing_error"] = Given("on_processing_error", "forward", letters.origin)
    else:
        answers["on_processing_error"] = accounts.by_framework("on_processing_error", "skip", BINDER)
    return answers
