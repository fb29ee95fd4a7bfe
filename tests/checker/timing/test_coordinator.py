"""The wait of a producer for the coordinator of its transactions, after faults that can have moved it (11.1)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from checker.budget import Budget
from checker.check import verdict_on
from model.deployment import Deployment
from model.deployment.yaml_reader import read_deployment
from properties.verdict import Status

Read = Callable[..., Deployment]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def with_faults(faults: str, more: str = "", broker: str = "") -> Deployment:
        file = tmp_path / "orders.yaml"
        file.write_text(
            f"""
kafka: "3.9"
topic: {{replicas: 3, min.insync.replicas: 2}}
broker: {{{broker}}}
producer: {{transactional.id: orders}}
consumer: {{group.id: g, auto.offset.reset: earliest, enable.auto.commit: false, isolation.level: read_committed}}
assume: {{faults: {{total: 1, {faults}}}{more}}}
bounds: {{records: 1, log: 4}}
""",
            encoding="utf-8",
        )
        return read_deployment(file)

    return with_faults


LONG = ", coordinator: 0..5min"
NO_SPARE = "transaction.state.log.min.isr: 3"


@pytest.mark.parametrize(
    ("faults", "more", "broker", "status"),
    [
        # The coordinator serves again in seconds, and delivery.timeout.ms is two minutes.
        ("kill: 1", "", "", Status.HOLDS),
        ("leader-move: 1", "", "", Status.HOLDS),
        # One that loads its state for minutes keeps a record waiting: its late request joins the next transaction.
        ("kill: 1", LONG, "", Status.VIOLATED),
        ("leader-move: 1", LONG, "", Status.VIOLATED),
        # Without the dead broker nothing can be written to __transaction_state.
        ("kill: 1", "", NO_SPARE, Status.VIOLATED),
        ("kill: 1", "", "transaction.state.log.replication.factor: 1", Status.VIOLATED),
        # A move of the leader takes no broker away.
        ("leader-move: 1", "", NO_SPARE, Status.HOLDS),
        # How long a client waits for a broker that fell silent, or misleads it, is left open.
        ("power-loss: 1", "", "", Status.VIOLATED),
        ("cut-off: 1", "", "", Status.VIOLATED),
    ],
)
def test_no_aborted_record_is_read_where_the_coordinator_returns_in_time(
    read: Read, faults: str, more: str, broker: str, status: Status
) -> None:
    verdict = verdict_on("no-aborted-read", read(faults, more, broker), Budget())
    assert verdict.status is status
