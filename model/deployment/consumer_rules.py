"""The rules by which the Java consumer interprets its settings (``ConsumerConfig``, ``ClassicKafkaConsumer``; client
0.10 and later).

The rules' numbers (C01 and so on) are those of docs/client-rules.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from proofka.model.deployment.choices import Commit, OffsetReset
from proofka.model.deployment.given import Given, Settings, not_modelled
from proofka.model.deployment.group_rules import ASSIGNORS, GENERALLY_AVAILABLE, PROTOCOL, uses_brokers_protocol
from proofka.model.deployment.rebalancing import IN_ORDER, Rebalancing
from proofka.model.deployment.section import Section
from proofka.model.deployment.setting import Origin, Setting
from proofka.model.deployment.values import boolean

AUTO_COMMIT = "enable.auto.commit"
HEARTBEAT = "heartbeat.interval.ms"
SESSION = "session.timeout.ms"

KEYS = (
    "enable.auto.commit",
    "auto.offset.reset",
    "max.poll.records",
    PROTOCOL,
    ASSIGNORS,
    "group.remote.assignor",
    HEARTBEAT,
    SESSION,
    "share.acknowledgement.mode",
    "share.acquire.mode",
    "fetch.min.bytes",
    "isolation.level",
)
"""The settings that these rules read: their values must be known. (``group.id`` may be any value, even a
placeholder.)"""

CHECKS_POSITIONS = (2, 3)
"""The first release whose Java consumer checks its position against a log's leader epochs (KIP-320)."""

GROUP = "group.id"
ISOLATION = "isolation.level"
GROUPS = (GROUP, "group_id")
"""The names of the group in client libraries; the second is the name in Python's clients."""

TRANSACTIONS = "transactions"
"""The key for a producer with transactions in :attr:`ConsumerValues.not_with`."""

NO_GROUP = "(none)"
"""Effective value of a group's setting that names no group."""
SET_IN_CODE = "(set by the application)"
"""The value of a group that no file gives, although the consumer needs a group."""

NULL_GROUP = "\x00null"
"""The value of a group that a file sets to null; no text in a file can equal it."""


@dataclass(frozen=True)
class ConsumerValues:
    """The consumer's effective settings.

    ``commits``: the commit that the client makes by itself, with the setting that causes it; None where the application
    decides. ``commits_on_timer``: commits wait for the end of an interval. ``session``: the setting for the member's
    longest silence; None where brokers set it. ``fetched_at_least``: the setting for the bytes for which a fetch waits.
    ``isolation``: the isolation level; None where the release has no choice. ``knows_epochs``: the consumer never goes
    back to a leader of an older epoch. ``checks_epochs``: the consumer detects by epochs that a log was truncated, if
    the brokers support this. ``checks_starts``: it then also checks the committed offset at which it starts.
    ``goes_to_nearest``: with an offset out of range, the consumer continues with the next remaining record in time,
    whatever its policy. ``not_with``: faults (or ``transactions``) that are not modelled with this client, each with a
    code and a description. ``waits_beyond_end``: with an offset beyond the end of a log, the consumer waits for a
    record at that offset; below the start of the log, the consumer continues at the start, whatever its policy.
    ``rebalancing``: the way in which a client other than Java's gives a partition up.
    """

    commits: Setting | None
    commits_on_timer: bool
    offset_reset: OffsetReset
    max_poll_records: int
    session: str | None
    fetched_at_least: str
    knows_epochs: bool
    checks_epochs: bool
    isolation: Setting | None
    settings: tuple[Setting, ...]
    notes: tuple[str, ...]
    goes_to_nearest: bool = False
    not_with: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    waits_beyond_end: bool = False
    checks_starts: bool = True
    rebalancing: Rebalancing = IN_ORDER


def check_not_with(values: ConsumerValues, brokers: Given, faults: Settings, *, transactional: bool) -> None:
    """Raise NotModelledError for faults and transactions that are not modelled with this consumer.

    ``brokers``: the place where the release of the brokers is named, at which the error about transactions points.
    """
    for named, (code, what) in values.not_with.items():
        if named == TRANSACTIONS and transactional:
            raise not_modelled(brokers, code, what)
        if named in faults:
            raise not_modelled(faults[named], code, what)


def committed_by_client(commit: Commit, setting: Setting) -> Setting:
    """Build the setting ``commit`` of a client that commits by itself because of ``setting``."""
    return Setting("application", "commit", commit, Origin("rule", f"{setting.key}={setting.value}"))


def without_group(section: Section, given: Given, none: str) -> Setting:
    """Build the setting of a consumer without a group; ``none``: the file's text for that."""
    origin = given.origin if given.origin.kind == "rule" else replace(given.origin, kind="file", detail=none)
    return Setting(section.scope, given.key, NO_GROUP, origin)


def group_of(section: Section, given: Given | None) -> tuple[Setting, ...]:
    """Return the group of a Python client; nothing where the application is assumed to set the group."""
    if given is None:
        return ()
    return (without_group(section, given, "None") if given.value == NULL_GROUP else section.setting(given.key),)


