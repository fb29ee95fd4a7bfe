"""The rules by which aiokafka interprets its arguments (``AIOKafkaProducer``, ``AIOKafkaConsumer``; 0.7 to 0.14).

The producer sends one batch of a partition at a time, and one request at a time to a broker. The producer checks the
age of a batch only after a failed attempt to send the batch, or while the partition has no leader. The consumer commits
in the background the records that it has handed over. The rules' numbers (Y01 and so on) are those of
docs/client-rules.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from proofka.model.deployment.choices import Acks, Commit, OffsetReset
from proofka.model.deployment.consumer_rules import NULL_GROUP, ConsumerValues, committed_by_client, group_of
from proofka.model.deployment.duration_settings import NEVER, Source
from proofka.model.deployment.library import Library
from proofka.model.deployment.producer_rules import ProducerValues
from proofka.model.deployment.section import Section
from proofka.model.deployment.sender import OF_JAVA
from proofka.model.deployment.setting import Origin, Setting
from proofka.model.deployment.values import boolean
from proofka.model.faults import Fault

ACKS, IDEMPOTENCE, TRANSACTIONAL = "acks", "enable_idempotence", "transactional_id"
ANSWERED, LINGER, BACKOFF = "request_timeout_ms", "linger_ms", "retry_backoff_ms"
GROUP, AUTO_COMMIT, RESET, ISOLATION = "group_id", "enable_auto_commit", "auto_offset_reset", "isolation_level"
SESSION = "session_timeout_ms"

PRODUCER_KEYS = (ACKS, IDEMPOTENCE, TRANSACTIONAL, ANSWERED, LINGER)
CONSUMER_KEYS = (AUTO_COMMIT, RESET, ISOLATION, SESSION, "fetch_min_bytes")
"""The settings that these rules read: their values must be known. (``group_id`` may be any value, even a
placeholder.)"""

REFUSAL = "ValueError"
UNLIMITED = 2**31 - 1
ACKS_BY_NAME = {"all": Acks.ALL, "-1": Acks.ALL, "1": Acks.LEADER, "0": Acks.NONE}
RESETS = {"earliest": OffsetReset.EARLIEST, "latest": OffsetReset.LATEST}
"""aiokafka's values of ``auto_offset_reset``. Any other value means no reset."""

LASTS = "a send may fail after"

DURATIONS: Mapping[str, Source] = {
    "linger": ("producer", LINGER, None),
    "request_timeout": ("producer", ANSWERED, None),
    "ack_timeout": ("producer", ANSWERED, None),
    "retry_backoff": ("producer", BACKOFF, None),
    "retry_backoff_max": ("producer", BACKOFF, None),
    "delivery_timeout": ("producer", LASTS, None),
    "max_block": ("producer", "no limit for a call", NEVER),
    "reconnect_backoff_max": ("producer", BACKOFF, None),
    "connection_setup": ("producer", ANSWERED, None),
    "max_poll": ("consumer", "max_poll_interval_ms", None),
    "auto_commit": ("consumer", "auto_commit_interval_ms", None),
    "consumer_session": ("consumer", SESSION, None),
    "consumer_request": ("consumer", ANSWERED, None),
    "consumer_connection": ("consumer", ANSWERED, None),
    "consumer_reconnect": ("consumer", BACKOFF, None),
    "consumer_backoff": ("consumer", BACKOFF, None),
    "consumer_fetch_wait": ("consumer", "fetch_max_wait_ms", None),
    "consumer_metadata": ("consumer", "metadata_max_age_ms", None),
}
"""The settings of aiokafka that determine each duration. A reconnection waits for the same pause as any other
attempt."""

BACKGROUND = "of aiokafka, which gives up partitions in the background, while the application processes records"


