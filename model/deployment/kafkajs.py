"""What KafkaJS makes of its options (1.12 to 2.2; ``src/index.js``, ``src/producer``, ``src/consumer``, ``src/retry``).

Options stand under the names that they have where they are given: to ``new Kafka()`` (its ``retry`` as
``client.retry``), ``producer()``, ``consumer()``, ``send()``, ``subscribe()`` and ``run()``. The rules' numbers (J01
and so on) are those of docs/client-rules.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil, floor

from model.deployment.choices import Acks, Commit, OffsetReset
from model.deployment.consumer_rules import TRANSACTIONS, ConsumerValues, committed_by_client
from model.deployment.duration_settings import NEVER, Source
from model.deployment.library import Library
from model.deployment.producer_rules import ProducerValues
from model.deployment.section import Section
from model.deployment.sender import Sender
from model.deployment.setting import Origin, Setting
from model.faults import Fault

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
"""So much longer than brokers may hold a fetch back its answer is waited for, in ms (``requests/fetch``)."""

ONE_RETRIER = (1, 15)
"""From here on only one loop retries a send (KafkaJS pull request 962); before, each attempt was up to six."""

MOST_PAUSES = 100
"""So many pauses are added up at most: a send may fail as soon as these are over."""

INNER_ATTEMPTS, INNER_PAUSE = 6, 240
"""How often that was, and the shortest pause in between, in ms."""

COMMITS_ON_ERROR = (1, 14)
"""Before, a handler that throws has what came before it committed, whatever autoCommit says (pull request 866)."""

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
"""What it says by other options. How long its retries take, which nest, nothing limits."""

ONE_PARTITION = (
    "each send() is taken to be of one partition: with records of several, KafkaJS may report success without having "
    "sent some of them, where one leader answers and another one moves to it (responsePerBroker in sendMessages.js)"
)
SLOW_HANDLERS = (
    f"KafkaJS sends heartbeats between records only: a handler that takes longer than {SESSION} is thrown out of its "
    "group (the fault eviction)"
)
NOT_WITH: Mapping[str, str] = {
    Fault.REBALANCE.value: "rebalances of KafkaJS, whose commit before one may fail without another; name eviction",
    TRANSACTIONS: "transactions that KafkaJS reads, which looks for those that were aborted in its own way",
}
"""What nobody has looked into with its consumer, by what names it."""


def producer(section: Section) -> ProducerValues:
    """The effective options, or the refusal with the library's own error."""
    acks = section.setting(ACKS)
    _check_producer(section, acks)
    retries = _of(section, RETRIES)
    if section.release.line < ONE_RETRIER:
        inner = INNER_ATTEMPTS * (int(retries.value) + 1) - 1
        retries = replace(
            retries, value=str(inner), origin=Origin("rule", "before 1.15 each attempt is tried six times")
        )
    unlimited = section.derived(IN_FLIGHT, str(UNLIMITED), "no limit unless it is given")
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
            retries_keep_their_place=True,
            one_at_a_time_everywhere=False,
            knows_epochs=False,
            refusals_count=True,
            connecting_counts=False,
            drains=False,
            gapless=False,
            numbers_ahead=False,
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
    """The options that were given and that other values here come from."""
    return tuple(section.setting(key) for key in (*_RETRY, TIMES_OUT, ENFORCED) if section.has(key) and key != besides)


def _check_producer(section: Section, acks: Setting) -> None:
    """Raise DeploymentError for what the library refuses, or the model does not have."""
    if section.flag(IDEMPOTENT):
        retries = next((f"{owner}.{RETRIES}" for owner in ("retry", "client.retry") if _has(section, owner)), "")
        if retries and section.integer(retries) < 1:
            raise section.refused(retries, REFUSAL, f"{RETRIES} must be at least 1 with {IDEMPOTENT}", "J01")
        if acks.value != "-1":
            raise section.refused(ACKS, REFUSAL, f"{ACKS} must be -1 with {IDEMPOTENT}", "J02")
        what = "idempotence of KafkaJS, which gives the number of a send that failed to another one; leave it out"
        raise section.not_modelled(IDEMPOTENT, what)
    if section.text(TRANSACTIONAL):
        what = "transactions of KafkaJS; leave it out to check the producer without"
        raise section.not_modelled(TRANSACTIONAL, what)


