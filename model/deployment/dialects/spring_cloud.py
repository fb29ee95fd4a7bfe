"""Spring Cloud Stream's binder for Kafka: ``spring.cloud.stream.kafka.*`` and the bindings.

The binder writes acks=1 where nobody says otherwise (``required-acks``), reads a named group from the start, commits
by itself, and after three attempts, and those of the container, passes a record over, or writes it to another topic.

What counts for a client, from the lowest on: what the binder sets (``required-acks``), ``spring.kafka.*``, the binder's
``configuration``, its ``producer-properties`` or ``consumer-properties``, and the binding's own ``configuration``
(``KafkaMessageChannelBinder.getProducerFactory``, ``KafkaBinderConfigurationProperties.mergedProducerConfiguration``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from model.deployment.dialects.accounts import NOT_KAFKAS, Accounts
from model.deployment.dialects.client_names import CLIENTS, owners
from model.deployment.dialects.client_settings import pass_on
from model.deployment.dialects.component import Component, Role
from model.deployment.dialects.connect import names_of_topics
from model.deployment.dialects.said import Said
from model.deployment.dialects.spring_container import BY_HAND, DECIDES, Mode, mode_of
from model.deployment.dialects.spring_names import truth
from model.deployment.given import Given

BINDER = "Spring Cloud Stream's binder"
PREFIX = ("spring", "cloud", "stream")
OWN = "of the binder; it does not change what the client does to a record"
_PREFIXES = {"producerproperties": (Role.PRODUCER,), "consumerproperties": (Role.CONSUMER,), "configuration": CLIENTS}
_NOT_BOOTS: Mapping[Role, frozenset[str]] = {
    Role.PRODUCER: frozenset({"transactional.id"}),
    Role.CONSUMER: frozenset({"group.id", "enable.auto.commit"}),
}
"""What the binder does not take over from ``spring.kafka.*`` (``filterStreamManagedConfiguration``; the prefix of
transactional ids is no property of the client's)."""

_OF_ONE_BINDER = "is for one binder alone, which is not followed here; say it of the binder for all"
_OF_TRANSACTIONS = "is for the producer of all transactions, which is not followed here"
_AUTOMATIC = "says whether the binder commits by itself; without that the application decides"
_ADDRESSES = frozenset({"brokers", "bootstrapservers", "zknodes", "defaultbrokerport"})


@dataclass
class _Binding:
    """What is said of one binding, or by default of all."""

    settings: dict[Role, dict[str, Given]] = field(default_factory=lambda: {role: {} for role in CLIENTS})
    lower: dict[Role, dict[str, Given]] = field(default_factory=lambda: {role: {} for role in CLIENTS})
    """What is said of the binder for both kinds of clients, which ``settings`` outrank."""
    lowest: dict[Role, dict[str, Given]] = field(default_factory=lambda: {role: {} for role in CLIENTS})
    """What the binder sets by properties of its own, which all others outrank."""
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


def is_cloud(names: tuple[str, ...]) -> bool:
    """Whether a key, in its relaxed form, is one of Spring Cloud Stream."""
    return names[:3] == PREFIX


def is_for_kafka(names: tuple[str, ...]) -> bool:
    """Whether it is one for Kafka."""
    return names[:4] == (*PREFIX, "kafka")


def sort(said: Said, accounts: Accounts, cloud: Cloud) -> None:
    """Put a value where it belongs."""
    path = said.path[3:]
    names = tuple(name.replace("-", "").replace("_", "").lower() for name in path)
    cloud.kafka = cloud.kafka or names[:1] == ("kafka",)
    if said.null:
        accounts.ignore(said, "says nothing")
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
    elif names[:1] == ("binders",) and "environment" in names and {"kafka", "stream"} & set(names):
        if names[-1] in _ADDRESSES or names[-2] in _ADDRESSES:
            accounts.ignore(said, "names brokers")
        else:
            accounts.reject(said, _OF_ONE_BINDER)
    else:
        accounts.ignore(said, OWN if names[:1] == ("kafka",) else NOT_KAFKAS)


def _of_binder(said: Said, path: tuple[str, ...], names: tuple[str, ...], accounts: Accounts, binder: _Binding) -> None:
    if names == ("requiredacks",):
        binder.lowest[Role.PRODUCER]["acks"] = accounts.take(said, "acks")
    elif names[:1] == ("brokers",):
        for role in CLIENTS:
            binder.settings[role]["bootstrap.servers"] = accounts.take(said, "bootstrap.servers")
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
    if names in (("destination",), ("group",)):
        binding.known[names[0]] = accounts.take(said, names[0])
        accounts.ignore(said, f"names the {'topic' if names == ('destination',) else 'group'}")
    elif role is not None and names[1:2] == ("configuration",) and len(path) > 2:
        pass_on(said, ".".join(path[2:]), role, accounts, binding.settings[role])
    elif names == ("consumer", "ackmode"):
        binding.mode = mode_of(said, accounts) or binding.mode
    elif role is not None and names[1:] in (("enabledlq",), ("sync",), ("startoffset",), ("autocommitoffset",)):
        binding.known[names[1]] = accounts.take(said, names[1], truth(accounts.text(said)))
        accounts.ignore(said, _AUTOMATIC if names[1] == "autocommitoffset" else OWN)
    else:
        accounts.ignore(said, OWN)


def components_of(
    cloud: Cloud, boot: Mapping[Role, Mapping[str, Given]], profiles: str, accounts: Accounts, notes: list[str]
) -> Iterator[Component]:
    """A client for each binding whose direction is known, by its settings or its name; ``boot``: ``spring.kafka.*``."""
    if cloud.kafka:
        for name, binding in cloud.bindings.items():
            yield _client(name, binding, cloud, boot, profiles, accounts, notes)


def _client(
    name: str,
    binding: _Binding,
    cloud: Cloud,
    boot: Mapping[Role, Mapping[str, Given]],
    profiles: str,
    accounts: Accounts,
    notes: list[str],
) -> Component:
    roles = binding.roles
    reads = roles == {Role.CONSUMER} or (not roles and ("-in-" in name or "input" in name or "group" in binding.known))
    role = Role.CONSUMER if reads else Role.PRODUCER
    settings = dict(cloud.binder.lowest[role])
    settings |= {key: given for key, given in boot[role].items() if key not in _NOT_BOOTS[role]}
    addresses = cloud.binder.settings[role].get("bootstrap.servers")
    for layer in (cloud.binder.lower, cloud.binder.settings, cloud.every.settings, binding.settings):
        settings |= layer[role]
    if addresses is not None:
        settings["bootstrap.servers"] = addresses
    known = {**cloud.every.known, **binding.known}
    mode = binding.mode or cloud.every.mode
    topics = names_of_topics(known["destination"].value) if "destination" in known else ()
    answers = _writes(settings, known, accounts)
    if role is Role.CONSUMER:
        answers = _reads(settings, known, mode, accounts, notes)
    label = f"{name} ({profiles})" if profiles else name
    return Component(role, label, settings, topics, application=answers, profile=profiles)


def _writes(settings: dict[str, Given], known: Mapping[str, Given], accounts: Accounts) -> dict[str, Given]:
    at = next(iter((*known.values(), *settings.values())), None)
    settings.setdefault("acks", accounts.by_framework("acks", "1", BINDER, at))
    sync = known.get("sync")
    return {"sends": Given("sends", "sync", sync.origin)} if sync is not None and sync.value == "true" else {}


def _reads(
    settings: dict[str, Given], known: Mapping[str, Given], mode: Mode | None, accounts: Accounts, notes: list[str]
) -> dict[str, Given]:
    settings.pop("acks", None)
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
    if mode is not None and mode.value in BY_HAND:
        notes.append(DECIDES.format("ack-mode", accounts.text(mode.said)))
    elif mode is None and old is not None and old.value == "false":
        notes.append(DECIDES.format("auto-commit-offset", "false"))
    elif settings["enable.auto.commit"].value.strip().lower() == "false":
        answers["commit"] = accounts.by_framework("commit", "after", BINDER)
        if mode is not None:
            answers["commit"] = Given("commit", "after", mode.given.origin)
    if letters is not None and letters.value == "true":
        answers["on_processing_error"] = Given("on_processing_error", "forward", letters.origin)
    else:
        answers["on_processing_error"] = accounts.by_framework("on_processing_error", "skip", BINDER)
    return answers
