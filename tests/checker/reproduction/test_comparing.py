"""After each step the logs of brokers are the model's, or both sides are told in words."""

from __future__ import annotations

import pytest

from proofka.checker.reproduction.errors import DivergedError
from tests.checker.reproduction.fake_cluster import FIRST_EPOCH
from tests.checker.reproduction.scene import Scene
from tests.checker.reproduction.traces import Trace

STORED = {1: ("record 1 @1",)}

pytestmark = pytest.mark.usefixtures("impatient")


def idle(**changes: object) -> Trace:
    """Return the trace of one step that does nothing by itself."""
    return Trace().add("become_slow", broker=3, **changes)  # type: ignore[arg-type]


def test_a_log_that_differs_diverges_with_both_sides_in_words(scene: Scene) -> None:
    scene.begin(idle(logs=STORED))
    scene.cluster.logs[1].append(("record-2", FIRST_EPOCH))
    with pytest.raises(DivergedError) as diverged:
        scene.play()
    assert diverged.value.model == "broker 1's log is [record 1 @1]"
    assert diverged.value.observed == "broker 1's disk has [record 2 @1]"


def test_a_record_of_another_epoch_diverges(scene: Scene) -> None:
    replay = scene.begin(idle(logs=STORED))
    replay.epochs[2] = FIRST_EPOCH + 3
    scene.cluster.logs[1].append(("record-1", FIRST_EPOCH + 4))
    with pytest.raises(DivergedError, match=r"disk has \[record 1 @2\]"):
        scene.play()


def test_a_record_that_the_model_does_not_have_diverges(scene: Scene) -> None:
    scene.begin(idle())
    scene.cluster.logs[3].append(("record-1", FIRST_EPOCH))
    with pytest.raises(DivergedError) as diverged:
        scene.play()
    assert diverged.value.model == "broker 3's log is []"


def test_records_before_the_trace_are_none_of_it(scene: Scene) -> None:
    replay = scene.begin(idle(logs=STORED))
    scene.cluster.logs[1].append(("record-1", FIRST_EPOCH))
    scene.play()
    assert replay.log(1) == (("record 1", 1),)
    assert replay.entries(1) == ((0, "record 0", FIRST_EPOCH), (1, "record 1", FIRST_EPOCH))


def test_a_log_is_noted_once_with_real_offsets_and_epochs(scene: Scene) -> None:
    scene.begin(idle(logs=STORED).add("become_slow", broker=2))
    scene.cluster.logs[1].append(("record-1", FIRST_EPOCH))
    scene.play()
    (fact,) = scene.replay.facts
    assert (fact.step, fact.source, fact.text) == (1, "log of broker 1", f"1: record 1 (epoch {FIRST_EPOCH})")


def test_the_log_of_a_broker_that_is_down_counts_only_where_the_step_changes_it(scene: Scene) -> None:
    scene.cluster.logs[1].append(("record-1", FIRST_EPOCH))
    scene.begin(idle(state={"broker 1": "down"}).add("become_slow", broker=2, logs={1: ("record 2 @1",)}))
    scene.play(1)
    with pytest.raises(DivergedError):
        scene.play(2)
