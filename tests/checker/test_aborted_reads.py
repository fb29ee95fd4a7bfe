"""Aborted records that librdkafka hands over although it reads committed ones only (semantics 11.2, #3020)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from proofka.model.deployment.changing import changes_of
from proofka.properties.known_defects.beside import defects_beside
from proofka.properties.verdict import Status
from tests.checker.records import decide, recorded

FAULTS = {"transaction-timeout": 1}
PIPELINE = {
    "kafka": "2.6",
    "topic.replicas": 1,
    "topic.min.insync.replicas": 1,
    "producer.client": "java",
    "producer.version": "2.6",
    "producer.transactional.id": "orders",
    "producer.enable.idempotence": True,
    "consumer.client": "librdkafka",
    "consumer.isolation.level": "read_committed",
    "consumer.group.id": "orders",
    "consumer.enable.auto.commit": False,
}
GZIP = {"producer.compression.type": "gzip"}
LZ4_TOPIC = {"topic.compression.type": "lz4"}
PLAIN_TOPIC = {"topic.compression.type": "uncompressed"}


def by(release: str) -> Mapping[str, object]:
    return {"consumer.version": release}


@pytest.mark.parametrize("compression", [GZIP, LZ4_TOPIC])
@pytest.mark.parametrize("release", ["1.2.0", "1.5.2"])
def test_before_1_5_3_compressed_records_of_aborted_transactions_are_read(
    release: str, compression: Mapping[str, object]
) -> None:
    assert decide("no-aborted-read", FAULTS, PIPELINE, by(release), compression).status is Status.VIOLATED


@pytest.mark.parametrize(
    ("release", "compression"), [("1.5.3", GZIP), ("1.5.2", {}), ("1.5.2", GZIP | PLAIN_TOPIC), ("2.0.0", LZ4_TOPIC)]
)
def test_other_releases_and_batches_that_are_not_compressed_filter(
    release: str, compression: Mapping[str, object]
) -> None:
    assert decide("no-aborted-read", FAULTS, PIPELINE, by(release), compression).status is not Status.VIOLATED


@pytest.mark.parametrize(("compression", "named"), [(GZIP, True), ({}, False)])
def test_aborts_after_a_crash_are_named_beside_the_pass(compression: Mapping[str, object], named: bool) -> None:
    deployment = recorded("no-aborted-read", {"producer-crash": 1}, PIPELINE, by("1.5.2"), compression)
    assert ("librdkafka-3020-a" in {one.id for one in defects_beside(deployment, "no-aborted-read")}) is named


@pytest.mark.parametrize(("release", "counts"), [("1.5.2", True), ("1.5.3", False)])
def test_the_compression_counts_where_it_changes_the_records_read(release: str, counts: bool) -> None:
    deployment = recorded("no-aborted-read", FAULTS, PIPELINE, by(release), GZIP)
    assert ("producer", "compression.type") in {
        (one.scope, one.key) for one in (deployment.settings if counts else deployment.ignored)
    }


@pytest.mark.parametrize(
    ("release", "compression", "offered"),
    [
        ("1.5.2", GZIP, ["producer.compression.type=none", "topic.compression.type=uncompressed"]),
        ("1.5.2", LZ4_TOPIC, ["topic.compression.type=uncompressed"]),
        ("1.5.3", GZIP, []),
    ],
)
def test_batches_without_compression_are_a_change_to_try(
    release: str, compression: Mapping[str, object], offered: list[str]
) -> None:
    deployment = recorded("no-aborted-read", FAULTS, PIPELINE, by(release), compression)
    assert [str(change) for change in changes_of(deployment) if "compression" in str(change)] == offered
