"""Transactions with a client or brokers before 2.5 (semantics 11.7)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from proofka.model.deployment.release import IDEMPOTENT, Release
from proofka.model.deployment.sequencing import Unknown, unknown_of

FENCES = (0, 11, 0, 2)
"""The first release that aborts a transaction with a new epoch when it takes too long (KAFKA-6119; 0.11.0.2)."""

FAILS_IN_FLIGHT = (2, 1)
"""The first release in which a send can fail while its request is in flight, and an error can come after its timeout
(KIP-91)."""


FORGETS_BY_MARKER = (2, 3)
"""The first release line in which a broker with only a marker of an epoch reports the producer as unknown (up to
2.4)."""


FORGETS_FENCED = ((1, 0, 0), (2, 4, 1))
"""The first release, and the first release after, in which a broker keeps the times of batches but not of markers."""


class InDoubt(StrEnum):
    """The treatment of a record that the client gave up on and that can be stored, by a client that asks for no new
    epoch.

    ``next-record``: the next record gets its sequence number (0.11). ``stops``: the client stops permanently at once
    (1.0 to 2.4). ``stops-when-drained``: the client stops if the number is missing once nothing else is in flight (from
    2.5 on, with older brokers).
    """

    NEXT_RECORD = "next-record"
    STOPS = "stops"
    STOPS_WHEN_DRAINED = "stops-when-drained"


@dataclass(frozen=True)
class OlderTransactions:
    """The way of transactions in older releases of client or brokers, in which the epoch stays the same after an abort.

    ``errors_free_numbers``: an error after a send's timeout gives its sequence number to the next record, stored or not
    (clients from 2.1 on). ``remembers_one``: a broker recognises only the last batch of a producer (0.11). ``unknown``:
    the broker's reaction to a number other than 0 from a producer that it does not know. ``knows_by_marker``: a broker
    knows a producer from a marker alone (except in 2.3 and 2.4). ``forgets_fenced``: a broker forgets a producer if it
    has only a marker of its newest epoch (1.0 to 2.4.0; KAFKA-9144). ``timeout_fences``: a transaction that takes too
    long is aborted with a new epoch (0.11.0.2 and later).
    """

    in_doubt: InDoubt
    errors_free_numbers: bool
    remembers_one: bool
    unknown: Unknown
    knows_by_marker: bool
    forgets_fenced: bool
    timeout_fences: bool


def older_transactions_of(client: Release, brokers: Release) -> OlderTransactions | None:
    """Return the behaviour of a Java client and brokers of these releases; None if both are of 2.5 or later."""
    if min(client.line, brokers.line) >= IDEMPOTENT:
        return None
    in_doubt = InDoubt.STOPS_WHEN_DRAINED
    if client.line < IDEMPOTENT:
        in_doubt = InDoubt.NEXT_RECORD if client.line < (1, 0) else InDoubt.STOPS
    return OlderTransactions(
        in_doubt,
        errors_free_numbers=client.line >= FAILS_IN_FLIGHT,
        remembers_one=brokers.line < (1, 0),
        unknown=unknown_of(brokers),
        knows_by_marker=not FORGETS_BY_MARKER <= brokers.line < IDEMPOTENT,
        forgets_fenced=FORGETS_FENCED[0] <= brokers.full < FORGETS_FENCED[1],
        timeout_fences=(*brokers.full, brokers.fix or 0) >= FENCES,
    )
