"""A replay's view of its cluster."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from proofka.checker.cluster.metadata_view import View
from proofka.checker.reproduction.replay import Replay
from proofka.checker.reproduction.steps import brokers


def seen(leader: int) -> Replay:
    """Return a replay whose controller tells this leader."""
    view = View(leader=leader, epoch=1, isr=(1,), replicas=(1,), error="")
    return cast(Replay, SimpleNamespace(view=lambda *_: view))


@pytest.mark.parametrize(("told", "leader"), [(-1, None), (2, 2)])
def test_a_partition_without_leader_has_none(told: int, leader: int | None) -> None:
    get = Replay.leader.fget
    assert get is not None and get(seen(told)) == leader
    assert brokers._decided(seen(told)) == (leader, (1,))
