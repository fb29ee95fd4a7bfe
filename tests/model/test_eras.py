"""The return of replicas to the ISR, by release (semantics 6.2, 7; KIP-841, KIP-903, KAFKA-15221)."""

from __future__ import annotations

import pytest

from proofka.model.faults import Fault
from tests.checker.asking import example
from tests.deployments import changed
from tests.model.scripted import BOUNDS, Scenario, scenario


def caught_up_outside(run: Scenario) -> Scenario:
    """Return a run in which broker 3 left the ISR as slow and has fetched all records since, so that the leader may
    propose it."""
    run.do("become_slow", broker=3).produce(0, 1).do("shrink_isr", leader=1, follower=3)
    run.do("recover_speed", broker=3).replicate(3, 1)
    assert run.can("expand_isr", leader=1, follower=3)
    return run


@pytest.mark.parametrize("fenced_may_join", [True, False])
def test_a_dead_replica_may_join_before_kip_841(fenced_may_join: bool) -> None:
    run = caught_up_outside(scenario(old_fetches_count=True, fenced_may_join=fenced_may_join))
    run.do("kill", broker=3)
    assert run.can("expand_isr", leader=1, follower=3), "nobody knows yet that it is dead"
    run.do("fence", broker=3)
    assert run.can("expand_isr", leader=1, follower=3) is fenced_may_join


@pytest.mark.parametrize("old_fetches_count", [True, False])
def test_a_replica_with_a_new_disk_may_join_before_kip_903(old_fetches_count: bool) -> None:
    run = caught_up_outside(scenario(old_fetches_count=old_fetches_count))
    run.do("lose_disk", broker=3).do("fence", broker=3).do("restart", broker=3)
    assert run.log(3) == []
    assert run.can("expand_isr", leader=1, follower=3) is old_fetches_count


def test_a_replica_that_the_controller_took_out_is_taken_back_for_new_fetches_only() -> None:
    """A leader proposes a replica when that fetches: what it fetched while it was in sync is no such occasion."""
    run = scenario(old_fetches_count=True).produce(0, 1).replicate(3, 1)
    run.do("lose_disk", broker=3).do("fence", broker=3).do("learn_isr", broker=1).do("restart", broker=3)
    assert not run.can("expand_isr", leader=1, follower=3)


def test_a_replica_that_its_leader_dropped_is_taken_back_for_new_fetches_only() -> None:
    run = scenario(old_fetches_count=True).produce(0, 1).replicate(3, 1)
    run.replicate(2, 1).do("acknowledge", batch=0, leader=1)
    run.do("lose_disk", broker=3).produce(1, 1).do("shrink_isr", leader=1, follower=3)
    run.do("fence", broker=3).do("restart", broker=3)
    assert not run.can("expand_isr", leader=1, follower=3)


def with_a_new_disk(run: Scenario) -> Scenario:
    """Return the run after broker 3 came back with a new disk."""
    run.do("lose_disk", broker=3).do("fence", broker=3).do("restart", broker=3)
    assert run.log(3) == [] and not run.can("expand_isr", leader=1, follower=3)
    return run


def test_a_leader_that_mixes_two_fetches_takes_in_a_replica_with_a_new_disk() -> None:
    """KAFKA-15221: the leader knows the new log end from then on, and the high watermark waits for the replica."""
    run = with_a_new_disk(caught_up_outside(scenario(mixes_fetches=True)))
    run.do("mix_fetches", leader=1, follower=3)
    assert (run.isr, run.isr_of(1), run.log(3)) == ({1, 2, 3}, {1, 2, 3}, [])
    run.replicate(2, 1)
    assert run.high_watermark(1) == 0
    run.replicate(3, 1)
    assert run.high_watermark(1) == 1


def test_a_fetch_that_meets_no_older_one_ends_the_chance_of_mixing() -> None:
    run = with_a_new_disk(caught_up_outside(scenario(mixes_fetches=True)))
    assert run.can("mix_fetches", leader=1, follower=3)
    run.do("fetch", follower=3, leader=1)
    assert not run.can("mix_fetches", leader=1, follower=3)


def test_a_replica_that_restarts_twice_before_it_fetches_still_counts_with_its_old_log_end() -> None:
    run = with_a_new_disk(caught_up_outside(scenario(mixes_fetches=True)))
    run.do("kill", broker=3).do("fence", broker=3).do("restart", broker=3)
    assert run.can("mix_fetches", leader=1, follower=3)


@pytest.mark.parametrize("steps", [("learn_isr", "restart"), ("restart", "learn_isr")])
def test_fetches_of_a_replica_that_was_in_sync_cannot_be_mixed(steps: tuple[str, str]) -> None:
    """A leader proposes a replica when that fetches: in the ISR there is nothing to propose."""
    run = scenario(mixes_fetches=True).produce(0, 1).replicate(3, 1)
    run.do("lose_disk", broker=3).do("fence", broker=3)
    for step in steps:
        run.do(step, broker=1 if step == "learn_isr" else 3)
    assert not run.can("mix_fetches", leader=1, follower=3)


def test_fetches_of_a_replica_that_its_leader_drops_after_a_quick_restart_cannot_be_mixed() -> None:
    run = scenario(mixes_fetches=True, restart_before_fenced=True).produce(0, 1).replicate(3, 1)
    run.do("lose_disk", broker=3).do("restart_before_fenced", broker=3).do("apply_metadata", broker=3)
    run.do("become_slow", broker=3).do("shrink_isr", leader=1, follower=3).do("recover_speed", broker=3)
    assert not run.can("mix_fetches", leader=1, follower=3)


def test_a_leader_mixes_no_fetches_of_an_earlier_epoch() -> None:
    run = with_a_new_disk(caught_up_outside(scenario(mixes_fetches=True)))
    run.do("move_leader", broker=2).do("apply_metadata", broker=1).do("apply_metadata", broker=2)
    run.do("move_leader", broker=1).do("apply_metadata", broker=1).do("apply_metadata", broker=3)
    assert not run.can("mix_fetches", leader=1, follower=3)


@pytest.mark.parametrize(
    ("kinds", "mixes_fetches"),
    [
        ((Fault.DISK_LOSS, Fault.MIXED_FETCHES), False),
        ((Fault.DISK_LOSS,), True),
        ((Fault.MIXED_FETCHES, Fault.SLOW_FOLLOWER), True),
    ],
)
def test_mixing_takes_the_fault_a_release_and_a_restart(kinds: tuple[Fault, ...], mixes_fetches: bool) -> None:
    """Elsewhere the model has neither the step nor the variables for it."""
    run = Scenario(changed(example("acks-all-min-isr-2", kinds), bounds=BOUNDS, mixes_fetches=mixes_fetches))
    assert run.model.system.action("mix_fetches", {"leader": 1, "follower": 3}) is None
    assert not any(replica.fetched_before for replica in run.pipeline.replicas)
