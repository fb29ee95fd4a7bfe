"""The producer's requests: to which broker they go, when brokers get them, and which answers reach the producer."""

from __future__ import annotations

import pytest

from proofka.checker.cluster.errors import NotSeen
from proofka.checker.cluster.sends import Send
from proofka.checker.reproduction.errors import DivergedError
from proofka.checker.reproduction.gates import carried
from tests.checker.cluster.wire import SECONDS
from tests.checker.reproduction.scene import Scene
from tests.checker.reproduction.traces import Trace

STORED = {1: ("record 1 @1",)}
NOT_ENOUGH_REPLICAS, OUT_OF_ORDER, TIMED_OUT, NOT_ENOUGH_AFTER_APPEND = 19, 45, 7, 20
"""Codes of errors."""


def sent() -> Trace:
    """Return the trace that transmits record 1 to broker 1."""
    return Trace().add("send", batch=0).add("transmit", batch=0, leader=1)


def test_a_record_is_stored_and_acknowledged_only_by_its_steps(scene: Scene) -> None:
    scene.begin(sent().add("append", batch=0, logs=STORED).add("acknowledge", batch=0))
    scene.play(1, 2)
    assert scene.values(1) == []
    scene.play(3)
    assert scene.values(1) == [1]
    assert scene.replay.producing.acknowledged() == set()
    scene.play(4)
    assert scene.replay.producing.acknowledged() == {1}


@pytest.mark.usefixtures("impatient")
def test_a_request_to_another_broker_than_in_the_trace_diverges(scene: Scene) -> None:
    scene.begin(Trace().add("send", batch=0).add("transmit", batch=0, leader=2, text="to broker 2"))
    scene.replay.gates.know(2)
    scene.play(1)
    scene.cluster.decide(leader=2)
    scene.replay.gates.metadata[1].open()
    scene.cluster.wait_learned(1)
    with pytest.raises(DivergedError) as diverged:
        scene.play(2)
    assert diverged.value.model == "to broker 2"
    assert diverged.value.observed == "the producer sends record 1 to client->1"


@pytest.mark.usefixtures("impatient")
def test_a_producer_that_sends_nothing_is_no_divergence_in_words_of_a_broker(scene: Scene) -> None:
    scene.begin(Trace().add("transmit", batch=0, leader=1))
    with pytest.raises(NotSeen, match="a request with record 1 to broker 1"):
        scene.play(1)


def test_a_refused_request_is_sent_again_once_its_answer_passed(scene: Scene) -> None:
    scene.cluster.errors[1, 1] = [NOT_ENOUGH_REPLICAS]
    trace = sent().add("append", batch=0).add("transmit", batch=0, leader=1)
    scene.begin(trace.add("append", batch=0, logs=STORED).add("acknowledge", batch=0))
    scene.play(1, 2, 3)
    first = scene.replay.requests[0]
    scene.play(4)
    assert scene.replay.requests[0] is not first
    assert scene.values(1) == []
    scene.play(5, 6)
    assert scene.values(1) == [1]


def test_a_request_sent_again_is_not_taken_for_a_later_send_of_the_record(scene: Scene) -> None:
    scene.cluster.errors[1, 1] = [NOT_ENOUGH_REPLICAS]
    trace = sent().add("append", batch=0).add("send", batch=1).add("transmit", batch=1, leader=1)
    trace.add("transmit", batch=0, leader=1).add("append", batch=1, logs={1: ("record 1 (send 2) @1",)})
    scene.begin(trace, sends=(Send(1), Send(1, 2)))
    scene.play(1, 2, 3)
    refusal = scene.replay.gates.produce_responses.wait(what="the refusal", seconds=SECONDS)
    scene.replay.gates.produce_responses.release(refusal)
    scene.wait_request(1, 1)
    scene.play(4, 5, 6)
    assert carried(scene.replay.requests[1]) == {Send(1, 2)}
    assert carried(scene.replay.requests[0]) == {Send(1)}


