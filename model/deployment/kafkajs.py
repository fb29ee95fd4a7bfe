"""The rules by which KafkaJS interprets its options (1.12 to 2.2; ``src/index.js``, ``src/producer``, ``src/consumer``,
``src/retry``).

Options have the names under which the application gives them: to ``new Kafka()`` (its ``retry`` as ``client.retry``),
``producer()``, ``consumer()``, ``send()``, ``subscribe()`` and ``run()``. The rules' numbers (J01 and so on) are those
of docs/client-rules.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil, floor

from proofka.model.deployment.choices import Acks, Commit, OffsetReset
from proofka.model.deployment.consumer_rules import TRANSACTIONS, ConsumerValues, committed_by_client
from proofka.model.deployment.duration_settings import NEVER, Source
from proofka.model.deployment.library import Library
from proofka.model.deployment.producer_rules import ProducerValues
from proofka.model.deployment.section import Section
from proofka.model.deployment.sender import ClientRecovery, Sender
from proofka.model.deployment.setting import Origin, Setting
from proofka.model.faults import Fault

ACKS, IDEMPOTENT, TRANSACTIONAL, IN_FLIGHT = "acks", "idempotent", "transactionalId", "maxInFlightRequests"
TIMES_OUT, ENFORCED = "requestTimeout", "enforceRequestTimeout"
GROUP, SESSION, HEARTBEAT, REBALANCE = "groupId", "sessionTimeout", "heartbeatInterval", "rebalanceTimeout"
BEGINNING, UNCOMMITTED, FETCH_WAITS = "fromBeginning", "readUncommitted", "maxWaitTimeInMs"
COMMITS, RESOLVES, RESTARTS = "autoCommit", "eachBatchAutoResolve", "retry.restartOnFailure"
RETRIES, FIRST, LONGEST, FACTOR, MULTIPLIER = PAUSES = (
    "retries",
    "initialRetryTime",
    "maxRetryTime",
    "factor",
    "multiplier",
)
_RETRY = tuple(f"{owner}.{name}" for owner in ("retry", "client.retry") for name in PAUSES)

PRODUCER_KEYS = (ACKS, IDEMPOTENT, TRANSACTIONAL, IN_FLIGHT, TIMES_OUT, ENFORCED, *_RETRY)
CONSUMER_KEYS = (
    GROUP,
    SESSION,
    HEARTBEAT,
    REBALANCE,
    BEGINNING,
    UNCOMMITTED,
    FETCH_WAITS,
    COMMITS,
    RESOLVES,
    RESTARTS,
    TIMES_OUT,
    ENFORCED,
    "minBytes",
    *_RETRY,
)
"""The options that these rules read: their values must be known."""

REFUSAL = "KafkaJSNonRetriableError"
UNCHECKED = "not checked by KafkaJS"
UNLIMITED = 2**31 - 1
NETWORK_DELAY = 5_000
"""Milliseconds for which KafkaJS waits for the answer to a fetch beyond the time for which brokers hold it
(``requests/fetch``)."""

ONE_RETRIER = (1, 15)
"""The first release in which only one loop retries a send (KafkaJS pull request 962). Before, each attempt was up to
six."""

MOST_PAUSES = 100
"""The largest number of pauses that are added up. A send can fail as soon as these pauses are over."""

INNER_ATTEMPTS, INNER_PAUSE = 6, 240
"""The number of inner attempts before :data:`ONE_RETRIER`, and the shortest pause between them, in ms."""

COMMITS_ON_ERROR = (1, 14)
"""The first release that respects autoCommit after an error. Before, a handler that throws causes a commit of the
records before it (pull request 866)."""

ANSWERED, FAILS = "an answer comes within", "a send fails after"
PAUSE, LONGEST_PAUSE, NESTED = "a retry waits for", "the longest pause", "retries of what an attempt asks for take"

DURATIONS: Mapping[str, Source] = {
    "linger": ("producer", "nothing is collected", 0),
    "request_timeout": ("producer", ANSWERED, None),
    "ack_timeout": ("producer", "timeout", None),
    "retry_backoff": ("producer", PAUSE, None),
    "retry_backoff_max": ("producer", NESTED, None),
    "delivery_timeout": ("producer", FAILS, None),
    "max_block": ("producer", "no limit for a call", NEVER),
    "reconnect_backoff_max": ("producer", NESTED, None),
    "connection_setup": ("producer", "connectionTimeout", None),
    "max_poll": ("consumer", REBALANCE, None),
    "auto_commit": ("consumer", "what is due is committed after each batch", 0),
    "consumer_session": ("consumer", SESSION, None),
    "consumer_request": ("consumer", ANSWERED, None),
    "consumer_connection": ("consumer", "connectionTimeout", None),
    "consumer_reconnect": ("consumer", LONGEST_PAUSE, None),
    "consumer_backoff": ("consumer", LONGEST_PAUSE, None),
    "consumer_fetch_wait": ("consumer", FETCH_WAITS, None),
    "consumer_metadata": ("consumer", "metadataMaxAge", None),
}
"""The options of KafkaJS that determine each duration. Its retries are nested, and nothing limits their time."""

ONE_PARTITION = (
    "each send() is assumed to contain records of one partition: with several, KafkaJS can report success without "
    "having sent some of them, if one leader answers and another partition moves to it (responsePerBroker in "
    "sendMessages.js)"
)
SLOW_HANDLERS = (
    f"KafkaJS sends heartbeats between records only: a group evicts a consumer whose handler takes longer than "
    f"{SESSION}, and the verdict covers no eviction"
)
NOT_WITH: Mapping[str, tuple[str, str]] = {
    Fault.REBALANCE.value: ("N77", "rebalances of KafkaJS, whose commit before one can fail without a retry"),
    Fault.EVICTION.value: (
        "N78",
        "evictions of KafkaJS, whose handler goes on and commits after its consumer has joined again",
    ),
    TRANSACTIONS: (
        "N35",
        "reading of transactions with KafkaJS, which detects aborted transactions in its own way",
    ),
}
"""The faults (or transactions) that are not modelled with KafkaJS's consumer, each with a code and a description."""


