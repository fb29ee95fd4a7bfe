"""The rules by which franz-go interprets its options (``cfg.validate`` in ``pkg/kgo``; 1.21).

The settings are the functions that set an option of ``kgo``, and their arguments. The rules' numbers (F01 and so on)
are those of docs/client-rules.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from proofka.model.deployment.choices import Acks, Commit, OffsetReset
from proofka.model.deployment.consumer_rules import ConsumerValues, committed_by_client
from proofka.model.deployment.duration_settings import NEVER, Source
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.library import Library
from proofka.model.deployment.producer_rules import ProducerValues
from proofka.model.deployment.rebalancing import AT_ANY_TIME, IN_ORDER
from proofka.model.deployment.section import Section
from proofka.model.deployment.sender import ClientRecovery, Sender
from proofka.model.deployment.setting import Origin, Setting

ACKS, PLAIN = "RequiredAcks", "DisableIdempotentWrite"
IN_FLIGHT, RETRIES = "MaxProduceRequestsInflightPerBroker", "RecordRetries"
LASTS, CANCELS = "RecordDeliveryTimeout", "AllowIdempotentProduceCancellation"
TRANSACTIONAL, STOPS = "TransactionalID", "StopProducerOnDataLossDetected"
START, RESET, GROUP, ISOLATION = "ConsumeStartOffset", "ConsumeResetOffset", "ConsumerGroup", "FetchIsolationLevel"
MANUAL, GREEDY, MARKS = COMMITS = ("DisableAutoCommit", "GreedyAutoCommit", "AutoCommitMarks")
SESSION, HEARTBEAT, FETCH_WAITS = "SessionTimeout", "HeartbeatInterval", "FetchMaxWait"
BLOCKS = "BlockRebalanceOnPoll"
"""The option with which no partition is given up between a poll and ``AllowRebalance``."""

OPTS_IN = "opt_in_kafka_next_gen_balancer_beta"
"""The key in a client's context (``WithContext``) that selects the consumer group protocol (``should848``)."""

WAITS, OVERHEAD, METADATA = "ProduceRequestTimeout", "RequestTimeoutOverhead", "MetadataMinAge"

PRODUCER_KEYS = (ACKS, PLAIN, IN_FLIGHT, RETRIES, LASTS, CANCELS, TRANSACTIONAL, STOPS, WAITS, OVERHEAD, METADATA)
CONSUMER_KEYS = (
    START,
    RESET,
    GROUP,
    ISOLATION,
    *COMMITS,
    SESSION,
    HEARTBEAT,
    FETCH_WAITS,
    OVERHEAD,
    METADATA,
    "FetchMinBytes",
    OPTS_IN,
    BLOCKS,
)
"""The settings that these rules read: their values must be known."""

OFFSETS = {
    **dict.fromkeys(("AtStart", "AtStart()", "NewOffset().AtStart()"), OffsetReset.EARLIEST),
    **dict.fromkeys(("AtEnd", "AtEnd()", "NewOffset().AtEnd()"), OffsetReset.LATEST),
    **dict.fromkeys(("AtCommitted", "AtCommitted()", "NewOffset().AtCommitted()"), OffsetReset.NONE),
    **dict.fromkeys(("NoResetOffset", "NoResetOffset()"), OffsetReset.NONE),
}
"""franz-go's values for the start of a consumer without an offset."""

REFUSAL = "an error of NewClient"
UNLIMITED = 2**31 - 1
COUNTS_ANSWERS = (1, 21, 1)
"""The first release that sends one request to a new leader until that leader has answered."""

COMPARES_HEARTBEATS = (1, 21, 4)
"""The first release that refuses a heartbeat interval longer than the session (``cfg.validate``)."""

MOST_IN_FLIGHT = 4
"""The number of requests in flight with idempotence, whatever the option says, once a leader has answered one
request."""

SHORTEST, LONGEST_PAUSE = 1_000, 5_000
"""The least valid ``RecordDeliveryTimeout``, and the longest pause after a failure, in ms."""

ANSWERED, PAUSE = "an answer comes within", "a retry comes within"

