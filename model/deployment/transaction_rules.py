"""The rules by which brokers and clients handle transactions, by release (semantics 11.5)."""

from __future__ import annotations

from proofka.model.deployment.choices import Sink
from proofka.model.deployment.given import Given, Settings, complaint, not_modelled
from proofka.model.deployment.older_transactions import OlderTransactions
from proofka.model.deployment.producer_rules import ProducerValues
from proofka.model.deployment.release import IDEMPOTENT, JAVA, Release
from proofka.model.deployment.section import Section
from proofka.model.deployment.sender import ClientRecovery
from proofka.model.deployment.setting import Setting
from proofka.model.deployment.transactional import Transactional
from proofka.model.faults import Fault

VERIFICATION = "transaction.partition.verification.enable"
FEATURE = "transaction.version"
"""A feature of the cluster, not a setting; the format accepts it among the broker's settings."""

KEYS = (VERIFICATION, FEATURE)
"""The settings that these rules read: their values must be known."""

FENCES_MEMBERS = (2, 5)
"""The first release whose brokers refuse the offsets of an evicted member, and report pending offsets (11.3)."""

NO_FENCING = "results and offsets in one transaction with brokers or Java consumers before 2.5"

WAITS_FOR_PENDING = (1, 6)
"""The first release whose librdkafka consumers wait for pending offsets, if they read committed records (11.3)."""

DOES_NOT_WAIT = (
    "results and offsets in one transaction with a consumer that does not wait for pending offsets: those of sarama, "
    "kafka-python and aiokafka, and of librdkafka before 1.6 or with isolation.level=read_uncommitted"
)

NEVER_WAITS = ("sarama", "kafka-python", "aiokafka")
"""The libraries whose consumers do not know pending offsets."""

RAISES_EPOCHS = (4, 0)
"""The first release whose brokers and clients raise the producer epoch with every transaction (TV2)."""

EXPECTS_ZERO = (4, 1)
"""The first release in which, with TV2, a leader accepts only 0 as first sequence number of an unknown producer."""

STRICT_MARKERS = (4, 2)
"""The first release in which, with TV2, a leader refuses a marker that is no newer than the records it would end
(KIP-1228)."""

NOT_IN_TRANSACTIONS = {
    Fault.UNKNOWN_TOPIC: ("N91", "whose topic disappears from the producer's metadata"),
    Fault.LOST_TRANSACTION_STATE: ("N90", "whose coordinator loses its state"),
}
"""Faults that are not modelled with transactions of clients other than Java's, each with its code."""

REFUSED_EPOCHS = frozenset({ClientRecovery.LIBRDKAFKA_BUMP_WITHIN, ClientRecovery.LIBRDKAFKA_BUMP_ABORTS})
"""The recoveries that ask for a new epoch in a way that brokers from 2.6 on refuse."""

LENGTH = "transaction.timeout.ms"
LONGEST = "transaction.max.timeout.ms"


def check_brokers(section: Section, values: ProducerValues, brokers: Given, kafka: Release) -> None:
    """Raise NotModelledError for a client that asks for a new epoch in a way that these brokers refuse.

    ``brokers``: the place where the release of the brokers is named.
    """
    if values.sender.recovery in REFUSED_EPOCHS and kafka.line > IDEMPOTENT:
        what = (
            f"transactions of {section.library} before 2.0 with brokers from 2.6 on, which refuse the client's new "
            "epoch"
        )
        raise not_modelled(brokers, "N29", what)


def check_faults(section: Section, faults: Settings, *, transactional: bool) -> None:
    """Raise NotModelledError for faults that are not modelled with transactions of clients other than Java's."""
    for kind, (code, when) in NOT_IN_TRANSACTIONS.items():
        if transactional and section.library != JAVA and kind.value in faults:
            raise not_modelled(faults[kind.value], code, f"transactions of {section.library} {when}")


def check_lost_state(older: OlderTransactions | None, faults: Settings) -> None:
    """Raise NotModelledError for a coordinator that loses its state, with a client or brokers before 2.5."""
    lost = faults.get(Fault.LOST_TRANSACTION_STATE.value)
    if lost is not None and older is not None:
        what = f"{Fault.LOST_TRANSACTION_STATE} with clients or brokers before 2.5"
        raise not_modelled(lost, "N88", what)


def check_sink(consumer: Section, isolation: Setting | None, kafka: Release, sink: Sink, application: Settings) -> None:
    """Raise NotModelledError for results and offsets in one transaction, with releases or consumers that do not protect
    the offsets."""
    if sink is not Sink.KAFKA:
        return
    lines = (kafka.line, consumer.release.line) if consumer.library == JAVA else (kafka.line,)
    if min(lines) < FENCES_MEMBERS:
        raise not_modelled(application["sink"], "N38", NO_FENCING)
    if not waits_for_pending_offsets(consumer, isolation):
        raise not_modelled(application["sink"], "N39", DOES_NOT_WAIT)


