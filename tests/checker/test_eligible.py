"""Effects of eligible leader replicas (ELR): the rows of the table of known guarantees that speak of them.

min.insync.replicas=2 of 3 withstands one loss of what was not flushed, whoever suffers it, and no more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from proofka.model.deployment import Deployment
from proofka.model.deployment.explored import FaultBudget
from proofka.model.faults import Fault
from proofka.model.language import Action, TransitionSystem
from proofka.model.pipeline import Model, build
from proofka.properties.verdict import Status
from tests.checker.asking import SMALL, ask, cut, example
from tests.deployments import changed

K, P, S, X = Fault.KILL, Fault.POWER_LOSS, Fault.SLOW_FOLLOWER, Fault.CUT_OFF
BOUNDS = replace(SMALL, records=2, log=2, epochs=6)


def deployment(total: int, on: bool = True, **most: int) -> Deployment:
    at_most = tuple((kind.replace("_", "-"), count) for kind, count in most.items())
    asked = replace(example("eligible-leader-replicas"), bounds=BOUNDS, faults=FaultBudget(total, at_most))
    return changed(asked, eligible_leader_replicas=on)


def violated_by(asked: Deployment | Model, name: str = "no-acked-loss") -> set[tuple[tuple[str, int], ...]]:
    verdict = ask(asked, name)[name]
    assert verdict.status in (Status.HOLDS, Status.VIOLATED)
    return set(verdict.cut_sets)


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    [
        deployment(2, kill=2),
        deployment(2, leader_move=2),
        deployment(1, power_loss=1),
        deployment(1, disk_loss=1),
        deployment(3, slow_follower=2, kill=1),
        deployment(3, slow_follower=2, power_loss=1),
    ],
)
def test_one_lossy_failure_loses_nothing(asked: Deployment) -> None:
    assert violated_by(asked) == set()


@pytest.mark.slow
def test_last_replica_without_elr_loses_its_unflushed_records() -> None:
    found = violated_by(deployment(3, on=False, slow_follower=2, power_loss=1))
    assert found == {cut(S, S, P)}


@pytest.mark.slow
def test_two_lossy_failures_lose_records_of_two_replicas() -> None:
    assert violated_by(deployment(3, slow_follower=1, power_loss=2)) == {cut(S, P, P)}


@pytest.mark.slow
def test_killed_broker_counts_like_a_broker_that_lost_records() -> None:
    """Nothing tells the controller that its log survived: 3 is slow, 2 is killed and back, and 1 loses power."""
    assert violated_by(deployment(3, slow_follower=1, kill=1, power_loss=1)) == {cut(S, K, P)}


@pytest.mark.slow
def test_power_loss_of_all_replicas_loses_the_record() -> None:
    assert violated_by(deployment(3, power_loss=3)) == {cut(P, P, P)}


@pytest.mark.slow
def test_the_partition_stays_available_when_its_last_replica_dies() -> None:
    """Without it the partition waits for that replica; a producer that gives up drops the record."""
    on, off = (ask(deployment(3, one, slow_follower=2, kill=1), "recoverability") for one in (True, False))
    assert on["recoverability"].status is off["recoverability"].status is Status.HOLDS


def with_changed_action(name: str, change: Callable[[Action, Model], Action], asked: Deployment) -> Model:
    model = build(asked)
    actions = tuple(change(action, model) if action.name == name else action for action in model.system.actions)
    system: TransitionSystem = replace(model.system, actions=actions)
    return replace(model, system=system)


def stays_eligible(action: Action, model: Model) -> Action:
    """Treat a broker that lost unflushed records as eligible after its return."""
    elr = set(model.pipeline.controller.elr.values())
    updates = {variable: value for variable, value in action.updates.items() if variable not in elr}
    return replace(action, updates=updates)


@pytest.mark.slow
def test_elr_rests_on_brokers_that_report_their_stop() -> None:
    """A mutation: nobody is taken out of the ELR when it comes back, so that it is elected before the other one."""
    asked = changed(deployment(2, cut_off=1, power_loss=1), replicas=2)
    assert violated_by(asked) == set()
    assert violated_by(with_changed_action("restart", stays_eligible, asked)) == {cut(X, P)}
