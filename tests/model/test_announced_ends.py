"""A broker that is stopped on purpose hands over first, and writes all down; one without a log directory does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from proofka.model.deployment.truncation import Truncation
from proofka.model.faults import Fault
from proofka.model.state.pipeline import Fate
from proofka.properties.verdict import Status
from tests.checker.asking import SMALL, ask, cut, example
from tests.deployments import changed
from tests.model.scripted import BOUNDS, Scenario

LOSSY = (Fault.SHUTDOWN, Fault.POWER_LOSS, Fault.KILL)


def scenario(name: str = "acks-all-min-isr-2", kinds: tuple[Fault, ...] = LOSSY, **settings: Any) -> Scenario:
    return Scenario(changed(example(name, kinds, 9), bounds=BOUNDS, **settings))


def stopped(run: Scenario, broker: int) -> Scenario:
    run.do("begin_shutdown", broker=broker)
    while not run.can("finish_shutdown", broker=broker):
        run.do("apply_metadata", broker=broker)
    return run.do("finish_shutdown", broker=broker)


def test_leader_hands_over_before_shutdown() -> None:
    run = scenario().do("begin_shutdown", broker=1)
    controller = run.pipeline.controller
    assert (run.value(controller.leader), run.value(controller.isr[1])) == (2, 0)
    assert run.value(run.pipeline.replica(1).up) == 1, "it serves until it hears of it"
    assert not run.can("finish_shutdown", broker=1)
    assert run.do("apply_metadata", broker=1).can("finish_shutdown", broker=1)


def test_last_isr_member_can_shut_down() -> None:
    run = scenario("acks-all-min-isr-1", replicas=1, min_insync_replicas=1)
    run = stopped(run, 1)
    controller = run.pipeline.controller
    assert (run.value(controller.leader), run.value(controller.isr[1])) == (0, 1)
    assert run.value(run.do("restart", broker=1).pipeline.controller.leader) == 1


def test_stopped_broker_closes_its_connections() -> None:
    run = stopped(scenario().do("send", batch=0).do("transmit", batch=0, leader=1), 1)
    assert run.fate(0) is Fate.BUFFERED
    assert run.do("apply_metadata", broker=2).can("transmit", batch=0, leader=2)


def test_log_forced_to_disk_at_shutdown_survives_a_power_loss() -> None:
    run = stopped(scenario("acks-1", replicas=1, min_insync_replicas=1).produce(0, 1), 1)
    run.do("restart", broker=1)
    assert not run.can("lose_power", broker=1, kept=0)
    assert run.can("lose_power", broker=1, kept=1)


def test_records_after_the_restart_can_be_lost_with_power() -> None:
    run = scenario("acks-1", replicas=1, min_insync_replicas=1).produce(0, 1).do("acknowledge", batch=0, leader=1)
    stopped(run, 1).do("restart", broker=1).do("apply_metadata", broker=1).produce(1, 1)
    assert run.can("lose_power", broker=1, kept=1)
    assert not run.can("lose_power", broker=1, kept=0)


@pytest.mark.parametrize("in_order", [True, False])
def test_broker_that_stopped_in_order_is_still_eligible(in_order: bool) -> None:
    """A process that was killed is not: it may have lost what it had (6.4, KIP-966)."""
    run = scenario(eligible_leader_replicas=True)
    for broker in (3, 2):
        if in_order:
            stopped(run, broker)
        else:
            run.do("kill", broker=broker).do("fence", broker=broker)
    assert run.value(run.pipeline.controller.elr[2]) == 1
    run.do("restart", broker=2)
    assert run.value(run.pipeline.controller.elr[2]) == int(in_order)


@pytest.mark.parametrize("in_order", [True, False])
def test_stopped_broker_writes_its_high_watermark_down(in_order: bool) -> None:
    """The written high watermark can decide a follower's log (8); a killed process may have written an older one."""
    run = scenario(truncation=Truncation.HIGH_WATERMARK, idempotence=False).produce(0, 1)
    run.replicate(2, 1).replicate(3, 1)
    while run.can("fetch", follower=2, leader=1):
        run.do("fetch", follower=2, leader=1)
        if run.value(run.pipeline.replica(2).high_watermark):
            break
    assert run.value(run.pipeline.replica(2).high_watermark) == 1
    assert run.can("kill", broker=2, checkpointed=0)
    if in_order:
        stopped(run, 2)
    else:
        run.do("kill", broker=2, checkpointed=0).do("fence", broker=2)
    assert run.do("restart", broker=2).log(2) == ([0] if in_order else [])


@pytest.mark.parametrize(
    ("name", "status", "sets"),
    [("acks-1", Status.VIOLATED, (cut(Fault.SHUTDOWN),)), ("acks-all-min-isr-2", Status.HOLDS, ())],
)
def test_a_rolling_restart_loses_records_that_only_the_leader_had(
    name: str, status: Status, sets: tuple[Any, ...]
) -> None:
    """acks=1 is lost on the way, as by any planned move (6.5); acks=all is not."""
    asked = replace(example(name, (Fault.SHUTDOWN,), 3), bounds=replace(SMALL, epochs=8))
    verdict = ask(asked, "no-acked-loss")["no-acked-loss"]
    assert (verdict.status, verdict.cut_sets) == (status, sets)


DIRECTORY = (Fault.LOG_DIR_FAILURE,)


def test_a_replica_without_its_log_directory_is_replaced_at_once() -> None:
    run = scenario(kinds=DIRECTORY).produce(0, 1).do("fail_log_dir", broker=1)
    controller = run.pipeline.controller
    assert (run.value(controller.leader), run.value(controller.isr[1])) == (2, 0)
    assert run.fate(0) is Fate.BUFFERED, "KAFKA_STORAGE_ERROR is retried"
    assert run.log(1) == [0], "what is on disk is there when it is back"
    assert run.can("restart", broker=1)


def test_the_last_in_the_isr_leads_again_when_it_is_back() -> None:
    run = scenario("acks-1", kinds=DIRECTORY, replicas=1, min_insync_replicas=1).produce(0, 1)
    run.do("fail_log_dir", broker=1).do("restart", broker=1)
    assert run.value(run.pipeline.controller.leader) == 1


def test_cut_off_broker_reports_no_failed_log_directory() -> None:
    run = scenario(kinds=(Fault.LOG_DIR_FAILURE, Fault.CUT_OFF)).do("cut_off", broker=1)
    assert not run.can("fail_log_dir", broker=1)


@pytest.mark.parametrize("name", ["begin_shutdown", "finish_shutdown", "fail_log_dir"])
def test_announced_ends_happen_only_if_the_deployment_names_them(name: str) -> None:
    assert scenario(kinds=(Fault.KILL,)).model.system.action(name, {"broker": 1}) is None
