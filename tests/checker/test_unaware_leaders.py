"""Requests to a broker that has not heard of its election (semantics, choice 25)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proofka.model.deployment import Deployment
from proofka.model.deployment.explored import Bounds
from proofka.model.faults import Fault
from proofka.model.language import Action
from proofka.model.language.terms import And
from proofka.model.pipeline import Model, build
from proofka.model.state.pipeline import Fate, Pipeline
from proofka.properties.verdict import Status
from tests.checker.asking import ask, assuming, cut, deployment_of
from tests.deployments import changed
from tests.model.mutate import leader_of, rewrite
from tests.model.scripted import Scenario

K, M, P = Fault.KILL, Fault.LEADER_MOVE, Fault.POWER_LOSS
BOUNDS = Bounds(records=2, log=3, sends=1, epochs=4, producer_epochs=3)
IDEMPOTENT = "acks: all, enable.idempotence: true"
PLAIN = "acks: all, enable.idempotence: false"


def deployment(
    folder: Path, producer: str, *kinds: Fault, assumed: str = "{producer_id: new}", total: int = 1
) -> Deployment:
    text = (
        f'kafka: "4.0"\ntopic: {{replicas: 3, min.insync.replicas: 2}}\nproducer: {{{producer}}}\nassume: {assumed}\n'
    )
    return replace(assuming(deployment_of(text, folder), kinds, total), bounds=BOUNDS)


def informed(model: Model) -> Model:
    """Return the model in which the producer sends only to brokers that know that they lead."""

    def wait(pipeline: Pipeline, action: Action) -> Action:
        return replace(action, guard=And(action.guard, leader_of(pipeline, action).presumes_leadership))

    return rewrite("transmit", wait)(model)


LIBRDKAFKA = "client: librdkafka, " + IDEMPOTENT
NEW, KNOWN = "{producer_id: new}", "{producer_id: known}"

CASES = [
    (LIBRDKAFKA, NEW, 3, "no-acked-loss", K),
    (LIBRDKAFKA, NEW, 3, "no-acked-loss", M),
    (IDEMPOTENT, NEW, 3, "log-order", K),
    # One replica: the killed broker itself starts again, and brokers without a replica tell who leads.
    (LIBRDKAFKA, NEW, 1, "no-acked-loss", K),
    # Record 2 runs out of time while record 1 is on its way and is refused; record 1 then has a new epoch.
    (LIBRDKAFKA, KNOWN, 1, "log-order", K),
    (LIBRDKAFKA, KNOWN, 1, "log-order", P),
]


@pytest.mark.parametrize(("producer", "assumed", "replicas", "prop", "fault"), CASES)
def test_a_refusal_by_a_broker_that_does_not_know_of_its_election_violates(
    tmp_path: Path, producer: str, assumed: str, replicas: int, prop: str, fault: Fault
) -> None:
    """The property holds where producers send only to brokers that know that they lead."""
    asked = deployment(tmp_path, producer, fault, assumed=assumed)
    model = build(changed(asked, replicas=replicas, min_insync_replicas=min(2, replicas)))
    found = ask(model, prop)[prop]
    assert (found.status, found.cut_sets) == (Status.VIOLATED, (cut(fault),))
    assert ask(informed(model), prop)[prop].status is Status.HOLDS


def test_a_broker_refuses_a_record_hears_of_its_election_and_stores_the_next(tmp_path: Path) -> None:
    run = Scenario(deployment(tmp_path, LIBRDKAFKA, M))
    run.do("move_leader", broker=2).do("send", batch=0).do("transmit", batch=0, leader=2)
    run.do("send", batch=1).do("transmit", batch=1, leader=2)
    run.do("reject_not_leader", batch=0, broker=2).do("apply_metadata", broker=2).do("append", batch=1, leader=2)
    run.do("apply_metadata", broker=1).replicate(1, 2).do("apply_metadata", broker=3).replicate(3, 2)
    run.do("acknowledge", batch=1, leader=2)
    assert (run.fate(0), run.log(2)) == (Fate.ACKNOWLEDGED, [1])


def test_any_broker_can_tell_of_an_election(tmp_path: Path) -> None:
    """Brokers without a replica of the partition are no part of the model, and hear of elections as well."""
    run = Scenario(deployment(tmp_path, PLAIN, M)).do("send", batch=0)
    assert not run.can("transmit", batch=0, leader=2)
    run.do("move_leader", broker=2).do("transmit", batch=0, leader=2)
    assert run.value(run.pipeline.producer.leader_epoch) == run.value(run.pipeline.controller.epoch) == 2


def test_a_leader_that_is_elected_again_appends_in_the_epoch_that_it_knows(tmp_path: Path) -> None:
    """A produce request names no epoch, so the broker cannot tell that the producer knows a newer one."""
    run = Scenario(deployment(tmp_path, PLAIN, M, total=2)).do("move_leader", broker=2).do("apply_metadata", broker=2)
    run.do("send", batch=0).do("transmit", batch=0, leader=2).do("send", batch=1).do("append", batch=0, leader=2)
    assert not run.can("transmit", batch=1, leader=1), "the producer knows of a newer leader"
    run.do("move_leader", broker=1).do("transmit", batch=1, leader=1).do("append", batch=1, leader=1)
    assert (run.log(1), run.epochs(1)) == ([1], [1])
