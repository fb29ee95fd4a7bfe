"""The state that a client keeps besides its epoch and sequence numbers, to recover by (semantics 3.4, 4).

A client before 2.5 never changes its producer epoch. Where other clients have producer epochs, at the client, in
requests and in logs, the model counts the producer ids within one start of the application.
"""

from __future__ import annotations

from dataclasses import dataclass

from proofka.model.language import Variable

FORGOTTEN = "forgotten"
"""The name of the slot field that says: the broker has forgotten the numbers in this slot (semantics 3.5)."""


@dataclass(frozen=True)
class Numbering:
    """The origin of one batch's number, and whether the number has changed.

    ``producer_id`` counts the producer ids before the one that the number belongs to. ``renumbered``: the number has
    changed since the request was sent; None where nothing reads that.
    """

    producer_id: Variable
    renumbered: Variable | None

    @property
    def variables(self) -> tuple[Variable, ...]:
        return (self.producer_id,) if self.renumbered is None else (self.producer_id, self.renumbered)


@dataclass(frozen=True)
class KeptOfBatch:
    """The variables that a client keeps of a batch besides its number, as far as it recovers by them.

    ``numbered_in``: the epoch in which the number was given. ``late``: the broker that has still to answer a request
    whose send was given up on; 0: no answer is awaited; one past the last broker: the connection is lost.
    """

    numbered_in: Variable | None = None
    numbering: Numbering | None = None
    late: Variable | None = None


@dataclass(frozen=True)
class KeptByProducer:
    """The variables that a client keeps besides its epoch and numbers, as far as it recovers by them.

    ``draining``: it sends nothing more before nothing is in flight; ``fatal``: it has stopped permanently. ``heard``: a
    record was acknowledged under the current producer id. ``acknowledged_to``: the end offset of the last such record.
    ``moved_on``: the epoch has gone on for another partition, and this one has yet to follow (semantics 3.4).
    """

    draining: Variable | None = None
    fatal: Variable | None = None
    heard: Variable | None = None
    acknowledged_to: Variable | None = None
    moved_on: Variable | None = None
