"""The learning of a leader by the producer, and sends that wait until then."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from proofka.checker.cluster.errors import NotSeen
from proofka.checker.cluster.frames import RESPONSE
from proofka.checker.cluster.sends import Send
from proofka.checker.cluster.waiting import until
from tests.checker.cluster.wire import SECONDS, Client
from tests.checker.reproduction.scene import Scene
from tests.checker.reproduction.traces import Trace

MOVED = {"leader": "broker 2", "leader epoch": "2"}


def moved() -> Trace:
    """Return the trace in which broker 1 refuses record 1, because broker 2 leads."""
    trace = Trace().add("send", batch=0).add("transmit", batch=0, leader=1)
    trace.add("move_leader", broker=2, state=MOVED).add("apply_metadata", broker=1).add("apply_metadata", broker=2)
    return trace.add("reject_not_leader", batch=0)


def test_the_producer_learns_of_another_leader_only_when_the_trace_needs_it(scene: Scene) -> None:
    scene.begin(moved().add("transmit", batch=0, leader=2).add("append", batch=0, logs={2: ("record 1 @2",)}))
    scene.play(1, 2, 3, 4, 5, 6)
    gate = scene.replay.gates.other_leaders
    gate.wait(what="the answer that names broker 2", seconds=SECONDS)
    assert scene.producer.leader is None
    scene.play(7, 8)
    assert not gate.held
    assert scene.producer.leader == 2
    assert scene.values(2) == [1]


def test_an_answer_that_names_the_leader_of_the_trace_passes(scene: Scene) -> None:
    scene.begin(Trace())
    asks = scene.cluster.connect(scene.cluster.clients[2])
    asks.send(3, 7, 1, client="proofka-producer-1")
    assert asks.receive() is not None


def test_answers_to_others_than_the_producer_pass(scene: Scene) -> None:
    scene.begin(Trace())
    scene.replay.gates.know(3)
    asks = scene.cluster.connect(scene.cluster.clients[2])
    asks.send(3, 7, 1, client="proofka-consumer-1")
    assert asks.receive() is not None


def test_an_older_answer_does_not_pass_once_the_trace_needs_another(scene: Scene) -> None:
    scene.begin(Trace())
    scene.replay.gates.know(3)
    asks = scene.cluster.connect(scene.cluster.clients[2])
    asks.send(3, 7, 1, client="proofka-producer-1")
    held = scene.replay.gates.other_leaders.wait(what="the answer that names broker 1", seconds=SECONDS)
    scene.replay.gates.know(2)
    assert scene.replay.gates.other_leaders.held == (held,)
    scene.replay.gates.know(1)
    assert asks.receive() is not None


def test_an_older_answer_passes_that_is_ahead_of_the_answer_to_a_request(scene: Scene) -> None:
    trace = Trace().add("send", batch=0).add("transmit", batch=0, leader=1)
    trace.add("append", batch=0, logs={1: ("record 1 @1",)}).add("acknowledge", batch=0)
    scene.begin(trace, acks="1")
    scene.replay.producing.run()
    now = scene.cluster.views[1]
    scene.cluster.views[1] = replace(now, leader=2)
    scene.producer.ask_for_leader_before_sending(1)
    gate = scene.replay.gates.other_leaders
    gate.wait(what="the answer that names broker 2", seconds=SECONDS)
    scene.cluster.views[1] = now
    scene.play(1, 2, 3)
    assert gate.held
    scene.play(4)
    assert not gate.held


def test_clients_keep_from_brokers_that_name_another_leader(scene: Scene) -> None:
    scene.begin(Trace())
    scene.cluster.decide(leader=2)
    scene.replay.gates.metadata[2].open()
    scene.cluster.wait_learned(2)
    asked = {broker: scene.cluster.connect(scene.cluster.clients[broker]) for broker in (1, 2, 3)}
    with scene.replay.only_brokers_that_name(2):
        scene.replay.gates.know(2)
        for broker in (1, 3):
            assert asked[broker].receive() is None
        asked[2].send(3, 7, 1, client="proofka-producer-1")
        assert asked[2].receive() is not None
    again = scene.cluster.connect(scene.cluster.clients[3])
    again.send(3, 7, 1, client="proofka-consumer-1")
    assert again.receive() is not None


def test_a_broker_with_a_request_of_the_trace_is_not_kept_away(scene: Scene) -> None:
    scene.begin(Trace().add("send", batch=0).add("transmit", batch=0, leader=1))
    scene.play()
    with scene.replay.only_brokers_that_name(2):
        assert scene.replay.requests[0] in scene.replay.gates.produce_requests.held


def asking_again(scene: Scene) -> Client:
    """Begin a replay in which broker 2 leads and does not know, and ask it twice without waiting for the answer."""
    scene.begin(Trace())
    scene.replay.producing.run()
    scene.replay.gates.know(2)
    asks = scene.cluster.connect(scene.cluster.clients[2])
    for request in (1, 2):
        asks.send(3, 7, request, client=scene.replay.producer_id)
        until(
            lambda count=request: len(scene.proxy.waiting("client->2", RESPONSE)) == count,  # type: ignore[misc]
            what="the answer of broker 2",
            seconds=SECONDS,
        )
        if request == 1:
            scene.replay.have_ask_elsewhere(2)
    return asks


def test_a_producer_that_asks_again_without_waiting_is_told_by_another_broker(scene: Scene) -> None:
    asks = asking_again(scene)
    scene.cluster.views[3] = replace(scene.cluster.views[3], leader=2)
    with ThreadPoolExecutor(1) as pool:
        elsewhere = pool.submit(scene.replay.have_ask_elsewhere, 2)
        assert asks.receive() is None
        assert not elsewhere.done()
        scene.cluster.connect(scene.cluster.clients[3]).send(3, 7, 1, client=scene.replay.producer_id)
        elsewhere.result()
    assert scene.replay.believed_leader() == 2
    again = scene.cluster.connect(scene.cluster.clients[2])
    again.send(3, 7, 1, client="proofka-consumer-1")
    assert again.receive() is not None


@pytest.mark.usefixtures("impatient")
def test_a_producer_that_no_other_broker_tells_can_connect_to_the_leader_after_a_while(scene: Scene) -> None:
    asking_again(scene)
    scene.replay.have_ask_elsewhere(2)
    again = scene.cluster.connect(scene.cluster.clients[2])
    again.send(3, 7, 1, client="proofka-consumer-1")
    assert again.receive() is not None


def test_sends_that_wait_for_a_leader_keep_the_order_of_the_application(scene: Scene) -> None:
    trace = Trace().add("move_leader", broker=2, state=MOVED).add("apply_metadata", broker=2)
    trace.add("send", batch=0).add("send", batch=1)
    trace.add("transmit", batch=0, leader=2).add("transmit", batch=1, leader=2)
    scene.begin(trace)
    scene.play(1, 2, 3, 4)
    assert scene.replay.deferred == [0, 1]
    assert scene.replay.producing.sent == []
    scene.replay.producing.run()
    scene.producer.leader = 2
    scene.play(5, 6)
    assert scene.replay.producing.sent == [Send(1), Send(2)]
    assert scene.replay.deferred == []


def test_a_send_behind_one_that_waits_waits_too(scene: Scene) -> None:
    trace = Trace().add("send", batch=0).add("send", batch=1)
    trace.add("transmit", batch=0, leader=2).add("transmit", batch=1, leader=1)
    scene.begin(trace)
    scene.play(1, 2)
    assert scene.replay.deferred == [0, 1]
    assert scene.replay.producing.sent == []


@pytest.mark.parametrize("end", ["crash_producer", "give_up"])
def test_a_send_whose_producer_ends_before_it_transmits_does_not_wait(scene: Scene, end: str) -> None:
    trace = Trace().add("send", batch=0).add(end, batch=0).add("transmit", batch=0, leader=2)
    scene.begin(trace)
    scene.play(1)
    assert scene.replay.producing.sent == [Send(1)]


def aged() -> Trace:
    """Return the trace in which only time tells the producer that broker 2 leads, before it transmits record 2."""
    trace = (
        Trace()
        .add("send", batch=0)
        .add("transmit", batch=0, leader=1)
        .add("append", batch=0, logs={1: ("record 1 @1",)})
    )
    trace.add("acknowledge", batch=0).add("move_leader", broker=2, state=MOVED).add("apply_metadata", broker=2)
    return trace.add("send", batch=1).add("transmit", batch=1, leader=2)


@pytest.mark.usefixtures("impatient")
def test_nothing_is_sent_before_time_tells_the_producer_of_the_leader(scene: Scene) -> None:
    scene.begin(aged(), acks="1")
    scene.play(1, 2, 3, 4, 5, 6, 7)
    scene.producer.leader = 2
    with pytest.raises(NotSeen, match="the producer to learn that broker 2 leads"):
        scene.play(8)
    assert scene.replay.producing.sent == [Send(1)]


def test_a_producer_that_only_time_tells_sends_once_it_knows_the_leader(scene: Scene) -> None:
    scene.begin(aged(), acks="1")
    scene.play(1, 2, 3, 4, 5, 6, 7)
    assert scene.replay.producing.sent == [Send(1)]
    scene.replay.gates.know(2)
    asks = scene.cluster.connect(scene.cluster.clients[2])
    asks.send(3, 7, 1, client=scene.replay.producer_id)
    until(lambda: scene.replay.believed_leader() == 2, what="the answer to the producer", seconds=SECONDS)
    scene.producer.leader = 2
    scene.play(8)
    assert scene.replay.producing.sent == [Send(1), Send(2)]


def test_a_send_waits_until_another_record_is_given_up_if_it_transmits_after(scene: Scene) -> None:
    scene.producer_options["retries"] = False
    trace = Trace().add("send", batch=0).add("transmit", batch=0, leader=1).add("send", batch=1)
    scene.begin(trace.add("give_up", batch=0).add("transmit", batch=1, leader=1))
    scene.play(1, 2, 3)
    assert scene.replay.producing.sent == [Send(1)]
    scene.producer.expire(Send(1))
    scene.play(4)
    scene.producer.wait_end(1)
    scene.play(5)
    assert scene.replay.producing.sent == [Send(1), Send(2)]


def test_a_send_of_a_record_that_is_given_up_before_it_is_transmitted_does_not_wait(scene: Scene) -> None:
    scene.begin(Trace().add("send", batch=0).add("give_up", batch=0).add("transmit", batch=0, leader=1))
    scene.play(1)
    assert scene.replay.producing.sent == [Send(1)]
