"""The rules by which librdkafka interprets its settings (``rd_kafka_conf_finalize``; 1.0 and later).

The rules' numbers (L01 and so on) are those of docs/client-rules.md. Like Java's clients, librdkafka asks whether a key
was *set*, not what its value is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from proofka.model.deployment.choices import Acks, Commit, OffsetReset
from proofka.model.deployment.consumer_rules import ISOLATION, ConsumerValues, committed_by_client
from proofka.model.deployment.duration_settings import SYSTEM_GIVES_UP, Source
from proofka.model.deployment.library import Library
from proofka.model.deployment.producer_rules import ProducerValues
from proofka.model.deployment.rebalancing import IN_BACKGROUND
from proofka.model.deployment.section import Section
from proofka.model.deployment.sender import ClientRecovery, Sender
from proofka.model.deployment.setting import Origin, Setting
from proofka.model.deployment.values import boolean

PRODUCER_KEYS = (
    "acks",
    "retries",
    "enable.idempotence",
    "enable.gapless.guarantee",
    "max.in.flight.requests.per.connection",
    "message.timeout.ms",
    "linger.ms",
    "queuing.strategy",
    "queue.buffering.backpressure.threshold",
    "socket.timeout.ms",
    "request.timeout.ms",
    "transactional.id",
    "transaction.timeout.ms",
)
ASSIGNORS, COOPERATIVE = "partition.assignment.strategy", "cooperative-sticky"

CONSUMER_KEYS = (
    "enable.auto.commit",
    "enable.auto.offset.store",
    "auto.offset.reset",
    "group.protocol",
    "max.poll.interval.ms",
    "session.timeout.ms",
    "fetch.min.bytes",
    "isolation.level",
    ASSIGNORS,
)
"""The settings that these rules read: their values must be known."""

IDEMPOTENCE = "enable.idempotence"
GAPLESS = "enable.gapless.guarantee"
IN_FLIGHT = "max.in.flight.requests.per.connection"
LASTS = "message.timeout.ms"
ANSWERED = "socket.timeout.ms"
TRANSACTIONAL = "transactional.id"
LENGTH = "transaction.timeout.ms"
MARGIN, SHORTEST = 100, 900
"""Milliseconds by which a request may exceed a transaction, or is shorter by default, and the least default."""
MOST_IN_FLIGHT = 5
UNLIMITED = 2**31 - 1
REFUSAL = "RD_KAFKA_RESP_ERR__INVALID_ARG"
CHECKS_POSITIONS = (2, 1)
"""The first release that checks positions against leader epochs (KIP-320), and never goes back to a leader of an older
epoch. No release checks the committed offset that it starts at (issue 5158)."""

BUMPS = (1, 7)
"""The first release whose transactional producer recovers from missing sequence numbers with a new epoch (KIP-360)."""

ABORTS = (1, 8, 2)
"""The first release in which that recovery needs an abort (issue 3575)."""

ABORTS_FIRST = (2, 0)
"""The first release that aborts a transaction before its producer asks for a new epoch."""

KEEPS_NUMBERS = (1, 9)
"""The first release whose idempotent producer keeps a partition's sequence numbers while its metadata lack the
topic."""

RESETS = {
    "smallest": OffsetReset.EARLIEST,
    "earliest": OffsetReset.EARLIEST,
    "beginning": OffsetReset.EARLIEST,
    "largest": OffsetReset.LATEST,
    "latest": OffsetReset.LATEST,
    "end": OffsetReset.LATEST,
    "error": OffsetReset.NONE,
}
"""librdkafka's values of ``auto.offset.reset``."""

DURATIONS: Mapping[str, Source] = {
    "request_timeout": ("producer", "socket.timeout.ms", None),
    "delivery_timeout": ("producer", "message.timeout.ms", None),
    "max_block": ("producer", "no wait for a call", 0),
    "connection_setup": ("producer", "socket.connection.setup.timeout.ms", SYSTEM_GIVES_UP),
    "consumer_request": ("consumer", "socket.timeout.ms", None),
    "consumer_connection": ("consumer", "socket.connection.setup.timeout.ms", SYSTEM_GIVES_UP),
    "consumer_backoff": ("consumer", "retry.backoff.max.ms", 1_000),
    "consumer_fetch_wait": ("consumer", "fetch.wait.max.ms", None),
    "consumer_metadata": ("consumer", "topic.metadata.refresh.interval.ms", None),
}
"""The settings of librdkafka that determine each duration. By default, no call blocks."""


