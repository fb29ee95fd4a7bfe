"""Brokers that die, lose power or their disk, start again, or lose the controller."""

from __future__ import annotations

from proofka.checker.cluster.plan import CONTROLLER
from tests.checker.reproduction.fake_cluster import FIRST_EPOCH
from tests.checker.reproduction.scene import Scene
from tests.checker.reproduction.traces import Trace

TWO = ("record 1 @1", "record 2 @1")
DOWN = {"broker 1": "down"}


def stored() -> Trace:
    """Return the trace in which record 1 is stored by broker 1, and record 2 on its way."""
    trace = Trace().add("send", batch=0).add("transmit", batch=0, leader=1).add("append", batch=0, logs={1: TWO[:1]})
    return trace.add("send", batch=1).add("transmit", batch=1, leader=1)


def test_requests_on_their_way_die_with_the_broker(scene: Scene) -> None:
    scene.producer_options["retries"] = False
    scene.begin(stored().add("kill", broker=1, state=DOWN))
    scene.play()
    assert scene.cluster.done == [("kill", 1)]
    assert (scene.replay.requests, scene.replay.abandoned) == ({}, {})
    assert scene.values(1) == [1]


def test_requests_to_other_brokers_outlive_a_kill(scene: Scene) -> None:
    scene.begin(stored().add("kill", broker=2, state={"broker 2": "down"}))
    scene.play()
    assert set(scene.replay.requests) == {0, 1}


def test_a_machine_without_power_closes_no_connection_and_keeps_the_flushed_records(scene: Scene) -> None:
    trace = (
        stored()
        .add("append", batch=1, logs={1: TWO})
        .add("lose_power", broker=1, kept=1, logs={1: TWO[:1]}, state=DOWN)
    )
    scene.begin(trace)
    scene.play(1, 2, 3, 4, 5, 6)
    connection = scene.replay.requests[1].connection
    scene.play(7)
    assert scene.values(1) == [1]
    assert scene.proxy.has_client(connection)


def test_a_broker_without_its_disk_has_an_empty_log(scene: Scene) -> None:
    scene.begin(stored().add("lose_disk", broker=1, logs={1: ()}, state=DOWN))
    scene.play(1, 2, 3, 4, 5)
    connection = scene.replay.requests[1].connection
    scene.play(6)
    assert scene.cluster.logs[1] == []
    assert scene.proxy.has_client(connection)


def test_a_broker_that_starts_again_serves_and_closes_connections_again(scene: Scene) -> None:
    trace = stored().add("lose_power", broker=1, kept=1, state=DOWN).add("restart", broker=1, state={"broker 1": "up"})
    scene.begin(trace.add("kill", broker=1, state=DOWN))
    scene.play(1, 2, 3, 4, 5, 6, 7)
    assert scene.cluster.done[-2:] == [("restart", 1), ("wait_serving", 1)]
    asks = scene.cluster.connect(scene.cluster.clients[1])
    asks.send(3, 7, 1, client="proofka-consumer-1")
    assert asks.receive() is not None
    scene.play(8)
    assert asks.receive() is None


def test_a_broker_that_is_cut_off_reaches_no_controller_until_it_reconnects(scene: Scene) -> None:
    scene.begin(Trace().add("cut_off", broker=2).add("reconnect", broker=2))
    scene.play(1)
    refused = scene.cluster.connect(scene.cluster.controllers[2])
    assert refused.receive() is None
    scene.cluster.propose(3, (1, 3))
    scene.replay.gates.isr_changes.wait(what="the proposal of broker 3, which is not cut off", seconds=10)
    scene.play(2)
    scene.cluster.propose(2, (1, 2))
    scene.replay.gates.isr_changes.wait(lambda f: f.link == "2->controller", what="a proposal of broker 2", seconds=10)


def test_a_broker_that_rejoins_knows_all_decisions(scene: Scene) -> None:
    trace = Trace().add("cut_off", broker=2).add("rejoin", broker=2)
    scene.begin(trace)
    scene.play(1)
    scene.cluster.decide(leader=3)
    scene.play(2)
    assert scene.cluster.views[2] == scene.cluster.views[CONTROLLER]
    assert scene.cluster.done == [("wait_serving", 2)]


def test_a_restart_that_elects_a_leader_begins_the_epoch_of_the_trace(scene: Scene) -> None:
    elected = {"broker 1": "up", "leader": "broker 2", "leader epoch": "4"}
    scene.begin(Trace().add("kill", broker=1, state=DOWN).add("restart", broker=1, state=elected))
    scene.play(1)
    scene.cluster.decide(leader=2)
    scene.play(2)
    assert scene.replay.epochs[4] == FIRST_EPOCH + 1
