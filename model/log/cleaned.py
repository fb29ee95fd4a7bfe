"""The difference that the cleaner makes for whoever reads a log, or checks numbers by it (semantics 10, D3).

:func:`cleaning_of` tells logs that the cleaner can have changed from others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import z3

from proofka.model.language.logs import Slot
from proofka.model.language.terms import Not
from proofka.model.log import holes
from proofka.model.state.compaction import Compacted
from proofka.model.state.pipeline import Pipeline, Replica


class NothingCleaned:
    """Logs from which no cleaner removes a record."""

    def stands(self, leader: Replica, offset: int) -> Iterator[z3.BoolRef]:
        """Yield the condition that the entry at the offset was not removed."""
        yield from ()

    def all_stand(self, leader: Replica, position: z3.ArithRef, count: int) -> Iterator[z3.BoolRef]:
        """Yield the condition that none of ``count`` entries from the position on was removed."""
        yield from ()

    def keeps_number(self, slot: Slot) -> Iterator[z3.BoolRef]:
        """Yield the condition that the broker knows the number of an entry.

        The broker does not know a record that the cleaner had removed before the broker copied the log.
        """
        yield from ()

    def was_not_passed(self, record: int) -> Iterator[z3.BoolRef]:
        """Yield the condition that the group has not gone past the hole that the record left in some log."""
        yield from ()

    def keeps_record(self, pipeline: Pipeline, replica: Replica, record: int) -> z3.BoolRef:
        """Tell whether the replica's log has the record and does not abort it, or rightly lacks the record."""
        return pipeline.sending.keeps_record(pipeline, replica, record)


@dataclass(frozen=True)
class Cleaned(NothingCleaned):
    """Logs from which the cleaner removes records."""

    compacted: Compacted

    def stands(self, leader: Replica, offset: int) -> Iterator[z3.BoolRef]:
        yield Not(holes.is_removed(leader, offset))

    def all_stand(self, leader: Replica, position: z3.ArithRef, count: int) -> Iterator[z3.BoolRef]:
        yield Not(holes.some_removed(leader, position, count))

    def keeps_number(self, slot: Slot) -> Iterator[z3.BoolRef]:
        yield slot["sequence"].term >= 0

    def was_not_passed(self, record: int) -> Iterator[z3.BoolRef]:
        yield from (Not(passed.is_set) for passed in self.compacted.passed[record : record + 1])

    def keeps_record(self, pipeline: Pipeline, replica: Replica, record: int) -> z3.BoolRef:
        return holes.keeps_record(pipeline, replica, record)


def cleaning_of(pipeline: Pipeline) -> NothingCleaned:
    """Return the difference that the cleaner makes for the pipeline's logs."""
    return NothingCleaned() if pipeline.compacted is None else Cleaned(pipeline.compacted)
