"""Brokers before 2.5 that delete what they know a producer by, step by step (semantics 3.4, 3.5; KIP-360).

``ProducerStateManager.truncateHead`` (0.11 to 2.3) keeps a producer as long as its last batch is not below the start of
the log; ``TransactionManager.canRetry`` (1.0 to 2.4) compares that start with what was acknowledged last.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from proofka.model.deployment import Deployment
from proofka.model.deployment.implied.forgetting import brokers_forget_deleted
from proofka.model.deployment.record_reader import read_record
from proofka.model.state.kept_numbers import FORGOTTEN
from proofka.model.state.pipeline import Fate
from tests.model.scripted import Scenario

PIPELINE = {
    "topic.replicas": 2,
    "topic.min.insync.replicas": 1,
    "topic.retention.ms": 60_000,
    "topic.unclean.leader.election.enable": True,
    "producer.acks": "all",
    "producer.enable.idempotence": True,
    "producer.producer_id": "new",
    "consumer.group.id": "orders",
    "consumer.enable.auto.commit": False,
    "consumer.auto.offset.reset": "earliest",
    "bounds.records": 2,
    "bounds.log": 4,
    "bounds.epochs": 5,
}
FRANZ_GO = {"producer.client": "franz-go", "producer.acks": None, "producer.enable.idempotence": None}
FAULTS = {"lost-response": 2, "kill": 2, "leader-move": 2, "slow-follower": 1, "power-loss": 1, "disk-loss": 1}


def deployment(kafka: str, client: str | None = None, faults: Mapping[str, int] = FAULTS, **more: object) -> Deployment:
    record = {**PIPELINE, "kafka": kafka, **more, "assume.faults": {"total": 9, **faults}}
    if client is not None:
        record["producer.version"] = client
    return read_record(record, name="log starts", file="test", line=1)


def run(kafka: str = "2.3", client: str | None = None, **more: object) -> Scenario:
    return Scenario(deployment(kafka, client, **more))


def stored(run: Scenario, *batches: int) -> Scenario:
    """Store the record in both logs without an answer; the follower learns of the commit, before 2.5 with its next
    fetch."""
    for batch in batches:
        run.produce(batch, 1).replicate(2, 1)
    return run if run.high_watermark(2) == run.high_watermark(1) else run.do("fetch", follower=2, leader=1)


def acknowledged(run: Scenario, *batches: int) -> Scenario:
    stored(run, *batches)
    for batch in batches:
        run.do("acknowledge", batch=batch, leader=1)
    return run


def retried(run: Scenario, batch: int) -> Scenario:
    """Lose the answer of a batch and send the batch again."""
    run.do("lose_response", batch=batch).do("notice", broker=1)
    return run.do("transmit", batch=batch, leader=1)


def log_start(run: Scenario, broker: int) -> int:
    variable = run.pipeline.replica(broker).log_start
    assert variable is not None
    return run.value(variable)


def forgotten(run: Scenario, broker: int) -> list[int]:
    """Return for each record in a broker's log whether the broker has forgotten its sequence number."""
    return [entry[FORGOTTEN] for entry in run.pipeline.replica(broker).log.entries(run.state)]


def moved_to_2(run: Scenario) -> Scenario:
    return run.do("move_leader", broker=2).do("apply_metadata", broker=2).do("apply_metadata", broker=1)


@pytest.mark.slow
def test_client_that_numbers_from_0_again_stores_a_record_twice() -> None:
    """The incident: record 1 was acknowledged and is deleted, record 2 was stored and is deleted, and is retried."""
    one = retried(stored(acknowledged(run(), 0), 1), 1)
    assert one.can("recognise_duplicate", batch=1, leader=1)
    one.do("expire", leader=1, offset=0, batch=0).do("expire", leader=1, offset=1, batch=1)
    assert not one.can("recognise_duplicate", batch=1, leader=1)
    assert not one.can("append", batch=1, leader=1)
    one.do("refuse_unknown", batch=1, leader=1)
    assert one.fate(1) is Fate.BUFFERED
    one.do("transmit", batch=1, leader=1).do("append", batch=1, leader=1)
    assert one.log(1) == [0, 1, 1]


