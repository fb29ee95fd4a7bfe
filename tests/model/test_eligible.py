"""Eligible leader replicas and the last known leader, step by step (semantics 6.2, 6.3; KIP-966)."""

from __future__ import annotations

from functools import partial

import pytest

from proofka.model.deployment.choices import Acks
from tests.model import scripted
from tests.model.scripted import Scenario

scenario = partial(scripted.scenario, "eligible-leader-replicas")


def elr(run: Scenario) -> set[int]:
    return {number for number, member in run.pipeline.controller.elr.items() if run.value(member)}


def last_known(run: Scenario) -> int:
    last_known_leader = run.pipeline.controller.last_known_leader
    assert last_known_leader is not None
    return run.value(last_known_leader)


def gone(run: Scenario, *brokers: int) -> Scenario:
    """Kill and fence each broker, and let the remaining leader learn the new ISR."""
    for broker in brokers:
        run.do("kill", broker=broker).do("fence", broker=broker)
        if run.leader and run.can("apply_metadata", broker=run.leader):
            run.do("apply_metadata", broker=run.leader)
        elif run.leader:
            run.do("learn_isr", broker=run.leader)
    return run


def test_model_without_elr_has_no_variables_of_elr() -> None:
    run = scenario(eligible_leader_replicas=False)
    assert not run.pipeline.controller.elr
    assert run.pipeline.controller.last_known_leader is None


def test_elr_is_empty_while_enough_replicas_are_in_sync() -> None:
    run = gone(scenario(), 3)
    assert (run.isr, elr(run)) == ({1, 2}, set())


def test_a_replica_that_leaves_below_min_isr_stays_eligible() -> None:
    run = gone(scenario(), 3, 2)
    assert (run.isr, elr(run), run.leader) == ({1}, {2}, 1)


def test_the_isr_can_be_empty_and_the_last_member_is_eligible() -> None:
    run = gone(scenario(), 3, 2, 1)
    assert (run.isr, elr(run), run.leader, last_known(run)) == (set(), {1, 2}, 0, 1)


def test_an_eligible_replica_that_is_alive_is_elected_when_the_last_member_is_fenced() -> None:
    run = scenario().do("become_slow", broker=2).do("become_slow", broker=3).produce(0, 1)
    run.do("shrink_isr", leader=1, follower=2).do("shrink_isr", leader=1, follower=3)
    assert (run.isr, elr(run)) == ({1}, {3}), "2 left while there were enough without it"
    run.do("lose_power", broker=1, kept=0).do("fence", broker=1)
    assert (run.leader, run.isr, elr(run), last_known(run)) == (3, {3}, {1}, 0)


def test_a_broker_that_did_not_stop_in_an_orderly_way_is_not_eligible_when_it_is_back() -> None:
    run = gone(scenario(), 3, 2)
    run.do("restart", broker=2)
    assert elr(run) == set()


def test_a_broker_that_was_cut_off_stays_eligible() -> None:
    run = gone(scenario(), 3).do("cut_off", broker=1).do("fence", broker=1)
    assert (run.leader, run.isr, elr(run)) == (2, {2}, {1})
    run.do("kill", broker=2).do("fence", broker=2)
    assert (run.leader, run.isr, elr(run)) == (0, set(), {1, 2})
    run.do("rejoin", broker=1)
    assert (run.leader, run.isr, elr(run), last_known(run)) == (1, {1}, {2}, 0)


def test_last_known_leader_is_elected_once_no_replica_is_eligible() -> None:
    """2 left the ISR with 3 already gone; when both have come back unclean, only 1, which led last, may lead (E3)."""
    run = gone(scenario(), 3, 2, 1)
    run.do("restart", broker=2)
    assert (run.leader, elr(run)) == (0, {1})
    run.do("restart", broker=1)
    assert (run.leader, run.isr, elr(run), last_known(run)) == (1, {1}, set(), 0)


def test_last_known_leader_waits_while_a_replica_is_eligible() -> None:
    run = gone(scenario(), 3, 2, 1)
    run.do("restart", broker=1)
    assert (run.leader, elr(run), last_known(run)) == (0, {2}, 1), "2 might have what 1 lost"
    run.do("restart", broker=2)
    assert (run.leader, run.isr, elr(run), last_known(run)) == (1, {1}, set(), 0)


def test_enough_in_sync_again_end_all_eligibility() -> None:
    run = gone(scenario(), 3, 2)
    assert elr(run) == {2}
    run.do("restart", broker=3)
    run.do("fetch", follower=3, leader=1).do("expand_isr", leader=1, follower=3)
    assert (run.isr, elr(run)) == ({1, 3}, set())


def test_a_replica_back_in_sync_is_not_also_an_eligible_replica() -> None:
    run = gone(scenario(min_insync_replicas=3), 3, 2)
    assert (run.isr, elr(run)) == ({1}, {2, 3})
    run.do("restart", broker=3)
    run.do("fetch", follower=3, leader=1).do("expand_isr", leader=1, follower=3)
    assert (run.isr, elr(run)) == ({1, 3}, {2})


def test_a_lone_leader_that_is_cut_off_loses_records_acknowledged_with_acks_1() -> None:
    """Without ELR the partition waits for this leader (semantics 9)."""
    for on, leader in ((True, 3), (False, 0)):
        run = scenario(acks=Acks.LEADER, idempotence=False, eligible_leader_replicas=on)
        run.do("become_slow", broker=2).do("become_slow", broker=3).produce(0, 1)
        run.do("shrink_isr", leader=1, follower=2).do("shrink_isr", leader=1, follower=3)
        run.do("cut_off", broker=1).do("fence", broker=1)
        assert run.leader == leader


@pytest.mark.parametrize("last_known_is_back", [False, True])
def test_unclean_election_comes_after_the_last_known_leader(last_known_is_back: bool) -> None:
    run = gone(scenario(unclean_leader_election=True), 3, 2, 1)
    run.do("restart", broker=3)
    assert run.can("elect_unclean", broker=3)
    if last_known_is_back:
        run.do("restart", broker=2).do("restart", broker=1)
        assert run.leader == 1
        assert not run.can("elect_unclean", broker=3)
    else:
        run.do("elect_unclean", broker=3)
        assert (run.leader, run.isr, elr(run), last_known(run)) == (3, {3}, set(), 0)


def test_a_step_names_the_list_that_a_leader_is_elected_from() -> None:
    run = gone(scenario(), 3, 2, 1)
    run.do("restart", broker=2)
    restart = run.action("restart", broker=1)
    before = dict(run.state)
    run.do("restart", broker=1)
    assert restart.sentence(before, run.state) == (
        "broker 1 restarts; it, the last known leader, is elected, as nobody is eligible"
    )