def producer(section: Section) -> ProducerValues:
    """Return the producer's effective settings, or raise the library's own error."""
    transactional = _is_transactional(section)
    idempotence, gapless = _idempotence(section, transactional=transactional), section.flag_setting(GAPLESS)
    acks, retries, in_flight = _acks(section), section.setting("retries"), section.setting(IN_FLIGHT)
    numbered = boolean(idempotence.value)
    if numbered:
        _check_idempotence(section, acks)
        if not section.has("acks"):
            acks = section.derived("acks", Acks.ALL, "L06: idempotence needs acks=all")
        if not section.has("retries"):
            retries = section.derived("retries", str(UNLIMITED), "L04: idempotence retries without limit")
        if not section.has(IN_FLIGHT):
            in_flight = section.derived(IN_FLIGHT, str(MOST_IN_FLIGHT), "L02: lowered for idempotence")
    elif section.text("queuing.strategy").lower() != "fifo":
        raise section.not_modelled("queuing.strategy", "N20", "sending the newest message first; use fifo")
    elif boolean(gapless.value) and section.has(GAPLESS):
        raise section.refused(GAPLESS, REFUSAL, f"{GAPLESS} needs {IDEMPOTENCE}=true", "L09")
    lasts = _lasts(section, transactional=transactional)
    return ProducerValues(
        acks=Acks(acks.value),
        retries=int(retries.value),
        idempotence=numbered,
        sequencing=None,
        max_in_flight=int(in_flight.value),
        expires_in_accumulator=False,
        transactional=transactional,
        sender=Sender(
            recovery=_recovery(section, gapless, idempotence=numbered, transactional=transactional),
            retries_keep_their_place=True,
            one_at_a_time_everywhere=False,
            knows_epochs=section.release.line >= CHECKS_POSITIONS,
            refusals_count=False,
            connecting_counts=False,
        ),
        settings=(
            *(section.setting(key) for key in (TRANSACTIONAL, LENGTH) if transactional),
            *(acks, idempotence, gapless, retries, in_flight, _linger(section, lasts), lasts),
            _answered(section, lasts, transactional=transactional),
        ),
        notes=(),
    )


def _recovery(section: Section, gapless: Setting, *, idempotence: bool, transactional: bool) -> ClientRecovery:
    release = section.release
    if not idempotence:
        return ClientRecovery.NONE
    if transactional:
        if release.full < ABORTS:
            return ClientRecovery.LIBRDKAFKA_BUMP_WITHIN
        aborts_first = release.line >= ABORTS_FIRST
        return ClientRecovery.LIBRDKAFKA_TRANSACTIONS if aborts_first else ClientRecovery.LIBRDKAFKA_BUMP_ABORTS
    if release.line < KEEPS_NUMBERS:
        forgetting, and_gapless = ClientRecovery.LIBRDKAFKA_FORGETTING, ClientRecovery.LIBRDKAFKA_FORGETTING_GAPLESS
        return and_gapless if boolean(gapless.value) else forgetting
    return ClientRecovery.LIBRDKAFKA_GAPLESS if boolean(gapless.value) else ClientRecovery.LIBRDKAFKA


def _acks(section: Section) -> Setting:
    setting = section.setting("acks")
    value = {"-1": Acks.ALL, "all": Acks.ALL, "0": Acks.NONE, "1": Acks.LEADER}.get(setting.value.lower())
    if value is None and not setting.value.isdigit():
        raise section.refused("acks", REFUSAL, "acks must be all, or a number from -1 to 1000", "L23")
    if value is None:
        raise section.refused("acks", "INVALID_REQUIRED_ACKS", "brokers accept only acks=0, 1 and all", "L23")
    return replace(setting, value=value)


def _check_idempotence(section: Section, acks: Setting) -> None:
    conflicts = (
        (IN_FLIGHT, section.integer(IN_FLIGHT) > MOST_IN_FLIGHT, f"must be at most {MOST_IN_FLIGHT}", "L01"),
        ("retries", section.integer("retries") < 1, "must be at least 1", "L03"),
        ("acks", acks.value != Acks.ALL, "must be all", "L05"),
        ("queuing.strategy", section.text("queuing.strategy").lower() != "fifo", "must be fifo", "L07"),
        (
            "queue.buffering.backpressure.threshold",
            section.integer("queue.buffering.backpressure.threshold") > 1,
            "must be 1",
            "L08",
        ),
    )
    for key, conflicting, what, rule in conflicts:
        if section.has(key) and conflicting:
            raise section.refused(key, REFUSAL, f"{key} {what} with {IDEMPOTENCE}=true", rule)


def _is_transactional(section: Section) -> bool:
    if not section.has(TRANSACTIONAL) or not section.text(TRANSACTIONAL):
        return False
    if section.release.line < BUMPS:
        what = "transactions of librdkafka before 1.7; remove this setting to check the producer without transactions"
        raise section.not_modelled(TRANSACTIONAL, "N28", what)
    if section.release.line == ABORTS[:2] and section.release.patch is None:
        what = "after a gap in sequence numbers, librdkafka 1.8.0 continues a transaction and 1.8.2 requires its abort"
        raise section.at(TRANSACTIONAL, f"{what}: name the patch level of the version")
    return True