def test_client_from_2_5_on_bumps_its_epoch_and_the_record_is_stored_again() -> None:
    one = retried(stored(acknowledged(run(client="2.5"), 0), 1), 1)
    one.do("expire", leader=1, offset=0, batch=0).do("expire", leader=1, offset=1, batch=1)
    one.do("reject_unknown", batch=1, leader=1).do("transmit", batch=1, leader=1)
    assert one.can("append", batch=1, leader=1)


def test_broker_knows_all_numbers_while_one_record_is_left() -> None:
    one = stored(run(), 0, 1)
    one.do("lose_response", batch=0).do("notice", broker=1).do("transmit", batch=0, leader=1)
    one.do("expire", leader=1, offset=0, batch=0)
    assert forgotten(one, 1) == [0, 0]
    assert one.can("recognise_duplicate", batch=0, leader=1)
    one.do("expire", leader=1, offset=1, batch=1)
    assert forgotten(one, 1) == [1, 1]
    assert one.can("append", batch=0, leader=1), "its number is 0"


def test_a_number_that_was_forgotten_is_not_known_again_when_the_producer_is() -> None:
    one = acknowledged(run(), 0).do("expire", leader=1, offset=0, batch=0)
    one.do("send", batch=1)
    one.do("transmit", batch=1, leader=1).do("refuse_unknown", batch=1, leader=1)
    one.do("transmit", batch=1, leader=1).do("append", batch=1, leader=1)
    assert forgotten(one, 1) == [1, 0]


def knows_older(run: Scenario, broker: int) -> int:
    variable = run.pipeline.replica(broker).knows_producer
    assert variable is not None
    return run.value(variable)


def test_restarted_broker_takes_any_number_from_2_5_on() -> None:
    one = retried(stored(acknowledged(run("4.0", **{"producer.producer_id": "known"}), 0), 1), 1)
    assert one.pipeline.producer.acknowledged_to is None
    one.do("expire", leader=1, offset=0, batch=0).do("expire", leader=1, offset=1, batch=1)
    assert one.can("recognise_duplicate", batch=1, leader=1)
    one.do("kill", broker=1).do("fence", broker=1).do("restart", broker=1)
    assert (forgotten(one, 1), knows_older(one, 1)) == ([1, 1], 0)
    one.do("apply_metadata", broker=2).do("transmit", batch=1, leader=2)
    assert one.can("recognise_duplicate", batch=1, leader=2), "broker 2 runs on"
    alone = run("4.0", **{"topic.replicas": 1, "producer.producer_id": "known"}).produce(0, 1)
    alone.do("lose_response", batch=0).do("expire", leader=1, offset=0, batch=0).do("kill", broker=1)
    alone.do("fence", broker=1).do("restart", broker=1).do("apply_metadata", broker=1).do("notice", broker=1)
    assert alone.do("transmit", batch=0, leader=1).can("append", batch=0, leader=1)


def test_copying_broker_knows_the_copied_numbers_from_2_5_on() -> None:
    one = stored(run("4.0", **{"producer.producer_id": "known"}), 0).do("expire", leader=1, offset=0, batch=0)
    one.do("lose_disk", broker=2).do("fence", broker=2).do("restart", broker=2)
    assert knows_older(one, 2) == 0
    one.do("fetch", follower=2, leader=1)
    assert (forgotten(one, 2), knows_older(one, 2), log_start(one, 2)) == ([1], 0, 1)
    assert (forgotten(one, 1), knows_older(one, 1)) == ([0], 1)


