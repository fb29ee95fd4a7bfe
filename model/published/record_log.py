"""A replica's log: a fixed number of slots, each empty or holding a record's id."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import z3

from proofka.model.language import Effect, State, Variable
from proofka.model.language.terms import And, If, IntVal

EMPTY = 0


@dataclass(frozen=True)
class RecordLog:
    """A sequence of record ids 1, 2, ...; slots at the end offset and above are empty."""

    slots: tuple[Variable, ...]

    @property
    def offsets(self) -> range:
        return range(len(self.slots))

    def has(self, offset: int) -> z3.BoolRef:
        """Tell whether there is a record at ``offset``."""
        return self.slots[offset].term != EMPTY

    @cached_property
    def is_full(self) -> z3.BoolRef:
        return self.has(len(self.slots) - 1)

    @cached_property
    def end(self) -> z3.ArithRef:
        """The end offset: the first empty slot."""
        end: z3.ArithRef = IntVal(len(self.slots))
        for offset in reversed(self.offsets):
            end = If(self.slots[offset].term == EMPTY, offset, end)
        return end

    @cached_property
    def last(self) -> z3.ArithRef:
        """The id of the last record; :data:`EMPTY` if there is none."""
        last = self.slots[0].term
        for offset in self.offsets[1:]:
            last = If(self.has(offset), self.slots[offset].term, last)
        return last

    def at(self, offset: z3.ArithRef) -> z3.ArithRef:
        """Return the id of the record at ``offset``; the last slot's where ``offset`` is out of range."""
        record = self.slots[-1].term
        for index in reversed(self.offsets[:-1]):
            record = If(offset == index, self.slots[index].term, record)
        return record

    def ends_at(self, offset: int) -> z3.BoolRef:
        """Tell whether ``offset`` is the end offset."""
        empty = self.slots[offset].term == EMPTY
        return And(self.has(offset - 1), empty) if offset else empty

    def agrees_at(self, offset: int, other: RecordLog) -> z3.BoolRef:
        """Tell whether both logs hold the same record at ``offset``; an id fixes the record, its epoch included."""
        return And(self.has(offset), self.slots[offset].term == other.slots[offset].term)

    def matching_end(self, other: RecordLog) -> z3.ArithRef:
        """Return 1 + the largest offset at which both logs hold the same record, 0 if there is none.

        The search begins at the tail: a mismatch lower down is not noticed.
        """
        length: z3.ArithRef = IntVal(0)
        for offset in self.offsets:
            length = If(self.agrees_at(offset, other), offset + 1, length)
        return length

    def append(self, effect: Effect, record: z3.ArithRef) -> None:
        """Add a record at the end; the guard must make sure that there is room."""
        for offset, slot in enumerate(self.slots):
            effect.set_when(self.ends_at(offset), slot, record)

    def copy_next(self, effect: Effect, source: RecordLog) -> None:
        """Add the record of ``source`` at this log's end offset; the guard must make sure that there is one."""
        for offset, slot in enumerate(self.slots):
            effect.set_when(self.ends_at(offset), slot, source.slots[offset].term)

    def truncate(self, effect: Effect, length: z3.ArithRef) -> None:
        """Drop the records at ``length`` and above."""
        for offset, slot in enumerate(self.slots):
            effect[slot] = If(length > offset, slot.term, EMPTY)

    def records(self, state: State) -> list[int]:
        """Return the ids in the log of a concrete state."""
        return [record for slot in self.slots if (record := state[slot.name]) != EMPTY]


def record_log(name: str, capacity: int, records: int) -> RecordLog:
    """Return an empty log with room for ``capacity`` of the records 1 to ``records``."""
    return RecordLog(tuple(Variable(f"{name}_log_{offset}", EMPTY, records, EMPTY) for offset in range(capacity)))
