"""The rules by which kafka-python interprets its arguments (``KafkaProducer``, ``KafkaConsumer``; 1.4 and later).

kafka-python is a port of Java's client. Up to 2.1 its producer is Java's of 0.10, whose batches time out in the
accumulator only. From 2.2 on its producer is Java's of 2.1, with ``delivery_timeout_ms``. Its consumer is Java's
without leader epochs. The rules' numbers (K01 and so on) are those of docs/client-rules.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from proofka.model.deployment.choices import Acks, Commit, OffsetReset
from proofka.model.deployment.consumer_rules import NULL_GROUP, ConsumerValues, committed_by_client, group_of
from proofka.model.deployment.duration_settings import Source
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.library import Library
from proofka.model.deployment.producer_rules import ProducerValues
from proofka.model.deployment.section import Section
from proofka.model.deployment.sender import OF_JAVA
from proofka.model.deployment.setting import Setting
from proofka.model.deployment.values import boolean
from proofka.model.faults import Fault

ACKS, RETRIES, IN_FLIGHT = "acks", "retries", "max_in_flight_requests_per_connection"
IDEMPOTENCE, TRANSACTIONAL = "enable_idempotence", "transactional_id"
DELIVERY, LINGER, ANSWERED = "delivery_timeout_ms", "linger_ms", "request_timeout_ms"
GROUP, AUTO_COMMIT, RESET, ISOLATION = "group_id", "enable_auto_commit", "auto_offset_reset", "isolation_level"
SESSION, HEARTBEAT, POLLED = "session_timeout_ms", "heartbeat_interval_ms", "max_poll_records"
FETCH_WAITS, IDLE, ASSIGNORS = "fetch_max_wait_ms", "connections_max_idle_ms", "partition_assignment_strategy"

PRODUCER_KEYS = (ACKS, RETRIES, IN_FLIGHT, IDEMPOTENCE, TRANSACTIONAL, DELIVERY, LINGER, ANSWERED)
CONSUMER_KEYS = (
    AUTO_COMMIT,
    RESET,
    ISOLATION,
    SESSION,
    HEARTBEAT,
    POLLED,
    ANSWERED,
    FETCH_WAITS,
    IDLE,
    ASSIGNORS,
    "fetch_min_bytes",
)
"""The settings that these rules read: their values must be known. (``group_id`` may be any value, even a
placeholder.)"""

REFUSAL = "KafkaConfigurationError"
ACKS_BY_NAME = {"all": Acks.ALL, "-1": Acks.ALL, "1": Acks.LEADER, "0": Acks.NONE}
RESETS = {
    "earliest": OffsetReset.EARLIEST,
    "smallest": OffsetReset.EARLIEST,
    "latest": OffsetReset.LATEST,
    "largest": OffsetReset.LATEST,
}
"""kafka-python's values of ``auto_offset_reset``. Any other value means no reset."""

RETRIES_TOO_FEW = (1, 4, 5)
"""The first release that retries a record that was refused because too few replicas are in sync (``errors.py``)."""

NUMBERS_BY_ITSELF = (3, 0)
"""The first release in which idempotence is on unless another setting contradicts it, and in which an expired batch
releases the next batch of its partition (``Sender._dispatch_error``)."""

WAITS_SHORTLY = (2, 1)
"""The first release that waits for the commit before a rebalance only as long as ``poll()`` may take."""

CONFIGURED = (2, 2, 7)
"""The first release that refuses a heartbeat as long as the session, with its configuration error."""

CLOSES_IDLE = (1, 4, 5)
"""The first release in which a request may take no longer than a connection may be idle."""

MOST_IN_FLIGHT = 5
"""The largest number of requests in flight with idempotence, from 3.0 on; before, 1."""

DURATIONS: Mapping[str, Source] = {
    "linger": ("producer", LINGER, None),
    "request_timeout": ("producer", ANSWERED, None),
    "ack_timeout": ("producer", ANSWERED, None),
    "retry_backoff": ("producer", "retry_backoff_ms", None),
    "retry_backoff_max": ("producer", "retry_backoff_ms", None),
    "delivery_timeout": ("producer", DELIVERY, ANSWERED),
    "max_block": ("producer", "max_block_ms", None),
    "reconnect_backoff_max": ("producer", "reconnect_backoff_max_ms", None),
    "connection_setup": ("producer", ANSWERED, None),
    "max_poll": ("consumer", "max_poll_interval_ms", None),
    "auto_commit": ("consumer", "auto_commit_interval_ms", None),
    "consumer_session": ("consumer", SESSION, None),
    "consumer_request": ("consumer", ANSWERED, None),
    "consumer_connection": ("consumer", ANSWERED, None),
    "consumer_reconnect": ("consumer", "reconnect_backoff_max_ms", None),
    "consumer_backoff": ("consumer", "retry_backoff_ms", None),
    "consumer_fetch_wait": ("consumer", FETCH_WAITS, None),
    "consumer_metadata": ("consumer", "metadata_max_age_ms", None),
}
"""The settings of kafka-python that determine each duration. An unanswered connection attempt times out like a
request."""


