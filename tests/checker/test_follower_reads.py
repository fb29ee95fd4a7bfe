"""Reading from followers changes no verdict where it is accepted (semantics 6.1, KIP-392)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofka.model.deployment import Deployment
from proofka.model.deployment.explored import Bounds, FaultBudget
from proofka.model.faults import Fault
from proofka.model.pipeline import Model, build
from proofka.properties.verdict import CutSet, Status
from tests.checker.asking import ask, example
from tests.checker.follower_reads import FollowerReads
from tests.deployments import changed

K, P, S, M, C, X = (
    Fault.KILL,
    Fault.POWER_LOSS,
    Fault.SLOW_FOLLOWER,
    Fault.LEADER_MOVE,
    Fault.CONSUMER_CRASH,
    Fault.CUT_OFF,
)
ASKED = ("no-skip", "no-loss", "no-reprocessing", "exactly-once-effect", "processing-order", "read-stability")
TWO = Bounds(records=2, log=2, sends=1, epochs=5, producer_epochs=2)


def of(name: str, *faults: Fault, **settings: object) -> Deployment:
    """Read an example on two replicas, with each of these faults once."""
    limits = tuple((kind.value, faults.count(kind)) for kind in sorted(set(faults)))
    budget = FaultBudget(len(faults), limits)
    small = changed(example(name), faults=budget, bounds=TWO, replicas=2, idempotence=False)
    return changed(small, **settings)


def found(model: Model) -> dict[str, tuple[Status, tuple[CutSet, ...]]]:
    return {name: (verdict.status, verdict.cut_sets) for name, verdict in ask(model, *ASKED).items()}


def untimed(model: Model) -> Model:
    return replace(model, system=replace(model.system, clocks=(), needs={}))


CLEAN = {"min_insync_replicas": 1}
UNCLEAN = {"min_insync_replicas": 1, "unclean_leader_election": True}


@pytest.mark.slow
@pytest.mark.parametrize(
    "deployment",
    [
        of("acks-all-min-isr-1", K, C, **UNCLEAN),
        of("acks-all-min-isr-1", P, S, **CLEAN),
        of("auto-commit", M, C, **UNCLEAN),
        of("auto-commit-handed-off", P, C, **CLEAN),
    ],
    ids=["unclean", "last-standing", "auto-commit", "handed-off"],
)
def test_reads_from_followers_change_no_verdict(deployment: Deployment) -> None:
    model = build(deployment)
    assert found(untimed(model)) == found(FollowerReads(model).added())


@pytest.mark.slow
@pytest.mark.parametrize(
    "deployment",
    [of("acks-all-min-isr-1", P, S, **CLEAN), of("acks-1", P, X)],
    ids=["last-standing", "cut-off"],
)
def test_a_consumer_that_stays_with_its_follower_in_a_new_epoch_would_skip_records(deployment: Deployment) -> None:
    """The follower still has what its new leader lost, and the position is checked with the leader alone."""
    model = build(deployment)
    assert found(untimed(model))["no-skip"][1] == ()
    assert found(FollowerReads(model, kept=True).added())["no-skip"][0] is Status.VIOLATED
