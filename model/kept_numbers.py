"""What a client before 2.5 keeps of a batch besides its sequence number (semantics 3.4).

Such a client never changes its producer epoch. What the model counts as producer epochs, at the client, in requests and
in logs, are its producer ids within one start of the application.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.deployment.choices import ProducerId
from model.deployment.deployment import Deployment
from model.deployment.older_transactions import InDoubt
from model.deployment.sequencing import Recovery, Unknown
from model.language import Variable, flag

FORGOTTEN = "forgotten"
"""The field of a slot that says that its broker has forgotten the numbers that it holds (semantics 3.5)."""


@dataclass(frozen=True)
class Numbering:
    """Of one batch: where its number is from, and whether it may still change.

    ``producer_id`` counts the producer ids before the one that numbered it. ``renumbered``: its number has changed
    since its request was sent; None where that is never asked.
    """

    producer_id: Variable
    renumbered: Variable | None

    @property
    def variables(self) -> tuple[Variable, ...]:
        return (self.producer_id,) if self.renumbered is None else (self.producer_id, self.renumbered)


def declare_numbering(deployment: Deployment, batch: str) -> Numbering | None:
    """The variables of a batch of this name; None where failures do not make the client ask for another producer id."""
    sequencing = deployment.sequencing
    if sequencing is None or not sequencing.takes_new_ids:
        return None
    changes = sequencing.recovery is Recovery.PRODUCER_ID
    return Numbering(
        Variable(f"{batch}_producer_id", 0, deployment.bounds.producer_epochs - 1, 0),
        flag(f"{batch}_renumbered") if changes else None,
    )


def declare_late(deployment: Deployment, batch: str) -> Variable | None:
    """The broker that has still to answer a request whose send was given up on; one past the last if none will.

    None where nothing comes of such an answer: a client that bumps its epoch for an error renumbers by that what it has
    in flight besides, or waits to send again (semantics 3.4).
    """
    alone = deployment.bounds.records * deployment.bounds.sends == 1 or deployment.max_in_flight == 1
    if not deployment.sender.late_errors_count or (alone and not deployment.takes_new_ids):
        return None
    return Variable(f"{batch}_late", 0, deployment.brokers + 1, 0)


def declare_heard(deployment: Deployment) -> Variable | None:
    """Whether a record was acknowledged since the client got its producer id; None where that is never asked."""
    older, sequencing = deployment.older_transactions, deployment.sequencing
    if older is not None:
        asks = older.unknown is Unknown.UNKNOWN_PRODUCER_ID and older.in_doubt is not InDoubt.NEXT_RECORD
        return flag("heard", deployment.producer_id is ProducerId.KNOWN) if asks else None
    if sequencing is None or sequencing.recovery is not Recovery.PRODUCER_ID:
        return None
    if deployment.brokers_forget_deleted:
        return None  # it asks how far that was
    return flag("heard") if sequencing.unknown is Unknown.UNKNOWN_PRODUCER_ID else None


def declare_acknowledged_to(deployment: Deployment) -> Variable | None:
    """One more than the offset of the last record that was acknowledged since the client got its producer id.

    A client that is told that a broker does not know it compares that with where the broker's log starts (semantics
    3.4); None where none does, or no broker forgets for what it deletes.
    """
    sequencing = deployment.sequencing
    if sequencing is None or sequencing.recovery is not Recovery.PRODUCER_ID or not deployment.brokers_forget_deleted:
        return None
    if sequencing.unknown is not Unknown.UNKNOWN_PRODUCER_ID:
        return None
    return Variable("acknowledged_to", 0, deployment.bounds.log, 0)