DURATIONS: Mapping[str, Source] = {
    "linger": ("producer", "ProducerLinger", None),
    "request_timeout": ("producer", ANSWERED, None),
    "ack_timeout": ("producer", WAITS, None),
    "retry_backoff": ("producer", "no least pause", 0),
    "retry_backoff_max": ("producer", PAUSE, None),
    "delivery_timeout": ("producer", "no limit for a delivery", NEVER),
    "max_block": ("producer", "no limit for a call", NEVER),
    "reconnect_backoff_max": ("producer", "longest pause", LONGEST_PAUSE),
    "connection_setup": ("producer", "DialTimeout", None),
    "max_poll": ("consumer", "no limit between two polls", NEVER),
    "auto_commit": ("consumer", "AutoCommitInterval", None),
    "consumer_session": ("consumer", SESSION, None),
    "consumer_request": ("consumer", ANSWERED, None),
    "consumer_connection": ("consumer", "DialTimeout", None),
    "consumer_reconnect": ("consumer", PAUSE, None),
    "consumer_backoff": ("consumer", PAUSE, None),
    "consumer_fetch_wait": ("consumer", FETCH_WAITS, None),
    "consumer_metadata": ("consumer", "MetadataMaxAge", None),
}
"""The settings of franz-go that determine each duration. A retry comes with the next metadata, or after a growing
pause."""


def producer(section: Section) -> ProducerValues:
    """Return the producer's effective settings, or raise the library's own error."""
    _check(section)
    if section.release.full < COUNTS_ANSWERS:
        raise _not_modelled_version(section)
    answered = section.milliseconds(WAITS) + section.milliseconds(OVERHEAD)
    pause = section.milliseconds(METADATA) + LONGEST_PAUSE
    acks = section.setting(ACKS)
    return ProducerValues(
        acks=Acks.ALL,
        retries=UNLIMITED,
        idempotence=True,
        sequencing=None,
        max_in_flight=MOST_IN_FLIGHT,
        expires_in_accumulator=False,
        transactional=False,
        sender=Sender(
            recovery=ClientRecovery.FRANZ_GO_STOPPING if section.flag(STOPS) else ClientRecovery.FRANZ_GO,
            retries_keep_their_place=True,
            one_at_a_time_everywhere=False,
            knows_epochs=False,
            refusals_count=False,
            connecting_counts=False,
        ),
        settings=(
            replace(acks, value=Acks.ALL),
            section.flag_setting(PLAIN),
            section.derived(
                IN_FLIGHT, str(MOST_IN_FLIGHT), "with idempotence; one request until the leader has answered one"
            ),
            section.setting(RETRIES),
            section.setting(LASTS),
            section.flag_setting(STOPS),
            _derived(section, ANSWERED, answered, f"{WAITS} and {OVERHEAD}"),
            _derived(section, PAUSE, pause, f"{METADATA}, and the longest pause after a failure"),
        ),
        notes=(),
    )


def _derived(section: Section, key: str, value: int, because: str) -> Setting:
    return Setting(section.scope, key, str(value), Origin("rule", because))


def _check(section: Section) -> None:
    """Raise DeploymentError for a combination that the library refuses or the model lacks."""
    plain, cancels = section.flag(PLAIN), section.knows(CANCELS) and section.flag(CANCELS)
    transactional = bool(section.text(TRANSACTIONAL))
    all_isr = section.text(ACKS).startswith("AllISRAcks")
    short = 0 < section.milliseconds(LASTS) < SHORTEST
    conflicts = (
        (TRANSACTIONAL, cancels and transactional, f"{TRANSACTIONAL} cannot be combined with {CANCELS}", "F04"),
        (TRANSACTIONAL, plain and transactional, f"{TRANSACTIONAL} cannot be combined with {PLAIN}", "F03"),
        (ACKS, not plain and not all_isr, f"{ACKS} must be AllISRAcks without {PLAIN}", "F01"),
        (IN_FLIGHT, not plain and section.integer(IN_FLIGHT) != 1, f"{IN_FLIGHT} needs {PLAIN}", "F02"),
        (LASTS, short, f"{LASTS} must be at least 1s", "F08"),
    )
    for key, conflicting, why, rule in conflicts:
        if conflicting:
            raise section.refused(key, REFUSAL, why, rule)
    missing = (
        (
            TRANSACTIONAL,
            transactional,
            "N27",
            "transactions of franz-go; remove this option to check the producer without transactions",
        ),
        (
            PLAIN,
            plain,
            "N19",
            "franz-go without idempotence, which sends the records after a failed record again; remove this option",
        ),
        (LASTS, section.milliseconds(LASTS) > 0, "N25", "records of franz-go that time out; remove this option"),
        (
            RETRIES,
            section.has(RETRIES) and section.integer(RETRIES) < UNLIMITED,
            "N24",
            "a limited number of retries of franz-go; remove this option",
        ),
        (
            CANCELS,
            cancels,
            "N26",
            "records of franz-go that are cancelled although they can be stored; remove this option",
        ),
    )
    for key, wanted, code, what in missing:
        if wanted:
            raise section.not_modelled(key, code, what)


