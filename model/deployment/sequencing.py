"""Idempotent producing with a client or brokers before 2.5 (semantics 3.4, 3.5)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from proofka.model.deployment.release import IDEMPOTENT, Release

KEEPS_NUMBERS = (2, 4)
"""The first release whose running brokers remember a producer after deleting its records (KAFKA-7190)."""


class Recovery(StrEnum):
    """The client's recovery from a failure that leaves its sequence numbers in doubt.

    ``epoch``: the client bumps its producer epoch and renumbers the records in flight (2.5 and later). ``producer-id``:
    the client asks for a new producer id; numbered records keep their number and the old id (1.0 to 2.4).
    ``one-by-one``: the same with a single request in flight, and a failed record leaves its number to the next record
    (0.11).
    """

    EPOCH = "epoch"
    PRODUCER_ID = "producer-id"
    ONE_BY_ONE = "one-by-one"


class Unknown(StrEnum):
    """The broker's reaction to a number other than 0 from an unknown producer id."""

    APPENDED = "appended"  # 2.5 and later
    UNKNOWN_PRODUCER_ID = "unknown-producer-id"  # 1.0 to 2.4
    OUT_OF_ORDER = "out-of-order"  # 0.11


class Forgets(StrEnum):
    """The time when a broker forgets a producer without records in its log."""

    WITH_ITS_RECORDS = "with-its-records"  # to 2.3
    AT_ITS_START = "at-its-start"  # 2.4 and later


@dataclass(frozen=True)
class Sequencing:
    """The treatment of sequence numbers by the releases of client and brokers.

    ``remembers_one``: a broker recognises only the last batch of a producer, not the last five (0.11).
    """

    recovery: Recovery
    remembers_one: bool
    unknown: Unknown
    forgets: Forgets

    @property
    def takes_new_ids(self) -> bool:
        """Tell whether the client recovers from failures with a new producer id, never with a new epoch."""
        return self.recovery is not Recovery.EPOCH


def sequencing_of(client: Release, brokers: Release) -> Sequencing | None:
    """Return the behaviour of a Java client and brokers of these releases; None if both are of 2.5 or later."""
    if min(client.line, brokers.line) >= IDEMPOTENT:
        return None
    recovery = Recovery.EPOCH
    if client.line < IDEMPOTENT:
        recovery = Recovery.ONE_BY_ONE if client.line < (1, 0) else Recovery.PRODUCER_ID
    forgets = Forgets.WITH_ITS_RECORDS if brokers.line < KEEPS_NUMBERS else Forgets.AT_ITS_START
    return Sequencing(recovery, remembers_one=brokers.line < (1, 0), unknown=unknown_of(brokers), forgets=forgets)


def unknown_of(brokers: Release) -> Unknown:
    """Return the reaction of a release's brokers to an unknown producer id."""
    if brokers.line >= IDEMPOTENT:
        return Unknown.APPENDED
    return Unknown.OUT_OF_ORDER if brokers.line < (1, 0) else Unknown.UNKNOWN_PRODUCER_ID
