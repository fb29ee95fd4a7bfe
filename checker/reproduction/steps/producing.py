"""The producer and its network: sending, transmitting, answers, and lost or late requests (semantics 3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Callable

from checker.cluster.errors import NotSeen
from checker.cluster.frames import Frame
from checker.cluster.waiting import until
from checker.reproduction.answers import error_of
from checker.reproduction.errors import DivergedError
from checker.reproduction.gates import PRODUCE, carried, to_broker
from checker.reproduction.plan import PlannedStep
from checker.reproduction.replay import SECONDS, TIMER_SECONDS, Replay

TRANSMITTED_SECONDS = 1.0
"""Longest wait until a producer that can transmit a record has done so, in seconds."""


def send(replay: Replay, step: PlannedStep) -> None:
    """Have the application call ``send()``, and let a producer that can transmit do so before the next ``send()``.

    Otherwise two records could share a batch, which the model does not have. A producer that cannot transmit (its
    connections are full, or it knows no leader) keeps the record.
    """
    record = replay.record_of(step)
    replay.producing.send(record)
    with suppress(NotSeen):
        until(lambda: replay.waiting_request(record), what="the request", seconds=TRANSMITTED_SECONDS)


def transmit(replay: Replay, step: PlannedStep) -> None:
    """Wait until the producer's request is on its way to the broker.

    A refusal after which the producer retries reaches the producer first.
    """
    batch, leader, record = step.arguments["batch"], step.arguments["leader"], replay.record_of(step)
    refusal = replay.held_response(batch)
    if refusal is not None and error_of(refusal):
        replay.note(f"broker {refusal.link[-1]}", f"answers record {record}: {error_of(refusal)}")
        replay.gates.produce_responses.release(refusal)
    try:
        with replay.only_brokers_that_name(leader):
            frame = until(
                lambda: replay.waiting_request(record, leader),
                what=f"a request with record {record} to broker {leader}",
                seconds=TIMER_SECONDS,
            )
    except NotSeen as error:
        elsewhere = replay.waiting_request(record)
        if elsewhere is None:
            raise
        raise DivergedError(step.text, f"the producer sends record {record} to {elsewhere.link}") from error
    replay.known.append(frame)
    replay.requests[batch] = frame
    replay.note("proxy", f"request with record {record} from the producer to broker {leader}")
    if replay.plan.acks == "0":
        _wait_report(replay, record, failed=False)


def acknowledge(replay: Replay, step: PlannedStep) -> None:
    """Let the answer reach the producer, and wait until the application is told that the record is stored."""
    record = _let_answer_pass(replay, step, expected=None)
    _wait_report(replay, record, failed=False)


def give_up(replay: Replay, step: PlannedStep) -> None:
    """Wait until the producer tells the application that the record failed."""
    _wait_report(replay, replay.record_of(step), failed=True)


def answer_with(expected: str) -> Callable[[Replay, PlannedStep], None]:
    """Return the plan of an answer that was decided earlier, with this error."""

    def answer(replay: Replay, step: PlannedStep) -> None:
        _let_answer_pass(replay, step, expected=expected)

    return answer


def refuse_with(expected: str) -> Callable[[Replay, PlannedStep], None]:
    """Return the plan of a broker that executes a request and refuses with this error."""

    def refuse(replay: Replay, step: PlannedStep) -> None:
        execute(replay, step)
        _let_answer_pass(replay, step, expected=expected)

    return refuse


def execute(replay: Replay, step: PlannedStep) -> None:
    """Let the request with a batch reach its broker."""
    _deliver(replay, step, replay.requests[step.arguments["batch"]])


def _deliver(replay: Replay, step: PlannedStep, frame: Frame) -> None:
    """Let a request pass the gate. Raises DivergedError if another request is before it on its connection."""
    ahead = [other for other in replay.proxy.waiting(frame.link, "request") if other.connection == frame.connection]
    if ahead and ahead[0] is not frame and ahead[0].api == PRODUCE:
        before = ", ".join(f"record {record}" for record in sorted(carried(ahead[0])))
        raise DivergedError(
            step.text, f"the producer has sent a request with {before} before this one on the same connection"
        )
    gate = replay.gates.produce_requests
    gate.wait(lambda held: held is frame, what=f"the request with record {replay.record_of(step)}", seconds=SECONDS)
    gate.release(frame)


def recognise_duplicate(replay: Replay, step: PlannedStep) -> None:
    """Let the request reach its broker, which answers without storing the record again."""
    execute(replay, step)


def lose_request(replay: Replay, step: PlannedStep) -> None:
    """Keep the request from its broker for good, and end its connection."""
    batch = step.arguments["batch"]
    replay.abandon(_broker_of(replay, batch), lost=frozenset({batch}))


def lose_response(replay: Replay, step: PlannedStep) -> None:
    """End the connection on which the answer would come."""
    replay.abandon(_broker_of(replay, step.arguments["batch"]))


def delay_request(replay: Replay, step: PlannedStep) -> None:
    """End the producer's connection, and keep the request for later."""
    replay.abandon(_broker_of(replay, step.arguments["batch"]))


