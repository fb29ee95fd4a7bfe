"""Replays of steps that no shortest violation has, each in a trace that leads to the step."""

from __future__ import annotations

import pytest

from proofka.checker.reproduction.session import replay_all
from proofka.properties.reproduced import REPRODUCED
from tests.checker.reproduction.leading import plan_with

pytestmark = pytest.mark.cluster

TRANSACTIONS = """
kafka: "{release}"
topic: {{replicas: 2, min.insync.replicas: 2}}
producer: {{transactional.id: orders, transaction_records: {records}}}
consumer: {{group.id: orders, auto.offset.reset: earliest, enable.auto.commit: false, isolation.level: read_committed}}
bounds: {{records: 2}}
assume: {{faults: {{total: {total}, {faults}}}}}
"""


def transactions(release: str, faults: str, *, records: int = 1, total: int = 1) -> str:
    """Return a deployment with transactions. ``records``: those of each transaction."""
    return TRANSACTIONS.format(release=release, faults=faults, records=records, total=total)


EVICTION = """
kafka: "4.0"
topic: {replicas: 2, min.insync.replicas: 2}
producer: {acks: all}
consumer: {group.id: orders, auto.offset.reset: earliest, enable.auto.commit: true, processing: handed-off}
bounds: {records: 1}
assume: {faults: {total: 2, eviction: 1, consumer-crash: 1}}
"""
SARAMA = """
kafka: "4.1"
topic: {replicas: 2, min.insync.replicas: 1}
producer: {client: sarama, Producer.RequiredAcks: WaitForAll}
consumer: {client: sarama}
bounds: {records: 1}
assume: {faults: {total: 1, kill: 1}}
"""
LIBRDKAFKA = """
kafka: "4.1"
topic: {replicas: 2, min.insync.replicas: 1}
producer: {client: librdkafka, acks: all, enable.idempotence: true}
consumer: {client: librdkafka, group.id: orders, auto.offset.reset: earliest, enable.auto.commit: false}
bounds: {records: 2}
assume: {faults: {total: 2, kill: 2}}
"""
LATE_ERRORS = """
kafka: "2.8"
topic: {replicas: 3, min.insync.replicas: 2}
producer: {acks: all, enable.idempotence: true}
consumer: {group.id: orders, enable.auto.commit: false}
bounds: {records: 2}
assume: {faults: {total: 2, kill: 2}}
"""
EARLY_START = """
kafka: "4.0"
topic: {replicas: 2, min.insync.replicas: 1}
broker: {replica.lag.time.max.ms: 10000}
producer: {acks: all}
bounds: {records: 1}
assume: {slowness: 0..20s, faults: {total: 1, kill: 1}}
"""
CASES = {
    "a crash at the commit": (transactions("4.0", "producer-crash: 1"), ("crash_at_commit",)),
    "a late end that is dropped": (transactions("4.0", "delayed-request: 1"), ("delay_end", "discard_late_end")),
    "an end refused by a coordinator that forgot": (
        transactions("4.0", "lost-transaction-state: 1"),
        ("refuse_forgotten_end",),
    ),
    "a partition added again": (
        transactions("4.0", "lost-transaction-state: 1"),
        ("add_again", "append", "acknowledge", "prepare_commit"),
    ),
    "a record refused as unverified": (transactions("3.6", "transaction-timeout: 1"), ("reject_unverified",)),
    "an end refused after another end": (
        transactions("3.5", "kill: 1, delayed-request: 1", total=2),
        ("execute_late_end", "complete_transaction", "refuse_end"),
    ),
    "a number refused in a transaction": (
        transactions("3.5", "kill: 1", records=2),
        ("reject_not_enough_replicas", "transmit", "refuse_in_transaction"),
    ),
    "a crash of an evicted member": (EVICTION, ("crash_late",)),
    "attempts without a connection": (SARAMA, ("fail_to_connect",) * 4),
    "a new epoch once nothing is in flight": (LIBRDKAFKA, ("bump_when_drained", "transmit", "append")),
    "a late error": (LATE_ERRORS, ("kill(broker=3)", "append", "hear_late_error", "transmit", "append")),
    "an early start": (EARLY_START, ("start_early", "fetch", "register")),
}
"""Deployments in YAML, each with the actions that its trace has in this order."""


@pytest.mark.parametrize("case", CASES)
def test_each_step_of_a_trace_happens_on_a_real_cluster(case: str) -> None:
    text, actions = CASES[case]
    plan = plan_with(text, *actions)
    assert {step.action for step in plan.steps} >= {action.partition("(")[0] for action in actions}
    ((_, outcome),) = replay_all([plan], kafka_home=None, tell=lambda line: None, keep=False, kept=print)
    assert outcome.kind == REPRODUCED, outcome
