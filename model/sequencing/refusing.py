"""Refusals of a record that no client retries: the send fails (semantics 3.1 P6, 3.4, 3.5)."""

from __future__ import annotations

import z3

from proofka.model.faults import Fault
from proofka.model.language import Action, Effect, State
from proofka.model.language.terms import And
from proofka.model.sequencing.arrival import accepts, answered_in_order, arrives, checked
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica
from proofka.model.state.wording import record_name


def refuse_for_good(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Refuse a record with an error that is not retried, and write nothing (semantics 3.1, P6; 3.4)."""
    at_leader = arrives(pipeline, batch, leader)
    return _fail_for_good(pipeline, batch, leader, "refuse_for_good", at_leader, " permanently", Fault.REFUSED_RECORD)


def reject_old_epoch(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Refuse a request, as the leader has a newer producer epoch: INVALID_PRODUCER_EPOCH, not retried (3.4, 3.5)."""
    check = checked(pipeline, batch, leader)
    assert check is not None
    behind = And(arrives(pipeline, batch, leader), accepts(pipeline, leader), check.fenced)
    error = ": INVALID_PRODUCER_EPOCH"
    return _fail_for_good(pipeline, batch, leader, "reject_old_epoch", behind, error, fenced=True)


def _fail_for_good(
    pipeline: Pipeline,
    batch: Batch,
    leader: Replica,
    name: str,
    when: z3.BoolRef,
    error: str,
    fault: Fault | None = None,
    *,
    fenced: bool = False,
) -> Action:
    """Refuse a request with an error that is not retried: the send fails, and later batches go on (3.1 P6, 3.4)."""
    producer = pipeline.producer
    guard = And(when, answered_in_order(pipeline, batch, leader))
    effect = Effect()
    for condition in pipeline.recovery.fail_permanently(pipeline, effect, batch, fenced=fenced):
        guard = And(guard, condition)

    def sentence(before: State, after: State) -> str:
        bumped = after[producer.epoch.name] > before[producer.epoch.name]
        stopped = producer.fatal is not None and after[producer.fatal.name] > before[producer.fatal.name]
        words = f"{leader.name} refuses {record_name(batch)}{error}"
        if after[batch.fate.name] != Fate.FAILED:
            return f"{words}: the producer begins again before it, and will send it again"
        words += "; the send fails" + with_it(pipeline, batch, before, after)
        words += ", and the producer bumps its epoch" if bumped else ""
        return words + (", and the producer stops permanently" if stopped else "")

    return Action(
        name,
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=guard,
        updates=effect.updates,
        sentence=sentence,
        semantics="3.1 P6, 3.4",
        fault=fault,
    )


def with_it(pipeline: Pipeline, batch: Batch, before: State, after: State) -> str:
    """Return the words for the other sends that failed in the same step; empty if none did."""
    others = [b for b in pipeline.producer.batches if b is not batch and before[b.fate.name] != after[b.fate.name]]
    failed = [record_name(b) for b in others if after[b.fate.name] == Fate.FAILED]
    return f", and with it that of {' and '.join(failed)}" if failed else ""


def refused_as_out_of_order(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """Tell whether the leader refuses the record for its number (semantics 3.5)."""
    check = checked(pipeline, batch, leader)
    assert check is not None
    return And(arrives(pipeline, batch, leader), accepts(pipeline, leader), check.out_of_order)
