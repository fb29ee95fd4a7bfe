"""Followers copy one record at a step, and what the controller decides reaches brokers at a step."""

from __future__ import annotations

import re

import pytest

from proofka.checker.cluster.errors import NotSeen
from proofka.checker.cluster.plan import CONTROLLER
from proofka.checker.reproduction.errors import DivergedError
from proofka.checker.reproduction.steps.brokers import MOST_FETCHES
from tests.checker.reproduction.fake_cluster import FIRST_EPOCH
from tests.checker.reproduction.scene import Scene
from tests.checker.reproduction.traces import Trace

TWO = ("record 1 @1", "record 2 @1")
MOVED = {"leader": "broker 2", "leader epoch": "2"}


def copied() -> Trace:
    """Return the trace in which broker 2 copies one of the two records of broker 1."""
    return Trace().add("become_slow", broker=3, logs={1: TWO}).add("fetch", follower=2, leader=1, logs={2: TWO[:1]})


def store(scene: Scene, broker: int, *records: int) -> None:
    """Have a broker store records."""
    scene.cluster.logs[broker] += [(f"record-{record}", scene.cluster.views[broker].epoch) for record in records]


def test_a_fetch_lets_one_record_through(scene: Scene) -> None:
    scene.begin(copied().add("fetch", follower=2, leader=1, logs={2: TWO}))
    store(scene, 1, 1, 2)
    scene.follow()
    scene.play(1, 2)
    assert (scene.values(2), scene.values(3)) == ([1], [])
    assert scene.cluster.fetched == [2]
    scene.play(3)
    assert (scene.values(2), scene.values(3)) == ([1, 2], [])


def test_a_few_fetches_without_records_pass_first(scene: Scene) -> None:
    scene.begin(copied())
    store(scene, 1, 1, 2)
    scene.cluster.empty[2] = MOST_FETCHES - 1
    scene.follow()
    scene.play()
    assert scene.cluster.fetched == [2] * MOST_FETCHES


@pytest.mark.usefixtures("impatient")
def test_no_more_than_a_few_fetches_pass_for_a_step(scene: Scene) -> None:
    scene.begin(copied())
    store(scene, 1, 1, 2)
    scene.cluster.empty[2] = 100
    for follower in (2, 3):
        scene.cluster.follow(follower, 1)
    with pytest.raises((DivergedError, NotSeen)):
        scene.play()
    assert len(scene.cluster.fetched) <= MOST_FETCHES


def test_a_fetch_of_a_connection_that_the_follower_has_left_is_no_fetch(scene: Scene) -> None:
    replay = scene.begin(copied())
    store(scene, 1, 1, 2)
    left = scene.cluster.follow(2, 1)
    old = replay.wait_fetch(2, 1)
    left.socket.shutdown(2)
    scene.proxy.wait_seen(lambda e: e.frame is old and e.fate == "detached", what="the end of a fetch", seconds=10)
    assert replay.held_fetch(2, 1) is None
    scene.follow()
    scene.play()
    assert old in replay.gates.fetches.held


def test_a_fetch_from_another_leader_waits(scene: Scene) -> None:
    replay = scene.begin(Trace())
    scene.cluster.follow(3, 1)
    replay.wait_fetch(3, 1)
    assert replay.held_fetch(3, 2) is None
    assert replay.held_fetch(2, 1) is None


def test_a_follower_truncates_at_its_step(scene: Scene) -> None:
    trace = Trace().add("become_slow", broker=2, logs={1: TWO, 2: (*TWO[:1], "record 3 @1")})
    scene.begin(trace.add("truncate", follower=2, leader=1, logs={2: TWO[:1]}))
    store(scene, 1, 1, 2)
    store(scene, 2, 1, 3)
    scene.follow()
    scene.play(1)
    assert scene.values(2) == [1, 3]
    scene.play(2)
    assert scene.values(2) == [1]


def test_a_broker_learns_of_decisions_at_its_step(scene: Scene) -> None:
    trace = Trace().add("move_leader", broker=2, state=MOVED)
    scene.begin(trace.add("apply_metadata", broker=2).add("apply_metadata", broker=1))
    scene.play(1)
    assert {broker: scene.cluster.views[broker].leader for broker in (1, 2, 3)} == {1: 1, 2: 1, 3: 1}
    scene.play(2)
    assert {broker: scene.cluster.views[broker].leader for broker in (1, 2, 3)} == {1: 1, 2: 2, 3: 1}
    assert scene.replay.facts[-1].text == f"leader 2, epoch {FIRST_EPOCH + 1}, ISR [1, 2, 3]"
    scene.play(3)
    assert scene.cluster.views[1].leader == 2
    scene.cluster.decide(leader=3)
    scene.replay.gates.metadata[1].wait(what="what the controller tells broker 1", seconds=10)
    assert scene.cluster.views[1].leader == 2, "the gate is closed again"


