"""Runs that are like one for which there is no time: they decide fault sets, and need not be shortest."""

from __future__ import annotations

from dataclasses import replace

from proofka.checker.budget import Budget
from proofka.checker.check import check
from proofka.model.deployment import yaml_tree
from proofka.model.deployment.yaml_reader import deployment_by
from proofka.properties.verdict import Verdict

COMMITS_FIRST = """
kafka: "4.1.0"
topic: {replicas: 3, settings: {min.insync.replicas: 2, flush.messages: 1}}
producer:
  client: kafka-python
  version: "3.0"
  settings: {acks: all, enable_idempotence: false, retries: 0, max_in_flight_requests_per_connection: 2}
consumer:
  client: kafka-python
  version: "3.0"
  commit: before
  processing: poll-thread
  settings: {group_id: g, auto_offset_reset: earliest, enable_auto_commit: false}
"""
"""A deployment in which processing-order fails with a broker cut off."""


CUT_OFF = (("cut-off", 1),)


def processing_order() -> Verdict:
    found = deployment_by(yaml_tree.parse_yaml(COMMITS_FIRST, "a.yaml"), "a.yaml", "a")
    result = check(replace(found, faults=found.faults.up_to(1)), budget=Budget(threads=1))
    return next(verdict for verdict in result.verdicts if verdict.property == "processing-order")


def test_similar_run_with_times_decides_a_fault_set() -> None:
    verdict = processing_order()
    assert CUT_OFF in verdict.cut_sets
    assert not any("not decided" in note for note in verdict.notes)


RESENDS = """
kafka: "4.0"
topic: {replicas: 3, min.insync.replicas: 2}
producer: {acks: all, delivery.timeout.ms: 120000, on_send_error: drop}
assume: {faults: {total: 2, kill: 2, slow-follower: 1, lost-response: 2, leader-move: 1}}
bounds: {records: 1, log: 2}
require: [no-dropped-record]
"""
"""A deployment in which the run that is found with two kills is longer than one for which there is time."""


def test_a_trace_that_may_not_be_the_shortest_is_said_to_be_so() -> None:
    deployment = deployment_by(yaml_tree.parse_yaml(RESENDS, "b.yaml"), "b.yaml", "b")
    found = {one.property: one for one in check(deployment, budget=Budget(threads=1)).verdicts}
    assert (("kill", 2),) in found["no-dropped-record"].cut_sets
    (longer,) = (note for note in found["no-dropped-record"].notes if "is possibly not the shortest" in note)
    assert longer.startswith("the trace is possibly not the shortest with 2 kill")
    assert longer.endswith(": some shorter runs were not checked in time")
    assert not any("is possibly not the shortest" in note for note in found["no-acked-loss"].notes)