def _idempotence(section: Section, *, transactional: bool) -> Setting:
    if transactional and not section.flag(IDEMPOTENCE):
        if section.has(IDEMPOTENCE):
            raise section.refused(IDEMPOTENCE, REFUSAL, f"{TRANSACTIONAL} needs {IDEMPOTENCE}=true", "L10")
        return section.derived(IDEMPOTENCE, "true", f"L11: {TRANSACTIONAL} enables idempotence")
    return section.flag_setting(IDEMPOTENCE)


def _lasts(section: Section, *, transactional: bool) -> Setting:
    """Return the delivery timeout, which must not exceed the transaction timeout. The value 0, for no limit, is
    accepted."""
    if not transactional:
        return section.setting(LASTS)
    longest = section.integer(LENGTH)
    if not section.has(LASTS):
        return section.derived(LASTS, str(longest), f"L13: {LENGTH}")
    if section.integer(LASTS) > longest:
        raise section.refused(LASTS, REFUSAL, f"{LASTS} must be at most {LENGTH} ({longest})", "L13")
    return section.setting(LASTS)


def _linger(section: Section, lasts: Setting) -> Setting:
    """Return the linger time. The latest time of a batch is this time in whole milliseconds, rounded up."""
    setting = section.setting("linger.ms")
    linger, longest = float(setting.value), int(lasts.value)
    if 0 < longest <= linger:
        if section.has("linger.ms"):
            raise section.refused("linger.ms", REFUSAL, f"{LASTS} must be longer than linger.ms", "L14")
        return section.derived("linger.ms", str(longest), f"L14: lowered below {LASTS}")
    return setting


def _answered(section: Section, lasts: Setting, *, transactional: bool) -> Setting:
    """Return the request timeout, which is at most the remaining time of the request's first message."""
    answered = section.setting(ANSWERED)
    if transactional:
        longest = section.integer(LENGTH)
        if not section.has(ANSWERED):
            answered = section.derived(ANSWERED, str(max(longest - MARGIN, SHORTEST)), f"L12: below {LENGTH}")
        elif int(answered.value) > longest + MARGIN:
            why = f"{ANSWERED} must be at most {LENGTH} + {MARGIN} ({longest + MARGIN})"
            raise section.refused(ANSWERED, REFUSAL, why, "L12")
    if 0 < int(lasts.value) < int(answered.value):
        return section.derived(ANSWERED, lasts.value, f"{LASTS} ends requests earlier")
    return answered


def _isolation(section: Section) -> Setting | None:
    if not section.knows(ISOLATION):
        return None
    setting = section.setting(ISOLATION)
    return replace(setting, value=setting.value.lower())


def consumer(section: Section, *, needs_group: bool) -> ConsumerValues:
    """Return the consumer's effective settings, or raise the library's own error."""
    if section.has("group.protocol") and section.text("group.protocol").lower() == "consumer":
        raise section.not_modelled("group.protocol", "N62", "the consumer group protocol; use classic")
    session, most = section.integer("session.timeout.ms"), section.integer("max.poll.interval.ms")
    if most < session:
        key = "max.poll.interval.ms" if section.has("max.poll.interval.ms") else "session.timeout.ms"
        why = f"max.poll.interval.ms ({most}) must be at least session.timeout.ms ({session})"
        raise section.refused(key, REFUSAL, why, "L15")
    commits, stores = section.flag_setting("enable.auto.commit"), section.flag_setting("enable.auto.offset.store")
    reset = section.setting("auto.offset.reset")
    by_itself = boolean(commits.value) and boolean(stores.value)
    checks = section.release.line >= CHECKS_POSITIONS
    notes = () if section.has("group.id") or not needs_group else ("group.id is assumed to be set by the application",)
    return ConsumerValues(
        commits=committed_by_client(Commit.DELIVERED, commits) if by_itself else None,
        commits_on_timer=boolean(commits.value),
        offset_reset=RESETS[reset.value.lower()],
        max_poll_records=1,
        session="session.timeout.ms",
        fetched_at_least="fetch.min.bytes",
        knows_epochs=checks,
        checks_epochs=checks,
        checks_starts=False,
        isolation=_isolation(section),
        settings=(
            *((section.setting("group.id"),) if section.has("group.id") else ()),
            commits,
            stores,
            replace(reset, value=RESETS[reset.value.lower()]),
            Setting(
                section.scope, "records at a time", "1", Origin("rule", "the library hands over one record at a time")
            ),
            section.setting("session.timeout.ms"),
            *((section.setting(ASSIGNORS),) if section.has(ASSIGNORS) else ()),
        ),
        notes=notes,
        # Brokers refuse a commit while a rebalance is completed, in which cooperative members go on.
        rebalancing=replace(IN_BACKGROUND, behind=COOPERATIVE in section.text(ASSIGNORS)),
    )


LIBRARY = Library(
    "librdkafka", (1, 0), (2, 15), "RD_KAFKA_CONF_INVALID", PRODUCER_KEYS, producer, CONSUMER_KEYS, consumer, DURATIONS
)
