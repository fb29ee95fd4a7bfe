"""The state that a client before 2.5 keeps of a batch besides its sequence number (semantics 3.4).

Such a client never changes its producer epoch. Where other clients have producer epochs, at the client, in requests and
in logs, the model counts the producer ids within one start of the application.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.deployment.choices import ProducerId
from model.deployment.deployment import Deployment
from model.deployment.implied.forgetting import brokers_forget_deleted
from model.deployment.implied.outages import modelled_brokers
from model.deployment.older_transactions import InDoubt
from model.deployment.sequencing import Recovery, Unknown
from model.language import Variable, flag

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


def declare_numbering(deployment: Deployment, batch: str) -> Numbering | None:
    """Return a batch's variables; None where failures do not make the client ask for another producer id."""
    sequencing = deployment.producer.sequencing
    if sequencing is None or not sequencing.takes_new_ids:
        return None
    changes = sequencing.recovery is Recovery.PRODUCER_ID
    return Numbering(
        Variable(f"{batch}_producer_id", 0, deployment.bounds.producer_epochs - 1, 0),
        flag(f"{batch}_renumbered") if changes else None,
    )


def declare_late(deployment: Deployment, batch: str) -> Variable | None:
    """Return the variable for the broker that has still to answer a request whose send was given up on.

    0: no answer is awaited. One past the last broker: the connection is lost. None where such an answer changes
    nothing. A client that bumps its epoch for an error renumbers what else it has in flight or waits to send again;
    with nothing else, the answer has no effect (semantics 3.4).
    """
    alone = deployment.bounds.records * deployment.bounds.sends == 1 or deployment.producer.max_in_flight == 1
    if not deployment.producer.sender.late_errors_count or (alone and not deployment.producer.takes_new_ids):
        return None
    return Variable(f"{batch}_late", 0, modelled_brokers(deployment) + 1, 0)


def declare_heard(deployment: Deployment) -> Variable | None:
    """Return the flag that a record was acknowledged under the current producer id; None where nothing reads that."""
    older, sequencing = deployment.producer.older_transactions, deployment.producer.sequencing
    if older is not None:
        asks = older.unknown is Unknown.UNKNOWN_PRODUCER_ID and older.in_doubt is not InDoubt.NEXT_RECORD
        return flag("heard", deployment.application.producer_id is ProducerId.KNOWN) if asks else None
    if sequencing is None or sequencing.recovery is not Recovery.PRODUCER_ID:
        return None
    if brokers_forget_deleted(deployment):
        return None  # the client asks for ``acknowledged_to`` instead
    return flag("heard") if sequencing.unknown is Unknown.UNKNOWN_PRODUCER_ID else None


def declare_acknowledged_to(deployment: Deployment) -> Variable | None:
    """Return the variable for the end offset of the last record acknowledged under the current producer id.

    A client that gets UNKNOWN_PRODUCER_ID compares this with the broker's log start offset (semantics 3.4). None where
    no client compares, or no broker forgets what it deletes.
    """
    sequencing = deployment.producer.sequencing
    if sequencing is None or sequencing.recovery is not Recovery.PRODUCER_ID or not brokers_forget_deleted(deployment):
        return None
    if sequencing.unknown is not Unknown.UNKNOWN_PRODUCER_ID:
        return None
    return Variable("acknowledged_to", 0, deployment.bounds.log, 0)
