"""Offsets of a transaction that the group's coordinator has not applied when those of the next one come (11.3).

Brokers up to 3.9.0 answer that a marker is written before the group's coordinator has applied the offsets that it
commits (KAFKA-17507; not the coordinator of KIP-848). The same producer can send the next transaction's offsets
meanwhile. They are pending under the same producer id, and the coordinator handles both at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.commits import offsets_of_transactions_overlap
from proofka.model.language import Effect, Variable, variables_of

NO_TRANSACTION = -3
"""The value for the offset before the member's last transaction, where it has had none."""


@dataclass(frozen=True)
class Unapplied:
    """The group's committed offset before the member's last transaction, with the leader epoch of the record before."""

    offset: Variable
    epoch: Variable

    @property
    def variables(self) -> tuple[Variable, ...]:
        return (self.offset, self.epoch)


def declare_unapplied(deployment: Deployment) -> Unapplied | None:
    """Return the variables of the offset that the coordinator goes back to; None where it applies offsets in time."""
    if not offsets_of_transactions_overlap(deployment):
        return None
    return Unapplied(
        Variable("unapplied", NO_TRANSACTION, deployment.bounds.log, NO_TRANSACTION),
        Variable("unapplied_epoch", 0, deployment.bounds.epochs, 0),
    )


def remember(unapplied: Unapplied | None, effect: Effect, committed: tuple[Variable, Variable]) -> None:
    """Keep the committed offset and its epoch from before a transaction that commits."""
    if unapplied is not None:
        for kept, now in zip(unapplied.variables, committed, strict=True):
            effect[kept] = now.term


def forget(unapplied: Unapplied | None, effect: Effect) -> None:
    """Reset the kept offset of a gone member: the next one waits for what is pending (UNSTABLE_OFFSET_COMMIT, 11.3)."""
    effect.reset(*variables_of(unapplied))
