"""Labels of the state that possibly do not matter: epochs except for their order, numbers of followers and of sends.

These are claims. The checker proves the first two for a system before it relies on them; tests compare answers with and
without the last.
"""

from __future__ import annotations

from itertools import pairwise

import z3

from proofka.model.deployment.choices import OnRestart
from proofka.model.language import Permutation, Ranked, Symmetry, Unread, Variable, present
from proofka.model.language.terms import And, Not, Or
from proofka.model.producing.application import resend_due
from proofka.model.state.pipeline import Batch, Fate, Pipeline


def ranked(pipeline: Pipeline) -> tuple[Ranked, ...]:
    """Return the epochs of which only the order matters."""
    if pipeline.transactions is not None or pipeline.recovery.epochs_are_ids or pipeline.upstream is not None:
        return (leader_epochs(pipeline),)
    return (leader_epochs(pipeline), producer_epochs(pipeline))


def symmetries(pipeline: Pipeline) -> tuple[Symmetry, ...]:
    """Return the brokers that could be exchanged: all but the first leader.

    Elections choose the first eligible replica in assignment order (semantics 6.3, E1), so the symmetry proof is
    expected to fail.
    """
    if pipeline.controller.reassignment is not None:
        return ()
    followers = [replica.number for replica in pipeline.replicas[1:]]
    exchanges = tuple(_exchange(pipeline, one, other) for one, other in pairwise(followers))
    return (Symmetry("followers", exchanges),) if exchanges else ()


def unread(pipeline: Pipeline) -> tuple[Unread, ...]:
    """Return the numbers of a producer, and what brokers forgot of them: nothing reads these once every send is over.

    A transaction's coordinator and its markers in logs go on from these numbers. An application with a position in an
    input can send a record again after its next start.
    """
    if pipeline.transactions is not None or pipeline.upstream is not None:
        return ()
    producer = pipeline.producer
    of_batches = [
        variable
        for batch in producer.batches
        if batch.numbering is not None and batch.sequence is not None
        for variable in (batch.sequence, *batch.numbering.variables)
    ]
    numbers = present(
        *(replica.restored for replica in pipeline.replicas),
        producer.epoch,
        producer.next_sequence,
        producer.last_acknowledged,
        producer.unresolved,
        *producer.known_by_client,
        producer.leader_epoch,
        *of_batches,
    )
    return (Unread("producer", And(*(_is_over(pipeline, batch) for batch in producer.batches)), tuple(numbers)),)


_COMPLETED = (Fate.ACKNOWLEDGED, Fate.FAILED, Fate.FORGOTTEN)


def _is_over(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the client does nothing more about this batch."""
    is_completed = batch.is_(*_COMPLETED)
    if batch.attempt == 0:
        return is_completed
    application = pipeline.deployment.application
    previous = pipeline.producer.of_record(batch.record)[batch.attempt - 1]
    sent_again = [Fate.FAILED] if application.on_send_error.sends_again else []
    sent_again += [Fate.FORGOTTEN] if application.on_restart is OnRestart.RESEND else []
    # A send that was never made is over only where the send before it needs no further one, or was never made either.
    not_needed = previous.is_(*(fate for fate in _COMPLETED if fate not in sent_again))
    if batch.attempt > 1:
        not_needed = Or(not_needed, previous.fate.term == int(Fate.UNSENT))
    return Or(is_completed, And(batch.fate.term == int(Fate.UNSENT), not_needed))


def leader_epochs(pipeline: Pipeline) -> Ranked:
    """Return the leader epochs, which are compared, copied, and raised by elections; 0: none, 1: at the start."""
    producer, consumer = pipeline.producer, pipeline.consumer
    of_brokers = [replica.epoch for replica in pipeline.replicas]
    of_records = [slot["epoch"] for replica in pipeline.replicas for slot in replica.log.slots]
    of_clients = [producer.leader_epoch, consumer.leader_epoch, consumer.position_epoch, consumer.committed_epoch]
    if pipeline.unapplied is not None:
        of_clients.append(pipeline.unapplied.epoch)
    newest = pipeline.controller.epoch
    return Ranked("leader epoch", (newest, *of_brokers, *of_records, *of_clients), newest, reserved=1)


def producer_epochs(pipeline: Pipeline) -> Ranked:
    """Return the producer epochs, which are compared, copied, and raised by bumps; a producer id starts with 0.

    The claim holds as long as the producer keeps its id: after a crash it starts again at 0, below what logs hold.
    """
    of_records = (slot.get("producer_epoch") for replica in pipeline.replicas for slot in replica.log.slots)
    of_requests = (
        one for batch in pipeline.producer.batches for one in (batch.delayed_epoch, batch.sent_epoch, batch.numbered_in)
    )
    newest = pipeline.producer.epoch
    others = present(*of_records, *of_requests)
    return Ranked("producer epoch", (newest, *others), newest, settled=_nothing_left_to_send(pipeline))


def _nothing_left_to_send(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether every send is completed or will never be made, no answer is late, and no sequence is unresolved."""
    over = [late.term == 0 for late in present(*(batch.late for batch in pipeline.producer.batches))]
    for batch in pipeline.producer.batches:
        completed = batch.is_(Fate.ACKNOWLEDGED, Fate.FAILED, Fate.FORGOTTEN)
        if batch.attempt > 0:
            previous = pipeline.producer.of_record(batch.record)[batch.attempt - 1]
            needed = Or(previous.incomplete, resend_due(pipeline, previous))
            completed = Or(completed, And(batch.is_(Fate.UNSENT), Not(needed)))
        over.append(completed)
    return And(Not(pipeline.producer.unresolved.is_set), *over)


def _exchange(pipeline: Pipeline, one: int, other: int) -> Permutation:
    """Return the permutation in which two brokers exchange their numbers."""
    names = {one: other, other: one}
    controller, batches = pipeline.controller, pipeline.producer.batches
    variables: dict[Variable, Variable] = {}
    history, late = pipeline.history, pipeline.late_answers
    by_number = [controller.isr, controller.unfenced, controller.elr, history.fell_silent, history.unnoticed]
    for numbered in (*by_number, *(() if late is None else (late.until,))):
        variables |= {flag: numbered[names.get(number, number)] for number, flag in numbered.items()}
    for replica in pipeline.replicas:
        image = pipeline.replica(names.get(replica.number, replica.number))
        pairs = [
            (replica.isr, image.isr),
            (replica.fetched, image.fetched),
            (replica.fetched_before, image.fetched_before),
        ]
        by_broker = {variable for mine, _ in pairs for variable in mine.values()}
        of_image = {variable for _, theirs in pairs for variable in theirs.values()}
        own = [variable for variable in replica.variables if variable not in by_broker]
        variables |= dict(zip(own, (v for v in image.variables if v not in of_image), strict=True))
        for mine, theirs in pairs:
            variables |= {variable: theirs[names.get(number, number)] for number, variable in mine.items()}
    leaders = present(
        controller.leader, controller.last_known_leader, *(replica.leader for replica in pipeline.replicas)
    )
    targets = present(*(variable for batch in batches for variable in (batch.target, batch.delayed, batch.late)))
    return Permutation(
        f"brokers {one} and {other} exchanged",
        variables,
        dict.fromkeys((*leaders, *targets), names),
        dict.fromkeys(("broker", "leader", "follower"), names),
    )
