"""The rules by which sarama interprets its settings (``Config.Validate``; 1.19 and later).

The rules' numbers (A02 and so on) are those of docs/client-rules.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from proofka.model.deployment.choices import Acks, OffsetReset
from proofka.model.deployment.consumer_rules import ConsumerValues
from proofka.model.deployment.duration_settings import NEVER, Source
from proofka.model.deployment.library import Library
from proofka.model.deployment.producer_rules import ProducerValues
from proofka.model.deployment.section import Section
from proofka.model.deployment.sender import ClientRecovery, Sender
from proofka.model.deployment.setting import Origin, Setting
from proofka.model.deployment.values import boolean, protocol_version

PRODUCER_KEYS = (
    "Producer.RequiredAcks",
    "Producer.Return.Errors",
    "Producer.Retry.Max",
    "Producer.Idempotent",
    "Producer.Transaction.ID",
    "Net.MaxOpenRequests",
    "Version",
)
CONSUMER_KEYS = (
    "Consumer.Offsets.AutoCommit.Enable",
    "Consumer.Offsets.AutoCommit.Interval",
    "Consumer.Offsets.Initial",
    "Consumer.Offsets.Retention",
    "Consumer.Group.Session.Timeout",
    "Consumer.Group.Heartbeat.Interval",
    "Consumer.Group.ResetInvalidOffsets",
    "Consumer.Fetch.Min",
    "Consumer.IsolationLevel",
)
"""The settings that these rules read: their values must be known."""

ACKS = {
    "WaitForAll": Acks.ALL,
    "-1": Acks.ALL,
    "WaitForLocal": Acks.LEADER,
    "1": Acks.LEADER,
    "NoResponse": Acks.NONE,
    "0": Acks.NONE,
}
INITIAL = {
    "OffsetNewest": OffsetReset.LATEST,
    "-1": OffsetReset.LATEST,
    "OffsetOldest": OffsetReset.EARLIEST,
    "-2": OffsetReset.EARLIEST,
}
"""sarama's values for acks, and for the start of a consumer without an offset."""

PIPELINES = (1, 31)
"""The first release that can send a request before the previous one is answered, whatever Net.MaxOpenRequests says."""

MUTES = (1, 60)
"""The first release in which a partition has one request in flight until that succeeded or failed permanently."""

MUTES_IDEMPOTENT = (1, 49)
"""The first release in which the same holds with idempotence, with a pause before each retry."""

OLDEST_VERSION = (0, 11)
"""The oldest protocol (``Version``) with idempotence."""

MOST_RETRIES = 10
"""The largest modelled number of retries. The model would treat a larger number as unlimited."""

REQUIRED, RETRIES = "Producer.RequiredAcks", "Producer.Retry.Max"
OPEN = "Net.MaxOpenRequests"
IDEMPOTENT, TRANSACTIONAL, VERSION = "Producer.Idempotent", "Producer.Transaction.ID", "Version"
SESSION, HEARTBEAT = "Consumer.Group.Session.Timeout", "Consumer.Group.Heartbeat.Interval"
KEPT = "Consumer.Offsets.Retention"
COMMITS, INTERVAL = "Consumer.Offsets.AutoCommit.Enable", "Consumer.Offsets.AutoCommit.Interval"

DURATIONS: Mapping[str, Source] = {
    "linger": ("producer", "Producer.Flush.Frequency", None),
    "request_timeout": ("producer", "Net.ReadTimeout", None),
    "ack_timeout": ("producer", "Producer.Timeout", None),
    "retry_backoff": ("producer", "Producer.Retry.Backoff", None),
    "retry_backoff_max": ("producer", "Producer.Retry.Backoff", None),
    "delivery_timeout": ("producer", "no limit for a delivery", NEVER),
    "max_block": ("producer", "no limit for a call", NEVER),
    "reconnect_backoff_max": ("producer", "Metadata.Retry.Backoff", None),
    "connection_setup": ("producer", "Net.DialTimeout", None),
    "max_poll": ("consumer", "no limit between two polls", NEVER),
    "auto_commit": ("consumer", "Consumer.Offsets.AutoCommit.Interval", 1_000),
    "consumer_session": ("consumer", "Consumer.Group.Session.Timeout", None),
    "consumer_request": ("consumer", "Net.ReadTimeout", None),
    "consumer_connection": ("consumer", "Net.DialTimeout", None),
    "consumer_reconnect": ("consumer", "Consumer.Retry.Backoff", None),
    "consumer_backoff": ("consumer", "Consumer.Group.Rebalance.Retry.Backoff", None),
    "consumer_fetch_wait": ("consumer", "Consumer.MaxWaitTime", None),
    "consumer_metadata": ("consumer", "Metadata.RefreshFrequency", None),
}
"""The settings of sarama that determine each duration. sarama limits neither a delivery nor the time between two
polls."""


