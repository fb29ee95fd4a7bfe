"""Requests to a broker that has not heard of its election (semantics, choice 25)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from model.deployment import Deployment
from model.deployment.explored import Bounds
from model.deployment.implied.refusing import skips_refused
from model.faults import Fault
from model.language import Action
from model.language.terms import And
from model.pipeline import Model, build
from model.state.pipeline import Fate, Pipeline
from properties.verdict import CutSet, Status
from tests.checker.asking import ask, assuming, cut, deployment_of
from tests.deployments import changed
from tests.model.mutate import leader_of, rewrite
from tests.model.scripted import Scenario

K, M = Fault.KILL, Fault.LEADER_MOVE
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


CASES = [
    ("client: librdkafka, " + IDEMPOTENT, "no-acked-loss", K),
    ("client: librdkafka, " + IDEMPOTENT, "no-acked-loss", M),
    (IDEMPOTENT, "log-order", K),
]


@pytest.mark.parametrize(("producer", "prop", "fault"), CASES)
def test_a_record_refused_by_a_broker_that_does_not_know_of_its_election_is_skipped(
    tmp_path: Path, producer: str, prop: str, fault: Fault
) -> None:
    """The broker stores the second record, whose number is the first that it sees of the producer (3.5)."""
    model = build(deployment(tmp_path, producer, fault))
    found = ask(model, prop)[prop]
    assert (found.status, found.cut_sets) == (Status.VIOLATED, (cut(fault),))
    assert ask(informed(model), prop)[prop].status is Status.HOLDS


def test_a_broker_refuses_a_record_hears_of_its_election_and_stores_the_next(tmp_path: Path) -> None:
    run = Scenario(deployment(tmp_path, "client: librdkafka, " + IDEMPOTENT, M))
    run.do("move_leader", broker=2)
    run.do("send", batch=0)
    assert not run.can("transmit", batch=0, leader=2), "nobody has told the producer of broker 2"
    run.do("apply_metadata", broker=3).do("transmit", batch=0, leader=2)
    run.do("send", batch=1).do("transmit", batch=1, leader=2)
    run.do("reject_not_leader", batch=0, broker=2).do("apply_metadata", broker=2).do("append", batch=1, leader=2)
    run.do("apply_metadata", broker=1).replicate(1, 2).replicate(3, 2)
    run.do("acknowledge", batch=1, leader=2)
    assert (run.fate(0), run.log(2)) == (Fate.ACKNOWLEDGED, [1])


@pytest.mark.parametrize(
    ("producer", "assumed", "total", "matters"),
    [
        (IDEMPOTENT, "{producer_id: new}", 1, True),
        (IDEMPOTENT, "{producer_id: known}", 1, False),
        (IDEMPOTENT, "{producer_id: known}", 2, True),
        (IDEMPOTENT + ", max.in.flight.requests.per.connection: 1", "{producer_id: new}", 1, False),
        (PLAIN, "{sends: async}", 2, False),
    ],
)
def test_such_requests_are_part_of_the_model_where_a_broker_can_lack_numbers(
    tmp_path: Path, producer: str, assumed: str, total: int, matters: bool
) -> None:
    asked = deployment(tmp_path, producer, K, M, assumed=assumed, total=total)
    assert skips_refused(asked) is matters
    run = Scenario(asked).do("send", batch=0).do("move_leader", broker=2).do("apply_metadata", broker=3)
    assert run.can("transmit", batch=0, leader=2) is matters


def found(model: Model) -> dict[str, tuple[Status, frozenset[CutSet]]]:
    return {name: (verdict.status, frozenset(verdict.cut_sets)) for name, verdict in ask(model).items()}


LEFT_OUT = {
    "acks=all": (PLAIN, "{sends: async}"),
    "acks=1": ("acks: 1, enable.idempotence: false", "{sends: async}"),
    "known": (IDEMPOTENT, "{producer_id: known}"),
    "librdkafka, known": ("client: librdkafka, " + IDEMPOTENT, "{producer_id: known}"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", LEFT_OUT)
def test_such_requests_change_nothing_elsewhere(tmp_path: Path, case: str) -> None:
    """The complete model finds the same fault sets."""
    producer, assumed = LEFT_OUT[case]
    asked = deployment(tmp_path, producer, K, M, Fault.CUT_OFF, Fault.LOST_RESPONSE, assumed=assumed)
    asked = changed(asked, replicas=2, min_insync_replicas=1)
    assert found(build(asked, complete=True)) == found(build(asked))