def producer(section: Section) -> ProducerValues:
    """Return the producer's effective options, or raise the library's own error."""
    acks = section.setting(ACKS)
    _check_producer(section, acks)
    retries = _of(section, RETRIES)
    if section.release.line < ONE_RETRIER:
        inner = INNER_ATTEMPTS * (int(retries.value) + 1) - 1
        retries = replace(
            retries, value=str(inner), origin=Origin("rule", "before 1.15 each attempt is up to six attempts")
        )
    unlimited = section.derived(IN_FLIGHT, str(UNLIMITED), "no limit by default")
    in_flight = section.setting(IN_FLIGHT) if section.has(IN_FLIGHT) else unlimited
    named = {"-1": Acks.ALL, "1": Acks.LEADER, "0": Acks.NONE}
    return ProducerValues(
        acks=named[acks.value],
        retries=min(int(retries.value), UNLIMITED),
        idempotence=False,
        sequencing=None,
        max_in_flight=int(in_flight.value),
        expires_in_accumulator=False,
        transactional=False,
        sender=Sender(
            recovery=ClientRecovery.NONE,
            retries_keep_their_place=True,
            one_at_a_time_everywhere=False,
            knows_epochs=False,
            refusals_count=True,
            connecting_counts=False,
            in_any_order=True,
            only_attempts_end=True,
            close_waits=False,
        ),
        settings=(
            replace(acks, value=named[acks.value]),
            section.flag_setting(IDEMPOTENT),
            retries,
            in_flight,
            *_said(section, retries.key),
            _answered(section, 0),
            *_waits(section, min(int(retries.value), int(_given(section, "client.retry", RETRIES).value))),
        ),
        notes=(ONE_PARTITION,),
    )


def _said(section: Section, besides: str) -> tuple[Setting, ...]:
    """Return the given options from which other values here are derived."""
    return tuple(section.setting(key) for key in (*_RETRY, TIMES_OUT, ENFORCED) if section.has(key) and key != besides)


def _check_producer(section: Section, acks: Setting) -> None:
    """Raise DeploymentError for a combination that the library refuses or the model lacks."""
    if section.flag(IDEMPOTENT):
        retries = next((f"{owner}.{RETRIES}" for owner in ("retry", "client.retry") if _has(section, owner)), "")
        if retries and section.integer(retries) < 1:
            raise section.refused(retries, REFUSAL, f"{RETRIES} must be at least 1 with {IDEMPOTENT}", "J01")
        if acks.value != "-1":
            raise section.refused(ACKS, REFUSAL, f"{ACKS} must be -1 with {IDEMPOTENT}", "J02")
        what = (
            "idempotence of KafkaJS, which gives the sequence number of a failed send to another send; remove this "
            "option"
        )
        raise section.not_modelled(IDEMPOTENT, "N16", what)
    if section.text(TRANSACTIONAL):
        what = "transactions of KafkaJS; remove this option to check the producer without transactions"
        raise section.not_modelled(TRANSACTIONAL, "N27", what)


def _has(section: Section, owner: str) -> bool:
    return section.has(f"{owner}.{RETRIES}")


def _given(section: Section, owner: str, name: str) -> Setting:
    return section.setting(f"{owner}.{name}")


def _of(section: Section, name: str) -> Setting:
    """Return an option of ``retry``. The option of the producer or consumer outranks the option of ``new Kafka()``."""
    own = section.has(f"retry.{name}") or not section.has(f"client.retry.{name}")
    return _given(section, "retry" if own else "client.retry", name)


def _ruled(section: Section, key: str, value: str, because: str) -> Setting:
    return Setting(section.scope, key, value, Origin("rule", because))


def _answered(section: Section, held_back: int) -> Setting:
    """Return the time, in ms, after which a request without an answer fails. The connection, and perhaps the request,
    remain."""
    if not section.flag(ENFORCED):
        return _ruled(section, ANSWERED, str(2 * NEVER), f"{ENFORCED}=false: no request times out")
    return _ruled(section, ANSWERED, str(max(section.milliseconds(TIMES_OUT), held_back)), TIMES_OUT)


