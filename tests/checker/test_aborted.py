"""Transactions in a topic that is compacted, by release and in time, and what breaks them (semantics 10, D6 D7).

The expectations come from Kafka's sources and issues, never from a run of the model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import z3

from proofka.model.compaction.aborted import is_decided
from proofka.model.deployment import Deployment, read_deployment
from proofka.model.faults import Fault
from proofka.model.log.markers import is_aborted, is_marker
from proofka.model.pipeline import build
from proofka.properties.verdict import Status
from tests.checker.asking import ask, cut
from tests.model.mutate import assume, rewrite

PIPELINE = """\
kafka: "{kafka}"
topic: {{replicas: {replicas}, min.insync.replicas: 1, cleanup.policy: compact}}
producer: {{transactional.id: t}}
consumer: {{group.id: g, auto.offset.reset: earliest, enable.auto.commit: false, isolation.level: read_committed}}
assume: {{{assume}}}
"""

K, M, T = Fault.KILL, Fault.LEADER_MOVE, Fault.TRANSACTION_TIMEOUT
ONE_ABORTED = "total: 1, transaction-timeout: 1"
READ, LOST, TORN = "no-aborted-read", "no-acked-loss", "atomicity"

Reader = Callable[..., Deployment]


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    """Read a deployment of one or two replicas with a compacted topic, where each record is a transaction."""

    def reader(faults: str, *, kafka: str, replicas: int = 1, records: int = 2, **said: str) -> Deployment:
        assumed = {"keys": "updated", "transaction_records": "1"} | said
        settings = ", ".join([f"faults: {{{faults}}}", *(f"{key}: {value}" for key, value in assumed.items())])
        file = tmp_path / "deployment.yaml"
        file.write_text(PIPELINE.format(kafka=kafka, replicas=replicas, assume=settings))
        deployment = read_deployment(file)
        log = 2 * records + 1
        return replace(deployment, bounds=replace(deployment.bounds, records=records, log=log, epochs=4))

    return reader


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kafka", "keys", "violated"),
    [
        ("3.1.0", "updated", {READ, LOST}),
        ("3.1.0", "distinct", {READ}),
        ("3.1.1", "updated", set()),
        ("4.0", "deleted", set()),
    ],
)
def test_the_index_that_loses_a_transaction(read: Reader, kafka: str, keys: str, violated: set[str]) -> None:
    """KAFKA-13727: it is read, and replaces what was committed under its key."""
    found = ask(read(ONE_ABORTED, kafka=kafka, keys=keys), READ, LOST, TORN)
    assert {name for name, one in found.items() if one.status is Status.VIOLATED} == violated
    assert all(found[name].cut_sets == (cut(T),) for name in violated)
    if LOST in violated:
        assert "removed it from the log of broker 1, which leads, for a record that was aborted" in (
            found[LOST].traces[0].failure
        )


@pytest.mark.slow
@pytest.mark.parametrize(("away", "status"), [("1s..unbounded", Status.VIOLATED), ("1s..10min", Status.HOLDS)])
def test_a_broker_that_was_away_for_longer_takes_aborted_records_into_the_next_transaction(
    read: Reader, away: str, status: Status
) -> None:
    """The broker never sees the abort, which was kept for a day (delete.retention.ms)."""
    faults = "total: 3, transaction-timeout: 1, kill: 1, leader-move: 1"
    deployment = read(faults, kafka="4.0", replicas=2, records=1, keys="distinct", broker_restart=away)
    deployment = replace(deployment, bounds=replace(deployment.bounds, producer_epochs=4))
    (verdict,) = ask(deployment, READ).values()
    assert verdict.status is status
    if status is Status.VIOLATED:
        assert verdict.cut_sets == (cut(K, M, T),)
        passed, dropped = (
            next(step.at for step in verdict.traces[0].steps if words in step.text)
            for words in ("which was aborted", "of which no records are left")
        )
        assert passed is not None and dropped is not None and dropped - passed >= 86_400_000


@pytest.mark.slow
def test_a_cleaner_that_takes_an_aborted_record_for_a_value_is_found_out(read: Reader) -> None:
    """Mutation: the last of its key may be an aborted record."""
    deployment = read(ONE_ABORTED, kafka="4.0")

    def committed(pipeline, action):
        replica, last = pipeline.replica(action.arguments["broker"]), action.arguments["last"]
        return z3.Not(z3.Or(is_marker(pipeline, replica, last), is_aborted(pipeline, replica, last)))

    def removes_a_record(pipeline, action):
        replica, last = pipeline.replica(action.arguments["broker"]), action.arguments["last"]
        return replace(action, guard=z3.And(action.guard, z3.Not(is_marker(pipeline, replica, last))))

    broken = rewrite("compact", removes_a_record)(assume("compact", committed)(build(deployment)))
    assert ask(broken, LOST)[LOST].cut_sets == (cut(T),)


@pytest.mark.slow
def test_a_cleaner_that_goes_beyond_the_last_stable_offset_is_found_out(read: Reader) -> None:
    """Mutation: it takes what is open for committed, which is aborted then."""
    deployment = read(ONE_ABORTED, kafka="4.0")

    def decided(pipeline, action):
        return is_decided(pipeline, pipeline.replica(action.arguments["broker"]), action.arguments["last"])

    broken = assume("compact", decided)(build(deployment))
    assert ask(broken, LOST)[LOST].cut_sets == (cut(T),)
