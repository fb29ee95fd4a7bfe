"""Requests to a broker that does not know of its election (semantics 3.1 P2, choice 25)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from z3 import BoolRef

from model.faults import Fault
from model.language import Action
from model.language.terms import And
from model.pipeline import build
from model.state.pipeline import Fate, Pipeline
from properties.verdict import Status
from tests.checker.asking import SMALL, ask, assuming, cut, deployment_of
from tests.model.mutate import guard
from tests.model.scripted import Scenario, scenario


def elected_unawares() -> Scenario:
    """Return a run in which the controller has moved leadership to broker 2, which has not heard of the election."""
    return scenario("acks-1").do("move_leader", broker=2).do("send", batch=0).do("send", batch=1)


def test_elected_broker_refuses_the_first_record_and_stores_the_second() -> None:
    run = elected_unawares().do("transmit", batch=0, leader=2).do("transmit", batch=1, leader=2)
    assert not run.can("append", batch=0, leader=2), "broker 2 does not know that it leads"
    run.do("reject_not_leader", batch=0, broker=2).do("apply_metadata", broker=2).do("append", batch=1, leader=2)
    run.do("acknowledge", batch=1, leader=2).do("transmit", batch=0, leader=2).do("append", batch=0, leader=2)
    assert run.log(2) == [1, 0]


def test_elected_broker_stores_what_it_has_not_refused() -> None:
    run = elected_unawares().do("transmit", batch=0, leader=2).do("apply_metadata", broker=2)
    run.do("append", batch=0, leader=2)
    assert (run.log(2), run.fate(0)) == ([0], Fate.APPENDED)


def test_producer_that_heard_of_the_election_goes_back_to_no_former_leader() -> None:
    run = elected_unawares().do("transmit", batch=0, leader=2).do("reject_not_leader", batch=0, broker=2)
    assert not run.can("transmit", batch=0, leader=1), "broker 1 leads in an older epoch"


def test_only_the_elected_broker_is_taken_for_the_leader() -> None:
    run = elected_unawares()
    assert run.can("transmit", batch=0, leader=1), "broker 1 still considers itself the leader"
    assert not run.can("transmit", batch=0, leader=3)
    run.do("kill", broker=2)
    assert not run.can("transmit", batch=0, leader=2)


def test_only_replica_can_be_elected_unawares() -> None:
    """A broker without a replica tells the producer of the election."""
    run = scenario("retries-in-flight-5", replicas=1, min_insync_replicas=1).do("kill", broker=1).do("fence", broker=1)
    run.do("restart", broker=1).do("send", batch=0)
    assert (run.leader, run.can("transmit", batch=0, leader=1)) == (1, True)


LIBRDKAFKA = """
kafka: "4.1"
topic: {replicas: 3, min.insync.replicas: 2}
producer: {client: librdkafka, acks: all, enable.idempotence: true}
consumer: {group.id: orders, enable.auto.commit: false}
assume: {producer_id: new}
"""


def test_librdkafka_loses_an_acknowledged_record_by_a_planned_move_of_the_leader(tmp_path: Path) -> None:
    """Replayed on Kafka 4.1.2 (docs/conformance.md): the success of record 2 ends record 1, which was refused."""
    moved = assuming(deployment_of(LIBRDKAFKA, tmp_path), [Fault.LEADER_MOVE], 1)
    model = build(replace(moved, bounds=replace(SMALL, records=2)))
    (verdict,) = ask(model, "no-acked-loss").values()
    assert verdict.cut_sets == (cut(Fault.LEADER_MOVE),)
    only_leaders = guard("transmit", lambda pipeline, action: And(action.guard, _leads(pipeline, action)))
    (verdict,) = ask(only_leaders(model), "no-acked-loss").values()
    assert verdict.status is not Status.VIOLATED


def _leads(pipeline: Pipeline, action: Action) -> BoolRef:
    return pipeline.replica(action.arguments["leader"]).presumes_leadership
