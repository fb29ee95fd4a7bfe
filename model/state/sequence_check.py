"""The result of a leader's check of a batch's numbers, and the leader's knowledge of the producer (semantics 3.5)."""

from __future__ import annotations

from dataclasses import dataclass

import z3

from proofka.model.language.terms import And, Not, Or


@dataclass(frozen=True)
class SequenceCheck:
    """The result of a leader's check of an idempotent batch; one and only one of these holds (semantics 3.5).

    ``unknown``: the leader does not know the producer, and says so; None where no broker says so.
    """

    duplicate: z3.BoolRef
    in_sequence: z3.BoolRef
    out_of_order: z3.BoolRef
    fenced: z3.BoolRef
    unknown: z3.BoolRef | None = None


@dataclass(frozen=True)
class LastBatch:
    """The last batch of a producer as a leader knows it: its epoch and number, -1 if the producer is unknown.

    ``seen``: the leader remembers a batch with the numbers of the one that is checked.
    """

    epoch: z3.ArithRef
    sequence: z3.ArithRef
    seen: z3.BoolRef

    @property
    def is_unknown(self) -> z3.BoolRef:
        """The condition that the leader does not know the producer."""
        return self.epoch == -1

    def fences(self, epoch: z3.ArithRef) -> z3.BoolRef:
        """Tell whether a batch of this epoch comes from a former producer."""
        return epoch < self.epoch

    def is_duplicate(self, epoch: z3.ArithRef) -> z3.BoolRef:
        """Tell whether the batch is one that the leader remembers."""
        return And(epoch == self.epoch, self.seen)

    def follows(self, epoch: z3.ArithRef, sequence: z3.ArithRef) -> z3.BoolRef:
        """Tell whether the numbers are the next ones."""
        return And(epoch == self.epoch, sequence == self.sequence + 1)

    def restarts(self, epoch: z3.ArithRef, sequence: z3.ArithRef) -> z3.BoolRef:
        """Tell whether the numbers are the first of a newer epoch."""
        return And(epoch > self.epoch, sequence == 0)

    def check(self, epoch: z3.ArithRef, sequence: z3.ArithRef, *, starts: z3.BoolRef) -> SequenceCheck:
        """Check a batch as brokers from 2.5 on do; ``starts``: an unknown producer may begin with its numbers."""
        fenced, duplicate = self.fences(epoch), self.is_duplicate(epoch)
        goes_on = Or(starts, self.follows(epoch, sequence), self.restarts(epoch, sequence))
        in_sequence = And(Not(duplicate), goes_on)
        return SequenceCheck(duplicate, in_sequence, Not(Or(fenced, duplicate, in_sequence)), fenced)
