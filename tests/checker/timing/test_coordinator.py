"""The wait of a producer for the coordinator of its transactions, after faults that can have moved it (11.1)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from proofka.checker.budget import Budget
from proofka.checker.check import verdict_on
from proofka.model.deployment import Deployment
from proofka.model.deployment.yaml_reader import read_deployment
from proofka.properties.verdict import Status

Read = Callable[..., Deployment]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def with_faults(faults: str, more: str = "", broker: str = "", client: str = "", sizes: str = "") -> Deployment:
        file = tmp_path / "orders.yaml"
        file.write_text(
            f"""
kafka: "3.9"
topic: {{replicas: 3, min.insync.replicas: 2}}
broker: {{{broker}}}
producer: {{transactional.id: orders{client}}}
consumer: {{group.id: g, auto.offset.reset: earliest, enable.auto.commit: false, isolation.level: read_committed}}
assume: {{faults: {{total: 1, {faults}}}{more}}}
bounds: {{{sizes or "records: 1, log: 4"}}}
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


@pytest.mark.slow
def test_a_client_that_pauses_for_long_finds_its_coordinator_late(read: Read) -> None:
    """Java clients pause for retry.backoff.ms before they ask it again, although retry.backoff.max.ms is a second."""
    client = ", delivery.timeout.ms: 60000, request.timeout.ms: 15000"
    prompt = read("kill: 1", client=client)
    paused = read("kill: 1", client=f"{client}, retry.backoff.ms: 60000")
    assert verdict_on("no-aborted-read", prompt, Budget()).status is Status.HOLDS
    assert verdict_on("no-aborted-read", paused, Budget()).status is Status.VIOLATED


@pytest.mark.slow
def test_a_write_of_the_coordinator_that_failed_is_tried_again_late(read: Read) -> None:
    """The thread that sends markers sleeps for request.timeout.ms of the brokers, and then writes "complete" again."""
    client = (
        ", transaction_records: 1, transaction.timeout.ms: 5000, delivery.timeout.ms: 100000, request.timeout.ms: 10000"
    )
    sizes = "records: 2, log: 6"
    soon = read("kill: 1", client=client, sizes=sizes, broker="request.timeout.ms: 1000")
    late = read("kill: 1", client=client, sizes=sizes, broker="request.timeout.ms: 300000")
    assert verdict_on("no-aborted-read", soon, Budget()).status is Status.HOLDS
    assert verdict_on("no-aborted-read", late, Budget()).status is Status.VIOLATED