def producer(section: Section) -> ProducerValues:
    """Return the producer's effective settings, or raise the library's own error."""
    notes: list[str] = []
    acks = section.setting(ACKS)
    acks = replace(acks, value=ACKS_BY_NAME[acks.value])
    idempotence = _idempotence(section, notes)
    _check_modelled(section, Acks(acks.value), idempotence)
    delivery = (_delivery(section),) if section.knows(DELIVERY) else ()
    return ProducerValues(
        acks=Acks(acks.value),
        retries=section.integer(RETRIES),
        idempotence=False,
        sequencing=None,
        max_in_flight=section.integer(IN_FLIGHT),
        expires_in_accumulator=not delivery,
        transactional=False,
        sender=replace(OF_JAVA, knows_epochs=False),
        settings=(
            acks,
            *((idempotence,) if idempotence is not None else ()),
            *(section.setting(key) for key in (RETRIES, IN_FLIGHT, ANSWERED, LINGER)),
            *delivery,
        ),
        notes=tuple(notes),
    )


def _idempotence(section: Section, notes: list[str]) -> Setting | None:
    """Return the effective setting for idempotence; None in releases without idempotence."""
    if not section.knows(IDEMPOTENCE):
        return None
    transactional = section.has(TRANSACTIONAL) and bool(section.text(TRANSACTIONAL))
    if transactional and section.has(IDEMPOTENCE) and not section.flag(IDEMPOTENCE):
        raise section.refused(TRANSACTIONAL, REFUSAL, f"{TRANSACTIONAL} needs {IDEMPOTENCE}", "K03")
    wanted = transactional or section.has(IDEMPOTENCE)
    if not (transactional or section.flag(IDEMPOTENCE)):
        return section.flag_setting(IDEMPOTENCE)
    conflicts = _conflicts(section)
    if wanted and conflicts:
        key, what = conflicts[0]
        raise section.refused(key, REFUSAL, f"{key} must be {what} with {IDEMPOTENCE}=True", "K01")
    if conflicts:
        causes = " and ".join(section.where(key) for key, _ in conflicts)
        notes.append(f"{section.software} disables idempotence because of {causes} (rule K02)")
        return section.derived(IDEMPOTENCE, "false", f"K02: disabled by {causes}")
    return section.derived(IDEMPOTENCE, "true", TRANSACTIONAL) if transactional else section.flag_setting(IDEMPOTENCE)


def _conflicts(section: Section) -> list[tuple[str, str]]:
    """Return the given settings that contradict idempotence, each with the value that idempotence needs."""
    most = MOST_IN_FLIGHT if section.release.line >= NUMBERS_BY_ITSELF else 1
    against = (
        (ACKS, ACKS_BY_NAME[section.text(ACKS)] is not Acks.ALL, "all"),
        (RETRIES, section.integer(RETRIES) == 0, "more than 0"),
        (IN_FLIGHT, section.integer(IN_FLIGHT) > most, f"at most {most}" if most > 1 else "1"),
    )
    return [(key, what) for key, conflicting, what in against if conflicting and section.has(key)]


def _check_modelled(section: Section, acks: Acks, idempotence: Setting | None) -> None:
    """Raise NotModelledError for a combination without an equal among the modelled clients."""
    if section.knows(TRANSACTIONAL) and section.has(TRANSACTIONAL) and section.text(TRANSACTIONAL):
        what = "transactions of kafka-python; remove this setting to check the producer without transactions"
        raise section.not_modelled(TRANSACTIONAL, "N27", what)
    if idempotence is not None and boolean(idempotence.value):
        by_default = "" if section.has(IDEMPOTENCE) else ", which is on by default from 3.0 on"
        what = f"idempotence of kafka-python{by_default}; set {IDEMPOTENCE}=False, or name an older version"
        raise section.not_modelled(IDEMPOTENCE, "N18", what)
    if section.release.line >= NUMBERS_BY_ITSELF and section.integer(IN_FLIGHT) == 1:
        what = "one request in flight with kafka-python from 3.0 on, which does not report some records that time out"
        raise section.not_modelled(
            IN_FLIGHT,
            "N21",
            f"{what}, and then exceeds one request; set a larger number, or name version 2.3",
        )
    if section.release.full < RETRIES_TOO_FEW and acks is Acks.ALL and section.integer(RETRIES) > 0:
        what = "retries of kafka-python before 1.4.5, which drops a record if too few replicas are in sync"
        what += "; name a newer version, with its patch level, or set retries=0"
        raise section.not_modelled(RETRIES, "N22", what)


