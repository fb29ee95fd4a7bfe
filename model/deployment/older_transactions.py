"""How transactions work with a client or brokers before 2.5 (semantics 11.7)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from model.deployment.release import IDEMPOTENT, Release
from model.deployment.sequencing import Unknown, unknown_of

FENCES = (0, 11, 0, 2)
"""From here on a transaction that takes too long is aborted with a new epoch (KAFKA-6119; 0.11.0.2)."""

FAILS_IN_FLIGHT = (2, 1)
"""From here on a send may fail while its request is out, and an error may come when its time is over (KIP-91)."""


FORGETS_BY_MARKER = (2, 3)
"""From here to 2.4 a broker that has nothing but a marker of an epoch says that it does not know the producer."""


FORGETS_FENCED = ((1, 0, 0), (2, 4, 1))
"""From the first of these on, and before the second, a broker keeps the times of batches, and none of markers."""


class InDoubt(StrEnum):
    """What a client that asks for no new epoch makes of a record that it gave up on, and that may be stored.

    ``next-record``: the next record gets its number (0.11). ``stops``: it stops for good at once (1.0 to 2.4).
    ``stops-when-drained``: when nothing else is in flight, if the number is missing then (from 2.5 on, with brokers
    before).
    """

    NEXT_RECORD = "next-record"
    STOPS = "stops"
    STOPS_WHEN_DRAINED = "stops-when-drained"


@dataclass(frozen=True)
class OlderTransactions:
    """What the releases of client and brokers make of transactions: the epoch stays the same after an abort.

    ``errors_free_numbers``: an error that comes when the time of a send is over gives its number to the next record,
    stored or not (clients from 2.1 on). ``remembers_one``: a broker recognises the last batch of a producer only
    (0.11). ``unknown``: what it does with another number than 0 of a producer that it does not know, and
    ``knows_by_marker``: it knows one of which it has nothing but a marker (but not 2.3 and 2.4).
    ``forgets_fenced``: it forgets one of whose newest epoch it has nothing but a marker (1.0 to 2.4.0; KAFKA-9144).
    ``timeout_fences``: a transaction that takes too long is aborted with a new epoch (0.11.0.2 and later).
    """

    in_doubt: InDoubt
    errors_free_numbers: bool
    remembers_one: bool
    unknown: Unknown
    knows_by_marker: bool
    forgets_fenced: bool
    timeout_fences: bool


def older_transactions_of(client: Release, brokers: Release) -> OlderTransactions | None:
    """What a Java client and brokers of these releases do; None where both are of 2.5 or later."""
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
