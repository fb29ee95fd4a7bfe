"""Observations at the end of a replay."""

from __future__ import annotations

import pytest

from proofka.checker.reproduction.observing import observe
from tests.checker.reproduction.fake_clients import FakeConsumer
from tests.checker.reproduction.scene import Scene
from tests.checker.reproduction.traces import Trace


@pytest.mark.parametrize(("action", "commits"), [("restart_consumer_at_end", True), ("restart_consumer", False)])
def test_a_consumer_whose_committed_offset_expired_commits_before_it_is_judged(
    scene: Scene, action: str, commits: bool
) -> None:
    scene.consumers = [FakeConsumer(1)]
    scene.begin(Trace().add(action, state={"position": "0"}))
    scene.cluster.committed = None
    scene.play()
    observe(scene.replay)
    asked = [command for command, _ in scene.consumers[0].commands]
    assert ("commit" in asked) == commits
