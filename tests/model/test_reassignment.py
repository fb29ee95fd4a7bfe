"""A replica moves to another broker: what that takes, what becomes of the old one, and what is lost (semantics 6.8)."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from proofka.model.deployment import Deployment, read_deployment
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.explored import FaultBudget
from proofka.model.deployment.implied.outages import modelled_brokers
from proofka.model.deployment.truncation import Truncation
from proofka.model.faults import Fault
from proofka.properties.agreement import disagree
from proofka.properties.verdict import CutSet, Status
from tests.checker.asking import SMALL, ask, cut, example
from tests.checker.plain_evaluator import holds
from tests.deployments import changed
from tests.model.scripted import BOUNDS, Scenario

MOVE, KILL, MOVED = Fault.REASSIGNMENT, Fault.KILL, cut(Fault.REASSIGNMENT)
KINDS = (MOVE, KILL, Fault.SLOW_FOLLOWER, Fault.CUT_OFF, Fault.POWER_LOSS)


@cache
def start(**settings: Any) -> Scenario:
    return Scenario(changed(example("acks-all-min-isr-2", KINDS, 9), bounds=BOUNDS, **settings))


def scenario(**settings: Any) -> Scenario:
    return copy(start(**settings))


def caught_up(run: Scenario, broker: int, leader: int = 1) -> Scenario:
    """Move a broker's replica to the new broker, and let that broker join the ISR."""
    to = len(run.pipeline.replicas)
    run.do("begin_reassignment", broker=broker).do("apply_metadata", broker=to)
    if run.pipeline.replica(to).reconciled is not None:
        run.do("truncate", follower=to, leader=leader)
    run.replicate(to, leader)
    return run.do("expand_isr", leader=leader, follower=to)


def has_nothing(run: Scenario, broker: int) -> bool:
    replica = run.pipeline.replica(broker)
    return (run.log(broker), run.value(replica.leader), run.value(replica.high_watermark)) == ([], 0, 0)


def test_a_broker_more_has_no_part_in_it_before_it_is_asked() -> None:
    run = scenario()
    assert run.isr == {1, 2, 3}
    for name in ("kill", "apply_metadata", "cut_off"):
        assert not run.can(name, broker=4)
    assert not run.can("fetch", follower=4, leader=1)


def test_the_new_one_catches_up_and_the_leader_that_is_moved_hands_over() -> None:
    run = caught_up(scenario().produce(0, 1).replicate(2, 1), broker=1)
    assert not run.can("complete_reassignment", broker=2)
    run.replicate(3, 1).do("acknowledge", batch=0, leader=1).do("complete_reassignment", broker=1)
    assert (run.isr, run.leader) == ({2, 3, 4}, 4), "it has the place of the one before it in the order"
    assert run.log(1) == [0], "which does not know of it yet"
    run.do("apply_metadata", broker=1)
    assert has_nothing(run, 1)
    for name in ("kill", "restart", "apply_metadata", "become_slow"):
        assert not run.can(name, broker=1)
    run.do("apply_metadata", broker=4).produce(1, 4)
    assert run.log(4) == [0, 1]
    assert not run.can("begin_reassignment", broker=2), "one is shown"


def test_a_leader_that_stays_leads_on_in_a_new_epoch() -> None:
    run = caught_up(scenario(), broker=3).do("complete_reassignment", broker=3)
    assert (run.isr, run.leader, run.value(run.pipeline.controller.epoch)) == ({1, 2, 4}, 1, 2)
    assert not run.do("apply_metadata", broker=1).can("fetch", follower=3, leader=1)


def test_new_replica_has_the_records_acknowledged_meanwhile() -> None:
    """A leader waits for it from when it proposed it, though it does not know that it is replaced (6.2, I2)."""
    run = caught_up(scenario(), broker=1).do("complete_reassignment", broker=1)
    run.produce(0, 1).replicate(2, 1).replicate(3, 1)
    assert not run.can("acknowledge", batch=0, leader=1)
    assert run.replicate(4, 1).can("acknowledge", batch=0, leader=1)


@pytest.mark.parametrize("suffices", [True, False])
def test_replicas_that_must_be_in_sync_before_a_removal(suffices: bool) -> None:
    """From 3.8 on all that stay; in KRaft mode before, the new one is enough (KAFKA-15665)."""
    run = scenario(new_replica_suffices=suffices).do("become_slow", broker=3).produce(0, 1).replicate(2, 1)
    run = caught_up(run.do("shrink_isr", leader=1, follower=3), broker=1)
    assert run.can("complete_reassignment", broker=1) is suffices
    run.do("recover_speed", broker=3).replicate(3, 1).do("expand_isr", leader=1, follower=3)
    assert run.can("complete_reassignment", broker=1)


@pytest.mark.parametrize(
    ("kafka", "more", "suffices"),
    [
        ("3.7", "", True),
        ("3.8", "", False),
        ("3.7", "broker: {zookeeper.connect: zk}", False),
        ("2.0", "", False),
    ],
)
def test_new_replica_suffices_in_some_releases(tmp_path: Path, kafka: str, more: str, suffices: bool) -> None:
    assert read(tmp_path, f'kafka: "{kafka}"\n{more}').cluster.new_replica_suffices is suffices


