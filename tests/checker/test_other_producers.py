"""Other producers of a partition: what they write is to this one's records what records of its own are."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
import z3

from proofka.model.deployment import Deployment
from proofka.model.deployment.choices import Sink
from proofka.model.deployment.explored import Bounds, FaultBudget
from proofka.model.faults import Fault
from proofka.model.language import Action, Effect
from proofka.model.log.replica import advance_high_watermark, append
from proofka.model.pipeline import Model, build
from proofka.model.producing.produce import has_room
from proofka.model.state.pipeline import Fate, Replica
from proofka.properties.verdict import CutSet
from tests.checker.asking import ask, example
from tests.deployments import changed

K, P, S, M, C, X, R = (
    Fault.KILL,
    Fault.POWER_LOSS,
    Fault.SLOW_FOLLOWER,
    Fault.LEADER_MOVE,
    Fault.CONSUMER_CRASH,
    Fault.CUT_OFF,
    Fault.LOST_RESPONSE,
)
ASKED = (
    "no-acked-loss",
    "no-silent-loss",
    "no-log-duplicate",
    "no-skip",
    "no-loss",
    "no-reprocessing",
    "exactly-once-effect",
    "replica-agreement",
)
ONE = Bounds(records=1, log=2, sends=1, epochs=5, producer_epochs=2)
TWO = replace(ONE, records=2, log=3)
OTHERS = 1
"""The number of the batch that the other producer writes."""


def of(name: str, *faults: Fault, **settings: object) -> Deployment:
    """Read an example on two replicas, with each of these faults so often."""
    limits = tuple((kind.value, faults.count(kind)) for kind in sorted(set(faults)))
    small = changed(example(name), faults=FaultBudget(len(faults), limits), bounds=ONE, replicas=2)
    return changed(small, **settings)


def untimed(model: Model) -> Model:
    return replace(model, system=replace(model.system, clocks=(), needs={}))


def write(model: Model, leader: Replica) -> Action:
    """Append another producer's record at any broker that takes itself for the leader."""
    pipeline = model.pipeline
    batch = pipeline.producer.batches[OTHERS]
    effect = Effect()
    entry: dict[str, z3.ArithRef | int] = {"batch": OTHERS, "epoch": leader.epoch.term}
    if batch.sequence is not None:
        # Its id is another one: it counts as sent by a start of the application that never comes.
        entry |= {"producer_epoch": 0, "sequence": 0}
        effect[batch.session] = batch.session.high
    append(pipeline, effect, leader, entry)
    advance_high_watermark(pipeline, effect, leader)
    effect[batch.fate] = int(Fate.FORGOTTEN)
    condition = z3.And(leader.presumes_leadership, has_room(leader), batch.is_(Fate.UNSENT))
    arguments = {"leader": leader.number}
    return Action(
        "write",
        leader.name,
        lane="brokers",
        arguments=arguments,
        guard=condition,
        updates=effect.updates,
        sentence=lambda *_: "",
        semantics="3.2",
    )


def with_another(deployment: Deployment) -> Model:
    """Return the same deployment beside a producer that writes one record; verdicts are about the first producer's
    records."""
    model = untimed(build(replace(deployment, bounds=TWO)))
    own = [action for action in model.system.actions if action.name != "send" or action.arguments["batch"] != OTHERS]
    assert len(own) == len(model.system.actions) - 1
    actions = (*own, *(write(model, leader) for leader in model.pipeline.replicas))
    asked = replace(model.pipeline, deployment=replace(deployment, bounds=replace(TWO, records=1)))
    return Model(asked, replace(model.system, actions=actions, ranked=(), symmetries=()))


def found(model: Model) -> dict[str, tuple[CutSet, ...]]:
    return {name: verdict.cut_sets for name, verdict in ask(model, *ASKED).items()}


def covered(found: dict[str, tuple[CutSet, ...]], by: dict[str, tuple[CutSet, ...]]) -> bool:
    """Tell whether each found fault set contains one of the other fault sets."""
    return all(
        any(Counter(dict(other)) <= Counter(dict(one)) for other in by[name])
        for name, sets in found.items()
        for one in sets
    )


CASES = {
    "unclean": of("acks-all-min-isr-1", K, K, min_insync_replicas=1, unclean_leader_election=True, idempotence=False),
    "last standing": of("acks-all-min-isr-1", P, S, min_insync_replicas=1, idempotence=False),
    "acks=1": of("acks-1", M, idempotence=False),
    "a leader that is cut off": of("acks-1", X, idempotence=False),
    "retries": of("retries-in-flight-5", R, K, min_insync_replicas=1),
    "idempotent": of("idempotent", R, K, min_insync_replicas=1),
    "consumer": of("auto-commit", C, M, min_insync_replicas=1, idempotence=False),
    "by offset": of("manual-commit-plain-sink", C, R, min_insync_replicas=1, idempotence=False, sink=Sink.BY_OFFSET),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_record_of_another_producer_acts_like_a_further_record(case: str) -> None:
    """Each run of one record exists beside another producer's record, and each of those beside a record of its own."""
    alone, beside = found(untimed(build(CASES[case]))), found(with_another(CASES[case]))
    own = found(untimed(build(replace(CASES[case], bounds=TWO))))
    assert covered(alone, by=beside)
    assert covered(beside, by=own)


@pytest.mark.slow
def test_producer_that_writes_to_followers_changes_verdicts() -> None:
    """The comparison can fail."""
    deployment = CASES["last standing"]
    model = with_another(deployment)
    brokers = {replica.name: replica for replica in model.pipeline.replicas}
    anywhere = [
        replace(action, guard=z3.And(brokers[action.actor].up.is_set, has_room(brokers[action.actor])))
        if action.name == "write"
        else action
        for action in model.system.actions
    ]
    beside = found(replace(model, system=replace(model.system, actions=tuple(anywhere))))
    is_covered = covered(beside, by=found(untimed(build(replace(deployment, bounds=TWO)))))
    assert not is_covered