def _delivery(section: Section) -> Setting:
    least = section.integer(LINGER) + section.integer(ANSWERED)
    if section.integer(DELIVERY) < least:
        key = next((key for key in (DELIVERY, ANSWERED, LINGER) if section.has(key)), DELIVERY)
        why = f"{DELIVERY} must be at least {LINGER} + {ANSWERED} = {least}"
        raise section.refused(key, REFUSAL, why, "K04")
    return section.setting(DELIVERY)


def consumer(section: Section, *, needs_group: bool) -> ConsumerValues:
    """Return the consumer's effective settings, or raise the library's own error."""
    notes: list[str] = []
    group = section.given.get(GROUP)
    alone = group is not None and group.value == NULL_GROUP
    if alone and needs_group:
        exception = "IllegalStateError" if section.release.line >= NUMBERS_BY_ITSELF else "AssertionError"
        raise section.refused(GROUP, exception, f"a commit needs a {GROUP}", "K05")
    _check_times(section, in_group=not alone)
    if section.has(ASSIGNORS) and "cooperative" in section.text(ASSIGNORS).lower():
        what = "cooperative rebalances of kafka-python; choose another assignor"
        raise section.not_modelled(ASSIGNORS, "N64", what)
    auto_commit = section.flag_setting(AUTO_COMMIT)
    if alone and boolean(auto_commit.value):
        auto_commit = section.derived(AUTO_COMMIT, "false", f"K06: {GROUP} is None")
        notes.append(f"{section.software} disables {AUTO_COMMIT} because {GROUP} is None (rule K06)")
    if group is None and needs_group:
        notes.append(f"{GROUP} is assumed to be set by the application")
    commits_itself, reset = boolean(auto_commit.value), section.setting(RESET)
    start = RESETS.get(reset.value.lower(), OffsetReset.NONE)
    return ConsumerValues(
        commits=committed_by_client(Commit.AUTO, auto_commit) if commits_itself else None,
        commits_on_timer=commits_itself,
        offset_reset=start,
        max_poll_records=section.integer(POLLED),
        session=SESSION,
        fetched_at_least="fetch_min_bytes",
        knows_epochs=False,
        checks_epochs=False,
        isolation=section.setting(ISOLATION) if section.knows(ISOLATION) else None,
        settings=(
            *group_of(section, group),
            auto_commit,
            replace(reset, value=start),
            *(section.setting(key) for key in (POLLED, SESSION, HEARTBEAT)),
        ),
        notes=tuple(notes),
        not_with={Fault.REBALANCE: _rebalances(section)} if commits_itself and _waits_shortly(section) else {},
    )


def _waits_shortly(section: Section) -> bool:
    return section.release.line >= WAITS_SHORTLY


def _rebalances(section: Section) -> tuple[str, str]:
    return "N76", (
        f"rebalances of {section.software} that commits by itself: it abandons that commit when the time of poll() is "
        f"over; let the application commit ({AUTO_COMMIT}=False)"
    )


def _check_times(section: Section, *, in_group: bool) -> None:
    session, heartbeat, answered = (section.integer(key) for key in (SESSION, HEARTBEAT, ANSWERED))
    newer = section.release.full >= CONFIGURED
    if in_group and (heartbeat > session or (newer and heartbeat == session)):
        exception = REFUSAL if newer else "AssertionError"
        raise _refused(section, (HEARTBEAT, SESSION), exception, f"{HEARTBEAT} must be less than {SESSION}", "K07")
    if in_group and section.release.line < NUMBERS_BY_ITSELF and answered <= session:
        raise _refused(section, (ANSWERED, SESSION), REFUSAL, f"{ANSWERED} must be more than {SESSION}", "K08")
    if answered <= section.integer(FETCH_WAITS):
        raise _refused(section, (ANSWERED, FETCH_WAITS), REFUSAL, f"{ANSWERED} must be more than {FETCH_WAITS}", "K09")
    if section.release.full >= CLOSES_IDLE and section.integer(IDLE) <= answered:
        raise _refused(section, (IDLE, ANSWERED), REFUSAL, f"{IDLE} must be more than {ANSWERED}", "K09")


def _refused(section: Section, keys: tuple[str, str], exception: str, why: str, rule: str) -> DeploymentError:
    """Return the refusal at the first of the keys that the user set."""
    return section.refused(next((key for key in keys if section.has(key)), keys[0]), exception, why, rule)


LIBRARY = Library("kafka-python", (1, 4), (3, 0), REFUSAL, PRODUCER_KEYS, producer, CONSUMER_KEYS, consumer, DURATIONS)
