"""The producer application: the records that it sends again, and the end of its work (semantics 3.1)."""

from __future__ import annotations

import z3

from proofka.model.deployment.choices import OnRestart
from proofka.model.faults import Fault
from proofka.model.language.terms import And
from proofka.model.producing.resuming import is_behind_position, is_of_this_start
from proofka.model.state.pipeline import Batch, Fate, Pipeline


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