def test_replica_of_a_stopped_broker_is_replaced() -> None:
    run = scenario().produce(0, 1).replicate(2, 1).replicate(3, 1).do("kill", broker=3).do("fence", broker=3)
    run.do("learn_isr", broker=1)
    run = caught_up(run, broker=3).do("complete_reassignment", broker=3)
    assert has_nothing(run, 3)
    assert not run.can("restart", broker=3)


def test_cut_off_replica_deletes_its_log_after_it_rejoins() -> None:
    run = caught_up(scenario().produce(0, 1).replicate(2, 1).replicate(3, 1), broker=3)
    run.do("become_slow", broker=3).do("cut_off", broker=3).do("complete_reassignment", broker=3)
    assert not run.can("apply_metadata", broker=3)
    assert run.log(3) == [0]
    assert has_nothing(run.do("fence", broker=3).do("rejoin", broker=3), 3)
    assert run.leader == 1
    assert not run.value(run.pipeline.replica(3).slow)


def test_a_leader_without_epochs_in_fetches_refuses_the_one_that_was_removed() -> None:
    """Before 2.1 it would answer who fetches in an older epoch."""
    run = caught_up(scenario(truncation=Truncation.EPOCHS), broker=3).do("complete_reassignment", broker=3)
    assert run.can("fetch", follower=3, leader=1)
    assert not run.do("apply_metadata", broker=1).can("fetch", follower=3, leader=1)


def test_an_unclean_election_may_choose_the_one_that_has_nothing_yet() -> None:
    run = scenario(unclean_leader_election=True).produce(0, 1).do("begin_reassignment", broker=1)
    for broker in (2, 3, 1):
        run.do("kill", broker=broker).do("fence", broker=broker)
    run.do("elect_unclean", broker=4)
    assert (run.isr, run.leader) == ({4}, 4)
    assert not run.can("complete_reassignment", broker=1)


UNCLEAN: dict[str, Any] = {"replicas": 1, "min_insync_replicas": 1, "unclean_leader_election": True}
ALONE: dict[str, Any] = {"replicas": 1, "min_insync_replicas": 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "settings", "sets"),
    [
        ("acks-1", {}, (MOVED,)),
        ("acks-all-min-isr-2", {}, ()),
        ("acks-all-min-isr-1", ALONE, ()),
        ("acks-all-min-isr-1", UNCLEAN, (cut(KILL, MOVE),)),
    ],
)
def test_reassignment_loses_records(name: str, settings: dict[str, Any], sets: tuple[CutSet, ...]) -> None:
    """acks=1 as in any move of a leader; a topic of one replica where unclean election is on."""
    deployment = changed(example(name), bounds=SMALL, faults=FaultBudget(2, ((KILL, 1), (MOVE, 1))), **settings)
    if sets == (MOVED,) or not settings:
        deployment = replace(deployment, faults=FaultBudget(1, ((MOVE, 1),)))
    verdict = ask(deployment, "no-acked-loss")["no-acked-loss"]
    assert (verdict.status, verdict.cut_sets) == (Status.VIOLATED if sets else Status.HOLDS, sets)


def read(folder: Path, start: str, replicas: int = 3, faults: str = "reassignment: 1") -> Deployment:
    file = folder / "asked.yaml"
    text = f"{start}\ntopic: {{replicas: {replicas}, min.insync.replicas: 2}}\nassume: {{faults: {{{faults}}}}}"
    file.write_text(text + "\nproducer: {enable.idempotence: false}\n", encoding="utf-8")
    return read_deployment(file)


@pytest.mark.parametrize(
    ("replicas", "faults", "because"),
    [
        (3, "reassignment: 2", "from 0 to 1"),
        (3, "reassignment: any", "from 0 to 1"),
        (1, "reassignment: 1", r"min.insync.replicas \(2\) exceeds the number of replicas \(1\)"),
    ],
)
def test_reassignment_is_refused(tmp_path: Path, replicas: int, faults: str, because: str) -> None:
    with pytest.raises(DeploymentError, match=because):
        read(tmp_path, 'kafka: "4.0"', replicas, faults)


def test_reassignment_happens_only_if_it_is_named(tmp_path: Path) -> None:
    assert modelled_brokers(read(tmp_path, 'kafka: "4.0"', faults="total: 2")) == 3
    assert modelled_brokers(read(tmp_path, 'kafka: "4.0"')) == 4


def test_removed_replica_is_compared_with_no_other_replica() -> None:
    """Its broker may have died before it heard of it, and nobody ever asks it again."""
    run = scenario(unclean_leader_election=True, min_insync_replicas=1, idempotence=False).produce(0, 1)
    run.replicate(2, 1).replicate(3, 1)
    run = caught_up(run.do("acknowledge", batch=0, leader=1), broker=1)
    run.do("complete_reassignment", broker=1).do("kill", broker=1)
    for broker in (2, 3, 4):
        run.do("lose_power", broker=broker, kept=0)
        if broker != 4:
            run.do("fence", broker=broker)
    assert run.log(1) == [0]
    run.do("fence", broker=4).do("restart", broker=2).do("elect_unclean", broker=2).do("apply_metadata", broker=2)
    run.produce(1, 2)
    assert run.high_watermark(1) == run.high_watermark(2) == 1
    one, other, serving = (run.pipeline.replica(number) for number in (1, 2, 4))
    assert not holds(disagree(run.pipeline, one, other, 0), run.state)
    assert not holds(disagree(run.pipeline, other, serving, 0), run.state)
