"""What franz-go makes of its options (``cfg.validate`` in ``pkg/kgo``; 1.21).

Its settings are the functions that set an option of ``kgo``, and their arguments. The rules' numbers (F01 and so on)
are those of docs/client-rules.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from model.deployment.consumer_rules import ConsumerValues
from model.deployment.deployment import Acks, Origin, Setting
from model.deployment.duration_settings import NEVER, Source
from model.deployment.errors import DeploymentError
from model.deployment.library import Library
from model.deployment.producer_rules import ProducerValues
from model.deployment.section import Section
from model.deployment.sender import Sender

ACKS, PLAIN = "RequiredAcks", "DisableIdempotentWrite"
IN_FLIGHT, RETRIES = "MaxProduceRequestsInflightPerBroker", "RecordRetries"
LASTS, CANCELS = "RecordDeliveryTimeout", "AllowIdempotentProduceCancellation"
TRANSACTIONAL, STOPS = "TransactionalID", "StopProducerOnDataLossDetected"
WAITS, OVERHEAD, METADATA = "ProduceRequestTimeout", "RequestTimeoutOverhead", "MetadataMinAge"

PRODUCER_KEYS = (ACKS, PLAIN, IN_FLIGHT, RETRIES, LASTS, CANCELS, TRANSACTIONAL, STOPS, WAITS, OVERHEAD, METADATA)
"""The settings that these rules read: their values must be known."""

REFUSAL = "an error of NewClient"
UNLIMITED = 2**31 - 1
MOST_IN_FLIGHT = 4
"""So many requests with idempotence, whatever the option says, once a leader has answered one."""

SHORTEST, LONGEST_PAUSE = 1_000, 5_000
"""The least ``RecordDeliveryTimeout`` that is none, and the longest pause after a failure, in ms."""

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
}
"""What it says by other settings. A retry comes with the next metadata, or after a pause that grows."""


def producer(section: Section) -> ProducerValues:
    """The effective settings, or the refusal with the library's own error."""
    _check(section)
    if section.release.full == (1, 21, 0) and section.release.patch is not None:
        raise _not_modelled_version(section)
    answered = section.milliseconds(WAITS) + section.milliseconds(OVERHEAD)
    pause = section.milliseconds(METADATA) + LONGEST_PAUSE
    acks = section.setting(ACKS)
    return ProducerValues(
        acks=Acks.ALL,
        retries=UNLIMITED,
        idempotence=True,
        max_in_flight=MOST_IN_FLIGHT,
        expires_in_accumulator=False,
        transactional=False,
        sender=Sender(
            retries_keep_their_place=True,
            one_at_a_time_everywhere=False,
            knows_epochs=False,
            refusals_count=False,
            connecting_counts=False,
            drains=True,
            gapless=False,
            numbers_ahead=False,
            rewinds=True,
            stops_on_loss=section.flag(STOPS),
        ),
        settings=(
            replace(acks, value=Acks.ALL),
            section.flag_setting(PLAIN),
            section.derived(IN_FLIGHT, str(MOST_IN_FLIGHT), "with idempotence, one until a leader answered one"),
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
    """Raise DeploymentError for what the library refuses, or the model does not have."""
    plain, cancels = section.flag(PLAIN), section.knows(CANCELS) and section.flag(CANCELS)
    transactional = bool(section.text(TRANSACTIONAL))
    all_isr = section.text(ACKS).startswith("AllISRAcks")
    short = 0 < section.milliseconds(LASTS) < SHORTEST
    conflicts = (
        (TRANSACTIONAL, cancels and transactional, f"{TRANSACTIONAL} does not go with {CANCELS}", "F04"),
        (TRANSACTIONAL, plain and transactional, f"{TRANSACTIONAL} does not go with {PLAIN}", "F03"),
        (ACKS, not plain and not all_isr, f"{ACKS} must be AllISRAcks without {PLAIN}", "F01"),
        (IN_FLIGHT, not plain and section.integer(IN_FLIGHT) != 1, f"{IN_FLIGHT} needs {PLAIN}", "F02"),
        (LASTS, short, f"{LASTS} must be at least 1s", "F08"),
    )
    for key, conflicting, why, rule in conflicts:
        if conflicting:
            raise section.refused(key, REFUSAL, why, rule)
    missing = (
        (TRANSACTIONAL, transactional, "transactions of franz-go; remove it to check the producer without them"),
        (PLAIN, plain, "franz-go without idempotence, which sends again what follows a record that failed"),
        (LASTS, section.milliseconds(LASTS) > 0, "records of franz-go that time out; leave it out"),
        (RETRIES, section.has(RETRIES) and section.integer(RETRIES) < UNLIMITED, "retries of franz-go that run out"),
        (CANCELS, cancels, "records of franz-go that are cancelled while they may be stored"),
    )
    for key, wanted, what in missing:
        if wanted:
            raise section.not_modelled(key, what)


def _not_modelled_version(section: Section) -> DeploymentError:
    what = "franz-go 1.21.0, which takes a new leader for one that has answered; from 1.21.1 on it is"
    return section.not_modelled("version", what)


def consumer(section: Section, *, needs_group: bool) -> ConsumerValues:
    """Consumers of the library are not modelled: where they go on after a lost record is a matter of timestamps."""
    raise section.not_modelled("client", "consumers of franz-go; name another client")


LIBRARY = Library(
    "franz-go", (1, 21), (1, 21), REFUSAL, PRODUCER_KEYS, producer, (), consumer, DURATIONS, package="kgo."
)
