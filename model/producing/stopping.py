"""The end of a producer application, and its next start: a crash, or a stop on purpose (semantics 3.1, P10 to P12)."""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.model.deployment.choices import Acks, OnRestart, OnStop
from proofka.model.faults import Fault
from proofka.model.language import Action, Effect, State
from proofka.model.language.terms import And, Not, Or
from proofka.model.producing.resuming import Start, has_sent, starts_of
from proofka.model.sequencing.network import abandon, end_send
from proofka.model.state.acknowledging import acknowledging
from proofka.model.state.pipeline import Batch, Fate, Pipeline
from proofka.model.state.wording import record_name

_HOW = {
    OnStop.CLOSE: "close() waits until every send is over",
    OnStop.COMMIT_FIRST: "it commits its position, and then close() waits until every send is over",
    OnStop.FORCE: "close() waits for some time only",
    OnStop.EXIT: "it does not close its producer",
}


def is_left(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the client is not done with the batch; with acks=0 it is once the request is written (3.2)."""
    return acknowledging(pipeline).is_left(batch)


def _end_sends(pipeline: Pipeline, effect: Effect, fate: Fate) -> None:
    """End all open sends with ``fate``; what is in flight stays on its way to its broker (semantics 1.1)."""
    for batch in pipeline.producer.batches:
        if pipeline.deployment.producer.acks is not Acks.NONE:
            abandon(pipeline, effect, batch, batch.is_(Fate.SENT))
        end_send(pipeline, effect, batch, fate, is_left(pipeline, batch))


def _start_again(pipeline: Pipeline, effect: Effect, start: Start) -> None:
    """Start another process, with another producer id (P12)."""
    producer = pipeline.producer
    pipeline.sending.start_process(pipeline, effect)
    effect[producer.next_sequence] = 0
    effect[producer.last_acknowledged] = -1
    effect.reset(producer.unresolved, *producer.known_by_client)
    pipeline.recovery.forget_late_answers(pipeline, effect)
    start.begin(effect)


def crash(pipeline: Pipeline, start: Start) -> Action:
    """Crash the application: its accumulator is lost, and it restarts with a new producer id (semantics 3.1, P12).

    A producer with transactions has its id from its transactional.id, and will get a new epoch (semantics 11.1, T1).
    """
    producer = pipeline.producer
    effect = Effect()
    _end_sends(pipeline, effect, Fate.FORGOTTEN)
    _start_again(pipeline, effect, start)
    return Action(
        "crash_producer",
        "application",
        lane="producer",
        arguments=start.arguments(),
        guard=And(start.shows_a_crash(pipeline), producer.session.term < producer.session.high),
        updates=effect.updates,
        sentence=lambda before, after: (
            "the producer application crashes and restarts: what it had in flight it forgets" + start.words()
        ),
        semantics="3.1 P12",
        fault=Fault.PRODUCER_CRASH,
    )


def stop(pipeline: Pipeline, start: Start) -> Action:
    """Stop the application on purpose, and start it again (semantics 3.1, P11; 4.1).

    ``close()`` takes no more records and waits, as does an application that sends nothing for a while, so the stop is
    shown as one step at its end. A send that close() fails at its timeout can still be on its way, and the application
    knows of the failure; an application that sends it again after its next start does not count it as failed.
    """
    producer, how = pipeline.producer, pipeline.deployment.application.on_stop
    waits = how in (OnStop.CLOSE, OnStop.COMMIT_FIRST)
    guards = [has_sent(pipeline), producer.session.term < producer.session.high]
    guards.append(start.is_possible(pipeline, newest=how is OnStop.CLOSE))
    effect = Effect()
    if waits:
        guards.append(Not(Or(*(is_left(pipeline, batch) for batch in producer.batches))))
    else:
        knows = how is OnStop.FORCE and pipeline.deployment.application.on_restart is not OnRestart.RESEND
        _end_sends(pipeline, effect, Fate.FAILED if knows else Fate.FORGOTTEN)
    _start_again(pipeline, effect, start)

    def sentence(before: State, after: State) -> str:
        ended = [record_name(b) for b in producer.batches if before[b.fate.name] != after[b.fate.name]]
        words = f"the producer application is stopped, and started again: {_HOW[how]}"
        if ended:
            comes = "fails" if how is OnStop.FORCE else "is forgotten"
            words += "".join(f", {record} {comes}" for record in ended)
        return words + start.words()

    return Action(
        "stop_producer",
        "application",
        lane="producer",
        arguments=start.arguments(),
        guard=And(*guards),
        updates=effect.updates,
        sentence=sentence,
        semantics="3.1 P11",
        fault=Fault.PRODUCER_STOP,
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield every end of the application's process."""
    for start in starts_of(pipeline):
        yield crash(pipeline, start)
        if pipeline.transactions is None:
            yield stop(pipeline, start)
