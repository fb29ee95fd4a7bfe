"""Promises of compaction, by release and in time, and the faults that break them (semantics 10, D3 D4).

The expectations come from Kafka's sources and issues, never from a run of the model.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proofka.model.deployment import Deployment, read_deployment
from proofka.model.faults import Fault
from proofka.model.pipeline import build
from proofka.properties.verdict import Status
from tests.checker.asking import ask, cut
from tests.deployments import changed
from tests.model.mutate import assume, rewrite

PIPELINE = """\
kafka: "{kafka}"
topic: {{replicas: {replicas}, min.insync.replicas: 1, cleanup.policy: compact, {topic}}}
producer: {{acks: all, enable.idempotence: {idempotence}}}
consumer: {{group.id: g, enable.auto.commit: false}}
assume: {{{assume}}}
"""

C, K, M = Fault.CONSUMER_CRASH, Fault.KILL, Fault.LEADER_MOVE


@pytest.fixture
def read(tmp_path: Path):
    """Read a deployment of one or two replicas with a compacted topic."""

    def reader(
        faults: str, *, kafka: str = "4.0", replicas: int = 1, topic: str = "", idempotence: str = "true", **said: str
    ) -> Deployment:
        assumed = ", ".join([f"faults: {{{faults}}}", *(f"{key}: {value}" for key, value in said.items())])
        file = tmp_path / "deployment.yaml"
        file.write_text(
            PIPELINE.format(kafka=kafka, replicas=replicas, topic=topic, idempotence=idempotence, assume=assumed)
        )
        deployment = read_deployment(file)
        return replace(deployment, bounds=replace(deployment.bounds, epochs=4))

    return reader


@pytest.mark.parametrize(("keys", "status"), [("updated", Status.VIOLATED), ("distinct", Status.VACUOUS)])
def test_a_retry_that_comes_second_makes_the_cleaner_remove_the_newest_value(read, keys: str, status: Status) -> None:
    deployment = read("total: 1, lost-request: 1", replicas=2, idempotence="false", keys=keys)
    verdict = ask(deployment, "no-acked-loss", "log-order")["no-acked-loss"]
    assert verdict.status is status
    if status is Status.VIOLATED:
        assert "left record 1, which was sent before it" in verdict.traces[0].failure


@pytest.mark.slow
@pytest.mark.parametrize(("kafka", "status"), [("3.0", Status.VIOLATED), ("3.1", Status.HOLDS)])
def test_before_3_1_cleaners_remove_records_for_uncommitted_ones(read, kafka: str, status: Status) -> None:
    """KAFKA-13194: what replaced a record is truncated, and both are gone."""
    deployment = read("total: 2, leader-move: 2", kafka=kafka, replicas=2, keys="updated")
    (verdict,) = ask(deployment, "no-acked-loss").values()
    assert (verdict.status, verdict.cut_sets) == (status, (cut(M, M),) if status is Status.VIOLATED else ())


@pytest.mark.parametrize(
    ("away", "keys", "status"),
    [
        pytest.param("1s..2h", "deleted", Status.VIOLATED, marks=pytest.mark.slow),
        pytest.param("1s..10min", "deleted", Status.HOLDS, marks=pytest.mark.slow),
        ("1s..2h", "updated", Status.HOLDS),
    ],
)
def test_a_consumer_that_is_away_for_longer_than_tombstones_are_kept(
    read, away: str, keys: str, status: Status
) -> None:
    deployment = read(
        "total: 1, consumer-crash: 1", topic="delete.retention.ms: 3600000", application_restart=away, keys=keys
    )
    found = ask(deployment, "no-skip", "no-loss")
    assert {one.status for one in found.values()} == {status}
    for one in found.values() if status is Status.VIOLATED else ():
        assert one.cut_sets == (cut(C),)
        assert "a tombstone that it has kept for delete.retention.ms" in [s.text for s in one.traces[0].steps][-2]
        assert one.traces[0].steps[-2].at is not None and one.traces[0].steps[-2].at >= 3_600_000


def test_before_3_1_a_tombstone_is_as_old_as_its_append(read) -> None:
    """KAFKA-4545: it can be dropped as soon as the cleaner first sees it."""
    times = {}
    for kafka in ("3.0", "3.1"):
        deployment = read(
            "total: 1, consumer-crash: 1",
            kafka=kafka,
            topic="delete.retention.ms: 3600000",
            application_restart="1s..2h",
        )
        needs = build(deployment).system.needs
        times[kafka] = {need.clock.name for (name, _), own in needs.items() if name == "drop_tombstone" for need in own}
    assert times == {"3.0": {"age"}, "3.1": {"marked"}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("away", "status"),
    [("1s..unbounded", Status.VIOLATED), ("1s..8h", Status.HOLDS)],
)
def test_a_broker_that_was_away_for_longer_brings_back_deleted_records(read, away: str, status: Status) -> None:
    """The broker never gets the tombstone, and keeps the deleted record."""
    deployment = read("total: 2, kill: 1, leader-move: 1", replicas=2, broker_restart=away)
    (verdict,) = ask(deployment, "no-acked-loss").values()
    assert verdict.status is status
    if status is Status.VIOLATED:
        assert verdict.cut_sets == (cut(K, M),)
        assert "and record 1 is still there" in verdict.traces[0].failure


def test_replaced_records_are_not_lost(read) -> None:
    """The cleaner keeps the last value, and nobody misses those before it."""
    deployment = read("total: 1, consumer-crash: 1", keys="updated")
    for name, verdict in ask(deployment, "no-acked-loss", "no-silent-loss", "no-skip", "no-loss").items():
        assert verdict.status in (Status.HOLDS, Status.VACUOUS), name


def test_a_cleaner_that_removes_the_newest_record_of_a_key_is_found_out(read) -> None:
    """Mutation: the record that stays is removed with the others."""
    deployment = read("total: 1, consumer-crash: 1", keys="updated")

    def removes_all(pipeline, action):
        slots = pipeline.replica(action.arguments["broker"]).log.slots
        last = slots[action.arguments["last"]]["removed"]
        return replace(action, updates={**action.updates, last: last.term * 0 + 1})

    (verdict,) = ask(rewrite("compact", removes_all)(build(deployment)), "no-silent-loss").values()
    assert verdict.status is Status.VIOLATED


@pytest.mark.slow
def test_a_cleaner_that_does_not_look_at_the_high_watermark_is_found_out(read) -> None:
    """Mutation: what 3.1 brought is dropped from the guard."""
    deployment = read("total: 2, leader-move: 2", kafka="3.1", replicas=2, keys="updated")
    assert ask(deployment, "no-acked-loss")["no-acked-loss"].status is Status.HOLDS

    def committed(pipeline, action):
        return pipeline.replica(action.arguments["broker"]).high_watermark.term > action.arguments["last"]

    def leads(pipeline, action):
        return pipeline.replica(action.arguments["broker"]).presumes_leadership

    broken = assume("compact", committed, leads)(build(deployment))
    assert ask(broken, "no-acked-loss")["no-acked-loss"].cut_sets == (cut(M, M),)


@pytest.mark.slow
def test_a_cleaner_that_does_not_wait_is_found_out(read) -> None:
    """Mutation: a tombstone is dropped whenever the cleaner comes."""
    deployment = read(
        "total: 1, consumer-crash: 1", topic="delete.retention.ms: 3600000", application_restart="1s..10min"
    )
    assert ask(deployment, "no-skip")["no-skip"].status is Status.HOLDS
    model = build(deployment)
    hasty = {key: needs for key, needs in model.system.needs.items() if key[0] != "drop_tombstone"}
    (verdict,) = ask(replace(model, system=replace(model.system, needs=hasty)), "no-skip").values()
    assert verdict.cut_sets == (cut(),)


def test_a_topic_whose_records_share_no_key_is_as_any_other(read) -> None:
    """Not a bit more in any state."""
    distinct = read("total: 1, kill: 1", replicas=2, keys="distinct")
    plain = build(changed(distinct, compaction=None))
    assert [v.name for v in build(distinct).system.variables] == [v.name for v in plain.system.variables]
    assert {str(a) for a in build(distinct).system.actions} == {str(a) for a in plain.system.actions}
