"""The waiting of a consumer depends on the faults of its run, and not on other possible faults."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from proofka.checker.budget import Budget
from proofka.checker.check import verdict_on
from proofka.model.deployment import Deployment, NotModelledError
from proofka.model.deployment.yaml_reader import read_deployment
from proofka.properties.verdict import Status

Read = Callable[..., Deployment]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def with_faults(faults: str, retention: int, more: str = "", records: int = 2) -> Deployment:
        file = tmp_path / "orders.yaml"
        file.write_text(
            f"""
kafka: "4.0"
topic: {{replicas: 1, settings: {{retention.ms: {retention}}}}}
producer: {{settings: {{acks: all, enable.idempotence: false}}}}
consumer: {{settings: {{enable.auto.commit: false, group.id: g, auto.offset.reset: earliest}}}}
assume: {{faults: {{total: 1, {faults}}}, broker_restart: 1s..60s{more}}}
bounds: {{records: {records}, log: 3}}
""",
            encoding="utf-8",
        )
        return read_deployment(file)

    return with_faults


@pytest.mark.parametrize(
    ("faults", "retention"),
    [("kill: 1", 640_000), ("consumer-crash: 1", 640_000), ("power-loss: 1, consumer-crash: 1", 1_400_000)],
)
def test_outage_that_did_not_happen_delays_no_poll(read: Read, faults: str, retention: int) -> None:
    """Without any fault the records of two polls are read within twice max.poll.interval.ms and a second or two."""
    verdict = verdict_on("no-skip", read(faults, retention), Budget())
    assert () not in verdict.cut_sets
    assert verdict.status is not Status.UNKNOWN


def test_crash_that_happened_delays_polls(read: Read) -> None:
    """A consumer that is away for up to an hour misses what is deleted in the meantime."""
    verdict = verdict_on("no-skip", read("consumer-crash: 1", 640_000), Budget())
    assert [dict(cut_set) for cut_set in verdict.cut_sets] == [{"consumer-crash": 1}]


@pytest.mark.parametrize("stop", ["kill", "shutdown"])
def test_a_broker_that_is_stopped_does_not_linger(read: Read, stop: str) -> None:
    """The broker waits for the controller for five minutes at most, and the record is read long before its deletion."""
    verdict = verdict_on("no-loss", read(f"{stop}: 1", 1_900_000, records=1), Budget())
    assert verdict.status is Status.HOLDS


def test_memory_where_tombstones_may_go_unread_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "orders.yaml"
    file.write_text(
        """
kafka: "4.0"
topic: {replicas: 1, cleanup.policy: compact, delete.retention.ms: 2000000}
consumer:
  settings: {enable.auto.commit: false, auto.offset.reset: earliest}
  sink: in-memory
  commit: never
  group: new
assume: {keys: deleted, faults: {consumer-crash: 2}, application_restart: 1s..1h}
""",
        encoding="utf-8",
    )
    with pytest.raises(NotModelledError, match="a sink in memory where tombstones can be dropped unread"):
        read_deployment(file)