def notice(replay: Replay, step: PlannedStep) -> None:
    """End the producer's connection to the broker, if it has one."""
    replay.abandon(step.arguments["broker"])


def time_out(replay: Replay, step: PlannedStep) -> None:
    """Wait until the producer closes its connection to the broker, because an answer does not come in time."""
    link = to_broker(step.arguments["leader"])
    frames = {batch: frame for batch, frame in replay.requests.items() if frame.link == link}
    for frame in frames.values():
        until(
            lambda frame=frame: not replay.proxy.has_client(frame.connection),  # type: ignore[misc]
            what=f"the producer's end of its connection at {link}",
            seconds=TIMER_SECONDS,
        )
        replay.detached.append(frame.connection)
    waiting = replay.proxy.waiting(link, "request")
    for batch, frame in frames.items():
        del replay.requests[batch]
        if frame in waiting:
            replay.abandoned[batch] = frame


def execute_delayed(replay: Replay, step: PlannedStep) -> None:
    """Deliver an abandoned request to its broker."""
    batch = step.arguments["batch"]
    frame = replay.abandoned.pop(batch, None)
    if frame is None:
        # The connection is dead for the producer, and the request was not abandoned by a step: it is still in flight.
        frame = replay.requests.pop(batch)
    _deliver(replay, step, frame)


def discard_delayed(replay: Replay, step: PlannedStep) -> None:
    """Forget an abandoned request; the proxy never delivers it."""
    replay.abandoned.pop(step.arguments["batch"], None)


def crash_producer(replay: Replay, step: PlannedStep) -> None:
    """Kill the producer's program. Requests on the way stay with the proxy."""
    for broker in replay.brokers:
        if any(frame.link == to_broker(broker) for frame in replay.requests.values()):
            replay.abandon(broker)
    replay.producing.kill()
    if replay.plan.later(step, "send"):
        replay.producing.run()


def _broker_of(replay: Replay, batch: int) -> int:
    return int(replay.requests[batch].link.split(">")[1])


def _let_answer_pass(replay: Replay, step: PlannedStep, *, expected: str | None) -> int:
    batch, record = step.arguments["batch"], replay.record_of(step)
    seconds = SECONDS if expected is None else TIMER_SECONDS
    frame = until(lambda: replay.held_response(batch), what=f"the answer to record {record}", seconds=seconds)
    error = error_of(frame)
    if error != expected:
        raise DivergedError(step.text, f"the answer to record {record} is {error or 'a success'}")
    replay.note(frame.link.replace("client->", "broker "), f"answers record {record}: {error or 'stored'}")
    replay.gates.produce_responses.release(frame)
    return record


def _wait_report(replay: Replay, record: int, *, failed: bool) -> None:
    wanted = "an error" if failed else "a success"
    report = until(
        lambda: next((one for one in reversed(replay.producing.reports) if one.record == record), None),
        what=f"the report on record {record}",
        seconds=TIMER_SECONDS,
    )
    if (report.error is not None) != failed:
        raise DivergedError(f"the application is told {wanted} for record {record}", f"the report says {report}")
    replay.note("delivery report", str(report))


PLANS: Mapping[str, Callable[[Replay, PlannedStep], None]] = MappingProxyType(
    {
        "send": send,
        "transmit": transmit,
        "append": execute,
        "acknowledge": acknowledge,
        "give_up": give_up,
        "recognise_duplicate": recognise_duplicate,
        "reject_not_leader": refuse_with("NOT_LEADER_OR_FOLLOWER"),
        "reject_not_enough_replicas": refuse_with("NOT_ENOUGH_REPLICAS"),
        "reject_out_of_order": refuse_with("OUT_OF_ORDER_SEQUENCE_NUMBER"),
        "reject_old_epoch": refuse_with("INVALID_PRODUCER_EPOCH"),
        "fail_not_enough_after_append": answer_with("NOT_ENOUGH_REPLICAS_AFTER_APPEND"),
        "time_out_at_broker": answer_with("REQUEST_TIMED_OUT"),
        "lose_request": lose_request,
        "lose_response": lose_response,
        "delay_request": delay_request,
        "notice": notice,
        "time_out": time_out,
        "execute_delayed": execute_delayed,
        "discard_delayed": discard_delayed,
        "crash_producer": crash_producer,
    }
)
"""The plan of each action of the producer and its network, by the action's name."""
