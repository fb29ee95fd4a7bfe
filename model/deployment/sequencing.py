"""How idempotent producing works with a client or brokers before 2.5 (semantics 3.4, 3.5)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from model.deployment.release import IDEMPOTENT, Release

KEEPS_NUMBERS = (2, 4)
"""From this release on a broker that runs knows a producer whose records it has deleted (KAFKA-7190)."""


class Recovery(StrEnum):
    """How a client gets over a failure that leaves its sequence numbers in doubt.

    ``epoch``: it bumps its producer epoch and renumbers what is in flight (2.5 and later). ``producer-id``: it asks for
    a new producer id; what has a number keeps it, and the old id (1.0 to 2.4). ``one-by-one``: the same, with a single
    request in flight, and a record that fails leaves its number to the next one (0.11).
    """

    EPOCH = "epoch"
    PRODUCER_ID = "producer-id"
    ONE_BY_ONE = "one-by-one"


class Unknown(StrEnum):
    """What a broker does with another number than 0 of a producer id that it does not know."""

    APPENDED = "appended"  # 2.5 and later
    UNKNOWN_PRODUCER_ID = "unknown-producer-id"  # 1.0 to 2.4
    OUT_OF_ORDER = "out-of-order"  # 0.11


class Forgets(StrEnum):
    """When a broker forgets a producer of which its log has no record any more."""

    WITH_ITS_RECORDS = "with-its-records"  # to 2.3
    AT_ITS_START = "at-its-start"  # 2.4 and later


@dataclass(frozen=True)
class Sequencing:
    """What the releases of client and brokers make of sequence numbers.

    ``remembers_one``: a broker recognises the last batch of a producer only, not the
    last five (0.11).
    """

    recovery: Recovery
    remembers_one: bool
    unknown: Unknown
    forgets: Forgets

    @property
    def takes_new_ids(self) -> bool:
        """The client gets over failures with a new producer id, never with a new epoch."""
        return self.recovery is not Recovery.EPOCH


def sequencing_of(client: Release, brokers: Release) -> Sequencing | None:
    """What a Java client and brokers of these releases do; None where both are of 2.5 or later."""
    if min(client.line, brokers.line) >= IDEMPOTENT:
        return None
    recovery = Recovery.EPOCH
    if client.line < IDEMPOTENT:
        recovery = Recovery.ONE_BY_ONE if client.line < (1, 0) else Recovery.PRODUCER_ID
    forgets = Forgets.WITH_ITS_RECORDS if brokers.line < KEEPS_NUMBERS else Forgets.AT_ITS_START
    return Sequencing(recovery, remembers_one=brokers.line < (1, 0), unknown=unknown_of(brokers), forgets=forgets)


def unknown_of(brokers: Release) -> Unknown:
    """What brokers of a release do with a producer id that they do not know."""
    if brokers.line >= IDEMPOTENT:
        return Unknown.APPENDED
    return Unknown.OUT_OF_ORDER if brokers.line < (1, 0) else Unknown.UNKNOWN_PRODUCER_ID
