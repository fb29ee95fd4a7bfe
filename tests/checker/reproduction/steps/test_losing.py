"""Requests and answers that get lost, come late, or wait too long, and the end of a producer."""

from __future__ import annotations

import pytest

from proofka.checker.cluster.errors import NotSeen
from proofka.checker.cluster.sends import Send
from proofka.checker.cluster.waiting import until
from proofka.checker.reproduction.errors import DivergedError
from tests.checker.cluster.wire import SECONDS
from tests.checker.reproduction.scene import Scene
from tests.checker.reproduction.traces import Trace

FIRST = {1: ("record 1 @1",)}
SECOND = {1: ("record 2 @1",)}
LATE = {1: ("record 2 @1", "record 1 @1")}
TWICE = {1: ("record 1 @1", "record 1 @1")}


def sent() -> Trace:
    """Return the trace that transmits record 1 to broker 1."""
    return Trace().add("send", batch=0).add("transmit", batch=0, leader=1)


def test_a_lost_request_is_never_delivered_and_the_producer_sends_again(scene: Scene) -> None:
    trace = sent().add("lose_request", batch=0).add("transmit", batch=0, leader=1)
    scene.begin(trace.add("append", batch=0, logs=FIRST).add("acknowledge", batch=0))
    scene.play()
    assert scene.delivered(1) == 1
    assert not scene.replay.abandoned


def test_a_request_ahead_of_a_lost_one_is_still_executed(scene: Scene) -> None:
    scene.producer_options["retries"] = False
    trace = sent().add("send", batch=1).add("transmit", batch=1, leader=1)
    trace.add("lose_request", batch=1).add("execute_delayed", batch=0, leader=1, logs=FIRST)
    scene.begin(trace)
    scene.play()
    assert scene.values(1) == [1]
    assert scene.delivered(2) == 0


def test_a_request_behind_a_lost_one_cannot_overtake_it(scene: Scene) -> None:
    scene.producer_options["retries"] = False
    trace = sent().add("send", batch=1).add("transmit", batch=1, leader=1)
    scene.begin(trace.add("lose_request", batch=0).add("execute_delayed", batch=1, leader=1, logs=SECOND))
    with pytest.raises(DivergedError, match="a request with record 1 before this one on the same connection"):
        scene.play()
    assert scene.values(1) == []


def test_a_lost_response_does_not_reach_the_producer_which_stores_the_record_twice(scene: Scene) -> None:
    trace = sent().add("append", batch=0, logs=FIRST).add("lose_response", batch=0)
    scene.begin(trace.add("transmit", batch=0, leader=1).add("append", batch=0, logs=TWICE))
    scene.play(1, 2, 3)
    answered = scene.replay.requests[0]
    scene.play(4, 5, 6)
    assert [e.fate for e in scene.proxy.seen if e.frame.request is answered] in (["held", "dropped"], ["dropped"])
    assert scene.values(1) == [1, 1]


def test_a_delayed_request_is_executed_after_a_later_one(scene: Scene) -> None:
    scene.producer_options["retries"] = False
    trace = sent().add("delay_request", batch=0).add("send", batch=1).add("transmit", batch=1, leader=1)
    trace.add("append", batch=1, logs=SECOND).add("execute_delayed", batch=0, leader=1, logs=LATE)
    scene.begin(trace)
    scene.play(1, 2, 3)
    assert scene.replay.requests == {}
    scene.producer.wait_end(1)
    scene.play(4, 5, 6, 7)
    assert scene.values(1) == [2, 1]
    assert not scene.replay.abandoned


@pytest.mark.parametrize("action", ["delay_request", "lose_request", "lose_response"])
def test_a_producer_that_gives_up_first_keeps_its_silent_connection_until_then(scene: Scene, action: str) -> None:
    scene.producer_options["retries"] = False
    trace = sent()
    if action == "lose_response":
        trace.add("append", batch=0, logs=FIRST)
    scene.begin(trace.add(action, batch=0).add("give_up", batch=0))
    *before, last = [step.number for step in scene.replay.plan.steps]
    scene.play(*before)
    connection = scene.replay.requests[0].connection
    assert scene.proxy.has_client(connection)
    scene.producer.expire(Send(1))
    scene.play(last)
    until(lambda: not scene.proxy.has_client(connection), what="the end of the connection", seconds=SECONDS)
    assert list(scene.replay.abandoned) == ([0] if action == "delay_request" else [])


