"""How a producer's client sends, where client libraries differ (semantics 3.1, 3.4, 3.7, 4)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sender:
    """What one client library does.

    ``retries_keep_their_place``: a record that failed goes again before those that were sent after it; else the one
    that failed last goes first. ``one_at_a_time_everywhere``: with one request in flight none goes to a new leader
    while another is in flight to the old one. ``knows_epochs``: it never goes back to a leader of an older epoch.
    ``refusals_count``: an attempt that a broker refuses because it does not lead is one of ``retries``, and
    ``connecting_counts``: so is one for which no connection comes about. ``drains``: with idempotence it waits until
    nothing is in flight before it retries, goes to another leader or bumps its epoch, and stops for good where the next
    record due is refused as out of order. ``gapless``: it stops for good as well where a record fails for good.
    ``numbers_ahead``: with idempotence a record may get its number before its turn, keeps it for good, and each record
    with a number that fails takes the producer to a new epoch; nothing but attempts ends a send, and those of the one
    in front count for what waits behind it. ``rewinds`` (with ``drains``): it takes answers in the order of sending and
    heeds none of what follows a record that failed; one that fails for good takes all that wait with it, and the next
    one gets its number. ``stops_on_loss``: such a client stops for good where the next record due is refused as out of
    order; else it goes on in a new epoch. ``forgets_numbers``: it numbers from 0
    again when a topic was gone from its metadata, in the same epoch. ``late_errors_count``: with idempotence an error
    that comes after ``delivery.timeout.ms`` has ended a send changes the numbers of what was sent after it.
    ``flush_forgets_parts``: a flush() that waits for a batch returns when that is split, before its parts are over
    (semantics 3.1, P9). ``bumps_within`` (with ``drains``): it asks for a new epoch in the middle of
    a transaction, and goes on with it; ``bump_aborts``: asking is what aborts it, else it is aborted first.
    ``keeps_numbers``: when the failure of another partition has ended the epoch, it may number on in the next one
    (Java 2.5 to 2.7.0, KAFKA-12152). ``in_any_order``: each call of send() goes its own way, and nothing keeps it
    behind an earlier one that waits or failed (semantics 4.6). ``only_attempts_end``: nothing but failed attempts ends
    a send, and where brokers were away attempts may have failed that reached no leader. ``close_waits``: its close()
    waits until every send is over.
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
"""Kafka's own client."""
