"""Eras of brokers and clients: by their releases, and by the protocol version set for old brokers."""

from __future__ import annotations

import pytest

from proofka.model.deployment.truncation import Truncation


@pytest.mark.parametrize(
    ("text", "truncation", "consumer_knows_epochs", "consumer_checks_epochs"),
    [
        ("kafka: 2.5", Truncation.FENCED, True, True),
        ("kafka: 2.4", Truncation.FENCED_QUESTIONS, True, True),
        ("kafka: 2.2", Truncation.FENCED_QUESTIONS, True, False),
        ("kafka: 2.4\nconsumer: {version: 2.2}", Truncation.FENCED_QUESTIONS, True, False),
        ("kafka: 2.4\nbroker: {inter.broker.protocol.version: 1.1-IV0}", Truncation.LAST_EPOCH, False, False),
        ("kafka: 2.4\nbroker: {inter.broker.protocol.version: '2.0'}", Truncation.EPOCHS, False, False),
        ("kafka: 2.4\nbroker: {inter.broker.protocol.version: '3.0'}", Truncation.FENCED_QUESTIONS, True, True),
        ("kafka: 2.5\nbroker: {inter.broker.protocol.version: '2.4'}", Truncation.FENCED, True, True),
        ("kafka: 2.8\nbroker: {inter.broker.protocol.version: '2.1'}", Truncation.FENCED, True, False),
        ("kafka: 2.4\nbroker: {log.message.format.version: 0.10.2}", Truncation.HIGH_WATERMARK, True, False),
        ("kafka: 2.4\ntopic: {message.format.version: 0.10.2}", Truncation.HIGH_WATERMARK, True, False),
        ("kafka: 3.5\ntopic: {message.format.version: 0.10.2}", Truncation.FENCED, True, True),
    ],
)
def test_protocol_version_of_brokers_decides_their_era(
    read_yaml, text: str, truncation: Truncation, consumer_knows_epochs: bool, consumer_checks_epochs: bool
) -> None:
    deployment = read_yaml(text)
    assert deployment.cluster.truncation is truncation
    assert deployment.consumer.knows_epochs is consumer_knows_epochs
    assert deployment.consumer.checks_epochs is consumer_checks_epochs


@pytest.mark.parametrize(
    ("release", "overrun"),
    [("1.0.2", False), ("1.1", True), ("2.4.1", True), ("2.5", True), ("2.5.1", False), ("4.0", False)],
)
def test_reads_ran_into_appends_from_1_1_to_2_5_0(read_yaml, release: str, overrun: bool) -> None:
    assert read_yaml(f"kafka: {release}").cluster.reads_may_overrun is overrun


def test_a_protocol_that_is_no_release(refusal) -> None:
    assert "must name a release" in refusal("kafka: 2.4\nbroker: {inter.broker.protocol.version: newest}")


@pytest.mark.parametrize(("version", "expires"), [("0.10.2", True), ("2.0", True), ("2.1", False)])
def test_sends_expired_in_the_accumulator_before_2_1(read_yaml, version: str, expires: bool) -> None:
    deployment = read_yaml(f"kafka: 2.4\nproducer: {{version: {version}}}")
    assert deployment.producer.expires_in_accumulator is expires
    waits = deployment.durations.delivery_timeout
    assert (waits.name, waits.least) == (
        ("request.timeout.ms", 30_000) if expires else ("delivery.timeout.ms", 120_000)
    )


def test_a_producer_of_old_does_not_retry_by_default(read_yaml) -> None:
    deployment = read_yaml("kafka: 0.10.2")
    assert (deployment.producer.retries, deployment.producer.idempotence, deployment.producer.acks.value) == (
        0,
        False,
        "1",
    )
    assert deployment.cluster.unclean_leader_election
