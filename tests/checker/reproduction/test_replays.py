"""Four replays on real clusters: two of Java's producer, one of librdkafka, and a control that must not fail."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import pytest

from proofka.checker.reproduction.plan import Plan, PlannedClient
from proofka.checker.reproduction.session import replay_all
from proofka.properties.reproduced import DIVERGED, NOT_FAILED, REPRODUCED, Outcome
from tests.checker.reproduction.deployments import plan_for

pytestmark = pytest.mark.cluster

LIBRDKAFKA = """
kafka: "4.1"
topic: {replicas: 2, min.insync.replicas: 2}
producer: {acks: all, client: librdkafka, version: "2.15", enable.idempotence: true, producer_id: new}
consumer: {group.id: orders, auto.offset.reset: earliest, enable.auto.commit: false}
bounds: {records: 2}
assume: {faults: {total: 1, kill: 1}}
"""
"""A producer that reports a record as delivered that no broker has stored."""


def replay(plan: Plan) -> Outcome:
    """Replay a trace on a cluster of its own, and return the outcome."""
    outcomes = [
        outcome for _, outcome in replay_all([plan], kafka_home=None, tell=lambda line: None, keep=False, kept=print)
    ]
    return outcomes[0]


@lru_cache
def of_librdkafka() -> Plan:
    return plan_for(LIBRDKAFKA, of_property="no-acked-loss")


def test_a_killed_leader_takes_a_record_with_it_that_acks_1_acknowledged() -> None:
    outcome = replay(
        plan_for(
            """
kafka: "4.1"
topic: {replicas: 3, min.insync.replicas: 2}
producer: {acks: 1}
consumer: {group.id: orders, enable.auto.commit: false}
bounds: {records: 1}
assume: {faults: {total: 1, kill: 1}}
""",
            of_property="no-acked-loss",
        )
    )
    assert outcome.kind == REPRODUCED, outcome
    assert any("record 1 was reported as stored" in line for line in outcome.evidence)


def test_two_kills_store_a_record_of_an_idempotent_producer_twice() -> None:
    outcome = replay(
        plan_for(
            """
kafka: "3.9"
topic: {replicas: 3, min.insync.replicas: 2}
producer: {acks: all}
consumer: {group.id: orders, enable.auto.commit: false}
bounds: {records: 2}
assume: {faults: {total: 2, kill: 2}}
""",
            of_property="no-log-duplicate",
            total=2,
        )
    )
    assert outcome.kind == REPRODUCED, outcome


def test_librdkafka_reports_a_record_as_delivered_that_no_broker_stored() -> None:
    outcome = replay(of_librdkafka())
    assert outcome.kind == REPRODUCED, outcome


def test_java_loses_no_record_under_the_schedule_with_which_librdkafka_does() -> None:
    plan = of_librdkafka()
    outcome = replay(replace(plan, producer=PlannedClient("java", None, {"acks": "all"})))
    assert outcome.kind in (DIVERGED, NOT_FAILED), outcome
    assert not any("was reported as stored" in line for line in outcome.evidence)
