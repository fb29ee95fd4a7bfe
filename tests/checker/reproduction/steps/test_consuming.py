"""The consumer polls the trace's records, commits before it crashes where the trace's next start finds a commit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofka.checker.cluster.errors import NotSeen
from proofka.checker.cluster.plan import CONTROLLER
from proofka.checker.reproduction.errors import DivergedError
from proofka.checker.reproduction.replay import Replay
from proofka.checker.reproduction.steps import consuming
from tests.checker.reproduction.fake_clients import FakeConsumer
from tests.checker.reproduction.scene import Scene
from tests.checker.reproduction.traces import Trace

BOTH = "the consumer polls record 1 and record 2 from broker 1"
COMMITTED = {"committed offset at the last start": "1", "position": "1"}


def polled(action: str = "poll", **arguments: int) -> Trace:
    """Return the trace in which the consumer polls two records."""
    return Trace().add(action, text=BOTH, **arguments)


def test_polls_go_on_until_all_records_of_the_step_came(scene: Scene) -> None:
    scene.consumers = [FakeConsumer(1, [[(0, 0), (1, 1)], [(2, 2)]])]
    scene.begin(polled())
    scene.play()
    assert scene.replay.consuming.processed == [1, 2]
    asked = [arguments["count"] for command, arguments in scene.consumers[0].commands if command == "poll"]
    assert asked == [2, 1], "no poll asks for more records than the step has"


def test_a_consumer_that_does_not_tell_its_position_starts_at_its_first_fetch(scene: Scene) -> None:
    scene.consumers = [FakeConsumer(None, [[(1, 1), (2, 2)]])]
    scene.first_fetches = {1: 1}
    scene.begin(polled())
    scene.play()
    assert scene.replay.consuming.started_at == {1: 1}


@pytest.mark.parametrize(
    ("polls", "words"),
    [([], "polls nothing"), ([[(1, 1)]], "polls record 1"), ([[(1, 2)], [(2, 1)]], "polls record 2, record 1")],
)
def test_other_records_than_the_traces_diverge(scene: Scene, polls: list[list[tuple[int, int]]], words: str) -> None:
    scene.consumers = [FakeConsumer(1, polls)]
    scene.begin(polled())
    with pytest.raises(DivergedError) as diverged:
        scene.play()
    assert diverged.value.model == BOTH
    assert diverged.value.observed == f"the consumer {words}"


def test_a_consumer_that_crashes_has_processed_some_of_its_records(scene: Scene) -> None:
    scene.consumers = [FakeConsumer(1, [[(1, 1), (2, 2)]])]
    scene.begin(polled("crash_while_processing", done=1))
    scene.play()
    assert scene.replay.consuming.processed == [1]
    assert scene.consumers[0].commands[-1] == ("kill", {})


def test_a_commit_that_the_next_start_finds_is_made_before_the_crash(scene: Scene) -> None:
    scene.consumers = [FakeConsumer(1, [[(1, 1), (2, 2)]]), FakeConsumer(2)]
    trace = polled().add("crash_consumer").add("restart_consumer", state=COMMITTED)
    scene.begin(trace, application={"commit": "manual"})
    scene.play()
    assert scene.consumers[0].commands[-2:] == [("commit", {"offset": 2}), ("kill", {})]
    assert scene.replay.consuming.started_at == {1: 1, 2: 2}


def test_no_commit_is_made_that_no_start_finds(scene: Scene) -> None:
    scene.consumers = [FakeConsumer(1, [[(1, 1), (2, 2)]]), FakeConsumer(1)]
    scene.begin(polled().add("crash_consumer").add("restart_consumer"))
    scene.play()
    assert [command for command, _ in scene.consumers[0].commands] == ["join", "poll", "kill"]


def test_a_commit_that_fails_diverges(scene: Scene) -> None:
    scene.consumers = [FakeConsumer(1, [[(1, 1), (2, 2)]], on_commit="a rebalance")]
    scene.begin(polled().add("crash_consumer").add("restart_consumer", state=COMMITTED))
    with pytest.raises(DivergedError, match="the commit fails"):
        scene.play()


def test_the_consumers_own_commit_is_awaited_before_the_crash(scene: Scene) -> None:
    scene.consumers = [FakeConsumer(1, [[(1, 1), (2, 2)]]), FakeConsumer(2)]
    scene.consumers[0].on_poll = lambda: setattr(scene.cluster, "committed", 2)
    trace = polled().add("crash_consumer").add("restart_consumer", state=COMMITTED)
    scene.begin(trace, application={"commit": "auto"})
    scene.play()
    assert scene.consumers[0].commands[-2:] == [("poll", {"count": 0, "milliseconds": 1000}), ("kill", {})]


@pytest.mark.usefixtures("impatient")
def test_the_commit_of_another_offset_is_not_the_traces(scene: Scene) -> None:
    scene.consumers = [FakeConsumer(1, [[(1, 1), (2, 2)]])]
    scene.consumers[0].on_poll = lambda: setattr(scene.cluster, "committed", 3)
    trace = polled().add("crash_consumer").add("restart_consumer", state=COMMITTED)
    scene.begin(trace, application={"commit": "auto"})
    with pytest.raises(NotSeen, match="the commit of offset 2 by group group"):
        scene.play()


def test_a_consumer_that_starts_at_another_offset_diverges(scene: Scene) -> None:
    scene.consumers = [FakeConsumer(1, [[(1, 1), (2, 2)]]), FakeConsumer(3)]
    scene.begin(polled().add("crash_consumer").add("restart_consumer", state=COMMITTED))
    with pytest.raises(DivergedError) as diverged:
        scene.play()
    assert diverged.value.model == "the consumer starts at offset 2"
    assert diverged.value.observed == "the consumer starts at offset 3"


def test_workers_that_finished_have_processed_their_records(scene: Scene) -> None:
    scene.consumers = [FakeConsumer(1, [[(1, 1), (2, 2)]]), FakeConsumer(1)]
    scene.begin(polled("hand_off").add("crash_consumer").add("restart_consumer", finished=0b10))
    scene.play(1)
    assert scene.replay.consuming.with_workers == {0: 1, 1: 2}
    assert scene.replay.consuming.processed == []
    scene.play(2, 3)
    assert scene.replay.consuming.processed == [2]
    assert scene.replay.consuming.with_workers == {}


@pytest.fixture
def asked(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int | None, list[str]]]:
    """Note the answers that the consumer waits for, from which broker, and the links that are out of reach."""
    refused: list[str] = []
    found: list[tuple[str, int | None, list[str]]] = []

    def ask(replay: Replay, api: str, *, at: int | None = None, since: int | None = None) -> None:
        found.append((api, at, list(refused)))

    monkeypatch.setattr(scene.proxy, "refuse", refused.append)
    monkeypatch.setattr(scene.proxy, "accept", lambda link: refused.remove(link) if link in refused else None)
    monkeypatch.setattr(consuming, "_poll_until_asked", ask)
    scene.begin(Trace().add("reset_beyond_end", leader=1))
    for node in (2, CONTROLLER):
        scene.cluster.views[node] = replace(scene.cluster.views[node], leader=2)
    return found


OTHERS = [f"client->{CONTROLLER}", "client->2"]
AT_THE_END = [("Metadata", 1, OTHERS), ("ListOffsets", None, ["client->2"])]


def test_a_consumer_that_is_to_find_the_end_of_a_log_reaches_no_broker_that_names_another_leader(
    scene: Scene, asked: list[tuple[str, int | None, list[str]]]
) -> None:
    scene.play()
    assert asked == AT_THE_END


def test_a_consumer_hears_of_a_fenced_broker_once_the_controller_has_the_broker_back(
    scene: Scene, asked: list[tuple[str, int | None, list[str]]]
) -> None:
    scene.cluster.fenced.add(1)
    scene.play()
    assert asked == [("Metadata", None, []), *AT_THE_END]
    assert scene.cluster.done.count(("wait_serving", 1)) == len(OTHERS)
