"""The return of replicas to the ISR, by release (semantics 6.2, 7; KIP-841, KIP-903)."""

from __future__ import annotations

import pytest

from tests.model.scripted import Scenario, scenario


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
