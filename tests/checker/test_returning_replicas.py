"""Replicas that come back with less than they had fetched, by release (semantics 6.2, 6.7; KIP-903, KAFKA-15221)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import z3

from proofka.model.deployment import Deployment
from proofka.model.deployment.explored import Bounds
from proofka.model.faults import Fault
from proofka.model.language import Action
from proofka.model.pipeline import Model, build
from proofka.model.state.pipeline import Pipeline
from proofka.properties.verdict import CutSet, Status, Verdict
from proofka.reports.guide.entry import table
from tests.checker.asking import ask, cut
from tests.checker.records import recorded
from tests.deployments import changed
from tests.model.mutate import assume, follower_of, leader_of, leaves

JAVA = {
    "topic.replicas": 3,
    "topic.min.insync.replicas": 2,
    "consumer.group.id": "orders",
    "consumer.enable.auto.commit": False,
}
FAULTS = {"slow-follower": 1, "disk-loss": 1, "leader-move": 1}
MIXED = {"mixed-fetches": 1}
SMALL = Bounds(records=1, log=2, sends=1, epochs=5, producer_epochs=1)
ALL_THREE = (cut(Fault.SLOW_FOLLOWER, Fault.DISK_LOSS, Fault.LEADER_MOVE),)
ALL_FOUR = (cut(Fault.SLOW_FOLLOWER, Fault.DISK_LOSS, Fault.LEADER_MOVE, Fault.MIXED_FETCHES),)


def of(kafka: str, faults: Mapping[str, int]) -> Deployment:
    return changed(recorded("no-acked-loss", faults, JAVA, {"kafka": kafka}), bounds=SMALL)


def check(question: Deployment | Model, cuts: tuple[CutSet, ...]) -> Verdict:
    verdict = ask(question, "no-acked-loss")["no-acked-loss"]
    assert (verdict.status, verdict.cut_sets) == (Status.VIOLATED if cuts else Status.HOLDS, cuts)
    return verdict


def test_the_guide_names_the_faults_beside_mixed_fetches() -> None:
    (row,) = [row for row in table("violations") if row["fault"] == Fault.MIXED_FETCHES]
    assert (cut(*map(Fault, [row["fault"], *row["others"].split()])),) == ALL_FOUR
    assert row["properties"] == "no-acked-loss"


@pytest.mark.parametrize(("kafka", "cuts"), [("3.4.1", ALL_THREE), ("3.5.0", ()), ("3.6.2", ()), ("3.7.0", ())])
def test_before_3_5_an_empty_replica_joins_for_records_fetched_before_its_restart(
    kafka: str, cuts: tuple[CutSet, ...]
) -> None:
    """KIP-903."""
    check(of(kafka, FAULTS), cuts)


@pytest.mark.parametrize(
    ("kafka", "cuts"), [("3.4.1", ALL_THREE), ("3.5.0", ALL_FOUR), ("3.6.2", ALL_FOUR), ("3.7.0", ())]
)
def test_an_empty_replica_joins_3_5_and_3_6_if_two_fetches_are_mixed(kafka: str, cuts: tuple[CutSet, ...]) -> None:
    """KAFKA-15221."""
    verdict = check(of(kafka, FAULTS | MIXED), cuts)
    mixed = [step.action == "mix_fetches" for trace in verdict.traces for step in trace.steps]
    assert any(mixed) is (cuts == ALL_FOUR)


def reached_high_watermark(pipeline: Pipeline, action: Action) -> z3.BoolRef:
    leader, follower = leader_of(pipeline, action), follower_of(pipeline, action)
    return leader.fetched_before[follower.number].term - 1 >= leader.high_watermark.term


def reached_epoch(pipeline: Pipeline, action: Action) -> z3.BoolRef:
    leader, follower = leader_of(pipeline, action), follower_of(pipeline, action)
    start = leader.log.count(lambda _, slot: slot["epoch"].term < leader.epoch.term)
    return leader.fetched_before[follower.number].term - 1 >= start


def test_a_broken_model_mixes_fetches_of_a_follower_that_lagged() -> None:
    """The older fetch must have reached what every other fetch must reach for the ISR."""
    deployment = of("3.6.2", {"disk-loss": 1, "leader-move": 1} | MIXED)
    check(deployment, ())
    broken = assume("mix_fetches", reached_high_watermark, reached_epoch)
    check(broken(build(deployment)), (cut(Fault.DISK_LOSS, Fault.LEADER_MOVE, Fault.MIXED_FETCHES),))


def test_a_broken_model_keeps_the_log_end_that_a_replica_fetched_before_its_restart() -> None:
    """Broker 1 leads first; what it knows of the others has to go at their restart, also of what was in the ISR."""
    broken = leaves("restart", *(lambda pipeline, _, one=one: pipeline.replica(1).fetched[one] for one in (2, 3)))
    check(broken(build(of("3.6.2", FAULTS))), (cut(Fault.DISK_LOSS, Fault.LEADER_MOVE),))
