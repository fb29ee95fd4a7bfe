"""The recovery of franz-go's idempotent producer: it begins again with the record that failed (semantics 4.3).

The records of a partition are in a row, and only the answer to the first of them counts. After an error the row is sent
again from the first record, under the same numbers, once nothing is in flight any more. Until a success there is one
request at a time. After an error that is not retried all records in the row fail.
"""

from __future__ import annotations

import z3

from model.deployment.implied.other_partitions import fails_elsewhere
from model.language import Action, Effect, State
from model.sequencing.arrival import accepts, arrives, checked
from model.sequencing.draining import stop_for_good
from model.sequencing.idempotence import numbers_sent
from model.sequencing.network import complete, fail_attempt, leave_connection
from model.state.pipeline import Batch, Fate, Pipeline, Replica
from model.state.wording import record_name


def _earlier(pipeline: Pipeline, batch: Batch) -> list[tuple[Batch, z3.BoolRef]]:
    """Return the other batches, each with the condition that it stands before this one in the row."""
    assert batch.sequence is not None
    return [
        (other, z3.And(other.incomplete, other.sequence.term >= 0, other.sequence.term < batch.sequence.term))
        for other in pipeline.producer.batches
        if other is not batch and other.sequence is not None
    ]


def _is_first(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether every record before this one is over: then its answer counts."""
    return z3.Not(z3.Or(*(stands for _, stands in _earlier(pipeline, batch))))


def leads_row(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the batch is sent next: numbered ones in their order, then others as the application sent them."""
    assert batch.sequence is not None
    ahead = []
    for other in pipeline.producer.batches:
        if other is not batch and other.sequence is not None:
            later = z3.Or(batch.sequence.term < 0, other.sequence.term < batch.sequence.term)
            stands = z3.And(other.sequence.term >= 0, later)
            if other.attempt == batch.attempt and other.record < batch.record:
                stands = z3.Or(stands, z3.And(other.sequence.term < 0, batch.sequence.term < 0))
            ahead.append(z3.And(other.is_(Fate.BUFFERED), stands))
    return z3.Not(z3.Or(*ahead))


def is_next_answer(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether no answer to an earlier record is out: answers come in the order of the requests."""
    return z3.Not(z3.Or(*(z3.And(stands, other.in_flight) for other, stands in _earlier(pipeline, batch))))


def begin_again(pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
    """Begin at 0 with the first record of the row, if another partition's failure has begun a new epoch (4.3).

    A record behind one in flight is sent in the new epoch under the number that follows.
    """
    producer = pipeline.producer
    if producer.moved_on is None:
        return
    assert batch.sequence is not None and batch.sent_sequence is not None
    begins = z3.And(
        producer.moved_on.is_set, z3.Not(z3.Or(*(_stands_before(other, batch) for other in _others(pipeline, batch))))
    )
    for other in _others(pipeline, batch):
        assert other.sequence is not None
        effect.set_when(begins, other.sequence, -1)
    effect.set_when(begins, batch.sequence, 0)
    effect.set_when(begins, batch.sent_sequence, 0)
    effect.set_when(begins, producer.next_sequence, 1)
    effect.set_when(begins, producer.moved_on, 0)


def _others(pipeline: Pipeline, batch: Batch) -> list[Batch]:
    return [other for other in pipeline.producer.batches if other is not batch]


def _stands_before(other: Batch, batch: Batch) -> z3.BoolRef:
    """Tell whether ``other`` is not over and has a lower number, or a number where ``batch`` has none yet."""
    assert other.sequence is not None and batch.sequence is not None
    lower = z3.Or(batch.sequence.term < 0, other.sequence.term < batch.sequence.term)
    return z3.And(other.incomplete, other.sequence.term >= 0, lower)


def starts_at_new_leader(pipeline: Pipeline, effect: Effect, epoch: z3.ArithRef) -> None:
    """Allow one request at a time at a leader that has not answered yet, as after an error."""
    assert pipeline.producer.draining is not None
    effect.set_when(epoch != pipeline.producer.leader_epoch.term, pipeline.producer.draining, 1)


def heed_answer(pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
    """End the first record by its success; a later record's success has no effect, and it is sent again in its turn."""
    assert batch.sequence is not None and pipeline.producer.draining is not None
    first = _is_first(pipeline, batch)
    again = [other.is_(Fate.BUFFERED) for other, _ in _earlier(pipeline, batch)]
    waits = [
        z3.And(buffered, other.retries.term > 0)
        for buffered, (other, _) in zip(again, _earlier(pipeline, batch), strict=True)
    ]
    later = z3.Not(first)
    leave_connection(pipeline, effect, batch, z3.BoolVal(True))
    effect.set_when(later, batch.fate, int(Fate.BUFFERED))
    effect.set_when(later, batch.retries, 1)
    effect.set_when(later, batch.sequence, batch.sequence.term)
    effect.set_when(z3.And(first, z3.Not(z3.Or(*waits))), pipeline.producer.draining, 0)


def _fail_all(pipeline: Pipeline, effect: Effect, when: z3.BoolRef) -> None:
    for other in pipeline.producer.batches:
        complete(pipeline, effect, other, Fate.FAILED, z3.And(when, other.incomplete))


def fail_partition(pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
    """Fail the first record permanently, and all records in the row with it; its number is used again (4.3).

    A request with a later record, which was on its way, is refused for the gap, without effect.
    """
    assert batch.sequence is not None and pipeline.producer.draining is not None
    first = _is_first(pipeline, batch)
    fail_attempt(pipeline, effect, batch, z3.Not(first))
    _fail_all(pipeline, effect, first)
    numbered = z3.And(first, batch.sequence.term >= 0)
    effect.set_when(numbered, pipeline.producer.next_sequence, batch.sequence.term)
    effect.set_when(first, pipeline.producer.draining, 1)


def with_it(pipeline: Pipeline, batch: Batch, before: State, after: State) -> str:
    """Return the words for the other sends that failed in the same step; empty if none did."""
    others = [b for b in pipeline.producer.batches if b is not batch and before[b.fate.name] != after[b.fate.name]]
    failed = [record_name(b) for b in others if after[b.fate.name] == Fate.FAILED]
    return f", and with it that of {' and '.join(failed)}" if failed else ""


def _heeded(pipeline: Pipeline, batch: Batch, first: z3.BoolRef) -> z3.BoolRef:
    """Tell whether the batch is the first and was sent in the current epoch, which another partition can raise."""
    if not fails_elsewhere(pipeline.deployment):
        return first
    epoch, _ = numbers_sent(pipeline, batch)
    return z3.And(first, epoch == pipeline.producer.epoch.term)


def refuse_and_reset(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Refuse a batch for its number or epoch (semantics 3.5, 4.3).

    For the first record this means lost data: the producer goes on with it in a new epoch, or stops permanently. A
    later record is behind one that is retried, and is sent again after that.
    """
    check = checked(pipeline, batch, leader)
    assert check is not None and pipeline.producer.draining is not None
    first = _is_first(pipeline, batch)
    effect = Effect()
    if pipeline.deployment.producer.sender.stops_on_loss:
        fail_attempt(pipeline, effect, batch, z3.Not(first))
        _fail_all(pipeline, effect, first)
        stop_for_good(pipeline, effect, first)
    else:
        fail_attempt(pipeline, effect, batch, z3.BoolVal(True))
        effect.set_when(_heeded(pipeline, batch, first), pipeline.producer.unresolved, 1)

    def sentence(before: State, after: State) -> str:
        error = f"{leader.name} refuses {record_name(batch)} for its number"
        if after[batch.fate.name] == Fate.FAILED:
            others = with_it(pipeline, batch, before, after)
            return f"{error}: the send fails{others}, and the producer stops permanently"
        bumps = after[pipeline.producer.unresolved.name] > before[pipeline.producer.unresolved.name]
        return error + (": the producer will bump its epoch" if bumps else ", and will get it again")

    wrong = z3.Or(check.out_of_order, check.fenced)
    return Action(
        "refuse_and_reset",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=z3.And(
            arrives(pipeline, batch, leader), accepts(pipeline, leader), wrong, is_next_answer(pipeline, batch)
        ),
        updates=effect.updates,
        sentence=sentence,
        semantics="3.5, 4.3",
    )
