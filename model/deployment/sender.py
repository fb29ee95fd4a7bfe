"""The way in which a producer's client sends, as far as client libraries differ (semantics 3.1, 3.4, 3.7, 4)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sender:
    """The behaviour of one client library.

    ``retries_keep_their_place``: a failed record is sent again before later records; otherwise the last failed record
    goes first. ``one_at_a_time_everywhere``: with one request in flight, no request goes to a new leader while another
    is in flight to the old leader. ``knows_epochs``: the client never goes back to a leader of an older epoch.
    ``refusals_count``: an attempt that a broker refuses because it is no leader counts as one of ``retries``.
    ``connecting_counts``: an attempt without a connection counts too. ``drains``: with idempotence, the client waits
    until nothing is in flight before it retries, goes to another leader or bumps its epoch. It stops permanently if the
    next due record is refused as out of order. ``gapless``: the client also stops permanently if a record fails
    permanently. ``numbers_ahead``: with idempotence, a record can get its number before its turn, and keeps the number.
    Each failed record with a number takes the producer to a new epoch. Only attempts end a send, and the attempts of
    the first record count for the records behind it. ``rewinds`` (with ``drains``): the client takes answers in the
    order of sending and ignores the answers after a failed record. A permanent failure also fails every queued record,
    and the next record gets the failed record's number. ``stops_on_loss``: such a client stops permanently if the next
    due record is refused as out of order; otherwise it continues in a new epoch. ``forgets_numbers``: the client
    numbers from 0 again, in the same epoch, after its metadata lacked the topic. ``late_errors_count``: with
    idempotence, an error after ``delivery.timeout.ms`` has ended a send changes the numbers of later records.
    ``flush_forgets_parts``: a flush() that waits for a batch returns when the batch is split, before its parts are done
    (semantics 3.1, P9). ``bumps_within`` (with ``drains``): the client asks for a new epoch within a transaction, and
    continues the transaction. ``bump_aborts``: that request aborts the transaction; otherwise the transaction is
    aborted first. ``keeps_numbers``: after a failure in another partition ended the epoch, the client can continue its
    numbers in the next epoch (Java 2.5 to 2.7.0, KAFKA-12152). ``in_any_order``: each call of send() is independent,
    and none waits for an earlier call that waits or failed (semantics 4.6). ``only_attempts_end``: only failed attempts
    end a send, and while brokers were away, attempts can have failed that reached no leader. ``close_waits``: close()
    waits until every send has ended.
    """

    retries_keep_their_place: bool
    one_at_a_time_everywhere: bool
    knows_epochs: bool
    refusals_count: bool
    connecting_counts: bool
    drains: bool
    gapless: bool
    numbers_ahead: bool
    rewinds: bool = False
    stops_on_loss: bool = False
    forgets_numbers: bool = False
    late_errors_count: bool = False
    flush_forgets_parts: bool = False
    bumps_within: bool = False
    bump_aborts: bool = False
    keeps_numbers: bool = False
    in_any_order: bool = False
    only_attempts_end: bool = False
    close_waits: bool = True

    @property
    def repeats_numbers(self) -> bool:
        """Tell whether two records of an epoch can get the same number, if they get numbers."""
        return self.numbers_ahead or self.rewinds or self.forgets_numbers


OF_JAVA = Sender(
    retries_keep_their_place=False,
    one_at_a_time_everywhere=True,
    knows_epochs=True,
    refusals_count=True,
    connecting_counts=False,
    drains=False,
    gapless=False,
    numbers_ahead=False,
)
"""The sender of Kafka's own client."""