def test_a_producer_that_notices_and_gives_up_does_not_send_again_in_between(scene: Scene) -> None:
    trace = sent().add("delay_request", batch=0).add("notice", broker=1).add("give_up", batch=0)
    scene.begin(trace)
    scene.play(1, 2, 3, 4)
    assert scene.proxy.has_client(scene.replay.requests[0].connection)
    scene.producer.expire(Send(1))
    scene.play(5)
    assert list(scene.replay.abandoned) == [0]


def test_a_request_on_a_connection_that_has_ended_is_not_the_one_that_is_sent_again(scene: Scene) -> None:
    trace = sent().add("send", batch=1).add("delay_request", batch=0).add("transmit", batch=1, leader=1)
    scene.begin(trace)
    scene.play(1, 2, 3)
    old = scene.wait_request(2, 1)
    scene.play(4, 5)
    assert scene.replay.requests[1].connection != old.connection


def test_a_delayed_request_can_be_executed_before_the_producer_gives_up(scene: Scene) -> None:
    scene.producer_options["retries"] = False
    trace = sent().add("delay_request", batch=0).add("execute_delayed", batch=0, leader=1, logs=FIRST)
    scene.begin(trace.add("give_up", batch=0))
    scene.play(1, 2, 3, 4)
    assert scene.values(1) == [1]
    assert scene.replay.producing.reports == ()
    scene.producer.expire(Send(1))
    scene.play(5)


def test_a_connection_on_which_another_batch_waits_outlives_a_record_that_is_given_up(scene: Scene) -> None:
    scene.producer_options["retries"] = False
    trace = sent().add("send", batch=1).add("transmit", batch=1, leader=1).add("give_up", batch=0)
    scene.begin(trace)
    scene.play(1, 2, 3, 4)
    scene.producer.expire(Send(1))
    scene.play(5)
    assert scene.proxy.has_client(scene.replay.requests[1].connection)


def test_a_discarded_request_is_never_delivered(scene: Scene) -> None:
    trace = sent().add("delay_request", batch=0).add("discard_delayed", batch=0)
    scene.begin(trace.add("transmit", batch=0, leader=1).add("append", batch=0, logs=FIRST))
    scene.play()
    assert scene.delivered(1) == 1
    assert not scene.replay.abandoned


def test_a_producer_that_notices_the_end_of_a_connection_sends_again(scene: Scene) -> None:
    scene.cluster.silent.add(1)
    trace = sent().add("append", batch=0, logs=FIRST).add("notice", broker=1)
    scene.begin(trace.add("transmit", batch=0, leader=1).add("append", batch=0, logs=TWICE))
    scene.play()
    assert scene.values(1) == [1, 1]


def test_a_request_that_waits_too_long_stays_behind_for_later(scene: Scene) -> None:
    trace = sent().add("time_out", leader=1).add("transmit", batch=0, leader=1)
    trace.add("append", batch=0, logs=FIRST).add("execute_delayed", batch=0, leader=1, logs=TWICE)
    scene.begin(trace)
    scene.play(1, 2)
    first = scene.replay.requests[0]
    scene.producer.close(1)
    scene.play(3)
    assert scene.replay.abandoned == {0: first}
    assert scene.replay.requests == {}
    scene.play(4)
    second = scene.replay.requests[0]
    scene.play(5)
    assert [entry.fate for entry in scene.proxy.seen if entry.frame is second][-1] == "released"
    scene.play(6)
    assert [entry.fate for entry in scene.proxy.seen if entry.frame is first][-1] == "released"


@pytest.mark.usefixtures("impatient")
def test_a_producer_that_keeps_its_connection_does_not_time_out(scene: Scene) -> None:
    scene.begin(sent().add("time_out", leader=1))
    with pytest.raises(NotSeen, match="the producer's end of its connection at client->1"):
        scene.play()


def test_a_producer_that_crashes_leaves_its_requests_behind(scene: Scene) -> None:
    trace = sent().add("crash_producer").add("send", batch=1).add("transmit", batch=1, leader=1)
    trace.add("append", batch=1, logs=SECOND).add("execute_delayed", batch=0, leader=1, logs=LATE)
    scene.begin(trace)
    scene.play(1, 2)
    crashed = scene.producer
    scene.play(3)
    assert crashed.is_killed
    assert scene.producer is not crashed, "the trace sends another record"
    assert list(scene.replay.abandoned) == [0]
    scene.play(4, 5, 6, 7)
    assert scene.values(1) == [2, 1]


def test_no_producer_starts_after_a_crash_if_the_trace_sends_nothing_more(scene: Scene) -> None:
    scene.begin(sent().add("append", batch=0, logs=FIRST).add("acknowledge", batch=0).add("crash_producer"))
    scene.play()
    assert scene.replay.producing.program is None
    assert scene.replay.producing.acknowledged() == {1}, "what the crashed program told stays known"
