"""The rules by which brokers and controller interpret the settings of topic and broker.

The rules' numbers (B03 and so on) are those of docs/client-rules.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from proofka.model.deployment.choices import Acks
from proofka.model.deployment.compaction import Compaction
from proofka.model.deployment.era import Era
from proofka.model.deployment.given import Given, Settings, complaint, not_modelled
from proofka.model.deployment.section import Section
from proofka.model.deployment.setting import Origin, Setting
from proofka.model.deployment.synonyms import BROKER_NAMES
from proofka.model.deployment.values import boolean
from proofka.model.faults import Fault

TOPIC_KEYS = (
    "replication.factor",
    "min.insync.replicas",
    "unclean.leader.election.enable",
    "flush.messages",
    "cleanup.policy",
    "retention.ms",
    "retention.bytes",
    "remote.storage.enable",
    "min.compaction.lag.ms",
    "max.compaction.lag.ms",
    "delete.retention.ms",
)
"""The topic settings that these rules read: their values must be known."""

FOLLOWER_BYTES = "replica.fetch.min.bytes"
"""The setting for the bytes for which a follower's fetch waits, up to its longest wait."""

COORDINATORS_KEYS = ("transaction.state.log.replication.factor", "transaction.state.log.min.isr")
"""The broker settings of ``__transaction_state`` that decide how many of its replicas can be away (semantics 11.4)."""

BROKER_KEYS = (
    "default.replication.factor",
    "min.insync.replicas",
    "unclean.leader.election.enable",
    "log.flush.interval.messages",
    "log.cleanup.policy",
    "log.retention.ms",
    "log.retention.minutes",
    "log.retention.hours",
    "log.retention.bytes",
    "log.cleaner.min.compaction.lag.ms",
    "log.cleaner.max.compaction.lag.ms",
    "log.cleaner.delete.retention.ms",
    "log.cleaner.enable",
    "replica.lag.time.max.ms",
    "replica.fetch.wait.max.ms",
    "replica.socket.timeout.ms",
    "replica.selector.class",
    "eligible.leader.replicas.version",
    "eligible.leader.replicas.enable",
    "zookeeper.connect",
    "process.roles",
    *COORDINATORS_KEYS,
    FOLLOWER_BYTES,
)
"""The broker settings that these rules read: their values must be known."""

UNSET = ("null", "")
"""The texts that brokers print for a setting without a value."""

MOST_REPLICAS = 5
_NEVER_FLUSH = 2**31
_FLUSH = "flush.messages"
_RETENTION = "retention.ms"
_SIZE = "retention.bytes"
_POLICY = "cleanup.policy"
COMPACT = "compact"
CLEANER = "log.cleaner.enable"
COMPACTS_AND_DELETES = (0, 10, 1)
"""The first release in which a topic can have both cleanup policies, ``compact`` and ``delete`` (KIP-71)."""

CAPS_MIN_ISR = (3, 7)
"""The first release whose brokers count no more replicas as required than a topic has (semantics 2)."""

CLEANS_CAREFULLY = (3, 1)
"""The first release whose cleaners skip uncommitted records (KAFKA-13194) and count a tombstone's time from their first
pass over it (KIP-534)."""

RETENTION_UNITS = {"log.retention.minutes": 60_000, "log.retention.hours": 3_600_000}
"""Broker settings for ``retention.ms`` in other units, with the length of the unit in ms."""


@dataclass(frozen=True)
class BrokerSettings:
    """The effective settings of topic and brokers on which the model depends.

    :class:`~model.deployment.cluster.Cluster` inherits these fields.
    """

    replicas: int
    min_insync_replicas: int  # effective: capped at `replicas` from 3.7 on (semantics 2)
    eligible_leader_replicas: bool  # ELR (KIP-966): replicas that left the ISR below min ISR can lead (6.3)
    unclean_leader_election: bool  # as the release honours it (semantics 2: ignored in KRaft 3.3-3.8)
    compaction: Compaction | None  # the topic's compaction; None if it is not compacted (semantics 10)
    flush_messages: int | None  # force to disk after this many records; None = left to the operating system
    deletes_for_size: bool  # records are also deleted when the log exceeds retention.bytes (10, D1)
    followers_wait_for_bytes: bool  # replica.fetch.min.bytes is more than one
    spare_coordinators: int  # brokers that can be away while the coordinator of transactions goes on writing (11.4)