def _waits(section: Section, retries: int) -> tuple[Setting, ...]:
    """Return the least pause before a retry, and the earliest time of a failed send: no loop gives up before that many
    pauses."""
    owners = ["client.retry"]
    if any(section.has(f"retry.{name}") for name in PAUSES if name != RETRIES):
        owners.append("retry")
    pauses = [min(each) for each in zip(*(_least_pauses(section, owner, retries) for owner in owners), strict=True)]
    if section.release.line < ONE_RETRIER:
        pauses = [min(pause, INNER_PAUSE) for pause in pauses]
    least, total = floor(min(pauses)), floor(sum(pauses[:retries]))
    because = "initialRetryTime, varied at random by factor, and longer each time"
    return (
        _ruled(section, PAUSE, str(least), because),
        _ruled(section, NESTED, f"{least}ms..unbounded", "connecting and metadata have retries of their own"),
        _ruled(section, FAILS, f"{total}ms..unbounded", f"{retries} pauses at least, and nothing limits it"),
    )


def _least_pauses(section: Section, owner: str, retries: int) -> list[float]:
    """Return the shortest pauses, in ms, before that many retries, and at least one pause."""
    said = {name: _of(section, name) if owner == "retry" else _given(section, owner, name) for name in PAUSES}
    most, factor = _milliseconds(said[LONGEST]), float(said[FACTOR].value)
    pause = max(0.0, _milliseconds(said[FIRST]) * (1 - factor))
    pauses = []
    for _ in range(min(max(retries, 1), MOST_PAUSES)):
        pauses.append(pause)
        pause = max(0.0, min(pause * (1 - factor) * float(said[MULTIPLIER].value), most))
    return pauses


def _milliseconds(setting: Setting) -> int:
    """Return a time of ``retry`` in ms, rounded up."""
    return ceil(float(setting.value))


def consumer(section: Section, *, needs_group: bool) -> ConsumerValues:
    """Return the consumer's effective options, or raise the library's own error."""
    _check_consumer(section)
    commits = section.flag_setting(COMMITS)
    by_itself = commits.value == "true" and section.flag(RESOLVES)
    beginning, uncommitted = section.flag_setting(BEGINNING), section.flag_setting(UNCOMMITTED)
    reset = OffsetReset.EARLIEST if beginning.value == "true" else OffsetReset.LATEST
    pause = max(ceil(1.2 * _milliseconds(_of(section, FIRST))), _milliseconds(_of(section, LONGEST)))
    notes = () if section.has(GROUP) or not needs_group else (f"{GROUP} is assumed to be set by the application",)
    return ConsumerValues(
        commits=committed_by_client(Commit.AFTER, commits) if by_itself else None,
        commits_on_timer=False,
        offset_reset=reset,
        max_poll_records=UNLIMITED,
        session=SESSION,
        fetched_at_least="minBytes",
        knows_epochs=False,
        checks_epochs=False,
        isolation=replace(uncommitted, value="read_uncommitted" if uncommitted.value == "true" else "read_committed"),
        settings=(
            *((section.setting(GROUP),) if section.has(GROUP) else ()),
            commits,
            section.flag_setting(RESOLVES),
            replace(beginning, value=reset),
            section.setting(SESSION),
            section.setting(HEARTBEAT),
            section.setting(REBALANCE),
            *_said(section, ""),
            _answered(section, section.milliseconds(FETCH_WAITS) + NETWORK_DELAY),
            _ruled(section, LONGEST_PAUSE, str(pause), f"{FIRST} and {LONGEST} of retry"),
        ),
        notes=(*notes, SLOW_HANDLERS),
        not_with=NOT_WITH,
    )


def _check_consumer(section: Section) -> None:
    """Raise DeploymentError for a combination that the library refuses or the model lacks."""
    if section.has(GROUP) and not section.text(GROUP):
        raise section.refused(GROUP, REFUSAL, f"{GROUP} must be a non-empty string", "J04")
    heartbeat, session = section.milliseconds(HEARTBEAT), section.milliseconds(SESSION)
    if heartbeat >= session:
        key = HEARTBEAT if section.has(HEARTBEAT) else SESSION
        raise section.refused(key, REFUSAL, f"{HEARTBEAT} must be lower than {SESSION}", "J03")
    if section.milliseconds(REBALANCE) < session:
        key = REBALANCE if section.has(REBALANCE) else SESSION
        what = (
            f"a {REBALANCE} shorter than {SESSION}, with which a rebalance evicts members that process records; use a "
            "longer time"
        )
        raise section.not_modelled(key, "N49", what)
    if section.release.line < COMMITS_ON_ERROR and not section.flag(COMMITS):
        what = (
            "KafkaJS before 1.14 with autoCommit=false, which still commits when a handler throws; name 1.14 or later"
        )
        raise section.not_modelled(COMMITS, "N51", what)
    if section.has(RESTARTS):
        what = "a consumer that can stay stopped after an error; remove this option"
        raise section.not_modelled(RESTARTS, "N52", what)


LIBRARY = Library("kafkajs", (1, 12), (2, 2), UNCHECKED, PRODUCER_KEYS, producer, CONSUMER_KEYS, consumer, DURATIONS)
