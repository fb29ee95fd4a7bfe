"""The situations after a fault in which a coordinator of transactions serves again in time (semantics 11.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from proofka.model.deployment.explored import Bounds
from proofka.model.deployment.transactional import Transactional
from proofka.model.durations import Quantity
from proofka.model.faults import Fault
from tests.checker.asking import example
from tests.checker.plain_evaluator import holds
from tests.deployments import changed
from tests.model.scripted import Scenario

RULES = Transactional(1, verified=True, epoch_each=False, first_is_zero=False, read_committed=True)
KINDS = (Fault.KILL, Fault.POWER_LOSS, Fault.CUT_OFF, Fault.SLOW_FOLLOWER, Fault.LEADER_MOVE)
BOUNDS = Bounds(records=1, log=3, sends=1, epochs=4, producer_epochs=2)


def begun(kinds: Iterable[Fault] = KINDS, spare: int = 1) -> Scenario:
    """Begin a run of three replicas in which a record waits for its partition to be added to a transaction."""
    read = example("idempotent", tuple(kinds), 2)
    durations = replace(read.durations, broker_request=Quantity("request.timeout.ms", 30_000, 30_000))
    changes = {"transactional": RULES, "bounds": BOUNDS, "spare_coordinators": spare, "durations": durations}
    return Scenario(changed(read, **changes)).do("send", batch=0)


def waits(run: Scenario) -> set[str]:
    """Return the names of the clocks of the record that runs until the coordinator is found, as far as they run."""
    clocks = [clock for clock in run.model.system.clocks if clock.name.startswith("sendable")]
    return {clock.name for clock in clocks if holds(clock.runs, run.state)}


def test_nothing_is_waited_for_before_a_fault() -> None:
    assert waits(begun()) == {"sendable_at_once"}


def test_a_killed_broker_is_waited_for_until_it_is_fenced() -> None:
    run = begun().do("kill", broker=3)
    assert waits(run) == set()
    assert waits(run.do("fence", broker=3)) == {"sendable_after_fault"}


def test_every_broker_has_to_know_of_the_election() -> None:
    run = begun().do("kill", broker=1).do("fence", broker=1).do("apply_metadata", broker=2)
    assert waits(run) == set()
    assert waits(run.do("apply_metadata", broker=3)) == {"sendable_after_fault"}


def test_a_move_of_the_leader_begins_the_wait_anew() -> None:
    run = begun().do("kill", broker=3).do("fence", broker=3)
    assert waits(run.do("move_leader", broker=2)) == set()
    assert waits(run.do("apply_metadata", broker=2)) == set()
    assert waits(run.do("apply_metadata", broker=1)) == {"sendable_after_fault"}


def test_a_slow_follower_is_waited_for_until_it_is_dropped() -> None:
    run = begun().do("become_slow", broker=2)
    assert waits(run) == {"sendable_beside_slow"}
    assert waits(run.do("recover_speed", broker=2)) == {"sendable_after_fault"}


@pytest.mark.parametrize(("spare", "due"), [(0, False), (1, True)])
def test_the_coordinators_topic_has_to_spare_the_broker_that_is_away(spare: int, due: bool) -> None:
    run = begun(spare=spare).do("kill", broker=3).do("fence", broker=3)
    assert bool(waits(run)) is due


def test_a_slow_follower_beside_a_dead_broker_is_one_too_many() -> None:
    run = begun().do("kill", broker=3).do("fence", broker=3).do("become_slow", broker=2)
    assert waits(run) == set()


def test_nothing_is_due_after_a_broker_fell_silent() -> None:
    run = begun().do("lose_power", broker=3, kept=0).do("fence", broker=3)
    assert waits(run) == set()


def test_nothing_is_due_while_a_broker_is_cut_off() -> None:
    run = begun().do("cut_off", broker=3).do("fence", broker=3)
    assert waits(run) == set()
    assert waits(run.do("rejoin", broker=3)) == {"sendable_after_fault"}


def test_nothing_is_due_where_a_replica_can_be_moved() -> None:
    run = begun((*KINDS, Fault.REASSIGNMENT)).do("kill", broker=3).do("fence", broker=3)
    assert waits(run) == set()


def test_a_verification_and_the_end_of_a_transaction_are_due_once_the_coordinator_serves() -> None:
    run = begun().do("transmit", batch=0, leader=1).do("kill", broker=3)
    assert "arriving_after_fault" not in _running(run)
    run.do("fence", broker=3)
    assert "arriving_after_fault" in _running(run)
    assert "arriving" not in _running(run)
    run.do("append", batch=0, leader=1).do("learn_isr", broker=1)
    run.do("fetch", leader=1, follower=2).do("fetch", leader=1, follower=2).do("acknowledge", batch=0, leader=1)
    run.do("prepare_commit", transaction=0)
    assert "marking_after_fault" in _running(run)
    run.do("write_marker", leader=1, transaction=0, commits=1)
    run.do("fetch", leader=1, follower=2).do("fetch", leader=1, follower=2)
    assert "completing_after_fault" in _running(run)


def _running(run: Scenario) -> set[str]:
    return {clock.name for clock in run.model.system.clocks if holds(clock.runs, run.state)}


def test_the_wait_is_as_long_as_the_sum_of_its_parts() -> None:
    clocks = begun().model.system.clocks
    most = {clock.name: clock.at_most.at_most() or 0 for clock in clocks if clock.at_most is not None}
    serves, connecting, backoff, pause, reconnecting, messages = 10_000 + 500, 400, 1_200, 1_300, 1_200, 400
    found = serves + 2 * connecting + 2 * pause + reconnecting + messages
    assert most["sendable_after_fault"] - most["sendable"] == found
    assert most["sendable_beside_slow"] - most["sendable_after_fault"] == 2 * 30_000 + 100 + 500
    assert most["arriving_after_fault"] - most["arriving"] == serves + backoff + connecting + messages
    marking, fetched, failed_write = most["marking_after_fault"], 1_800, 30_000
    assert most["completing_after_fault"] - marking == most["completing"] + fetched + failed_write
    assert most["arriving_beside_slow"] - most["arriving_after_fault"] == 2 * 30_000 + 100 + 500