@dataclass(frozen=True)
class BrokerValues(BrokerSettings):
    """The result of the rules. ``overridden``: broker settings that a topic setting outranks."""

    settings: tuple[Setting, ...]
    overridden: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Brokers:
    """The settings of topic and broker, read by precedence."""

    topic: Section
    broker: Section

    def given(self, key: str) -> Given | None:
        """Return the topic's value, or the first broker setting that is set, or None."""
        own = self.topic.given.get(key)
        if own is not None:
            return own
        values = (self.broker.given.get(name) for name in BROKER_NAMES.get(key, ()))
        return next((value for value in values if value is not None and value.value.strip() not in UNSET), None)

    def setting(self, key: str) -> Setting:
        """Return the value in force for a topic setting; the origin's detail names the broker setting that it came
        from."""
        given = self.given(key)
        if given is None:
            return self.topic.setting(key)
        origin = given.origin
        if key not in self.topic.given and origin.kind == "file":
            origin = Origin("file", f"broker setting {given.key}", origin.file, origin.line)
        return Setting("topic", key, given.value.strip(), origin)

    def overridden(self) -> tuple[str, ...]:
        """Return the broker settings that are set and have no effect on this topic."""
        found = []
        for key, names in BROKER_NAMES.items():
            winner = self.given(key)
            found += [name for name in names if name in self.broker.given and self.broker.given[name] is not winner]
        return tuple(found)


def apply_broker_rules(topic: Section, broker: Section, era: Era, elr: Given | None) -> BrokerValues:
    """Return the effective settings, or raise the broker's own exception."""
    brokers = Brokers(topic, broker)
    notes: list[str] = []
    leader_replicas = _eligible_leader_replicas(broker, elr, notes)
    _check_policy(brokers)
    _check_timeouts(broker)
    replicas = _replicas(brokers, notes)
    in_sync = _min_insync_replicas(brokers, int(replicas.value), notes)
    unclean = _unclean_leader_election(brokers, era, notes)
    flush = brokers.setting(_FLUSH)
    compaction = _compaction(brokers)
    timeouts = ("replica.lag.time.max.ms", "replica.fetch.wait.max.ms", "replica.socket.timeout.ms")
    return BrokerValues(
        replicas=int(replicas.value),
        min_insync_replicas=int(in_sync.value),
        eligible_leader_replicas=leader_replicas.value == "1",
        unclean_leader_election=unclean.value == "true",
        compaction=compaction,
        flush_messages=int(flush.value) if int(flush.value) < _NEVER_FLUSH else None,
        deletes_for_size=int(brokers.setting(_SIZE).value) >= 0 and _deletes(brokers),
        followers_wait_for_bytes=broker.integer(FOLLOWER_BYTES) > 1,
        spare_coordinators=_spare_coordinators(broker, notes),
        settings=(
            *(replicas, in_sync, unclean, flush, _retention(brokers)),
            *(() if brokers.given(_SIZE) is None else (brokers.setting(_SIZE),)),
            *_settings_of_compaction(brokers, compaction),
            leader_replicas,
            *(broker.setting(key) for key in timeouts),
            *(broker.setting(key) for key in (FOLLOWER_BYTES, *COORDINATORS_KEYS) if broker.has(key)),
        ),
        overridden=brokers.overridden(),
        notes=tuple(notes),
    )


def _eligible_leader_replicas(broker: Section, elr: Given | None, notes: list[str]) -> Setting:
    key = "eligible.leader.replicas.version"
    given = elr or broker.given.get(key) or broker.given.get("eligible.leader.replicas.enable")
    if given is None:
        if broker.release.line < (4, 1):
            return Setting("broker", key, "0", Origin("default", broker.software))
        notes.append(
            "eligible leader replicas (ELR) are assumed to be on, as in every cluster created with Kafka 4.1 or later; "
            "for an upgraded cluster that never turned them on, use --assume elr=off"
        )
        return Setting("broker", key, "1", Origin("assumption", "the default of new clusters"))
    value = given.value.strip().lower()
    if value in ("0", "false", "off"):
        return Setting("broker", key, "0", given.origin)
    if value not in ("1", "true", "on"):
        raise complaint(given, "must be off (0) or on (1)")
    if broker.release.line < (4, 0):
        what = f"eligible leader replicas (ELR) of {broker.software}, where they are a preview; remove this setting"
        raise not_modelled(given, "N04", what)
    return Setting("broker", key, "1", given.origin)