def test_a_refusal_reaches_the_producer_at_its_step(scene: Scene) -> None:
    scene.cluster.errors[1, 1] = [NOT_ENOUGH_REPLICAS]
    scene.begin(sent().add("reject_not_enough_replicas", batch=0).add("transmit", batch=0, leader=1))
    scene.play()
    assert scene.delivered(1) == 1
    assert scene.values(1) == []


@pytest.mark.parametrize(
    ("action", "code"),
    [("fail_not_enough_after_append", NOT_ENOUGH_AFTER_APPEND), ("time_out_at_broker", TIMED_OUT)],
)
def test_an_answer_that_was_decided_earlier_has_the_error_of_the_trace(scene: Scene, action: str, code: int) -> None:
    scene.cluster.errors[1, 1] = [code]
    scene.begin(sent().add("append", batch=0).add(action, batch=0))
    scene.play()
    assert not scene.replay.gates.produce_responses.held


@pytest.mark.parametrize("action", ["reject_not_leader", "reject_out_of_order", "reject_old_epoch"])
def test_an_answer_with_another_error_diverges(scene: Scene, action: str) -> None:
    scene.cluster.errors[1, 1] = [NOT_ENOUGH_REPLICAS]
    scene.begin(sent().add(action, batch=0))
    with pytest.raises(DivergedError) as diverged:
        scene.play()
    assert diverged.value.model == action
    assert diverged.value.observed == "the answer to record 1 is NOT_ENOUGH_REPLICAS"


def test_an_answer_without_the_error_of_the_trace_diverges(scene: Scene) -> None:
    scene.begin(sent().add("reject_not_leader", batch=0))
    with pytest.raises(DivergedError, match="the answer to record 1 is a success"):
        scene.play()


def test_an_acknowledgement_that_is_an_error_diverges(scene: Scene) -> None:
    scene.cluster.errors[1, 1] = [OUT_OF_ORDER]
    scene.begin(sent().add("append", batch=0).add("acknowledge", batch=0))
    with pytest.raises(DivergedError, match="OUT_OF_ORDER_SEQUENCE_NUMBER"):
        scene.play()


def test_an_answer_belongs_to_the_request_of_its_batch(scene: Scene) -> None:
    trace = sent().add("send", batch=1).add("transmit", batch=1, leader=1)
    trace.add("append", batch=0, logs=STORED).add("append", batch=1, logs={1: ("record 1 @1", "record 2 @1")})
    scene.begin(trace)
    scene.play()
    assert scene.replay.held_response(0) in scene.replay.gates.produce_responses.held
    assert scene.replay.held_response(1) is None, "the answer to record 2 waits behind the answer to record 1"


def test_the_report_of_a_failure_is_awaited(scene: Scene) -> None:
    scene.cluster.errors[1, 1] = [OUT_OF_ORDER]
    scene.begin(sent().add("reject_out_of_order", batch=0).add("give_up", batch=0))
    scene.play()
    (report,) = scene.replay.producing.reports
    assert report.code == "OUT_OF_ORDER_SEQUENCE_NUMBER"


def test_a_report_of_success_where_the_trace_gives_up_diverges(scene: Scene) -> None:
    scene.begin(sent().add("append", batch=0, logs=STORED).add("acknowledge", batch=0).add("give_up", batch=0))
    with pytest.raises(DivergedError, match="told an error for record 1"):
        scene.play()


def test_append_waits_for_its_own_request_and_names_the_request_ahead(scene: Scene) -> None:
    trace = sent().add("send", batch=1).add("transmit", batch=1, leader=1)
    scene.begin(trace.add("append", batch=1, text="broker 1 appends record 2"))
    scene.play(1, 2, 3, 4)
    with pytest.raises(DivergedError) as diverged:
        scene.play(5)
    assert diverged.value.model == "broker 1 appends record 2"
    assert "a request with record 1 before this one on the same connection" in diverged.value.observed
    assert scene.values(1) == []


def test_without_acks_the_report_comes_when_the_request_is_on_its_way(scene: Scene) -> None:
    scene.producer_options["acks"] = 0
    scene.begin(sent().add("append", batch=0, logs=STORED), acks="0")
    scene.play(1, 2)
    assert scene.replay.facts[-1].source == "delivery report"
    scene.play(3)