def _not_modelled_version(section: Section) -> DeploymentError:
    named = "name the patch level of the version" if section.release.patch is None else "name 1.21.1 or later"
    what = f"franz-go 1.21.0, which treats a new leader as one that has answered; {named}"
    return section.not_modelled("version", "N09", what)


def consumer(section: Section, *, needs_group: bool) -> ConsumerValues:
    """Return the consumer's effective settings, or raise the library's own error."""
    manual, greedy, marks = (section.flag(key) for key in COMMITS)
    _check_protocol(section)
    _check_commits(section)
    if section.milliseconds(HEARTBEAT) > section.milliseconds(SESSION):
        key = HEARTBEAT if section.has(HEARTBEAT) else SESSION
        if section.release.full < COMPARES_HEARTBEATS:
            what = (
                f"franz-go before 1.21.4 with a {HEARTBEAT} longer than {SESSION}, whose group evicts the member again "
                "and again; use a shorter one"
            )
            raise section.not_modelled(key, "N50", what)
        raise section.refused(key, REFUSAL, f"{HEARTBEAT} must not be longer than {SESSION}", "F07")
    by_itself = None
    if greedy:
        by_itself = committed_by_client(Commit.DELIVERED, section.flag_setting(GREEDY))
    elif not manual and not marks:
        by_itself = committed_by_client(Commit.EARLIER, section.flag_setting(MANUAL))
    reset = _reset(section)
    answered = section.milliseconds(FETCH_WAITS) + section.milliseconds(OVERHEAD)
    pause = section.milliseconds(METADATA) + LONGEST_PAUSE
    isolation = section.setting(ISOLATION)
    committed = "ReadCommitted" in isolation.value
    notes = () if section.has(GROUP) or not needs_group else (f"{GROUP} is assumed to be set by the application",)
    return ConsumerValues(
        commits=by_itself,
        commits_on_timer=not manual,
        offset_reset=OFFSETS[reset.value],
        max_poll_records=UNLIMITED,
        session=SESSION,
        fetched_at_least="FetchMinBytes",
        knows_epochs=False,
        checks_epochs=True,
        isolation=replace(isolation, value="read_committed" if committed else "read_uncommitted"),
        settings=(
            *((section.setting(GROUP),) if section.has(GROUP) else ()),
            *(section.flag_setting(key) for key in COMMITS),
            replace(reset, value=OFFSETS[reset.value]),
            section.setting(SESSION),
            section.setting(HEARTBEAT),
            section.flag_setting(BLOCKS),
            _derived(section, ANSWERED, answered, f"{FETCH_WAITS} and {OVERHEAD}"),
            _derived(section, PAUSE, pause, f"{METADATA}, and the longest pause after a failure"),
        ),
        notes=notes,
        goes_to_nearest=True,
        rebalancing=IN_ORDER if section.flag(BLOCKS) else AT_ANY_TIME,
    )


def _check_protocol(section: Section) -> None:
    """Raise NotModelledError for a consumer whose context selects the consumer group protocol."""
    if section.flag(OPTS_IN):
        what = "the consumer group protocol with franz-go; leave this key out of the client's context"
        raise section.not_modelled(OPTS_IN, "N93", what)


def _check_commits(section: Section) -> None:
    manual, greedy, marks = (section.flag(key) for key in COMMITS)
    conflicts = (
        (GREEDY, manual and greedy, f"{GREEDY} cannot be combined with {MANUAL}"),
        (MARKS, manual and marks, f"{MARKS} cannot be combined with {MANUAL}"),
        (MARKS, greedy and marks, f"{MARKS} cannot be combined with {GREEDY}"),
    )
    for key, conflicting, why in conflicts:
        if conflicting:
            raise section.refused(key, REFUSAL, why, "F05")
    if section.has(GROUP) and not section.text(GROUP):
        for key in COMMITS:
            if section.flag(key):
                raise section.refused(key, REFUSAL, f"{key} needs {GROUP}", "F06")
        raise section.not_modelled(GROUP, "N46", f"a consumer of franz-go without a group; set {GROUP}")


def _reset(section: Section) -> Setting:
    """Return the reset setting. Each of the two options is the default of the other; both must be equal in the
    model."""
    start, reset = section.setting(START), section.setting(RESET)
    if section.has(START) and section.has(RESET) and OFFSETS[start.value] is not OFFSETS[reset.value]:
        raise section.not_modelled(RESET, "N44", f"another offset than {START}; use the same offset in both")
    return start if section.has(START) and not section.has(RESET) else reset


LIBRARY = Library(
    "franz-go",
    (1, 21),
    (1, 21, 6),
    REFUSAL,
    PRODUCER_KEYS,
    producer,
    CONSUMER_KEYS,
    consumer,
    DURATIONS,
    package="kgo.",
)