def _check_policy(brokers: Brokers) -> None:
    topic, policy = brokers.topic, brokers.given(_POLICY)
    if policy is not None and len(_policies(brokers)) > 1 and topic.release.line < COMPACTS_AND_DELETES:
        raise complaint(
            policy, f"must be compact or delete: {topic.software} accepts no list (Kafka does from 0.10.1 on)"
        )
    if topic.has("remote.storage.enable") and boolean(topic.text("remote.storage.enable")):
        raise topic.not_modelled("remote.storage.enable", "N05", "tiered storage")
    has_lag = topic.has("min.compaction.lag.ms") or topic.has("max.compaction.lag.ms")
    if has_lag and topic.knows("max.compaction.lag.ms"):
        least, most = brokers.setting("min.compaction.lag.ms"), brokers.setting("max.compaction.lag.ms")
        if int(least.value) > int(most.value):
            why = f"min.compaction.lag.ms ({least.value}) exceeds max.compaction.lag.ms ({most.value})"
            key = "min.compaction.lag.ms" if topic.has("min.compaction.lag.ms") else "max.compaction.lag.ms"
            raise topic.refused(key, "InvalidConfigurationException", why, "B21")


def _policies(brokers: Brokers) -> set[str]:
    return {policy.strip() for policy in brokers.setting(_POLICY).value.split(",")}


def _has_cleaner(brokers: Brokers) -> bool:
    """Tell whether the brokers run a log cleaner. Only cleaners compact a topic, and delete from a compacted topic."""
    return brokers.broker.flag(CLEANER)


def _compaction(brokers: Brokers) -> Compaction | None:
    """Return the way in which the cleaner treats a compacted topic (semantics 10, D3 D4); None if nothing compacts the
    topic."""
    if COMPACT not in _policies(brokers) or not _has_cleaner(brokers):
        return None
    careful = brokers.topic.release.line >= CLEANS_CAREFULLY
    return Compaction(below_high_watermark=careful, horizon_from_cleaning=careful)


def _settings_of_compaction(brokers: Brokers, compaction: Compaction | None) -> Iterator[Setting]:
    if COMPACT not in _policies(brokers):
        return
    yield brokers.setting(_POLICY)
    if brokers.broker.has(CLEANER):
        yield brokers.broker.flag_setting(CLEANER)
    if compaction is not None:
        yield brokers.setting("delete.retention.ms")
        if brokers.topic.knows("min.compaction.lag.ms"):
            yield brokers.setting("min.compaction.lag.ms")


def _deletes(brokers: Brokers) -> bool:
    """Tell whether brokers delete records for age or log size. Only the cleaner deletes from a compacted topic."""
    policies = _policies(brokers)
    return "delete" in policies and (COMPACT not in policies or _has_cleaner(brokers))


def _retention(brokers: Brokers) -> Setting:
    """Return the effective ``retention.ms``, converted from minutes or hours; -1 if the policy deletes nothing for its
    age."""
    if "delete" not in _policies(brokers):
        return _kept_for_ever(brokers, f"{_POLICY}={COMPACT}: no record is deleted for its age")
    if COMPACT in _policies(brokers) and not _has_cleaner(brokers):
        return _kept_for_ever(brokers, f"{CLEANER}=false: only the cleaner deletes from a compacted topic")
    setting, given = brokers.setting(_RETENTION), brokers.given(_RETENTION)
    unit = 1 if given is None else RETENTION_UNITS.get(given.key, 1)
    return setting if unit == 1 or int(setting.value) < 0 else replace(setting, value=str(int(setting.value) * unit))


def _kept_for_ever(brokers: Brokers, because: str) -> Setting:
    policy = brokers.setting(_POLICY)
    return Setting("topic", _RETENTION, "-1", Origin("rule", because, policy.origin.file, policy.origin.line))


def _check_timeouts(broker: Section) -> None:
    wait = broker.integer("replica.fetch.wait.max.ms")
    for key, rule in (("replica.socket.timeout.ms", "B15"), ("replica.lag.time.max.ms", "B16")):
        if wait > broker.integer(key):
            at = key if broker.has(key) else "replica.fetch.wait.max.ms"
            why = f"replica.fetch.wait.max.ms ({wait}) must not exceed {key} ({broker.integer(key)})"
            raise broker.refused(at, "IllegalArgumentException", why, rule)


REPLICAS_ASSUMED = "replication.factor is in no file"
"""The words of a note about a number of replicas that no file gives."""