def test_follower_copies_earlier_records_while_the_log_begins_there() -> None:
    one = stored(run("4.0", **{"producer.producer_id": "known"}), 0)
    one.do("lose_disk", broker=2).do("fence", broker=2).do("restart", broker=2).do("fetch", follower=2, leader=1)
    assert (forgotten(one, 2), knows_older(one, 2)) == ([0], 1)


def test_a_client_begins_again_only_where_all_that_was_acknowledged_may_be_deleted() -> None:
    """The leader lost record 1, which was acknowledged: its log starts at 0, and that is not why it is unknown."""
    one = acknowledged(run(), 0).do("send", batch=1)
    broker = one.pipeline.replica(1)
    one.state |= {broker.log.end.name: 0, broker.high_watermark.name: 0}  # as after an unclean election
    one.do("transmit", batch=1, leader=1).do("refuse_unknown", batch=1, leader=1)
    assert one.fate(1) is Fate.FAILED


def test_2_4_knows_the_producer_until_it_is_started_again() -> None:
    one = retried(stored(run("2.4"), 0), 0).do("expire", leader=1, offset=0, batch=0)
    assert one.can("recognise_duplicate", batch=0, leader=1)
    one.do("fetch", follower=2, leader=1)
    assert (log_start(one, 2), forgotten(one, 2)) == (1, [0])
    one.do("kill", broker=2).do("fence", broker=2).do("restart", broker=2)
    assert forgotten(one, 2) == [1]
    assert forgotten(one, 1) == [0]


def test_a_broker_that_starts_knows_the_records_left_in_its_log() -> None:
    one = stored(run("2.4"), 0, 1).do("expire", leader=1, offset=0, batch=0)
    one.do("kill", broker=1).do("fence", broker=1).do("restart", broker=1)
    assert forgotten(one, 1) == [1, 0]


def test_each_broker_deletes_by_itself() -> None:
    one = stored(run(), 0)
    assert one.can("expire_by_itself", broker=2, offset=0, batch=0)
    assert not one.can("expire_by_itself", broker=1, offset=0, batch=0), "consumers read there"
    one.do("expire_by_itself", broker=2, offset=0, batch=0)
    assert (log_start(one, 1), log_start(one, 2)) == (0, 1)
    assert (forgotten(one, 1), forgotten(one, 2)) == ([0], [1])
    assert not one.can("expire_by_itself", broker=2, offset=0, batch=0)


def test_nothing_above_its_high_watermark_is_deleted() -> None:
    one = run().produce(0, 1)
    one.do("fetch", follower=2, leader=1)
    assert one.log(2) == [0]
    assert not one.can("expire_by_itself", broker=2, offset=0, batch=0)
    assert not one.can("expire", leader=1, offset=0, batch=0)


def test_a_record_is_taken_for_one_that_another_broker_has_not_deleted_yet() -> None:
    """Broker 2 still has record 1, whose number record 2 got: it is acknowledged, and stored nowhere."""
    one = acknowledged(run(), 0).do("expire", leader=1, offset=0, batch=0).do("send", batch=1)
    one.do("transmit", batch=1, leader=1).do("refuse_unknown", batch=1, leader=1)
    assert (log_start(one, 1), log_start(one, 2)) == (1, 0)
    one = moved_to_2(one).do("transmit", batch=1, leader=2)
    assert one.can("recognise_duplicate", batch=1, leader=2)
    one.do("expire_by_itself", broker=2, offset=0, batch=0)
    assert one.can("append", batch=1, leader=2), "once it has deleted it, it takes it"


def test_a_follower_takes_over_where_its_leaders_log_starts() -> None:
    one = acknowledged(run(), 0).do("expire", leader=1, offset=0, batch=0)
    one.do("fetch", follower=2, leader=1)
    assert (log_start(one, 2), forgotten(one, 2)) == (1, [1])


