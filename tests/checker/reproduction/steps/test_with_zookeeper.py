"""Steps of brokers in a cluster whose channels differ from those of KRaft, as with ZooKeeper."""

from __future__ import annotations

from typing import Any

import pytest

from proofka.checker.cluster.kraft_channels import KRaftChannels
from proofka.checker.cluster.plan import CONTROLLER
from tests.checker.reproduction.fake_cluster import FakeCluster
from tests.checker.reproduction.scene import Scene
from tests.checker.reproduction.traces import Trace


class OldChannels(KRaftChannels):
    """Channels of a cluster in which a broker that is back has yet to hear what the controller has decided.

    ``wanted``: the ISRs that leaders could put into effect, one after the other; None stands for no ISR.
    """

    knows_when_back = False

    def __init__(self) -> None:
        self.wanted: list[tuple[int, ...] | None] = []

    def withhold(self, wanted: tuple[int, ...] | None = None) -> None:
        """Note the ISR."""
        self.wanted.append(wanted)


@pytest.fixture
def channels(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> OldChannels:
    """Give the scene's cluster such channels."""
    made = OldChannels()
    monkeypatch.setattr(scene.cluster, "channels", made)
    return made


def test_leaders_put_only_the_isr_of_the_step_into_effect(scene: Scene, channels: OldChannels) -> None:
    trace = Trace().add("shrink_isr", leader=1, state={"ISR": "{1, 2}"})
    scene.begin(trace.add("expand_isr", leader=1, follower=3, state={"ISR": "{1, 2, 3}"}))
    assert channels.wanted == [None]
    scene.cluster.propose(1, (1, 2))
    scene.play(1)
    assert channels.wanted == [None, (1, 2), None]
    scene.cluster.expands[3] = (1, 2, 3)
    scene.follow()
    scene.play(2)
    assert channels.wanted == [None, (1, 2), None, (1, 2, 3), None]


@pytest.mark.usefixtures("channels")
def test_a_broker_that_is_back_hears_all_decisions_of_the_controller(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def serving_again(cluster: FakeCluster, broker: int, **options: Any) -> None:
        cluster.decide(leader=2)

    monkeypatch.setattr(FakeCluster, "wait_serving", serving_again)
    scene.begin(Trace().add("kill", broker=3, state={"broker 3": "down"}).add("restart", broker=3))
    scene.play()
    assert scene.cluster.views[3] == scene.cluster.views[CONTROLLER]
    assert scene.cluster.views[3].leader == 2
    assert scene.cluster.views[1].leader == 1