def _replicas(brokers: Brokers, notes: list[str]) -> Setting:
    key, broker_key = "replication.factor", "default.replication.factor"
    given = brokers.given(key)
    if given is not None and given.value.strip() == "-1" and brokers.topic.has(key):
        # A topic that is created with -1 asks for the broker's default.
        given = brokers.broker.given.get(broker_key)
    if given is None:
        default = brokers.broker.setting(broker_key)
        of = f", the default of {brokers.broker.software},"
        which = f"{key}=-1, and default." if brokers.topic.has(key) else ""
        notes.append(f"{which}{REPLICAS_ASSUMED}: {default.value}{of} is assumed (--assume replicas=N)")
        return Setting("topic", key, default.value, default.origin)
    if not 1 <= int(given.value) <= MOST_REPLICAS:
        raise complaint(given, f"{int(given.value)} replicas are not modelled; use 1 to {MOST_REPLICAS}")
    origin = given.origin
    if origin.kind == "assumption":
        notes.append(f"{REPLICAS_ASSUMED}: {int(given.value)} is assumed (--assume replicas=N)")
    if given.key == broker_key and origin.kind == "file":
        origin = Origin("file", f"broker setting {broker_key}", origin.file, origin.line)
    return Setting("topic", key, str(int(given.value)), origin)


ABOVE_REPLICAS = ("B03", "B04")
"""The rules about a ``min.insync.replicas`` that exceeds the number of replicas."""

REFUSES_WRITES = "with NotEnoughReplicasException (rule B04)"
"""Words of a note about refused writes with acks=all."""


def _min_insync_replicas(brokers: Brokers, replicas: int, notes: list[str]) -> Setting:
    setting = brokers.setting("min.insync.replicas")
    value = int(setting.value)
    software = brokers.topic.software
    if value <= replicas:
        return setting
    if brokers.topic.release.line < CAPS_MIN_ISR:
        notes.append(
            f"min.insync.replicas={value} exceeds the number of replicas, {replicas}: {software} accepts it and "
            f"refuses every write with acks=all {REFUSES_WRITES}; lower min.insync.replicas to "
            f"{max(replicas - 1, 1)}, or use {value + 1} replicas"
        )
        return setting
    notes.append(f"{software} uses min.insync.replicas={replicas}, the number of replicas, not {value} (rule B03)")
    because = f"B03: {value} capped at the number of replicas"
    return Setting(
        "topic", setting.key, str(replicas), Origin("rule", because, setting.origin.file, setting.origin.line)
    )


REFUSES_NOTHING = "has no effect on this producer's writes"
"""Words of a note about a ``min.insync.replicas`` beside a producer that does not wait for the ISR."""


def notes_on_acks(values: BrokerSettings, acks: Acks) -> Iterator[str]:
    """Yield a note about a ``min.insync.replicas`` above 1 that brokers do not apply to this producer's writes."""
    if acks is not Acks.ALL and values.min_insync_replicas > 1:
        yield (
            f"min.insync.replicas={values.min_insync_replicas} {REFUSES_NOTHING}: brokers apply it only to writes with "
            f"acks=all, and the producer has acks={acks}"
        )


def check_reassignment(topic: Section, broker: Section, replicas: int, faults: Settings) -> None:
    """Raise NotModelledError if an additional replica would raise the required number of in-sync replicas (rules B03
    and B04)."""
    fault = faults.get(Fault.REASSIGNMENT.value)
    if fault is None:
        return
    wanted = int(Brokers(topic, broker).setting("min.insync.replicas").value)
    if wanted > replicas:
        what = f"reassignment where min.insync.replicas ({wanted}) exceeds the number of replicas ({replicas})"
        raise not_modelled(fault, "N80", what)


def _unclean_leader_election(brokers: Brokers, era: Era, notes: list[str]) -> Setting:
    setting = brokers.setting("unclean.leader.election.enable")
    on = boolean(setting.value)
    if on and not era.unclean_is_honoured:
        software = brokers.topic.software
        notes.append(f"{software} ignores unclean.leader.election.enable=true in KRaft mode (rule B09)")
        origin = Origin("rule", "B09: ignored in KRaft mode before 3.9", setting.origin.file, setting.origin.line)
        return Setting("topic", setting.key, "false", origin)
    return Setting("topic", setting.key, "true" if on else "false", setting.origin)


def _spare_coordinators(broker: Section, notes: list[str]) -> int:
    """Return how many replicas of ``__transaction_state`` can be away while the others are enough in sync.

    A topic with fewer replicas than its smallest ISR takes no write at all before 3.7 (semantics 2).
    """
    replicas, in_sync = (broker.integer(key) if broker.knows(key) else 0 for key in COORDINATORS_KEYS)
    if replicas < in_sync and broker.release.line < CAPS_MIN_ISR and any(map(broker.has, COORDINATORS_KEYS)):
        of_replicas, of_isr = COORDINATORS_KEYS
        notes.append(
            f"{of_isr}={in_sync} is more than {of_replicas}={replicas}: brokers before 3.7 refuse every write of the "
            "coordinator of transactions, so initTransactions() never returns; the model leaves this out"
        )
    return max(0, replicas - in_sync)
