"""The acknowledgements that a producer asks for with ``acks``: by the ISR, by the leader alone, or none (3.2).

:func:`acknowledging` chooses the way. What stands here is common to the actions of clients and brokers.
"""

from __future__ import annotations

from collections.abc import Iterable

import z3

from proofka.model.deployment.choices import Acks
from proofka.model.language import Effect
from proofka.model.language.terms import And, BoolVal
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica


class ByLeader:
    """Acknowledgements with ``acks=1``: the leader answers as soon as it has appended the record."""

    transmitted_in_words = ""
    """The words that follow the transmission of a record."""

    def is_left(self, batch: Batch) -> z3.BoolRef:
        """Tell whether the client is not done with the record."""
        return batch.incomplete

    def while_answered(self, condition: z3.BoolRef) -> z3.BoolRef:
        """Restrict a condition of a record in flight to clients that wait for answers."""
        return condition

    def leave_appended(self, effect: Effect, batch: Batch) -> None:
        """Note that the leader has appended the record of this request."""
        effect[batch.fate] = int(Fate.APPENDED)

    def accepts(self, pipeline: Pipeline, leader: Replica) -> z3.BoolRef:
        """Tell whether the ISR suffices for a write."""
        return BoolVal(True)

    def answered_when(self, appended: z3.BoolRef, replicated: z3.BoolRef, in_sync: z3.BoolRef) -> z3.BoolRef:
        """Tell whether a leader that has ``appended`` a record acknowledges it."""
        return appended

    def waiting_for_isr(self, conditions: Iterable[z3.BoolRef]) -> list[z3.BoolRef]:
        """Return those of ``conditions`` that can hold, each of a request that waits for the ISR."""
        return []


class ByIsr(ByLeader):
    """Acknowledgements with ``acks=all``: the leader answers once the ISR has the record."""

    def accepts(self, pipeline: Pipeline, leader: Replica) -> z3.BoolRef:
        return pipeline.enough_in_sync(leader)

    def answered_when(self, appended: z3.BoolRef, replicated: z3.BoolRef, in_sync: z3.BoolRef) -> z3.BoolRef:
        return And(appended, replicated, in_sync)

    def waiting_for_isr(self, conditions: Iterable[z3.BoolRef]) -> list[z3.BoolRef]:
        return list(conditions)


class Unacknowledged(ByLeader):
    """No acknowledgements, with ``acks=0``: the client is done with a record once its request is written."""

    transmitted_in_words = " and treats it as done (acks=0)"

    def is_left(self, batch: Batch) -> z3.BoolRef:
        return batch.is_(Fate.BUFFERED)

    def while_answered(self, condition: z3.BoolRef) -> z3.BoolRef:
        return BoolVal(False)

    def leave_appended(self, effect: Effect, batch: Batch) -> None:
        effect[batch.fate] = int(Fate.ACKNOWLEDGED)
        effect[batch.target] = 0


_WAYS = {Acks.ALL: ByIsr(), Acks.LEADER: ByLeader(), Acks.NONE: Unacknowledged()}


def acknowledging(pipeline: Pipeline) -> ByLeader:
    """Return the acknowledgements that the pipeline's producer asks for."""
    return _WAYS[pipeline.deployment.producer.acks]