def _has(section: Section, owner: str) -> bool:
    return section.has(f"{owner}.{RETRIES}")


def _given(section: Section, owner: str, name: str) -> Setting:
    return section.setting(f"{owner}.{name}")


def _of(section: Section, name: str) -> Setting:
    """An option of ``retry``: what the producer or consumer says outranks what ``new Kafka()`` was given."""
    own = section.has(f"retry.{name}") or not section.has(f"client.retry.{name}")
    return _given(section, "retry" if own else "client.retry", name)


def _ruled(section: Section, key: str, value: str, because: str) -> Setting:
    return Setting(section.scope, key, value, Origin("rule", because))


def _answered(section: Section, held_back: int) -> Setting:
    """A request without an answer fails after this, in ms; its connection stays, and so may the request."""
    if not section.flag(ENFORCED):
        return _ruled(section, ANSWERED, str(2 * NEVER), f"{ENFORCED}=false: no request is given up")
    return _ruled(section, ANSWERED, str(max(section.milliseconds(TIMES_OUT), held_back)), TIMES_OUT)


def _waits(section: Section, retries: int) -> tuple[Setting, ...]:
    """The least pause before a retry, and when a send may fail: no loop gives up before so many pauses."""
    owners = ["client.retry"]
    if any(section.has(f"retry.{name}") for name in PAUSES if name != RETRIES):
        owners.append("retry")
    pauses = [min(each) for each in zip(*(_least_pauses(section, owner, retries) for owner in owners), strict=True)]
    if section.release.line < ONE_RETRIER:
        pauses = [min(pause, INNER_PAUSE) for pause in pauses]
    least, total = floor(min(pauses)), floor(sum(pauses[:retries]))
    because = "initialRetryTime, at random by factor, and longer each time"
    return (
        _ruled(section, PAUSE, str(least), because),
        _ruled(section, NESTED, f"{least}ms..unbounded", "connecting and metadata have retries of their own"),
        _ruled(section, FAILS, f"{total}ms..unbounded", f"{retries} pauses at least, and nothing limits it"),
    )


def _least_pauses(section: Section, owner: str, retries: int) -> list[float]:
    """The shortest pauses before so many retries, and before one at least, in ms."""
    said = {name: _of(section, name) if owner == "retry" else _given(section, owner, name) for name in PAUSES}
    most, factor = _milliseconds(said[LONGEST]), float(said[FACTOR].value)
    pause = max(0.0, _milliseconds(said[FIRST]) * (1 - factor))
    pauses = []
    for _ in range(min(max(retries, 1), MOST_PAUSES)):
        pauses.append(pause)
        pause = max(0.0, min(pause * (1 - factor) * float(said[MULTIPLIER].value), most))
    return pauses


def _milliseconds(setting: Setting) -> int:
    """A time of ``retry`` in ms, rounded up."""
    return ceil(float(setting.value))


def consumer(section: Section, *, needs_group: bool) -> ConsumerValues:
    """The effective options, or the refusal with the library's own error."""
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
    """Raise DeploymentError for what the library refuses, or the model does not have."""
    if section.has(GROUP) and not section.text(GROUP):
        raise section.refused(GROUP, REFUSAL, f"{GROUP} must be a non-empty string", "J04")
    heartbeat, session = section.milliseconds(HEARTBEAT), section.milliseconds(SESSION)
    if heartbeat >= session:
        key = HEARTBEAT if section.has(HEARTBEAT) else SESSION
        raise section.refused(key, REFUSAL, f"{HEARTBEAT} must be lower than {SESSION}", "J03")
    if section.milliseconds(REBALANCE) < session:
        key = REBALANCE if section.has(REBALANCE) else SESSION
        what = f"a {REBALANCE} that is shorter than {SESSION}, so that a rebalance throws out who is at work; say more"
        raise section.not_modelled(key, what)
    if section.release.line < COMMITS_ON_ERROR and not section.flag(COMMITS):
        what = "KafkaJS before 1.14 without autoCommit, which commits all the same when a handler throws"
        raise section.not_modelled(COMMITS, what)
    if section.has(RESTARTS):
        raise section.not_modelled(RESTARTS, "a consumer that may not start again after an error; leave it out")


LIBRARY = Library("kafkajs", (1, 12), (2, 2), UNCHECKED, PRODUCER_KEYS, producer, CONSUMER_KEYS, consumer, DURATIONS)
