"""The words of a trace for records, logs and sets of brokers: "record 1", "[record 1 @epoch 1]", "{1, 2}"."""

from __future__ import annotations

from collections.abc import Mapping

from proofka.model.language import State, Variable
from proofka.model.state.compaction import MARKER, REMOVED
from proofka.model.state.pipeline import Batch, Pipeline, Replica
from proofka.model.state.reassignment import Reassignment

_OF_MARKERS = ("", ", not in the index", ", removed", ", removed")
"""The words for what the cleaner has done to a marker, by :class:`~model.state.compaction.Marker`."""


def record_name(batch: Batch) -> str:
    """Return the name of a batch's record, with the number of the send where it was sent before."""
    again = "" if batch.attempt == 0 else f" (send {batch.attempt + 1})"
    return f"record {batch.record + 1}{again}"


def entry_words(pipeline: Pipeline, number: int) -> str:
    """Return the words for an entry of a log: a record, or a marker that ends a transaction."""
    batches = pipeline.producer.batches
    if pipeline.transactions is None or number < len(batches):
        return record_name(batches[number])
    transaction, commits = pipeline.transactions.of_marker(number)
    return f"{'commit' if commits else 'abort'} of {transaction.name}"


def entry_name(pipeline: Pipeline, state: State, replica: Replica, offset: int) -> str:
    """Return the words for the entry of a replica's log at ``offset``."""
    return entry_words(pipeline, state[replica.log.slots[offset]["batch"].name])


def records_dropped(pipeline: Pipeline, before: State, after: State, replica: Replica) -> str:
    """Return the words for the records that a step cut off a replica's log; empty if there are none."""
    offsets = range(after[replica.log.end.name], before[replica.log.end.name])
    return ", ".join(entry_name(pipeline, before, replica, offset) for offset in offsets)


def log_entries(pipeline: Pipeline, state: State, replica: Replica) -> tuple[str, ...]:
    """Return the words for the entries of a replica's log, by offset: records and markers, with their leader epochs."""
    entries = replica.log.entries(state)
    names = (entry_words(pipeline, entry["batch"]) for entry in entries)
    gone = (", removed" if entry.get(REMOVED) else _OF_MARKERS[entry.get(MARKER, 0)] for entry in entries)
    return tuple(f"{name} @{entry['epoch']}{left}" for name, entry, left in zip(names, entries, gone, strict=True))


def log_words(pipeline: Pipeline, state: State, replica: Replica) -> str:
    """Return the words for a replica's log, in one line."""
    between = ", " if pipeline.compacted is None else "; "
    return "[" + between.join(log_entries(pipeline, state, replica)) + "]"


def members(state: State, flags: Mapping[int, Variable]) -> str:
    """Return the numbers whose flag is set, as a set."""
    return "{" + ", ".join(str(number) for number, variable in flags.items() if state[variable.name]) + "}"


def membership(pipeline: Pipeline, state: State) -> str:
    """Return the words for the ISR, and for the eligible leader replicas where Kafka keeps these."""
    controller = pipeline.controller
    isr = f"ISR {members(state, controller.isr)}"
    return f"{isr}, ELR {members(state, controller.elr)}" if controller.elr else isr


def elected(pipeline: Pipeline, before: State, after: State) -> str:
    """Return the words for the leader that a fencing elects, with its role if it was not in the ISR."""
    controller, number = pipeline.controller, after[pipeline.controller.leader.name]
    name = broker_name(number)
    return name if before[controller.isr[number].name] else f"{name}, an eligible leader replica"


def broker_name(number: int) -> str:
    """Return a broker's name, or "none"."""
    return f"broker {number}" if number else "none"


def reassignment_words(state: State, reassignment: Reassignment) -> str:
    """Return the words for the replica that is moved, and whether the move is complete."""
    moved = state[reassignment.moved.name]
    if not moved:
        return "none"
    done = ", complete" if state[reassignment.is_complete.name] else ""
    return f"{broker_name(moved)} to {broker_name(reassignment.to)}{done}"
