"""The rules by which kafka-go interprets its options (segmentio; ``writer.go``, ``reader.go``, ``consumergroup.go``;
0.4.18 to 0.4.50).

The settings are the fields of ``Writer`` (or ``WriterConfig``) and of ``ReaderConfig``. For a group there is also
``Reads``: the method that the application reads with, ``ReadMessage`` or ``FetchMessage``. The rules' numbers (G01 and
so on) are those of docs/client-rules.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from proofka.model.deployment.choices import Acks, Commit, OffsetReset
from proofka.model.deployment.consumer_rules import TRANSACTIONS, ConsumerValues, committed_by_client
from proofka.model.deployment.duration_settings import NEVER, Source
from proofka.model.deployment.library import Library
from proofka.model.deployment.producer_rules import ProducerValues
from proofka.model.deployment.section import Section
from proofka.model.deployment.sender import ClientRecovery, Sender
from proofka.model.deployment.setting import Origin, Setting
from proofka.model.faults import Fault

REQUIRED, ATTEMPTS, ASYNC, COMPLETION = "RequiredAcks", "MaxAttempts", "Async", "Completion"
WRITES, BACKOFF, LONGEST = "WriteTimeout", "WriteBackoffMin", "WriteBackoffMax"
GROUP, START, PARTITION, READS, INTERVAL = "GroupID", "StartOffset", "Partition", "Reads", "CommitInterval"
SESSION, KEPT, WATCHES, LOOKS = "SessionTimeout", "RetentionTime", "WatchPartitionChanges", "PartitionWatchInterval"
LEAST_BYTES, MOST_BYTES, OUT_OF_RANGE = "MinBytes", "MaxBytes", "OffsetOutOfRangeError"
MIN_BACKOFF, MAX_BACKOFF = "ReadBackoffMin", "ReadBackoffMax"

PRODUCER_KEYS = (REQUIRED, ATTEMPTS, ASYNC, COMPLETION, WRITES, BACKOFF, LONGEST)
CONSUMER_KEYS = (
    GROUP,
    START,
    PARTITION,
    READS,
    INTERVAL,
    SESSION,
    KEPT,
    WATCHES,
    LOOKS,
    LEAST_BYTES,
    MOST_BYTES,
    OUT_OF_RANGE,
    MIN_BACKOFF,
    MAX_BACKOFF,
)
"""The settings that these rules read: their values must be known."""

ACKS = {
    **dict.fromkeys(("RequireAll", "-1"), Acks.ALL),
    **dict.fromkeys(("RequireOne", "1"), Acks.LEADER),
    **dict.fromkeys(("RequireNone", "0"), Acks.NONE),
}
OFFSETS = {
    **dict.fromkeys(("FirstOffset", "-2", "0"), OffsetReset.EARLIEST),
    **dict.fromkeys(("LastOffset", "-1"), OffsetReset.LATEST),
}
"""kafka-go's values for acks, and for the start of a group without an offset."""

REFUSAL = "a panic"
IN_ORDER = (0, 4, 18)
"""The first release that writes the batches of a partition one after the other (``batchQueue``)."""

DEFAULT_ATTEMPTS = 10
COMMITS_AT_ONCE, APPLICATION_COMMITS = "ReadMessage", "FetchMessage"
ANSWERED, TAKES, FAILS, NOTICED = (
    "an answer comes within",
    "connecting and metadata take",
    "a write fails after",
    "new partitions are noticed within",
)

