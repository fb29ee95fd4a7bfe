"""The end of a producer application, and its next start: a crash, or a stop on purpose (semantics 3.1, P10 to P12)."""

from __future__ import annotations

from collections.abc import Iterator

import z3

from model.deployment.choices import Acks, OnRestart, OnStop
from model.faults import Fault
from model.language import Action, Effect, State
from model.language.terms import And, BoolVal, Not, Or
from model.producing.resuming import is_of_this_start, may_go_on_at, position_words
from model.sequencing.network import abandon, end_send
from model.state.acknowledging import acknowledging
from model.state.pipeline import Batch, Fate, Pipeline
from model.state.wording import record_name

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


def _start_again(pipeline: Pipeline, effect: Effect, position: int | None) -> None:
    """Start another process, with another producer id, at a position in its input where it has one (P12)."""
    producer = pipeline.producer
    pipeline.sending.start_process(pipeline, effect)
    effect[producer.next_sequence] = 0
    effect[producer.last_acknowledged] = -1
    effect.reset(producer.unresolved, *producer.known_by_client)
    pipeline.recovery.forget_late_answers(pipeline, effect)
    if pipeline.upstream is not None and position is not None:
        effect[pipeline.upstream.position] = position
        for released in pipeline.upstream.released:
            effect[released] = 0


def _positions(pipeline: Pipeline) -> Iterator[int | None]:
    """Yield the positions in its input at which a restarted application can go on; None where it has no position."""
    yield from (None,) if pipeline.upstream is None else range(pipeline.upstream.position.high + 1)


def _goes_on(pipeline: Pipeline, position: int | None, *, newest: bool = False) -> z3.BoolRef:
    return BoolVal(True) if position is None else may_go_on_at(pipeline, position, newest=newest)


def _then(pipeline: Pipeline, position: int | None) -> str:
    return "" if position is None else f"; {position_words(pipeline, position)}"


def _arguments(position: int | None) -> dict[str, int]:
    return {} if position is None else {"position": position}


def crash(pipeline: Pipeline, position: int | None) -> Action:
    """Crash the application: its accumulator is lost, and it restarts with a new producer id (semantics 3.1, P12).

    A producer with transactions has its id from its transactional.id, and will get a new epoch (semantics 11.1, T1).
    """
    producer = pipeline.producer
    effect = Effect()
    _end_sends(pipeline, effect, Fate.FORGOTTEN)
    _start_again(pipeline, effect, position)
    has_something = pipeline.sending.is_going_on(pipeline)
    if position is not None:
        has_something = And(_has_sent(pipeline), _goes_on(pipeline, position))
    return Action(
        "crash_producer",
        "application",
        lane="producer",
        arguments=_arguments(position),
        guard=And(
            has_something,
            producer.session.term < producer.session.high,
        ),
        updates=effect.updates,
        sentence=lambda before, after: (
            "the producer application crashes and restarts: what it had in flight it forgets"
            + _then(pipeline, position)
        ),
        semantics="3.1 P12",
        fault=Fault.PRODUCER_CRASH,
    )


def _has_sent(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether the application has sent something since its start."""
    return Or(*(is_of_this_start(pipeline, batch) for batch in pipeline.producer.batches))


def stop(pipeline: Pipeline, position: int | None) -> Action:
    """Stop the application on purpose, and start it again (semantics 3.1, P11; 4.1).

    ``close()`` takes no more records and waits, as does an application that sends nothing for a while, so the stop is
    shown as one step at its end. A send that close() fails at its timeout can still be on its way, and the application
    knows of the failure; an application that sends it again after its next start does not count it as failed.
    """
    producer, how = pipeline.producer, pipeline.deployment.application.on_stop
    waits = how in (OnStop.CLOSE, OnStop.COMMIT_FIRST)
    guards = [_has_sent(pipeline), producer.session.term < producer.session.high]
    guards.append(_goes_on(pipeline, position, newest=how is OnStop.CLOSE))
    effect = Effect()
    if waits:
        guards.append(Not(Or(*(is_left(pipeline, batch) for batch in producer.batches))))
    else:
        knows = how is OnStop.FORCE and pipeline.deployment.application.on_restart is not OnRestart.RESEND
        _end_sends(pipeline, effect, Fate.FAILED if knows else Fate.FORGOTTEN)
    _start_again(pipeline, effect, position)

    def sentence(before: State, after: State) -> str:
        ended = [record_name(b) for b in producer.batches if before[b.fate.name] != after[b.fate.name]]
        words = f"the producer application is stopped, and started again: {_HOW[how]}"
        if ended:
            comes = "fails" if how is OnStop.FORCE else "is forgotten"
            words += "".join(f", {record} {comes}" for record in ended)
        return words + _then(pipeline, position)

    return Action(
        "stop_producer",
        "application",
        lane="producer",
        arguments=_arguments(position),
        guard=And(*guards),
        updates=effect.updates,
        sentence=sentence,
        semantics="3.1 P11",
        fault=Fault.PRODUCER_STOP,
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield every end of the application's process."""
    for position in _positions(pipeline):
        yield crash(pipeline, position)
        if pipeline.transactions is None:
            yield stop(pipeline, position)