def check_length(producer: Section, broker: Section, error: str) -> None:
    """Raise RefusedError if the producer's transactions are longer than brokers allow: its initTransactions() would
    fail."""
    length, longest = producer.integer(LENGTH), broker.integer(LONGEST)
    if 0 < length <= longest:
        return
    limit = "more than 0" if length <= 0 else f"at most {broker.where(LONGEST)}"
    at = producer if producer.has(LENGTH) or not broker.has(LONGEST) else broker
    why = f"{LENGTH} ({length}) must be {limit}"
    raise at.refused(LENGTH if at is producer else LONGEST, error, why, "P30")


def waits_for_pending_offsets(consumer: Section, isolation: Setting | None) -> bool:
    """Tell whether a starting consumer waits for a transaction that is about to move its group's offset (11.3)."""
    if consumer.library != "librdkafka":
        return consumer.library not in NEVER_WAITS
    committed = isolation is not None and isolation.value == "read_committed"
    return committed and consumer.release.line >= WAITS_FOR_PENDING


def transactional_of(
    broker: Section,
    records: int,
    isolation: Setting | None,
    *,
    raises_epochs: bool,
    older: OlderTransactions | None = None,
    survives_refused_send: bool = False,
) -> Transactional:
    """Return the handling of transactions by these brokers and a client.

    ``raises_epochs``: the client raises epochs from 4.0 on. ``survives_refused_send``: see :class:`Transactional`.
    Raises DeploymentError for an unknown version of the feature.
    """
    epoch_each = _version(broker) == 2 and raises_epochs
    verified = epoch_each or (broker.knows(VERIFICATION) and broker.flag(VERIFICATION))
    return Transactional(
        records=records,
        verified=verified,
        epoch_each=epoch_each,
        first_is_zero=epoch_each and broker.release.line >= EXPECTS_ZERO,
        read_committed=isolation is not None and isolation.value == "read_committed",
        strict_markers=epoch_each and broker.release.line >= STRICT_MARKERS,
        older=older,
        survives_refused_send=survives_refused_send,
    )


def _version(broker: Section) -> int:
    given = broker.given.get(FEATURE)
    if given is None:
        return 2 if broker.release.line >= RAISES_EPOCHS else 0
    text = given.value.strip()
    if text not in ("0", "1", "2"):
        raise complaint(given, "must be 0, 1 or 2")
    if text == "2" and broker.release.line < RAISES_EPOCHS:
        raise complaint(given, f"version 2 exists only from Kafka {RAISES_EPOCHS[0]}.{RAISES_EPOCHS[1]} on; use 0 or 1")
    return int(text)


def settings_of(broker: Section) -> tuple[Setting, ...]:
    """Return the settings that determine the handling of transactions, where they are given."""
    feature = broker.given.get(FEATURE)
    said = () if feature is None else (Setting("broker", FEATURE, feature.value.strip(), feature.origin),)
    return (*((broker.setting(VERIFICATION),) if broker.has(VERIFICATION) else ()), *said)


def notes_of(broker: Section, transactional: Transactional) -> tuple[str, ...]:
    """Return notes about assumptions, and about a consumer that reads aborted records."""
    notes = []
    if transactional.epoch_each and broker.given.get(FEATURE) is None:
        notes.append(
            f"{FEATURE}=2 is assumed, the default of new clusters from 4.0 on; an upgraded cluster keeps its version "
            f"until somebody raises it: set {FEATURE} of the broker if it is lower"
        )
    if not transactional.read_committed:
        notes.append("the consumer reads records of open and of aborted transactions: isolation.level=read_uncommitted")
    return tuple(notes)


CLEANS_DECIDED = (3, 1)
"""The first release whose cleaner never passes the last stable offset, even of a log that was just read again (10,
D6)."""


def check_compaction(producer: Section, broker: Section, transactional: Transactional, faults: Settings) -> None:
    """Raise NotModelledError for transactions in a compacted topic that are not modelled."""
    if broker.release.line < CLEANS_DECIDED:
        release = ".".join(map(str, CLEANS_DECIDED))
        what = f"transactions in a compacted topic with brokers before {release}"
        raise producer.not_modelled("transactional.id", "N32", what)
    if transactional.older is not None:
        what = "transactions in a compacted topic with clients before 2.5"
        raise producer.not_modelled("transactional.id", "N33", what)
    lost = faults.get(Fault.LOST_TRANSACTION_STATE.value)
    if lost is not None:
        what = f"{Fault.LOST_TRANSACTION_STATE} with transactions in a compacted topic"
        raise not_modelled(lost, "N89", what)
