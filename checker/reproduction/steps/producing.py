"""The producer and its network: sending, transmitting, answers, and lost or late requests (semantics 3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType

from proofka.checker.cluster.errors import NotSeen
from proofka.checker.cluster.frames import Frame
from proofka.checker.cluster.sends import Send
from proofka.checker.cluster.waiting import until
from proofka.checker.reproduction.adjusting import LEARNS_BY_AGE, situations_of
from proofka.checker.reproduction.answers import error_of
from proofka.checker.reproduction.applications import START_SECONDS
from proofka.checker.reproduction.errors import DivergedError
from proofka.checker.reproduction.gates import PRODUCE, broker_of, carried, to_broker
from proofka.checker.reproduction.plan import PlannedStep
from proofka.checker.reproduction.replay import SECONDS, TIMER_SECONDS, Replay, Steer
from proofka.checker.reproduction.steps import adding, calls, ending

TRANSMITTED_SECONDS = 1.0
"""Longest wait until a producer that can transmit a record has done so, in seconds."""


def send(replay: Replay, step: PlannedStep) -> None:
    """Have the application call ``send()``.

    A real producer transmits at once where it can. So the call waits for the trace's step that transmits the batch if
    the producer knows another leader now, if an earlier batch waits, or if another record is given up before: the time
    of a record begins with its send.
    """
    batch = step.arguments["batch"]
    later = replay.plan.later(step, "transmit", "crash_producer", "give_up")
    following = next((one for one in later if one.action == "transmit" and one.arguments["batch"] == batch), None)
    ends = [one for one in later if one.action != "transmit" and following and one.number < following.number]
    is_awaited = all(one.action == "give_up" and one.arguments["batch"] != batch for one in ends)
    if (
        following
        and is_awaited
        and (replay.deferred or ends or following.arguments["leader"] != replay.gates.known.leader)
    ):
        replay.deferred.append(batch)
    else:
        _call_send(replay, replay.send_of(step))


def _call_send(replay: Replay, send: Send, *, leader: int | None = None) -> None:
    """Call ``send()``, and let a producer that can transmit do so before the next ``send()``.

    Otherwise two records could share a batch, which the model does not have. A producer that cannot transmit (its
    connections are full, or it knows no leader) keeps the record. ``leader``: the leader that the producer learns now.
    """
    if replay.transacting is not None:
        calls.begin(replay).records.append(send.record)
    replay.producing.send(send)
    until(
        lambda: replay.producing.has_returned(send) or _has_transmitted(replay, send),
        what=f"send() of {send} to return, or the request",
        seconds=START_SECONDS,
    )

    def is_on_its_way() -> bool:
        if leader is not None:
            replay.have_ask_elsewhere(leader)
        return _has_transmitted(replay, send)

    with suppress(NotSeen):
        until(is_on_its_way, what="the request", seconds=TRANSMITTED_SECONDS)
    if replay.transacting is not None and not replay.deferred and ending.calls_commit_next(replay):
        calls.ask(replay, "commit")


def _has_transmitted(replay: Replay, send: Send) -> bool:
    """Tell whether a request of a call of ``send()`` waits, or the request before it, which adds the partition."""
    adds = replay.transacting.gates.adds.held if replay.transacting is not None else ()
    return bool(adds) or replay.waiting_request(send) is not None


def _send_deferred(replay: Replay, batch: int, leader: int) -> None:
    """Send the batches that wait, up to ``batch``, once a producer that only time tells knows the leader."""
    if batch not in replay.deferred:
        return
    if LEARNS_BY_AGE in situations_of(replay.plan):
        until(
            lambda: replay.believed_leader() == leader,
            what=f"the producer to learn that broker {leader} leads",
            seconds=TIMER_SECONDS,
        )
    while batch in replay.deferred:
        _call_send(replay, replay.plan.sends[replay.deferred.pop(0)], leader=leader)


def transmit(replay: Replay, step: PlannedStep) -> None:
    """Wait until the producer's request is on its way to the broker.

    A refusal after which the producer retries reaches the producer first.
    """
    batch, leader, send = step.arguments["batch"], step.arguments["leader"], replay.send_of(step)
    leader_adds = adding.added_partition(replay, step)

    def request() -> Frame | None:
        found = replay.sent_again(batch, leader)
        if found is None:
            replay.have_ask_elsewhere(leader)
        return found

    try:
        with replay.only_brokers_that_name(leader):
            replay.gates.know(leader)
            replay.end_silence(leader)
            _send_deferred(replay, batch, leader)
            if leader_adds:
                leader_adds = not adding.let_partition_be_added(replay, send)
            frame = until(
                request,
                what=f"a request with {send} to broker {leader}",
                seconds=TIMER_SECONDS,
            )
    except NotSeen as error:
        elsewhere = replay.waiting_request(send)
        if elsewhere is None:
            raise
        raise DivergedError(step.text, f"the producer sends {send} to {elsewhere.link}") from error
    replay.known.append(frame)
    replay.requests[batch] = frame
    replay.note("proxy", f"request with {send} from the producer to broker {leader}")
    if leader_adds:
        adding.let_leader_add(replay, step, frame)
    if replay.plan.acks == "0":
        wait_report(replay, send, failed=False)


def acknowledge(replay: Replay, step: PlannedStep) -> None:
    """Let the answer reach the producer, and wait until the application is told that the record is stored."""
    send = let_answer_pass(replay, step, expected=None)
    wait_report(replay, send, failed=False)


def give_up(replay: Replay, step: PlannedStep) -> None:
    """Wait until the producer tells the application that the record failed.

    The time of a request that has no answer is over as well. So its connection ends, unless another batch waits there,
    or an answer comes later. A request that the model leaves out, as its leader would refuse the record, ends too.
    """
    batch, send = step.arguments["batch"], replay.send_of(step)
    if adding.added_partition(replay, step):
        adding.have_added_untransmitted(replay)
    wait_report(replay, send, failed=True)
    for frame in [one for one in replay.gates.produce_requests.held if batch not in replay.requests]:
        if send in carried(frame):
            replay.abandon(broker_of(frame))
    if any(one.arguments["batch"] == batch for one in replay.plan.later(step, "hear_late_error")):
        return
    link = replay.requests[batch].link if batch in replay.requests else None
    if link is not None and not any(one.link == link for other, one in replay.requests.items() if other != batch):
        replay.abandon(broker_of(replay.requests[batch]))


def answer_with(expected: str) -> Steer:
    """Return the plan of an answer that was decided earlier, with this error."""

    def answer(replay: Replay, step: PlannedStep) -> None:
        let_answer_pass(replay, step, expected=(expected,))

    return answer


def time_out_at_broker(replay: Replay, step: PlannedStep) -> None:
    """Let the broker's timer run out, and its answer pass.

    Java's own timer runs out at the same time. So the producer's program stands still until the answer is there.
    """
    program = replay.producing.run().process
    program.pause()
    try:
        let_answer_pass(replay, step, expected=("REQUEST_TIMED_OUT",))
    finally:
        program.resume()


def refuse_with(*expected: str) -> Steer:
    """Return the plan of a broker that executes a request and refuses with one of these errors."""

    def refuse(replay: Replay, step: PlannedStep) -> None:
        execute(replay, step)
        let_answer_pass(replay, step, expected=expected)

    return refuse


def execute(replay: Replay, step: PlannedStep) -> None:
    """Let the request with a batch reach its broker."""
    if not adding.let_leader_go_on(replay, step.arguments["batch"]):
        _deliver(replay, step, replay.requests[step.arguments["batch"]])


def _deliver(replay: Replay, step: PlannedStep, frame: Frame) -> None:
    """Let a request pass the gate. Raises DivergedError if another request is before it on its connection."""
    ahead = [other for other in replay.proxy.waiting(frame.link, "request") if other.connection == frame.connection]
    if ahead and ahead[0] is not frame and ahead[0].api == PRODUCE:
        before = ", ".join(sorted(map(str, carried(ahead[0]))))
        raise DivergedError(
            step.text, f"the producer has sent a request with {before} before this one on the same connection"
        )
    gate = replay.gates.produce_requests
    gate.wait(lambda held: held is frame, what=f"the request with {replay.send_of(step)}", seconds=SECONDS)
    gate.release(frame)


def recognise_duplicate(replay: Replay, step: PlannedStep) -> None:
    """Let the request reach its broker, which answers without storing the record again."""
    execute(replay, step)


def lose_request(replay: Replay, step: PlannedStep) -> None:
    """Keep the request from its broker for good, and end its connection."""
    replay.lost.add(step.arguments["batch"])
    break_connection(replay, step)


def break_connection(replay: Replay, step: PlannedStep) -> None:
    """End the connection of a request, which the proxy keeps if its broker has not got the request.

    A producer that gives the record up before it notices keeps its connection, which is silent until then.
    """
    batch = step.arguments["batch"]
    if _is_given_up_next(replay, step, batch):
        replay.note("proxy", "the producer's connection stays open and silent")
    else:
        replay.abandon(broker_of(replay.requests[batch]))


def _is_given_up_next(replay: Replay, step: PlannedStep, batch: int) -> bool:
    """Tell whether the producer does nothing with a batch after a step but give the record up."""
    for one in replay.plan.steps[step.number :]:
        concerns = one.arguments.get("batch") == batch and one.action not in ("execute_delayed", "discard_delayed")
        if concerns or one.action == "time_out":
            return one.action == "give_up"
    return False


def notice(replay: Replay, step: PlannedStep) -> None:
    """End the producer's connection to the broker, if it has one.

    A producer sends a record again at once. So the connection stays silent if all records there are given up next.
    """
    broker = step.arguments["broker"]
    batches = [batch for batch, frame in replay.requests.items() if frame.link == to_broker(broker)]
    if not batches or not all(_is_given_up_next(replay, step, batch) for batch in batches):
        replay.abandon(broker)


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
        # The connection is dead, and the producer has not noticed: for the producer the request is in flight.
        frame = replay.requests[batch]
    _deliver(replay, step, frame)


def discard_delayed(replay: Replay, step: PlannedStep) -> None:
    """Forget an abandoned request; the proxy never delivers it."""
    batch = step.arguments["batch"]
    replay.abandoned.pop(batch, None)
    if batch in replay.requests:
        replay.lost.add(batch)


def crash_producer(replay: Replay, step: PlannedStep) -> None:
    """Kill the producer's program. Requests on the way stay with the proxy."""
    for broker in replay.brokers:
        if any(frame.link == to_broker(broker) for frame in replay.requests.values()):
            replay.abandon(broker)
    replay.producing.kill()
    if replay.transacting is not None:
        replay.transacting.forget_program()
    if replay.plan.later(step, "send"):
        replay.producing.run()


