"""The way in which a producer's client sends, as far as client libraries differ (semantics 3.1, 3.4, 3.7, 4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ClientRecovery(StrEnum):
    """The client's recovery from failures of numbered records: one of the modules in ``model/recovery/`` for each.

    ``none``: the client never numbers its records. ``java``: it bumps its epoch and renumbers the records in flight, as
    far as its release and that of the brokers can (3.4). ``java-2.7.0``: the same, but after a failure in another
    partition ended the epoch, it can continue its numbers in the next epoch (2.5 to 2.7.0, KAFKA-12152).

    ``librdkafka``: it waits until nothing is in flight before it retries, goes to another leader or bumps its epoch. It
    stops permanently if the next due record is refused as out of order; ``gapless``: also if a record fails
    permanently; ``forgetting``: it numbers from 0 again, in the same epoch, after its metadata lacked the topic (4.1).
    ``librdkafka-transactions``: it aborts a transaction before it asks for a new epoch; ``librdkafka-bump-aborts``: the
    request aborts the transaction; ``librdkafka-bump-within``: it asks within the transaction, and continues (4.1).

    ``franz-go``: it waits as librdkafka does, takes answers in the order of sending, and ignores the answers after a
    failed record. A permanent failure also fails every queued record, and the next record gets the failed record's
    number. After a record is refused as out of order it continues in a new epoch; ``franz-go-stopping``: it stops
    permanently (4.3).

    ``sarama``: a record can get its number before its turn, and keeps the number. Each failed record with a number
    takes the producer to a new epoch. Only attempts end a send, and the attempts of the first record count for the
    records behind it (4.2).
    """

    NONE = "none"
    JAVA = "java"
    JAVA_2_7_0 = "java-2.7.0"
    LIBRDKAFKA = "librdkafka"
    LIBRDKAFKA_GAPLESS = "librdkafka-gapless"
    LIBRDKAFKA_FORGETTING = "librdkafka-forgetting"
    LIBRDKAFKA_FORGETTING_GAPLESS = "librdkafka-forgetting-gapless"
    LIBRDKAFKA_TRANSACTIONS = "librdkafka-transactions"
    LIBRDKAFKA_BUMP_ABORTS = "librdkafka-bump-aborts"
    LIBRDKAFKA_BUMP_WITHIN = "librdkafka-bump-within"
    FRANZ_GO = "franz-go"
    FRANZ_GO_STOPPING = "franz-go-stopping"
    SARAMA = "sarama"


REPEATING_NUMBERS = frozenset(
    {
        ClientRecovery.LIBRDKAFKA_FORGETTING,
        ClientRecovery.LIBRDKAFKA_FORGETTING_GAPLESS,
        ClientRecovery.FRANZ_GO,
        ClientRecovery.FRANZ_GO_STOPPING,
        ClientRecovery.SARAMA,
    }
)
"""The recoveries in which two records of an epoch can get the same number."""


@dataclass(frozen=True)
class Sender:
    """The behaviour of one client library.

    ``recovery``: what the client does about sequence numbers, if it numbers its records. ``retries_keep_their_place``:
    a failed record is sent again before later records; otherwise the last failed record goes first.
    ``one_at_a_time_everywhere``: with one request in flight, no request goes to a new leader while another is in flight
    to the old leader. ``knows_epochs``: the client never goes back to a leader of an older epoch. ``refusals_count``:
    an attempt that a broker refuses because it is no leader counts as one of ``retries``. ``connecting_counts``: an
    attempt without a connection counts too. ``late_errors_count``: with idempotence, an error after
    ``delivery.timeout.ms`` has ended a send changes the numbers of later records. ``flush_forgets_parts``: a flush()
    that waits for a batch returns when the batch is split, before its parts are done (semantics 3.1, P9).
    ``in_any_order``: each call of send() is independent, and none waits for an earlier call that waits or failed
    (semantics 4.6). ``only_attempts_end``: only failed attempts end a send, and while brokers were away, attempts can
    have failed that reached no leader. ``close_waits``: close() waits until every send has ended.
    """

    recovery: ClientRecovery
    retries_keep_their_place: bool
    one_at_a_time_everywhere: bool
    knows_epochs: bool
    refusals_count: bool
    connecting_counts: bool
    late_errors_count: bool = False
    flush_forgets_parts: bool = False
    in_any_order: bool = False
    only_attempts_end: bool = False
    close_waits: bool = True


OF_JAVA = Sender(
    recovery=ClientRecovery.JAVA,
    retries_keep_their_place=False,
    one_at_a_time_everywhere=True,
    knows_epochs=True,
    refusals_count=True,
    connecting_counts=False,
)
"""The sender of Kafka's own client."""
