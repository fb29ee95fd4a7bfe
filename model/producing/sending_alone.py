"""Records that are sent each for itself, by a producer without transactions (semantics 3.1, 3.4)."""

from __future__ import annotations

from itertools import pairwise

import z3

from proofka.model.deployment.choices import OnSendError, Sends
from proofka.model.language import Effect
from proofka.model.language.terms import And, Not, Or
from proofka.model.producing.application import due_after_start, failed_now, halts
from proofka.model.sequencing.check_alone import check_alone
from proofka.model.sequencing.check_before_2_5 import check_before_2_5
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica
from proofka.model.state.sending import Sending
from proofka.model.state.sequence_check import SequenceCheck


class SendingAlone(Sending):
    """The sends of an application whose producer has no ``transactional.id``."""

    def may_send(self, pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
        deployment, producer = pipeline.deployment, pipeline.producer
        conditions = [batch.is_(Fate.UNSENT)]
        in_order = Not(Or(*(_still_to_come(pipeline, record) for record in range(batch.record))))
        if batch.attempt == 0:
            conditions.append(in_order)
        else:
            previous = producer.of_record(batch.record)[batch.attempt - 1]
            conditions.append(self.resend_due(pipeline, previous))
            conditions.append(Or(failed_now(pipeline, previous), in_order))
        if deployment.application.sends is Sends.SYNC:
            conditions.append(Not(Or(*(other.incomplete for other in producer.batches if other is not batch))))
        if deployment.application.on_send_error is OnSendError.HALT:
            conditions.append(Not(Or(*(halts(pipeline, other) for other in producer.batches))))
        return And(*conditions)

    def resend_due(self, pipeline: Pipeline, previous: Batch) -> z3.BoolRef:
        application, due = pipeline.deployment.application, []
        if application.on_send_error.sends_again:
            failed = failed_now(pipeline, previous)
            due.append(failed if previous.doubtful is None else And(failed, Not(previous.doubtful.is_set)))
        if application.on_restart.sends_again:
            due.append(due_after_start(pipeline, previous))
        return Or(*due)

    def is_going_on(self, pipeline: Pipeline) -> z3.BoolRef:
        """Tell whether a send is incomplete."""
        return Or(*(batch.incomplete for batch in pipeline.producer.batches))

    def start_process(self, pipeline: Pipeline, effect: Effect) -> None:
        """Start another process, with another producer id."""
        producer = pipeline.producer
        effect[producer.session] = producer.session.term + 1
        effect[producer.epoch] = 0

    def epoch_left(self, pipeline: Pipeline) -> z3.BoolRef:
        return pipeline.producer.epoch.term < pipeline.deployment.bounds.producer_epochs - 1

    def check_sequence(
        self, pipeline: Pipeline, leader: Replica, batch: Batch, epoch: z3.ArithRef, sequence: z3.ArithRef
    ) -> SequenceCheck:
        sequencing = pipeline.deployment.producer.sequencing
        if sequencing is None:
            return check_alone(pipeline, leader, batch, epoch, sequence)
        return check_before_2_5(pipeline, sequencing, leader, batch, epoch, sequence)


def _still_to_come(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Tell whether the application, which reads its source in order, has this record still to send."""
    batches = pipeline.producer.of_record(record)
    first = batches[0].is_(Fate.UNSENT)
    again = [
        And(due_after_start(pipeline, previous), batch.is_(Fate.UNSENT))
        for previous, batch in pairwise(batches)
        if pipeline.deployment.application.on_restart.sends_again
    ]
    return Or(first, *again)
