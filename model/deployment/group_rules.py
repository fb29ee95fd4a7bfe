"""The rules by which a group's coordinator interprets a consumer's settings. The rule numbers are those of
docs/client-rules.md."""

from __future__ import annotations

from collections.abc import Mapping

from proofka.model.deployment.choices import Commit, Sink
from proofka.model.deployment.given import Given, complaint, not_modelled
from proofka.model.deployment.rebalancing import Rebalancing
from proofka.model.deployment.release import JAVA
from proofka.model.deployment.section import Section
from proofka.model.deployment.values import boolean
from proofka.model.faults import REPLACES_MEMBER, Fault

LEAST = "group.min.session.timeout.ms"
MOST = "group.max.session.timeout.ms"
PROTOCOL = "group.protocol"
PROTOCOLS = "group.coordinator.rebalance.protocols"
NEW_COORDINATOR = "group.coordinator.new.enable"
SESSION = "group.consumer.session.timeout.ms"
HEARTBEAT = "group.consumer.heartbeat.interval.ms"

OF_GROUP = "the group's own"
"""The detail of the origin of a broker setting whose value a group has for itself."""
ASSIGNORS = "partition.assignment.strategy"

LIMITS = (
    (SESSION, "group.consumer.min.session.timeout.ms", "group.consumer.max.session.timeout.ms"),
    (HEARTBEAT, "group.consumer.min.heartbeat.interval.ms", "group.consumer.max.heartbeat.interval.ms"),
)
"""The settings that brokers require of the members of a group, with their limits (rule B20)."""

KEYS = (LEAST, MOST, PROTOCOLS, NEW_COORDINATOR, *(key for limits in LIMITS for key in limits))
"""The broker settings that these rules read: their values must be known."""

GENERALLY_AVAILABLE = (4, 0)
"""The first release of client and brokers in which the protocol is no preview (KIP-848)."""

BY_PROTOCOLS_ALONE = (3, 9)
"""The first release whose brokers have the protocol only if they list it; before, the new coordinator implies it."""

LETS_GO_IN_POLL = (4, 3)
"""The first release whose client, with the protocol, gives up partitions only in poll(), whoever commits
(KAFKA-20106)."""

TAKES_OLDER_EPOCHS = (4, 3)
"""The first release whose brokers accept a commit of a member that does not know its newest epoch yet (KIP-1251)."""

APPLIES_IN_TIME = (3, 9, 1)
"""The first release whose brokers report a marker as written only after they applied its offsets (KAFKA-17507)."""

LATE_TRANSACTIONS = (
    "rebalances of a consumer that puts its offsets in transactions and can give up its partition at any time: "
    "a transaction that it finishes late has the epoch of the group's newest assignment"
)

COOPERATIVE = "CooperativeStickyAssignor"
COMMITS_ONCE = (3, 2, 0)
"""The client release whose commit before a rebalance is neither awaited nor sent again (KAFKA-14024)."""

FETCHES_ON = ((3, 2, 1), (3, 2, 2))
"""The client releases that wait for that commit and continue to fetch meanwhile (KAFKA-14196)."""


def uses_brokers_protocol(consumer: Section) -> bool:
    """Tell whether brokers, not a member, assign the partitions (``group.protocol=consumer``)."""
    return consumer.library == JAVA and consumer.has(PROTOCOL) and consumer.text(PROTOCOL).lower() == "consumer"


def check_session(consumer: Section, setting: str, broker: Section) -> None:
    """Raise DeploymentError if the member's session is shorter or longer than brokers allow: its poll() would throw."""
    session, least, most = consumer.milliseconds(setting), broker.integer(LEAST), broker.integer(MOST)
    if least <= session <= most:
        return
    key, limit = (LEAST, "at least") if session < least else (MOST, "at most")
    at = consumer if consumer.has(setting) or not broker.has(key) else broker
    why = f"{setting} ({session}) must be {limit} {broker.where(key)}"
    raise at.refused(setting if at is consumer else key, "InvalidSessionTimeoutException", why, "C13")


def check_protocol(consumer: Section, broker: Section, *, zookeeper: bool) -> None:
    """Raise DeploymentError if brokers do not support the member's protocol, or do not start with their own
    settings."""
    _check_limits(broker)
    announced = broker.knows(PROTOCOLS) and "consumer" in _names(broker.text(PROTOCOLS).lower())
    if announced and zookeeper:
        why = f"{broker.where(PROTOCOLS)} has consumer, which needs KRaft mode"
        raise broker.refused(PROTOCOLS, "ConfigException", why, "B90")
    if not uses_brokers_protocol(consumer):
        return
    hidden = broker.knows(NEW_COORDINATOR) and broker.flag(NEW_COORDINATOR) and broker.release.line < BY_PROTOCOLS_ALONE
    if not broker.knows(PROTOCOLS) or not (announced or hidden):
        has = broker.where(PROTOCOLS) if broker.knows(PROTOCOLS) else f"{broker.software} does not know it"
        why = f"the brokers do not support group.protocol=consumer: {has}"
        raise consumer.refused(PROTOCOL, "UnsupportedVersionException", why, "C90")
    if broker.release.line < GENERALLY_AVAILABLE <= consumer.release.line:
        what = "a client from 4.0 on with group.protocol=consumer and brokers that have only its preview"
        raise consumer.not_modelled(PROTOCOL, "N63", what)