def apply_consumer_rules(section: Section, *, needs_group: bool) -> ConsumerValues:
    """Return the effective settings, or raise the client's own exception.

    ``needs_group``: only a group keeps the offsets. A consumer that never commits, or whose sink keeps the offsets, can
    work without a group.
    """
    notes: list[str] = []
    _check_protocol(section)
    auto_commit = section.flag_setting(AUTO_COMMIT)
    group = _group(section, auto_commit, notes, needed=needs_group)
    if group is not None and group.value == NO_GROUP and not section.has(AUTO_COMMIT):
        auto_commit = section.derived(AUTO_COMMIT, "false", "C02: group.id is null")
        notes.append(f"{section.software} disables {AUTO_COMMIT} because group.id is null (rule C02)")
    by_brokers = uses_brokers_protocol(section)
    membership = (section.setting(PROTOCOL),) if by_brokers else _heartbeat_and_session(section)
    reset = section.setting("auto.offset.reset")
    if reset.value.startswith("by_duration"):
        raise section.not_modelled(reset.key, "N43", "a reset to a point in time; use earliest, latest or none")
    return ConsumerValues(
        commits=_committed_by_client(section, auto_commit),
        commits_on_timer=boolean(auto_commit.value),
        offset_reset=OffsetReset(reset.value),
        max_poll_records=section.integer("max.poll.records"),
        session=None if by_brokers else SESSION,
        fetched_at_least="fetch.min.bytes",
        knows_epochs=True,
        checks_epochs=section.release.line >= CHECKS_POSITIONS,
        isolation=section.setting(ISOLATION) if section.knows(ISOLATION) else None,
        settings=(
            *((group,) if group is not None else ()),
            auto_commit,
            reset,
            section.setting("max.poll.records"),
            *membership,
        ),
        notes=tuple(notes),
    )


def _committed_by_client(section: Section, auto_commit: Setting) -> Setting | None:
    """Return the client's own commit: what earlier polls returned; in the preview of KIP-848 also what this poll
    returned (KAFKA-18641)."""
    if not boolean(auto_commit.value):
        return None
    preview = uses_brokers_protocol(section) and section.release.line < GENERALLY_AVAILABLE
    return committed_by_client(Commit.DELIVERED if preview else Commit.AUTO, auto_commit)


def _heartbeat_and_session(section: Section) -> tuple[Setting, Setting]:
    heartbeat, session = section.setting(HEARTBEAT), section.setting(SESSION)
    if int(heartbeat.value) >= int(session.value):
        key = heartbeat.key if section.has(heartbeat.key) else session.key
        why = f"heartbeat.interval.ms ({heartbeat.value}) must be less than session.timeout.ms ({session.value})"
        raise section.refused(key, "IllegalArgumentException", why, "C06")
    return heartbeat, session


def _check_protocol(section: Section) -> None:
    by_brokers = uses_brokers_protocol(section)
    for key in (ASSIGNORS, HEARTBEAT, SESSION):
        set_by_client = section.has(key) and section.given[key].value.strip()
        if by_brokers and section.release.line >= GENERALLY_AVAILABLE and set_by_client:
            raise section.refused(key, "ConfigException", f"{key} cannot be set with group.protocol=consumer", "C08")
    if section.has("group.remote.assignor") and not by_brokers:
        why = "group.remote.assignor cannot be set with group.protocol=classic"
        raise section.refused("group.remote.assignor", "ConfigException", why, "C09")
    for key in ("share.acknowledgement.mode", "share.acquire.mode"):
        if section.has(key):
            raise section.refused(key, "ConfigException", f"{key} is for share consumers only", "C10")


def _group(section: Section, auto_commit: Setting, notes: list[str], *, needed: bool) -> Setting | None:
    given = section.given.get(GROUP)
    if given is None:
        # A consumer without a group cannot subscribe (C05), so a file without a group leaves the group to the code.
        notes.append(
            f"group.id is not in the configuration: the application is assumed to set it, so {AUTO_COMMIT}"
            f" stays as configured (rule C02 does not apply)"
        )
        return Setting(section.scope, GROUP, SET_IN_CODE, Origin("assumption", "no file gives it")) if needed else None
    if given.value == NULL_GROUP:
        if section.has(AUTO_COMMIT) and auto_commit.value.lower() == "true":
            why = "enable.auto.commit=true needs a group.id"
            raise section.refused(GROUP, "InvalidConfigurationException", why, "C01")
        if needed:
            why = "subscribe() and commits need a group.id"
            raise section.refused(GROUP, "InvalidGroupIdException", why, "C05")
        return without_group(section, given, "null")
    if not given.value.strip():
        if section.release.line >= (4, 0) or uses_brokers_protocol(section):
            why = "group.id must not be empty"
            raise section.refused(GROUP, "InvalidGroupIdException", why, "C04")
        notes.append(f"{section.software} accepts the empty group.id with a warning (rule C03)")
    return section.setting(GROUP)