def test_the_clusters_epoch_belongs_to_the_models(scene: Scene) -> None:
    trace = Trace().add("move_leader", broker=2, state=MOVED).add("apply_metadata", broker=2)
    trace.add("become_slow", broker=3, logs={2: ("record 1 @2",)})
    scene.begin(trace)
    scene.play(1, 2)
    assert scene.replay.epochs == {1: FIRST_EPOCH, 2: FIRST_EPOCH + 1}
    store(scene, 2, 1)
    scene.play(3)


@pytest.mark.usefixtures("impatient")
def test_another_decision_of_the_controller_is_not_the_traces(scene: Scene) -> None:
    scene.begin(Trace().add("fence", broker=1, state={**MOVED, "ISR": "{2, 3}"}))
    scene.cluster.decide(leader=3, isr=(2, 3))
    with pytest.raises(NotSeen, match=re.escape("decision on leader 2 and ISR {2, 3}")):
        scene.play()


def test_only_the_traces_proposal_of_a_smaller_isr_passes(scene: Scene) -> None:
    scene.begin(Trace().add("shrink_isr", leader=1, follower=3, state={"ISR": "{1, 2}"}))
    scene.cluster.propose(1, (1,))
    scene.cluster.propose(2, (1, 2))
    gate = scene.replay.gates.isr_changes
    smaller = gate.wait(lambda frame: frame.link == "1->controller", what="the proposal of another ISR", seconds=10)
    of_another = gate.wait(
        lambda frame: frame.link == "2->controller", what="the proposal of another leader", seconds=10
    )
    scene.cluster.propose(1, (1, 2))
    scene.play()
    assert scene.cluster.views[CONTROLLER].isr == (1, 2)
    assert set(gate.held) == {smaller, of_another}
    assert scene.cluster.views[1].isr == (1, 2), "the leader hears of its own proposal"
    assert scene.cluster.views[3].isr == (1, 2, 3)


def test_a_leader_proposes_an_isr_again_that_the_controller_has_refused(scene: Scene) -> None:
    scene.begin(Trace().add("shrink_isr", leader=1, follower=3, state={"ISR": "{1, 2}"}))
    scene.cluster.refusals = 1
    scene.cluster.propose(1, (1, 2))
    scene.cluster.propose(1, (1, 2))
    scene.play()
    assert scene.cluster.refusals == 0
    assert scene.cluster.views[CONTROLLER].isr == (1, 2)


@pytest.mark.usefixtures("impatient")
def test_another_proposal_than_the_traces_does_not_pass(scene: Scene) -> None:
    scene.begin(Trace().add("shrink_isr", leader=1, follower=3, state={"ISR": "{1, 2}"}))
    scene.cluster.propose(1, (1, 3))
    with pytest.raises(NotSeen, match=re.escape("a proposal of broker 1 for the ISR {1, 2}")):
        scene.play()
    assert scene.cluster.views[CONTROLLER].isr == (1, 2, 3)


def grown(scene: Scene) -> None:
    """Begin the trace in which broker 3 joins the ISR {1, 2}, of which the leader has not heard."""
    trace = Trace().add("shrink_isr", leader=1, state={"ISR": "{1, 2}"})
    scene.begin(trace.add("expand_isr", leader=1, follower=3, state={"ISR": "{1, 2, 3}"}))
    scene.cluster.propose(1, (1, 2))
    scene.play(1)


def test_a_follower_joins_the_isr_at_a_fetch_with_all_records(scene: Scene) -> None:
    grown(scene)
    scene.cluster.expands[3] = (1, 2, 3)
    scene.follow()
    scene.play(2)
    assert scene.cluster.views[CONTROLLER].isr == (1, 2, 3)
    assert scene.cluster.views[1].isr == (1, 2, 3)
    assert set(scene.cluster.fetched) == {3}
    scene.cluster.decide(isr=(1,))
    scene.replay.gates.metadata[1].wait(what="what the controller tells broker 1", seconds=10)
    assert scene.cluster.views[1].isr == (1, 2, 3), "the gate is closed again"


@pytest.mark.usefixtures("impatient")
def test_a_follower_that_lacks_a_record_does_not_fetch_it_to_join_the_isr(scene: Scene) -> None:
    grown(scene)
    scene.cluster.expands[3] = (1, 2, 3)
    store(scene, 1, 1)
    scene.follow()
    with pytest.raises(NotSeen, match=re.escape("for the ISR {1, 2, 3}")):
        scene.play(2)
    assert scene.values(3) == []