def let_answer_pass(replay: Replay, step: PlannedStep, *, expected: tuple[str, ...] | None) -> Send:
    """Let the answer to a request reach the producer, and return the call of ``send()`` that it answers.

    ``expected``: the names of errors of which the answer has one; None for a success. Raises DivergedError.
    """
    batch, send = step.arguments["batch"], replay.send_of(step)
    if batch in replay.answered:
        replay.answered.remove(batch)
        return send
    seconds = SECONDS if expected is None else TIMER_SECONDS
    frame = until(lambda: _answer_to(replay, step), what=f"the answer to {send}", seconds=seconds)
    error = error_of(frame)
    if error not in (expected or (None,)):
        raise DivergedError(step.text, f"the answer to {send} is {error or 'a success'}")
    replay.note(f"broker {broker_of(frame)}", f"answers {send}: {error or 'stored'}")
    replay.gates.produce_responses.release(frame)
    return send


def _answer_to(replay: Replay, step: PlannedStep) -> Frame | None:
    """Return the held answer to the request of a step's batch, or None.

    Answers on one connection come in the order of requests. So what is ahead of the answer passes first: a success that
    the trace lets pass later, and metadata that names another leader.
    """
    request = replay.requests.get(step.arguments["batch"])
    frame = replay.held_response(step.arguments["batch"])
    if frame is not None or request is None:
        return frame
    replay.let_metadata_ahead_pass(request)
    if any(waiting.request is request for waiting in replay.proxy.waiting(request.link, "response")):
        for batch, other in replay.requests.items():
            ahead = replay.held_response(batch) if other.connection == request.connection else None
            if ahead is not None and error_of(ahead) is None and _is_acknowledged_next(replay, step, batch):
                replay.note("proxy", f"the answer to {replay.plan.sends[batch]} is ahead, and passes first")
                replay.gates.produce_responses.release(ahead)
                replay.answered.append(batch)
                break
    return None