DURATIONS: Mapping[str, Source] = {
    "linger": ("producer", "BatchTimeout", None),
    "request_timeout": ("producer", ANSWERED, None),
    "ack_timeout": ("producer", ANSWERED, None),
    "retry_backoff": ("producer", BACKOFF, None),
    "retry_backoff_max": ("producer", LONGEST, None),
    "delivery_timeout": ("producer", FAILS, None),
    "max_block": ("producer", "no limit for a call", NEVER),
    "reconnect_backoff_max": ("producer", TAKES, None),
    "connection_setup": ("producer", WRITES, None),
    "max_poll": ("consumer", "no limit between two reads", NEVER),
    "auto_commit": ("consumer", INTERVAL, None),
    "consumer_session": ("consumer", SESSION, None),
    "consumer_request": ("consumer", "ReadBatchTimeout", None),
    "consumer_connection": ("consumer", "Dialer.Timeout", None),
    "consumer_reconnect": ("consumer", MAX_BACKOFF, None),
    "consumer_backoff": ("consumer", "JoinGroupBackoff", None),
    "consumer_fetch_wait": ("consumer", "MaxWait", None),
    "consumer_metadata": ("consumer", NOTICED, None),
}
"""The settings of kafka-go that determine each duration. A write has one time limit for connecting, sending and the
answer."""

NOT_WITH: Mapping[str, tuple[str, str]] = {
    Fault.REBALANCE.value: (
        "N79",
        "rebalances of kafka-go, which commits records of its last generation in a new one",
    ),
    Fault.EVICTION.value: (
        "N79",
        "evictions of kafka-go, which commits records of its last generation in a new one",
    ),
    TRANSACTIONS: (
        "N36",
        "reading of transactions with kafka-go, which returns aborted records whatever IsolationLevel says",
    ),
}
"""The faults (or transactions) that are not modelled with kafka-go's reader, each with a code and a description."""

COMMIT_FAILS = (
    "ReadMessage commits before it returns: the verdict does not cover a record that is skipped because its commit "
    "fails"
)
NO_DEADLINE = (
    "WriteMessages is assumed to get a context without a deadline: after a deadline it reports messages as failed that "
    "can be written nevertheless"
)
NOT_SAID = (
    f"the application is assumed to read with {APPLICATION_COMMITS} and to commit by itself; {COMMITS_AT_ONCE} commits "
    f"before a record is processed: set {READS} if the application uses it"
)


def producer(section: Section) -> ProducerValues:
    """Return the producer's effective settings. Raises DeploymentError for what the library refuses or the model
    lacks."""
    release = section.release
    if release.full < IN_ORDER:
        named = "name the patch level of the version" if release.patch is None else "name a newer version"
        what = f"writers of kafka-go before 0.4.18, which write the batches of a partition in any order; {named}"
        raise section.not_modelled("version", "N08", what)
    acks = section.setting(REQUIRED)
    attempts = section.integer(ATTEMPTS)
    retries = (attempts if attempts > 0 else DEFAULT_ATTEMPTS) - 1
    writes, because = section.milliseconds(WRITES), Origin("rule", f"{WRITES}, less what comes before")
    return ProducerValues(
        acks=ACKS[acks.value],
        retries=retries,
        idempotence=False,
        sequencing=None,
        max_in_flight=1,
        expires_in_accumulator=False,
        transactional=False,
        sender=Sender(
            recovery=ClientRecovery.NONE,
            retries_keep_their_place=True,
            one_at_a_time_everywhere=True,
            knows_epochs=False,
            refusals_count=True,
            connecting_counts=False,
            only_attempts_end=True,
        ),
        settings=(
            replace(acks, value=ACKS[acks.value]),
            replace(section.setting(ATTEMPTS), value=str(retries + 1)),
            section.flag_setting(ASYNC),
            section.setting(WRITES),
            Setting(section.scope, ANSWERED, f"0ms..{writes}ms", because),
            Setting(section.scope, TAKES, "0ms..unbounded", Origin("rule", "while attempts remain")),
            Setting(section.scope, FAILS, "0ms..unbounded", Origin("rule", "some errors are not retried")),
        ),
        notes=(NO_DEADLINE,),
    )