def producer(section: Section) -> ProducerValues:
    """Return the producer's effective settings, or raise the library's own error."""
    idempotence = section.knows(IDEMPOTENT) and section.flag(IDEMPOTENT)
    transactional = section.knows(TRANSACTIONAL) and bool(section.text(TRANSACTIONAL))
    if idempotence or transactional:
        _check_idempotence(section)
    if transactional:
        what = "transactions of sarama; remove this setting to check the producer without transactions"
        raise section.not_modelled(TRANSACTIONAL, "N27", what)
    if idempotence and section.release.line < MUTES_IDEMPOTENT:
        what = (
            "idempotence of sarama before 1.49, which does not keep records in order; remove this setting, or name "
            "1.49 or later"
        )
        raise section.not_modelled(IDEMPOTENT, "N17", what)
    if section.integer(RETRIES) > MOST_RETRIES:
        what = f"more than {MOST_RETRIES} retries of a client without another limit for a delivery; set fewer"
        raise section.not_modelled(RETRIES, "N23", what)
    acks = section.setting(REQUIRED)
    line, in_flight = section.release.line, section.setting(OPEN)
    notes: tuple[str, ...] = ()
    if idempotence:
        in_flight = section.setting(OPEN)
    elif line < PIPELINES:
        in_flight = section.derived(OPEN, "1", "before 1.31 a broker gets one request at a time")
    elif line < MUTES:
        if section.integer(OPEN) == 1:
            in_flight = section.derived(OPEN, "2", "a request can be sent before the previous one is answered")
        notes = (f"{section.software} can send a record before the previous one is answered, whatever {OPEN} says",)
    else:
        in_flight = section.derived(OPEN, "1", "from 1.60 on a partition has one request in flight")
    return ProducerValues(
        acks=ACKS[acks.value],
        retries=section.integer(RETRIES),
        idempotence=idempotence,
        sequencing=None,
        max_in_flight=int(in_flight.value),
        expires_in_accumulator=False,
        transactional=False,
        sender=Sender(
            recovery=ClientRecovery.SARAMA if idempotence else ClientRecovery.NONE,
            retries_keep_their_place=True,
            one_at_a_time_everywhere=True,
            knows_epochs=False,
            refusals_count=True,
            connecting_counts=True,
        ),
        settings=(
            replace(acks, value=ACKS[acks.value]),
            section.setting(RETRIES),
            *((section.flag_setting(IDEMPOTENT),) if section.knows(IDEMPOTENT) else ()),
            in_flight,
        ),
        notes=notes,
    )


def _check_idempotence(section: Section) -> None:
    if not section.flag(IDEMPOTENT):
        raise section.refused(TRANSACTIONAL, "ConfigurationError", f"{TRANSACTIONAL} needs {IDEMPOTENT}", "A05")
    conflicts = (
        (VERSION, _is_older(section.text(VERSION)), "must be at least 0.11", "A01"),
        (RETRIES, section.integer(RETRIES) == 0, "must be at least 1", "A02"),
        (
            REQUIRED,
            ACKS[section.text(REQUIRED)] is not Acks.ALL,
            "must be WaitForAll",
            "A03",
        ),
        (OPEN, section.integer(OPEN) > 1, "must be 1", "A04"),
    )
    for key, conflicting, what, rule in conflicts:
        if conflicting:
            why = f"{key} {what} with {IDEMPOTENT}"
            raise section.refused(key if section.has(key) else IDEMPOTENT, "ConfigurationError", why, rule)


def _is_older(version: str) -> bool:
    """Tell whether a version is older than idempotence: ``0.10.2.1``, or the name of the constant, ``V0_10_2_1``."""
    return () < protocol_version(version) < OLDEST_VERSION


def _isolation(section: Section) -> Setting | None:
    key = "Consumer.IsolationLevel"
    if not section.knows(key):
        return None
    setting = section.setting(key)
    committed = setting.value in ("1", "ReadCommitted")
    return replace(setting, value="read_committed" if committed else "read_uncommitted")


def consumer(section: Section, *, needs_group: bool) -> ConsumerValues:
    """Return the consumer's effective settings, or raise the library's own error."""
    heartbeat, session = section.milliseconds(HEARTBEAT), section.milliseconds(SESSION)
    if heartbeat >= session:
        why = f"{HEARTBEAT} must be less than {SESSION}"
        raise section.refused(HEARTBEAT if section.has(HEARTBEAT) else SESSION, "ConfigurationError", why, "A15")
    if section.knows(INTERVAL) and section.milliseconds(INTERVAL) <= 0:
        raise section.refused(INTERVAL, "ConfigurationError", f"{INTERVAL} must be more than 0", "A12")
    if section.knows(KEPT) and section.milliseconds(KEPT) > 0:
        what = "a retention of offsets that the client sets; remove this setting"
        raise section.not_modelled(KEPT, "N45", what)
    initial = section.setting("Consumer.Offsets.Initial")
    # Before 1.25 no setting disables the commit of marked offsets.
    commits = section.flag_setting(COMMITS) if section.knows(COMMITS) else section.derived(COMMITS, "true", "always")
    reset = "Consumer.Group.ResetInvalidOffsets"
    invalid = section.knows(reset) and not section.flag(reset)
    note = "an offset out of range ends the claim; the application"
    return ConsumerValues(
        commits=None,
        commits_on_timer=boolean(commits.value),
        offset_reset=INITIAL[initial.value],
        max_poll_records=1,
        session=SESSION,
        fetched_at_least="Consumer.Fetch.Min",
        knows_epochs=False,
        checks_epochs=False,
        isolation=_isolation(section),
        settings=(
            commits,
            replace(initial, value=INITIAL[initial.value]),
            Setting(
                section.scope, "records at a time", "1", Origin("rule", "the library hands over one record at a time")
            ),
            section.setting(SESSION),
            section.setting(HEARTBEAT),
        ),
        notes=(f"{note} is assumed to start again at Consumer.Offsets.Initial",) if invalid else (),
    )


LIBRARY = Library(
    "sarama",
    (1, 19),
    (1, 60, 1),
    "ConfigurationError",
    PRODUCER_KEYS,
    producer,
    CONSUMER_KEYS,
    consumer,
    DURATIONS,
    package="sarama.",
)
