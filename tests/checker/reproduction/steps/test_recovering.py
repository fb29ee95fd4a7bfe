"""Steps after a failure: refused numbers, failed sends, and errors that come late."""

from __future__ import annotations

import dataclasses

import pytest

from proofka.checker.cluster.errors import NotSeen
from proofka.checker.cluster.sends import Send
from proofka.checker.cluster.waiting import until
from proofka.checker.reproduction import replay
from proofka.checker.reproduction.errors import DivergedError, NotSteerableError
from tests.checker.cluster.wire import SECONDS
from tests.checker.reproduction.scene import Scene
from tests.checker.reproduction.traces import Trace

FAILED = {"record 1": "failed, the application knows"}
OUT_OF_ORDER, NOT_ENOUGH_REPLICAS = 45, 19
"""Codes of errors."""


def sent() -> Trace:
    """Return the trace that transmits record 1 to broker 1."""
    return Trace().add("send", batch=0).add("transmit", batch=0, leader=1)


@pytest.mark.parametrize("action", ["refuse_first_due", "refuse_in_transaction", "refuse_and_reset"])
def test_a_send_that_fails_with_the_refusal_of_its_number_is_reported_in_the_same_step(
    scene: Scene, action: str
) -> None:
    scene.cluster.errors[1, 1] = [OUT_OF_ORDER]
    scene.begin(sent().add(action, batch=0, state=FAILED))
    scene.play()
    (report,) = scene.replay.producing.reports
    assert report.code == "OUT_OF_ORDER_SEQUENCE_NUMBER"


def test_another_error_than_that_of_the_refusal_diverges(scene: Scene) -> None:
    scene.cluster.errors[1, 1] = [NOT_ENOUGH_REPLICAS]
    scene.begin(sent().add("refuse_first_due", batch=0, state=FAILED))
    with pytest.raises(DivergedError, match="the answer to record 1 is NOT_ENOUGH_REPLICAS"):
        scene.play()


def test_a_producer_that_has_stopped_refuses_the_record_without_a_request(scene: Scene) -> None:
    scene.begin(Trace().add("refuse_after_stop", batch=0))
    scene.replay.producing.run()
    scene.producer.leader = None
    scene.producer.expire(Send(1))
    scene.play()
    assert scene.delivered(1) == 0


@pytest.mark.usefixtures("impatient")
def test_a_producer_that_has_stopped_and_reports_nothing_diverges(scene: Scene) -> None:
    scene.begin(Trace().add("refuse_after_stop", batch=0))
    scene.replay.producing.run()
    scene.producer.leader = None
    with pytest.raises(NotSeen, match="the report on record 1"):
        scene.play()


@pytest.mark.usefixtures("impatient")
def test_the_last_attempt_without_a_connection_waits_for_the_report(scene: Scene) -> None:
    scene.begin(Trace().add("fail_to_connect", batch=0).add("fail_to_connect", batch=0, state=FAILED))
    scene.replay.producing.run()
    scene.play(1)
    with pytest.raises(NotSeen, match="the report on record 1"):
        scene.play(2)
    scene.producer.expire(Send(1))
    scene.play(2)


def test_a_late_error_is_the_end_of_the_connection_which_outlives_the_record(scene: Scene) -> None:
    scene.producer_options["retries"] = False
    scene.begin(sent().add("give_up", batch=0, state=FAILED).add("hear_late_error", batch=0))
    scene.play(1, 2)
    connection = scene.replay.requests[0].connection
    scene.producer.expire(Send(1))
    scene.play(3)
    assert scene.proxy.has_client(connection)
    scene.play(4)
    until(lambda: not scene.proxy.has_client(connection), what="the end of the connection", seconds=SECONDS)
    assert list(scene.replay.abandoned) == [0]


def test_a_late_error_of_which_a_producer_heard_with_the_end_of_its_broker_is_not_steerable(scene: Scene) -> None:
    scene.producer_options["retries"] = False
    trace = sent().add("kill", broker=1, state={"broker 1": "down"}).add("give_up", batch=0, state=FAILED)
    scene.begin(trace.add("hear_late_error", batch=0))
    scene.play(1, 2, 3)
    scene.producer.expire(Send(1))
    scene.play(4)
    with pytest.raises(NotSteerableError, match="heard of that at once"):
        scene.play(5)


def test_a_late_error_is_the_answer_if_another_request_is_on_its_way_there(scene: Scene) -> None:
    scene.producer_options["retries"] = False
    scene.cluster.errors[1, 1] = [OUT_OF_ORDER]
    trace = sent().add("send", batch=1).add("transmit", batch=1, leader=1)
    scene.begin(trace.add("give_up", batch=0, state=FAILED).add("hear_late_error", batch=0))
    scene.play(1, 2, 3, 4)
    scene.producer.expire(Send(1))
    scene.play(5)
    with pytest.raises(DivergedError, match="OUT_OF_ORDER"):
        scene.play(6)
    assert scene.proxy.has_client(scene.replay.requests[1].connection)


def test_a_producer_that_a_new_leader_tells_of_the_leader_before_asks_elsewhere_after_a_while(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.begin(Trace().add("transmit", batch=0, leader=2))
    scene.replay.producing.run()
    scene.cluster.decide(leader=2)
    scene.replay.gates.know(2)
    scene.producer.ask_for_leader_before_sending(2)
    until(lambda: scene.replay.gates.other_leaders.held, what="the answer of broker 2", seconds=SECONDS)
    scene.replay.have_ask_elsewhere(2)
    assert scene.replay.gates.other_leaders.held, "the producer has had no time to send the record"
    monkeypatch.setattr(replay, "ASKS_ELSEWHERE_SECONDS", 0.0)
    scene.replay.have_ask_elsewhere(3)
    assert scene.replay.gates.other_leaders.held
    scene.replay.have_ask_elsewhere(2)
    scene.producer.wait_end(2)


def test_a_connection_with_a_request_of_the_trace_stays_and_hears_the_older_answer(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "ASKS_ELSEWHERE_SECONDS", 0.0)
    scene.begin(sent())
    scene.play(1, 2)
    scene.replay.gates.know(2)
    asks = scene.cluster.connect(scene.cluster.clients[1])
    asks.send(3, 7, 1, client="proofka-producer-1")
    gate = scene.replay.gates.other_leaders
    held = gate.wait(what="the answer that names broker 1", seconds=SECONDS)
    scene.replay.requests[0] = dataclasses.replace(scene.replay.requests[0], connection=held.connection)
    scene.replay.have_ask_elsewhere(1)
    assert asks.receive() is not None


def test_a_silent_connection_ends_before_a_producer_sends_to_a_machine_that_runs_again(scene: Scene) -> None:
    trace = sent().add("append", batch=0, logs={1: ("record 1 @1",)}).add("acknowledge", batch=0)
    trace.add("lose_power", broker=1, kept=1, state={"broker 1": "down"})
    trace.add("restart", broker=1, state={"broker 1": "up"})
    scene.begin(trace.add("send", batch=1).add("transmit", batch=1, leader=1))
    scene.play(1, 2, 3)
    connection = scene.replay.requests[0].connection
    scene.play(4, 5, 6)
    assert scene.proxy.has_client(connection)
    scene.play(7, 8)
    assert scene.replay.requests[1].connection != connection