def _is_acknowledged_next(replay: Replay, step: PlannedStep, batch: int) -> bool:
    following = [one for one in replay.plan.steps[step.number :] if one.arguments.get("batch") == batch]
    return bool(following) and following[0].action == "acknowledge"


def wait_report(replay: Replay, send: Send, *, failed: bool) -> None:
    """Wait until the application is told how a call of ``send()`` ended. Raises DivergedError if it ended otherwise."""
    wanted = "an error" if failed else "a success"
    report = until(
        lambda: next((one for one in reversed(replay.producing.reports) if one.send == send), None),
        what=f"the report on {send}",
        seconds=TIMER_SECONDS,
    )
    if (report.error is not None) != failed:
        raise DivergedError(f"the application is told {wanted} for {send}", f"the report says {report}")
    replay.note("delivery report", str(report))


PLANS: Mapping[str, Steer] = MappingProxyType(
    {
        "send": send,
        "transmit": transmit,
        "append": execute,
        "acknowledge": acknowledge,
        "give_up": give_up,
        "recognise_duplicate": recognise_duplicate,
        "reject_not_leader": refuse_with("NOT_LEADER_OR_FOLLOWER"),
        "reject_not_enough_replicas": refuse_with("NOT_ENOUGH_REPLICAS"),
        "fail_not_enough_after_append": answer_with("NOT_ENOUGH_REPLICAS_AFTER_APPEND"),
        "time_out_at_broker": time_out_at_broker,
        "lose_request": lose_request,
        "lose_response": break_connection,
        "delay_request": break_connection,
        "notice": notice,
        "time_out": time_out,
        "execute_delayed": execute_delayed,
        "discard_delayed": discard_delayed,
        "crash_producer": crash_producer,
    }
)
"""The plan of each action of the producer and its network, by the action's name."""