def test_a_follower_gets_no_record_that_its_leader_has_deleted() -> None:
    """Record 1 is below the start of the leader's log, which knows it by record 2."""
    one = stored(run(), 0, 1).do("lose_disk", broker=2).do("expire", leader=1, offset=0, batch=0)
    one.do("fence", broker=2).do("restart", broker=2).do("truncate", follower=2, leader=1)
    one.do("fetch", follower=2, leader=1)
    assert (forgotten(one, 1), forgotten(one, 2), log_start(one, 2)) == ([0, 0], [1], 1)
    one.do("fetch", follower=2, leader=1)
    assert (forgotten(one, 2), log_start(one, 2)) == ([1, 0], 1)


def test_a_follower_that_copies_deleted_records_starts_no_later_than_its_log_ends() -> None:
    one = stored(run(), 0, 1).do("lose_disk", broker=2)
    one.do("expire", leader=1, offset=0, batch=0).do("expire", leader=1, offset=1, batch=1)
    one.do("fence", broker=2).do("restart", broker=2).do("truncate", follower=2, leader=1)
    one.do("fetch", follower=2, leader=1)
    assert (log_start(one, 1), log_start(one, 2)) == (2, 1)
    one.do("fetch", follower=2, leader=1)
    assert (log_start(one, 2), forgotten(one, 2)) == (2, [1, 1])


def test_a_log_that_is_cut_short_starts_no_later_than_it_ends() -> None:
    one = stored(run(), 0, 1).do("expire_by_itself", broker=2, offset=0, batch=0)
    one.do("lose_power", broker=2, kept=1)
    assert (log_start(one, 2), forgotten(one, 2)) == (1, [1]), "it knew it by record 2 alone"
    one = stored(run(), 0, 1).do("expire_by_itself", broker=2, offset=0, batch=0)
    one.do("lose_power", broker=2, kept=0)
    assert log_start(one, 2) == 0


def test_a_consumer_reads_nothing_that_the_leader_has_deleted_as_a_follower() -> None:
    one = moved_to_2(stored(run(), 0).do("expire_by_itself", broker=2, offset=0, batch=0))
    assert not one.can("poll", leader=2, count=1)
    one.do("reset_position", leader=2)
    assert one.value(one.pipeline.consumer.position) == 1


@pytest.mark.parametrize(
    ("more", "forgets"),
    [
        ({}, True),
        ({"topic.retention.ms": 604_800_000}, False),
        # Its consumer is never long without a poll, but a request may be late for ten minutes after two.
        ({"topic.retention.ms": 720_101, "assume.poll_interval": "0..1s"}, False),
        ({"topic.retention.ms": 720_100, "assume.poll_interval": "0..1s"}, True),
        (
            {"topic.retention.ms": 720_100, "assume.poll_interval": "0..1s", "producer.delivery.timeout.ms": 110_000},
            False,
        ),
        ({"producer.enable.idempotence": False}, False),
    ],
)
def test_deployments_whose_brokers_forget_after_deletion(more: dict[str, object], forgets: bool) -> None:
    found = deployment("2.3", faults={"lost-response": 1}, **more)
    assert brokers_forget_deleted(found) is forgets


@pytest.mark.parametrize(
    ("fault", "more", "forgets"),
    [
        ("lost-response", {}, False),
        ("kill", {}, True),
        ("disk-loss", {}, True),
        ("reassignment", {}, True),
        ("kill", {"topic.retention.ms": 720_100}, True),
        ("kill", {"topic.retention.ms": 720_101}, False),
        ("kill", {"producer.enable.idempotence": False}, False),
        # Its deliveries have no end.
        ("kill", {**FRANZ_GO, "topic.retention.ms": 1_800_000}, True),
        ("kill", {**FRANZ_GO, "topic.retention.ms": 604_800_000}, False),
        ("lost-response", {**FRANZ_GO, "topic.retention.ms": 1_800_000}, False),
    ],
)
def test_brokers_from_2_5_on_forget_only_by_starting_or_copying(
    fault: str, more: dict[str, object], forgets: bool
) -> None:
    assert brokers_forget_deleted(deployment("4.0", faults={fault: 1}, **more)) is forgets