def producer(section: Section) -> ProducerValues:
    """Return the producer's effective settings, or raise the library's own error."""
    acks = section.setting(ACKS)
    acks = replace(acks, value=ACKS_BY_NAME[acks.value])
    transactional = section.has(TRANSACTIONAL) and bool(section.text(TRANSACTIONAL))
    if (transactional or section.flag(IDEMPOTENCE)) and section.has(ACKS) and acks.value != Acks.ALL:
        raise section.refused(ACKS, REFUSAL, f"{ACKS} must be all with {IDEMPOTENCE}=True", "Y01")
    if transactional:
        what = "transactions of aiokafka; remove this setting to check the producer without transactions"
        raise section.not_modelled(TRANSACTIONAL, "N27", what)
    if section.flag(IDEMPOTENCE):
        raise section.not_modelled(IDEMPOTENCE, "N18", f"idempotence of aiokafka; set {IDEMPOTENCE}=False")
    by_itself = Origin("rule", "aiokafka has no setting for it")
    lasts = f"{section.integer(ANSWERED)}..unbounded"
    return ProducerValues(
        acks=Acks(acks.value),
        retries=UNLIMITED,
        idempotence=False,
        sequencing=None,
        max_in_flight=1,
        expires_in_accumulator=False,
        transactional=False,
        sender=replace(OF_JAVA, knows_epochs=False),
        settings=(
            acks,
            section.flag_setting(IDEMPOTENCE),
            Setting(section.scope, "retries", "unlimited", by_itself),
            Setting(section.scope, "requests in flight", "1", by_itself),
            section.setting(ANSWERED),
            section.setting(LINGER),
            Setting(section.scope, LASTS, lasts, Origin("rule", f"{ANSWERED}, when an attempt failed after that")),
        ),
        notes=(),
    )


def consumer(section: Section, *, needs_group: bool) -> ConsumerValues:
    """Return the consumer's effective settings, or raise the library's own error."""
    group = section.given.get(GROUP)
    alone = group is not None and group.value == NULL_GROUP
    if alone and needs_group:
        raise section.refused(GROUP, "IllegalOperation", f"a commit needs a {GROUP}", "Y02")
    auto_commit = section.flag_setting(AUTO_COMMIT)
    notes: tuple[str, ...] = ()
    if alone and boolean(auto_commit.value):
        auto_commit = section.derived(AUTO_COMMIT, "false", f"Y03: {GROUP} is None")
        notes = (f"{section.software} commits nothing because {GROUP} is None (rule Y03)",)
    if group is None and needs_group:
        notes = (f"{GROUP} is assumed to be set by the application",)
    commits_itself, reset = boolean(auto_commit.value), section.setting(RESET)
    start = RESETS.get(reset.value.lower(), OffsetReset.NONE)
    isolation = section.setting(ISOLATION)
    if isolation.value == "read_committed" and start is OffsetReset.LATEST:
        what = f"{ISOLATION}=read_committed of aiokafka with {RESET}=latest"
        why = f"which starts after open transactions; set {RESET}=earliest"
        raise section.not_modelled(ISOLATION, "N48", f"{what}, {why}")
    return ConsumerValues(
        commits=committed_by_client(Commit.DELIVERED, auto_commit) if commits_itself else None,
        commits_on_timer=commits_itself,
        offset_reset=start,
        max_poll_records=UNLIMITED,
        session=SESSION,
        fetched_at_least="fetch_min_bytes",
        knows_epochs=False,
        checks_epochs=False,
        isolation=isolation,
        settings=(
            *group_of(section, group),
            auto_commit,
            replace(reset, value=start),
            section.setting(SESSION),
        ),
        notes=notes,
        not_with={
            Fault.REBALANCE: ("N75", f"rebalances {BACKGROUND}"),
            Fault.EVICTION: ("N75", f"evictions {BACKGROUND}"),
        },
    )


LIBRARY = Library("aiokafka", (0, 7), (0, 14), REFUSAL, PRODUCER_KEYS, producer, CONSUMER_KEYS, consumer, DURATIONS)
