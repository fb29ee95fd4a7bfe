"""How records, logs and sets of brokers read in a trace: "record 1", "[record 1 @epoch 1]", "{1, 2}"."""

from __future__ import annotations

from collections.abc import Mapping

from model.language import State, Variable
from model.state import Batch, Pipeline, Replica


def record_name(batch: Batch) -> str:
    """A batch's record, and which send of it where it was sent before."""
    again = "" if batch.attempt == 0 else f" (send {batch.attempt + 1})"
    return f"record {batch.record + 1}{again}"


def record_at(pipeline: Pipeline, state: State, replica: Replica, offset: int) -> str:
    """The record in a replica's log at ``offset``."""
    return record_name(pipeline.producer.batches[state[replica.log.slots[offset]["batch"].name]])


def records_dropped(pipeline: Pipeline, before: State, after: State, replica: Replica) -> str:
    """The records that a step cut off a replica's log; empty if there are none."""
    offsets = range(after[replica.log.end.name], before[replica.log.end.name])
    return ", ".join(record_at(pipeline, before, replica, offset) for offset in offsets)


def log_words(pipeline: Pipeline, state: State, replica: Replica) -> str:
    """A replica's log: records with their leader epochs."""
    entries = replica.log.entries(state)
    names = (record_name(pipeline.producer.batches[entry["batch"]]) for entry in entries)
    return "[" + ", ".join(f"{name} @{entry['epoch']}" for name, entry in zip(names, entries, strict=True)) + "]"


def members(state: State, flags: Mapping[int, Variable]) -> str:
    """The numbers whose flag is set, as a set."""
    return "{" + ", ".join(str(number) for number, variable in flags.items() if state[variable.name]) + "}"


def membership(pipeline: Pipeline, state: State) -> str:
    """The ISR, and who is eligible besides where Kafka keeps that."""
    controller = pipeline.controller
    isr = f"ISR {members(state, controller.isr)}"
    return f"{isr}, ELR {members(state, controller.elr)}" if controller.elr else isr


def elected(pipeline: Pipeline, before: State, after: State) -> str:
    """The leader that a fencing elects, and as what if not as a member of the ISR."""
    controller, number = pipeline.controller, after[pipeline.controller.leader.name]
    name = broker_name(number)
    return name if before[controller.isr[number].name] else f"{name}, an eligible leader replica"


def broker_name(number: int) -> str:
    """A broker's name, or "none"."""
    return f"broker {number}" if number else "none"
