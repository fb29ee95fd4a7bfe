"""A producer without idempotence: its records have no numbers, so a failure leaves nothing to recover (semantics 3.1).

A retry goes out before new records, whatever was sent meanwhile, and a broker appends a record as often as it comes.
"""

from __future__ import annotations

from dataclasses import dataclass

import z3

from proofka.model.language import Effect
from proofka.model.language.terms import BoolVal, Or
from proofka.model.recovery.accumulator import Accumulator
from proofka.model.sequencing.network import complete
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica


@dataclass(frozen=True)
class WithoutNumbers(Accumulator):
    """The client of a producer without idempotence, of any library."""

    def may_overtake(
        self, pipeline: Pipeline, batch: Batch, retried: z3.BoolRef, fresh_may_go: z3.BoolRef
    ) -> z3.BoolRef:
        return Or(retried, fresh_may_go)

    def can_be_numbered(self, pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
        return BoolVal(True)

    def numbers_sent(self, batch: Batch) -> tuple[z3.ArithRef | int, z3.ArithRef | int]:
        return 0, 0

    def numbers_delayed(self, batch: Batch) -> tuple[z3.ArithRef | int, z3.ArithRef | int]:
        return 0, 0

    def keep_delayed(self, effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
        """Keep nothing: the request has no numbers."""

    def accepts_delayed(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
        return BoolVal(True)

    def assign_number(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Give the record no number."""

    def acknowledge(self, pipeline: Pipeline, effect: Effect, batch: Batch, leader: Replica) -> None:
        """Learn nothing about numbers."""

    def leave_gap(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef, *, out_of_retries: bool
    ) -> None:
        """Leave no gap: there are no numbers."""

    def fail_permanently(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, *, fenced: bool
    ) -> tuple[z3.BoolRef, ...]:
        complete(pipeline, effect, batch, Fate.FAILED, BoolVal(True))
        return ()
