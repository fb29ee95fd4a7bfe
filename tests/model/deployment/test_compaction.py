"""Compacted topics: what a consumer reads of them, and what is assumed of their keys (semantics 10, D3 D4)."""

from __future__ import annotations

import pytest

from proofka.model.deployment.compaction import Compaction, Keys
from proofka.model.deployment.document import from_document, to_document
from proofka.model.deployment.implied.cleaning import cleans, drops_markers, drops_tombstones, forgets_aborted
from proofka.model.durations import Quantity

COMPACT = 'kafka: "4.0"\ntopic: {replicas: 2, cleanup.policy: compact}\n'


def of(kafka: str, topic: str, broker: str = "") -> str:
    brokers = f'kafka: "{kafka}"\ntopic: {{replicas: 2, {topic}}}\nbroker: {{{broker}}}\n'
    return brokers + "producer: {enable.idempotence: false}"


@pytest.mark.parametrize(("kafka", "careful"), [("3.0", False), ("3.1", True), ("4.0", True)])
def test_cleaners_are_careful_from_3_1_on(read_yaml, kafka: str, careful: bool) -> None:
    """KAFKA-13194 and KIP-534."""
    assert read_yaml(of(kafka, "cleanup.policy: compact")).cluster.compaction == Compaction(careful, careful)


@pytest.mark.parametrize(
    ("topic", "broker"),
    [
        ("cleanup.policy: delete", "log.cleanup.policy: compact"),
        ("cleanup.policy: compact", "log.cleaner.enable: false"),
        ("", ""),
    ],
)
def test_a_topic_that_is_not_compacted_keeps_tombstones_for_ever(read_yaml, topic: str, broker: str) -> None:
    deployment = read_yaml(of("4.0", topic, broker))
    assert deployment.cluster.compaction is None
    assert deployment.durations.delete_retention.most is None
    assert not (cleans(deployment) or drops_tombstones(deployment))


@pytest.mark.parametrize(
    ("topic", "broker", "kept"),
    [
        ("cleanup.policy: compact, retention.ms: 1000", "", None),
        ("cleanup.policy: 'compact,delete', retention.ms: 1000", "", 1_000),
        ("retention.ms: 1000", "log.cleanup.policy: 'delete, compact'", 1_000),
        ("cleanup.policy: 'compact,delete', retention.ms: 1000", "log.cleaner.enable: false", None),
    ],
)
def test_retention_needs_its_policy_and_a_cleaner(read_yaml, topic: str, broker: str, kept: int | None) -> None:
    """LogManager leaves topics that are compacted to the cleaner."""
    assert read_yaml(of("4.0", topic, broker)).durations.retention.most == kept


def test_default_of_keys_is_deleted(read_yaml) -> None:
    deployment = read_yaml(COMPACT)
    assert deployment.application.keys is Keys.DELETED
    assert "keys" in {setting.key for setting in deployment.assumptions}
    assert not cleans(read_yaml(COMPACT, {"keys": "distinct"}))
    assert read_yaml(COMPACT + "producer: {keys: updated}").application.keys is Keys.UPDATED


def test_durations_come_from_the_topic_or_its_broker(read_yaml) -> None:
    times = read_yaml(of("4.0", "cleanup.policy: compact", "log.cleaner.delete.retention.ms: 5")).durations
    assert times.delete_retention == Quantity("delete.retention.ms", 5, 5)
    times = read_yaml(of("4.0", "cleanup.policy: compact, min.compaction.lag.ms: 7")).durations
    assert times.compaction_lag == Quantity("min.compaction.lag.ms", 7, 7)
    assert read_yaml(of("0.10.0", "cleanup.policy: compact")).durations.compaction_lag.least == 0


def test_settings_of_the_cleaners_schedule_are_ignored(read_yaml) -> None:
    ignored = read_yaml(of("4.0", "cleanup.policy: compact, min.cleanable.dirty.ratio: 0.1")).ignored
    assert {one.key: one.reason for one in ignored}["min.cleanable.dirty.ratio"] == (
        "the cleaner of a compacted topic is assumed to run at any time, or never"
    )


def test_tombstone_that_outlasts_every_outage_is_never_dropped(read_yaml) -> None:
    """Without an outage of brokers that has no end, a day is enough."""
    assert drops_tombstones(read_yaml(COMPACT, {"faults.kill": "1"}))
    bounded = read_yaml(COMPACT, {"faults.kill": "1", "broker_restart": "1s..8h"})
    assert cleans(bounded) and not drops_tombstones(bounded)


def test_refusals(refusal) -> None:
    producer = "producer: {transactional.id: t, "
    assert "not modelled yet: transactions in a compacted topic with brokers before 3.1" in refusal(
        of("3.0.2", "cleanup.policy: compact").split("producer")[0] + producer + "}"
    )
    assert "in a compacted topic with clients before 2.5" in refusal(COMPACT + producer + 'version: "2.4"}')
    assert "not modelled yet: lost-transaction-state with transactions in a compacted topic" in refusal(
        COMPACT + producer + "}", {"faults.lost-transaction-state": "1"}
    )
    assert "must be compact or delete" in refusal(of("0.10.0", "cleanup.policy: 'compact,delete'"))


TRANSACTIONS = "producer: {transactional.id: t}"


def test_with_transactions_the_cleaner_removes_aborted_records_whatever_their_key(read_yaml) -> None:
    assert cleans(read_yaml(COMPACT + TRANSACTIONS, {"keys": "distinct"}))
    assert not cleans(read_yaml(COMPACT, {"keys": "distinct"}))


def test_a_marker_that_every_broker_has_by_then_is_never_dropped(read_yaml) -> None:
    """The keys make no difference, as with tombstones."""
    said = {"faults.kill": "1", "keys": "distinct"}
    assert drops_markers(read_yaml(COMPACT + TRANSACTIONS, said))
    assert not drops_markers(read_yaml(COMPACT + TRANSACTIONS, {**said, "broker_restart": "1s..8h"}))
    assert not drops_markers(read_yaml(COMPACT, said))


@pytest.mark.parametrize(("kafka", "forgets"), [("3.1.0", True), ("3.1.1", False), ("3.2.0", False), ("4.0", False)])
def test_before_3_1_1_the_index_of_aborted_transactions_may_lose_a_transaction(
    read_yaml, kafka: str, forgets: bool
) -> None:
    """KAFKA-13727."""
    compacted = of(kafka, "cleanup.policy: compact").split("producer")[0]
    deployment = read_yaml(compacted + TRANSACTIONS, {"faults.kill": "1", "broker_restart": "1s..8h"})
    assert (forgets_aborted(deployment), drops_markers(deployment)) == (forgets, forgets)
    assert not forgets_aborted(read_yaml(compacted + "producer: {enable.idempotence: true}"))


def test_a_document_keeps_the_deployment(read_yaml) -> None:
    deployment = read_yaml(COMPACT)
    assert from_document(to_document(deployment)) == deployment
