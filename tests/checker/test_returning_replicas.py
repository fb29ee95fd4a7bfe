"""Replicas that come back with less than they had fetched, by release (semantics 6.2, 6.7; KIP-903, KAFKA-15221)."""

from __future__ import annotations

import pytest

from model.deployment.explored import Bounds
from model.faults import Fault
from properties.verdict import CutSet, Status
from tests.checker.asking import ask, cut
from tests.checker.records import recorded
from tests.deployments import changed

JAVA = {
    "topic.replicas": 3,
    "topic.min.insync.replicas": 2,
    "consumer.group.id": "orders",
    "consumer.enable.auto.commit": False,
}
FAULTS = {"slow-follower": 1, "disk-loss": 1, "leader-move": 1}
SMALL = Bounds(records=1, log=2, sends=1, epochs=5, producer_epochs=1)
ALL_THREE = (cut(Fault.SLOW_FOLLOWER, Fault.DISK_LOSS, Fault.LEADER_MOVE),)


@pytest.mark.parametrize(("kafka", "cuts"), [("3.5.0", ALL_THREE), ("3.6.2", ALL_THREE), ("3.7.0", ()), ("4.0.0", ())])
def test_before_3_7_an_empty_replica_joins_for_what_it_fetched_before(kafka: str, cuts: tuple[CutSet, ...]) -> None:
    """KAFKA-15221."""
    deployment = recorded("no-acked-loss", FAULTS, JAVA, {"kafka": kafka})
    verdict = ask(changed(deployment, bounds=SMALL), "no-acked-loss")["no-acked-loss"]
    assert (verdict.status, verdict.cut_sets) == (Status.VIOLATED if cuts else Status.HOLDS, cuts)
