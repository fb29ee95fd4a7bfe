"""Brokers that fetch before they are registered (semantics 6.4, choice 9)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from proofka.model.deployment import Deployment
from proofka.model.deployment.explored import Bounds, FaultBudget
from proofka.model.deployment.implied.outages import brokers_start_early
from proofka.model.durations import Quantity
from proofka.model.faults import Fault
from proofka.model.language import Action
from proofka.model.language.terms import And, Not
from proofka.model.pipeline import Model, build
from proofka.model.state.pipeline import Fate, Pipeline
from proofka.properties.verdict import CutSet, Status
from tests.checker.asking import SMALL, ask, example
from tests.deployments import changed
from tests.model.mutate import broker_of, follower_of, rewrite
from tests.model.scripted import Scenario, scenario

K, P, D, S = Fault.KILL, Fault.POWER_LOSS, Fault.DISK_LOSS, Fault.SLOW_FOLLOWER
M, X, R = Fault.LEADER_MOVE, Fault.CUT_OFF, Fault.LOST_RESPONSE


def outlasting(deployment: Deployment) -> Deployment:
    """Return the deployment with a session that is longer than a leader waits for a follower that lags."""
    session = Quantity("broker.session.timeout.ms", 60_000, 60_000)
    lag = Quantity("replica.lag.time.max.ms", 10_000, 10_000)
    return replace(deployment, durations=replace(deployment.durations, broker_session=session, replica_lag=lag))


def early(**settings: Any) -> Scenario:
    """Return the start of a run in which brokers can start while their old session lasts."""
    return scenario(durations=outlasting(example("acks-all-min-isr-2")).durations, **settings)


def test_leader_counts_fetches_of_a_broker_that_is_not_registered() -> None:
    run = early(replicas=2).do("lose_power", broker=2, kept=0).do("start_early", broker=2).produce(0, 1)
    assert not run.can("acknowledge", batch=0, leader=1), "the follower has not fetched since its start"
    run.do("fetch", follower=2, leader=1).do("fetch", follower=2, leader=1).do("acknowledge", batch=0, leader=1)
    assert (run.fate(0), run.isr) == (Fate.ACKNOWLEDGED, {1, 2})
    assert not run.can("register", broker=2), "the old session lasts"
    run.do("fence", broker=2)
    assert (run.isr, run.log(2)) == ({1}, [0])
    run.do("register", broker=2).do("learn_isr", broker=1).do("expand_isr", leader=1, follower=2)
    assert run.isr == {1, 2}


def test_broker_that_was_dropped_joins_before_it_is_registered_and_leaves_with_its_session() -> None:
    run = early(replicas=2).do("kill", broker=2).produce(0, 1).do("shrink_isr", leader=1, follower=2)
    run.do("start_early", broker=2)
    assert not run.can("expand_isr", leader=1, follower=2)
    run.do("fetch", follower=2, leader=1).do("fetch", follower=2, leader=1).do("expand_isr", leader=1, follower=2)
    assert run.isr == {1, 2}
    run.do("fence", broker=2)
    assert run.isr == {1}


def test_broker_that_is_elected_before_it_is_registered_leads_nobody() -> None:
    run = early().do("kill", broker=2).do("start_early", broker=2).do("kill", broker=1).do("fence", broker=1)
    assert run.leader == 2
    run.do("apply_metadata", broker=2).do("apply_metadata", broker=3).do("send", batch=0)
    assert not run.can("transmit", batch=0, leader=2)
    assert not run.can("fetch", follower=3, leader=2)
    run.do("fence", broker=2)
    assert run.leader == 3
    assert not run.can("register", broker=2), "the broker has not heard of the fencing"
    run.do("apply_metadata", broker=2).do("register", broker=2).do("apply_metadata", broker=3)
    assert run.can("fetch", follower=2, leader=3)


def test_last_member_leads_once_it_is_registered() -> None:
    run = early(replicas=1, min_insync_replicas=1)
    assert run.model.system.action("start_early", {"broker": 1}) is None, "nobody else takes the broker out of the ISR"
    run = early(replicas=2).do("become_slow", broker=2).produce(0, 1).do("shrink_isr", leader=1, follower=2)
    run.do("kill", broker=1).do("start_early", broker=1).do("fence", broker=1).do("apply_metadata", broker=1)
    run.do("register", broker=1)
    assert run.leader == 1
    run.do("apply_metadata", broker=1)
    assert run.can("expand_isr", leader=1, follower=2) is False
    assert run.log(1) == [0]


def test_broker_that_started_early_can_die_again() -> None:
    run = early().do("kill", broker=3).do("start_early", broker=3).do("lose_power", broker=3, kept=0)
    assert not run.can("register", broker=3)
    run.do("fence", broker=3)
    assert not run.can("register", broker=3)
    run.do("restart", broker=3)
    assert run.can("fetch", follower=3, leader=1)


@pytest.mark.parametrize("action", ["cut_off", "begin_shutdown"])
def test_broker_that_is_not_registered_deals_with_no_controller(action: str) -> None:
    deployment = replace(example("acks-all-min-isr-2", (K, X, Fault.SHUTDOWN), 3), bounds=SMALL)
    run = Scenario(outlasting(deployment))
    assert run.can(action, broker=2)
    run.do("kill", broker=2).do("start_early", broker=2)
    assert not run.can(action, broker=2)


@pytest.mark.parametrize(
    ("settings", "matters"),
    [
        ({}, True),
        ({"zookeeper": True}, False),
        ({"old_fetches_count": True}, False),
        ({"replicas": 1}, False),
    ],
)
def test_early_starts_are_part_of_the_model_from_3_5_on_in_kraft_mode(settings: dict[str, Any], matters: bool) -> None:
    deployment = outlasting(example("acks-all-min-isr-2"))
    assert brokers_start_early(changed(deployment, **settings)) is matters


def test_early_starts_are_part_of_the_model_only_where_a_leader_drops_a_dead_broker_before_the_controller() -> None:
    deployment = example("acks-all-min-isr-2")
    assert not brokers_start_early(deployment)
    assert not brokers_start_early(outlasting(example("acks-all-min-isr-2", (S, M, X))))
    times = deployment.durations
    # The fencing takes 18 s, three eighths of that, 1 s and 100 ms. A leader can act twice 1.8 s before the lag ends.
    for lag, matters in ((29_500, False), (29_450, True)):
        session = Quantity("broker.session.timeout.ms", 18_000, 18_000)
        changed_times = replace(
            times, broker_session=session, replica_lag=Quantity("replica.lag.time.max.ms", lag, lag)
        )
        assert brokers_start_early(replace(deployment, durations=changed_times)) is matters


def fenced_first(deployment: Deployment) -> Model:
    """Return the model without clocks in which no leader drops a dead broker before the controller fences it."""
    model = build(deployment)
    model = replace(model, system=replace(model.system, clocks=(), needs={}))

    def wait(pipeline: Pipeline, action: Action) -> Action:
        follower = follower_of(pipeline, action)
        runs = follower.up.is_set
        if follower.unregistered is not None:
            runs = And(runs, Not(follower.unregistered.is_set))
        unfenced = pipeline.controller.unfenced[follower.number].is_set
        return replace(action, guard=And(action.guard, Not(And(Not(runs), unfenced))))

    return rewrite("shrink_isr", wait)(model)


def found(model: Model) -> dict[str, tuple[Status, frozenset[CutSet]]]:
    return {name: (verdict.status, frozenset(verdict.cut_sets)) for name, verdict in ask(model).items()}


def of(name: str, *kinds: Fault, **settings: Any) -> Deployment:
    bounds = Bounds(records=1, log=2, sends=1, epochs=5, producer_epochs=2)
    budget = FaultBudget(2, tuple((kind.value, 2) for kind in sorted(kinds)))
    return changed(example(name), faults=budget, bounds=bounds, **settings)


CASES = {
    "idempotent": of("idempotent", K, P, D, S, M, X, replicas=2),
    "one suffices": of("acks-all-min-isr-1", K, P, D, S, M, X, replicas=2),
    "eligible leader replicas": of("eligible-leader-replicas", K, P, D, S, M, X, replicas=2),
    "unclean": of("acks-all-min-isr-1-unclean", K, P, D, S, M, X, replicas=2),
    "retries": of("retries-in-flight-5", K, P, D, S, M, R, replicas=2),
    "three replicas": of("eligible-leader-replicas", K, P, D, M),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_early_starts_change_no_verdict_where_the_controller_fences_first(case: str) -> None:
    """The model without early starts finds the same where a dead broker stays in the ISR until its fencing."""
    assert found(fenced_first(CASES[case])) == found(fenced_first(outlasting(CASES[case])))


@pytest.mark.slow
def test_leader_that_remembers_fetches_from_before_an_early_start_changes_verdicts() -> None:
    """The comparison can fail."""

    def remember(pipeline: Pipeline, action: Action) -> Action:
        replica = broker_of(pipeline, action)
        kept = {leader.fetched[replica.number] for leader in pipeline.followers_of(replica)}
        return replace(action, updates={one: value for one, value in action.updates.items() if one not in kept})

    remembering = rewrite("start_early", remember)(fenced_first(outlasting(CASES["idempotent"])))
    assert found(remembering) != found(fenced_first(CASES["idempotent"]))


BOTH = Bounds(records=2, log=4, sends=1, epochs=5, producer_epochs=3)


@pytest.mark.slow
def test_two_lost_disks_duplicate_a_record_where_a_leader_drops_a_dead_broker_first() -> None:
    """The follower joins before it is registered, is fenced, and joins again: the ISR shrinks once more (choice 9)."""
    deployment = changed(of("idempotent", D, replicas=2), bounds=BOTH)
    lost = frozenset({((D.value, 2),)})
    model = build(outlasting(deployment))
    without = [action for action in model.system.actions if action.name != "start_early"]
    unaware = replace(model, system=replace(model.system, actions=tuple(without)))
    assert frozenset(ask(model, "no-log-duplicate")["no-log-duplicate"].cut_sets) == lost
    assert ask(unaware, "no-log-duplicate")["no-log-duplicate"].status is Status.HOLDS