def consumer(section: Section, *, needs_group: bool) -> ConsumerValues:
    """Return the consumer's effective settings. Raises DeploymentError for what the library refuses or the model
    lacks."""
    _check_consumer(section)
    start, uncommitted = section.setting(START), section.setting("IsolationLevel")
    interval = section.milliseconds(INTERVAL) > 0
    by_itself = section.has(READS) and section.text(READS) == COMMITS_AT_ONCE
    commits = None
    if by_itself:
        commits = committed_by_client(Commit.DELIVERED if interval else Commit.BEFORE, section.setting(READS))
    watches = section.flag(WATCHES)
    noticed = str(section.milliseconds(LOOKS)) if watches else str(2 * NEVER)
    committed = uncommitted.value in ("ReadCommitted", "1")
    return ConsumerValues(
        commits=commits,
        commits_on_timer=interval,
        offset_reset=OFFSETS[start.value],
        max_poll_records=1,
        session=SESSION,
        fetched_at_least=LEAST_BYTES,
        knows_epochs=False,
        checks_epochs=False,
        isolation=replace(uncommitted, value="read_committed" if committed else "read_uncommitted"),
        settings=(
            *((section.setting(GROUP),) if section.has(GROUP) else ()),
            *((section.setting(READS),) if section.has(READS) else ()),
            section.setting(INTERVAL),
            replace(start, value=OFFSETS[start.value]),
            section.setting(SESSION),
            section.flag_setting(WATCHES),
            Setting(section.scope, NOTICED, noticed, Origin("rule", LOOKS if watches else f"{WATCHES}=false: never")),
        ),
        notes=_notes(section, needs_group=needs_group),
        not_with=NOT_WITH,
        waits_beyond_end=True,
    )


def _notes(section: Section, *, needs_group: bool) -> tuple[str, ...]:
    """Return notes about assumptions that no setting tells, and about losses outside of the verdict."""
    if not section.has(READS):
        return (NOT_SAID,) if needs_group else ()
    at_once = section.text(READS) == COMMITS_AT_ONCE and section.milliseconds(INTERVAL) == 0
    return (COMMIT_FAILS,) if at_once else ()


def _check_consumer(section: Section) -> None:
    """Raise DeploymentError for a combination that the library refuses or the model lacks."""
    if section.has(GROUP) and section.text(GROUP) and section.integer(PARTITION) != 0:
        raise section.refused(PARTITION, REFUSAL, f"{PARTITION} and {GROUP} must not both be set", "G01")
    most = section.integer(MOST_BYTES) if section.has(MOST_BYTES) else 0
    if section.has(LEAST_BYTES) and section.integer(LEAST_BYTES) > most:
        why = f"{LEAST_BYTES} must not be greater than {MOST_BYTES}, which counts as 0 where it is not set"
        raise section.refused(LEAST_BYTES, REFUSAL, why, "G02")
    if section.milliseconds(MAX_BACKOFF) < section.milliseconds(MIN_BACKOFF):
        key = MAX_BACKOFF if section.has(MAX_BACKOFF) else MIN_BACKOFF
        raise section.refused(key, REFUSAL, f"{MAX_BACKOFF} must not be smaller than {MIN_BACKOFF}", "G03")
    if section.has(GROUP) and not section.text(GROUP):
        raise section.not_modelled(GROUP, "N46", f"a reader of kafka-go without a group; set {GROUP}")
    if section.has(KEPT) and section.milliseconds(KEPT) > 0:
        what = "a retention of offsets that the client sets; remove this setting"
        raise section.not_modelled(KEPT, "N45", what)
    if section.flag(OUT_OF_RANGE):
        what = "a reader that reports an offset out of range to the application; remove this setting"
        raise section.not_modelled(OUT_OF_RANGE, "N47", what)


LIBRARY = Library(
    "kafka-go",
    (0, 4),
    (0, 4, 50),
    REFUSAL,
    PRODUCER_KEYS,
    producer,
    CONSUMER_KEYS,
    consumer,
    DURATIONS,
    package="kafka.",
)