def applies_offsets_late(broker: Section, *, zookeeper: bool) -> bool:
    """Tell whether a transaction can complete before the group's coordinator has applied its offsets (KAFKA-17507).

    The coordinator that came with KIP-848 applies the offsets as it writes the marker.
    """
    announced = broker.knows(PROTOCOLS) and "consumer" in _names(broker.text(PROTOCOLS).lower())
    is_new = announced or (broker.knows(NEW_COORDINATOR) and broker.flag(NEW_COORDINATOR))
    return broker.release.full < APPLIES_IN_TIME and (zookeeper or not is_new)


def check_memory(sink: Sink, faults: Mapping[str, Given]) -> None:
    """Raise DeploymentError for faults that replace a running member whose results are in memory."""
    for kind in sorted(REPLACES_MEMBER):
        if sink.is_memory and kind.value in faults:
            what = f"results in memory of a member that another one replaces (sink={sink}); name consumer-crash instead"
            raise not_modelled(faults[kind.value], "N71", what)


def check_rebalance(consumer: Section, rebalancing: Rebalancing, sink: Sink, faults: Mapping[str, Given]) -> None:
    """Raise DeploymentError if rebalances are requested that are not modelled, or depend on an unnamed patch level."""
    fault = faults.get(Fault.REBALANCE.value)
    if fault is None:
        return
    if sink is Sink.KAFKA and rebalancing.at_any_time:
        raise not_modelled(fault, "N72", LATE_TRANSACTIONS)
    release = consumer.release
    commits_itself = consumer.library == JAVA and boolean(consumer.text("enable.auto.commit"))
    if commits_itself and release.line == COMMITS_ONCE[:2] and release.patch is None:
        why = (
            "the committed offset in a rebalance differs between 3.2.0 and 3.2.3: name the patch level of the consumer"
        )
        raise complaint(fault, why)


def check_commits(commit: Commit, faults: Mapping[str, Given]) -> None:
    """Raise NotModelledError if rebalances are requested with commits that leave out, or pass, a record in hand."""
    fault = faults.get(Fault.REBALANCE.value)
    if fault is None:
        return
    if commit is Commit.EARLIER:
        raise not_modelled(fault, "N73", "rebalances of a client that commits only part of its last poll")
    if commit is Commit.FINISHED:
        what = "rebalances of a consumer that commits past unfinished records of its workers (commit=finished)"
        raise not_modelled(fault, "N74", what)


def _check_limits(broker: Section) -> None:
    for key, least, most in LIMITS:
        if not broker.knows(key) or broker.integer(least) <= broker.integer(key) <= broker.integer(most):
            continue
        limit, words = (least, "at least") if broker.integer(key) < broker.integer(least) else (most, "at most")
        why = f"{key} ({broker.integer(key)}) must be {words} {broker.where(limit)}"
        raise broker.refused(key if broker.has(key) else limit, "IllegalArgumentException", why, "B20")


def rebalancing_of(consumer: Section, broker: Section, *, of_library: Rebalancing) -> Rebalancing:
    """Return the way in which this client gives up a partition in a rebalance (semantics 12).

    ``of_library``: the way of a client other than Java's.
    """
    if consumer.library != JAVA:
        return of_library
    commits_itself, release = boolean(consumer.text("enable.auto.commit")), consumer.release
    if uses_brokers_protocol(consumer):
        preview = release.line < GENERALLY_AVAILABLE
        return Rebalancing(
            by_brokers=True,
            at_any_time=preview if commits_itself else release.line < LETS_GO_IN_POLL,
            behind=preview if commits_itself else broker.release.line < TAKES_OLDER_EPOCHS,
            sent_once=False,
        )
    cooperative = _is_cooperative(consumer)
    return Rebalancing(
        by_brokers=False,
        # This client never asks for its partitions again: its group evicts it.
        at_any_time=cooperative and commits_itself and release.full == COMMITS_ONCE,
        behind=cooperative or (commits_itself and release.full in FETCHES_ON),
        sent_once=commits_itself and release.full == COMMITS_ONCE,
    )


def _is_cooperative(consumer: Section) -> bool:
    """Tell whether members continue to read in a rebalance: each named assignor supports that (KIP-429)."""
    named = _names(consumer.text(ASSIGNORS)) if consumer.has(ASSIGNORS) else []
    return bool(named) and all(name.rpartition(".")[2] == COOPERATIVE for name in named)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def notes_of(consumer: Section, broker: Section) -> tuple[str, ...]:
    """Return notes about assumptions on a group whose brokers assign the partitions."""
    if not uses_brokers_protocol(consumer):
        return ()
    own = "the group is assumed to have no consumer.session.timeout.ms or consumer.heartbeat.interval.ms of its own"
    told = any(given.origin.detail == OF_GROUP for given in broker.given.values())
    if broker.release.line < GENERALLY_AVAILABLE:
        return () if told else (f"group.protocol=consumer: {own}",)
    version = "group.version=1 is assumed, as in clusters created with 4.0 or later"
    return (f"group.protocol=consumer: {version}" if told else f"group.protocol=consumer: {version}; {own}",)
