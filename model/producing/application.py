"""The producer application: the records that it sends again, and the end of its work (semantics 3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import z3

from model.deployment.choices import OnRestart
from model.faults import Fault
from model.language import Action, present
from model.language.terms import And, If, Or
from model.producing.resuming import is_behind_position, is_of_this_start
from model.state.pipeline import Batch, Fate, Pipeline


def resend_due(pipeline: Pipeline, previous: Batch) -> z3.BoolRef:
    """Tell whether the application will send the record of ``previous`` again (semantics 3.1, P12 P13)."""
    return pipeline.sending.resend_due(pipeline, previous)


def failed_now(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the send failed and the application knows of the failure.

    Where the application can be stopped on purpose, or has a position in an input, it knows of failures since its own
    start only, unless ``on_restart`` is to send again.
    """
    told = pipeline.upstream is None and Fault.PRODUCER_STOP not in pipeline.deployment.faults.possible
    if told or pipeline.deployment.application.on_restart is OnRestart.RESEND:
        return batch.is_(Fate.FAILED)
    return And(batch.is_(Fate.FAILED), is_of_this_start(pipeline, batch))


def halts(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether an application that halts at failed sends halts at this one; a restarted one does not know of it."""
    return And(batch.is_(Fate.FAILED), is_of_this_start(pipeline, batch))


def due_after_start(pipeline: Pipeline, previous: Batch) -> z3.BoolRef:
    """Tell whether the restarted application will send this record, which an earlier start had sent (P12)."""
    if pipeline.upstream is not None:
        return is_behind_position(pipeline, previous)
    return previous.is_(Fate.FORGOTTEN)


def forget_numbers_when_done(pipeline: Pipeline, action: Action) -> Action:
    """Make an action reset sequence numbers, epochs and what brokers forgot once every batch is over; return it.

    Nothing reads these variables from then on, so states that differ only in them become one state (dead-variable
    reset).
    """
    producer = pipeline.producer
    if pipeline.transactions is not None:
        # The coordinator and the markers in logs go on from these numbers.
        return action
    if pipeline.upstream is not None:
        # A batch that is over can be sent again after the next start of the application.
        return action
    if not any(_may_complete(action.updates[b.fate]) for b in producer.batches if b.fate in action.updates):
        return action
    after = {batch.number: action.updates.get(batch.fate, batch.fate.term) for batch in producer.batches}
    done = And(*(_is_over(pipeline, batch, after) for batch in producer.batches))
    updates = dict(action.updates)
    of_batches = [
        v
        for b in producer.batches
        if b.numbering is not None and b.sequence is not None
        for v in (b.sequence, *b.numbering.variables)
    ]
    for variable in present(
        *(replica.restored for replica in pipeline.replicas),
        producer.epoch,
        producer.next_sequence,
        producer.last_acknowledged,
        producer.unresolved,
        *producer.known_by_client,
        producer.leader_epoch,
        *of_batches,
    ):
        updates[variable] = If(done, variable.initial, updates.get(variable, variable.term))
    return replace(action, updates=updates)


_COMPLETED = (Fate.ACKNOWLEDGED, Fate.FAILED, Fate.FORGOTTEN)


def _may_complete(fate: z3.ArithRef) -> bool:
    """Tell whether some branch of the term completes the batch."""
    if z3.is_int_value(fate):
        return fate.as_long() in _COMPLETED
    if z3.is_app_of(fate, z3.Z3_OP_ITE):
        return any(_may_complete(branch) for branch in fate.children()[1:])
    return False


def _is_over(pipeline: Pipeline, batch: Batch, fates: Mapping[int, z3.ArithRef]) -> z3.BoolRef:
    """Tell whether the client does nothing more about this batch, given the ``fates`` of all batches."""
    is_completed = Or(*(fates[batch.number] == int(fate) for fate in _COMPLETED))
    if batch.attempt == 0:
        return is_completed
    previous = fates[pipeline.producer.of_record(batch.record)[batch.attempt - 1].number]
    sent_again = [Fate.FAILED] if pipeline.deployment.application.on_send_error.sends_again else []
    sent_again += [Fate.FORGOTTEN] if pipeline.deployment.application.on_restart is OnRestart.RESEND else []
    is_final = [fate for fate in _COMPLETED if fate not in sent_again]
    # A send that was never made is over only where the send before it needs no further one, or was never made either.
    not_needed = Or(*(previous == int(fate) for fate in is_final))
    if batch.attempt > 1:
        not_needed = Or(not_needed, previous == int(Fate.UNSENT))
    return Or(is_completed, And(fates[batch.number] == int(Fate.UNSENT), not_needed))
