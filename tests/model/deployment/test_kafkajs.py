"""KafkaJS: its defaults by release, what it refuses, what is not modelled of it, and how long things take."""

from __future__ import annotations

import pytest

from proofka.model.deployment import with_assumption
from proofka.model.deployment.choices import Acks, Commit, OffsetReset
from proofka.model.deployment.deployment import Deployment
from tests.model.deployment.test_libraries import consumer, producer, setting

OWN = "retry.initialRetryTime: 100"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (producer("kafkajs", "idempotent: true; retry.retries: 0"), "J01"),
        (producer("kafkajs", "idempotent: true; client.retry.retries: 0"), "J01"),
        (producer("kafkajs", "idempotent: true; acks: 1"), "J02"),
        (consumer("kafkajs", "heartbeatInterval: 30000"), "J03"),
        (consumer("kafkajs", "sessionTimeout: 3000"), "J03"),
        (consumer("kafkajs", 'groupId: ""'), "J04"),
        (consumer("kafkajs", "sessionTimeout: 1900000; rebalanceTimeout: 1900000"), "C13"),
    ],
)
def test_invalid_settings_are_refused(refusal, text: str, rule: str) -> None:
    message = refusal(text)
    assert message.endswith(f"(rule {rule})")
    assert rule[0] != "J" or "with KafkaJSNonRetriableError: " in message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (producer("kafkajs", "idempotent: true"), "not modelled yet: idempotence of KafkaJS"),
        (producer("kafkajs", "idempotent: true; retry.retries: 3; client.retry.retries: 0"), "idempotence of KafkaJS"),
        (producer("kafkajs", "transactionalId: t"), "not modelled yet: transactions of KafkaJS"),
        (
            producer("kafkajs", "acks: 2"),
            "not checked by KafkaJS: Invalid value 2 for configuration acks",
        ),
        (producer("kafkajs", "maxInFlightRequests: 0"), "must be an integer from 1"),
        (producer("kafkajs", version="1.11"), "known releases are 1.12 to 2.2"),
        (
            consumer("kafkajs", "autoCommit: false", "1.13"),
            "not modelled yet: KafkaJS before 1.14 with autoCommit=false",
        ),
        (consumer("kafkajs", "rebalanceTimeout: 20000"), "a rebalanceTimeout shorter than sessionTimeout"),
        (consumer("kafkajs", "sessionTimeout: 70000"), "a rebalanceTimeout shorter than sessionTimeout"),
        (consumer("kafkajs", "retry.restartOnFailure: never"), "a consumer that can stay stopped"),
        (consumer("kafkajs") + "  commit: before\n", "the client commits by itself (autoCommit=true)"),
        (
            consumer("kafkajs") + "  processing: handed-off\n  on_processing_error: retry\n",
            "not modelled yet: retries of a record with a client that commits by itself",
        ),
        (consumer("kafkajs") + "assume: {faults: {rebalance: 1}}\n", "not modelled yet: rebalances of KafkaJS"),
        (consumer("kafkajs") + "assume: {faults: {eviction: 1}}\n", "not modelled yet: evictions of KafkaJS"),
        (
            consumer("kafkajs") + "producer: {transactional.id: t}\n",
            "not modelled yet: reading of transactions with KafkaJS",
        ),
        (producer("kafkajs") + "assume: {faults: {producer-stop: 1}}\n", "which does not wait for retries"),
        (
            producer("kafkajs") + "  on_stop: force\nassume: {faults: {producer-stop: 1}}\n",
            "which does not wait for retries; set on_stop: exit",
        ),
        (
            consumer("kafkajs", "rackId: a") + "topic: {replicas: 3}\n"
            "broker: {replica.selector.class: org.apache.kafka.common.replica.RackAwareReplicaSelector}\n",
            "not modelled yet: reading from followers with consumers other than Java's",
        ),
    ],
)
def test_settings_that_are_not_modelled_are_refused(refusal, text: str, said: str) -> None:
    assert said in refusal(text)


def test_stop_without_close_is_modelled(read_yaml) -> None:
    text = producer("kafkajs") + "  on_stop: exit\nassume: {faults: {producer-stop: 1}}\n"
    assert not read_yaml(text).producer.sender.close_waits


def test_a_producer_by_default(read_yaml) -> None:
    deployment: Deployment = read_yaml(producer("kafkajs"))
    assert deployment.client == "kafkajs 2.2 (producer), java 4.0 (consumer)"
    assert (deployment.producer.acks, deployment.producer.idempotence, deployment.producer.retries) == (
        Acks.ALL,
        False,
        5,
    )
    assert deployment.producer.max_in_flight == 2**31 - 1
    assert deployment.producer.sender.in_any_order and deployment.producer.sender.only_attempts_end
    assert any("each send() is assumed to contain records of one partition" in note for note in deployment.notes)
    times = deployment.durations
    assert (times.linger.least, times.ack_timeout.least, times.request_timeout.least) == (0, 30_000, 30_000)
    assert (times.retry_backoff.least, times.retry_backoff_max.most) == (240, None)
    assert (times.delivery_timeout.least, times.delivery_timeout.most) == (3_794, None)


def test_settings_of_producer_and_consumer(read_yaml) -> None:
    deployment = read_yaml(producer("kafkajs", "acks: 0; maxInFlightRequests: 1; timeout: 1000; requestTimeout: 500"))
    assert (deployment.producer.acks, deployment.producer.max_in_flight) == (Acks.NONE, 1)
    assert (deployment.durations.ack_timeout.least, deployment.durations.request_timeout.least) == (1_000, 500)
    assert read_yaml(producer("kafkajs", "acks: 1")).producer.acks is Acks.LEADER


def test_retries_of_the_producer_outrank_those_of_the_client(read_yaml) -> None:
    assert read_yaml(producer("kafkajs", "client.retry.retries: 2")).producer.retries == 2
    both = read_yaml(producer("kafkajs", "client.retry.retries: 2; retry.retries: 8"))
    assert both.producer.retries == 8
    assert both.durations.delivery_timeout.least == 240 + 384, "metadata gives up after the client's two pauses"
    assert setting(both, "retry.retries").value == "8"


@pytest.mark.parametrize(
    ("settings", "least", "total"),
    [
        ("retry.retries: 0", 240, 0),
        (OWN, 80, 1_264),
        ("client.retry.initialRetryTime: 100", 80, 1_264),
        ("client.retry.initialRetryTime: 1000; client.retry.maxRetryTime: 1000", 800, 4_800),
        ("client.retry.multiplier: 1; client.retry.factor: 0.5", 9, 290),
        ("client.retry.factor: 2", 0, 0),
    ],
)
def test_send_fails_after_its_retries(read_yaml, settings: str, least: int, total: int) -> None:
    times = read_yaml(producer("kafkajs", settings)).durations
    assert (times.retry_backoff.least, times.delivery_timeout.least) == (least, total)


def test_before_1_15_each_attempt_is_up_to_six(read_yaml) -> None:
    assert read_yaml(producer("kafkajs", version="1.14")).producer.retries == 35
    slow = read_yaml(producer("kafkajs", "client.retry.initialRetryTime: 10000; retry.retries: 0", "1.12"))
    assert (slow.producer.retries, slow.durations.retry_backoff.least) == (5, 240)


def test_requests_time_out_from_2_0_on(read_yaml) -> None:
    assert read_yaml(producer("kafkajs", version="1.16")).durations.request_timeout.most is None
    assert read_yaml(producer("kafkajs", "enforceRequestTimeout: false")).durations.request_timeout.most is None
    assert (
        read_yaml(producer("kafkajs", "enforceRequestTimeout: true", "1.16")).durations.request_timeout.most == 30_000
    )


def test_a_consumer_by_default(read_yaml) -> None:
    deployment = read_yaml(consumer("kafkajs", "groupId: g"))
    assert (deployment.application.commit, deployment.consumer.commits_on_timer) == (Commit.AFTER, False)
    assert "commit" not in {one.key for one in deployment.assumptions}, "its client does it"
    assert deployment.consumer.offset_reset is OffsetReset.LATEST
    assert not (deployment.consumer.knows_epochs or deployment.consumer.checks_epochs)
    times = deployment.durations
    assert (times.consumer_session.least, times.max_poll.least, times.consumer_request.least) == (
        30_000,
        60_000,
        30_000,
    )
    assert read_yaml(consumer("kafkajs", "fromBeginning: true")).consumer.offset_reset is OffsetReset.EARLIEST
    assert read_yaml(consumer("kafkajs", "maxWaitTimeInMs: 40000")).durations.consumer_request.least == 45_000


def test_records_handed_off_are_committed_unfinished(read_yaml) -> None:
    handed_off = read_yaml(consumer("kafkajs") + "  processing: handed-off\n")
    assert handed_off.application.commit is Commit.DELIVERED
    assert (
        with_assumption(read_yaml(consumer("kafkajs")), "processing", "handed-off").application.commit
        is Commit.DELIVERED
    )
    again = read_yaml(consumer("kafkajs") + "  on_processing_error: retry\n")
    assert again.application.commit is Commit.AFTER, "what is tried again is not committed meanwhile"
    assert with_assumption(again, "sink", "idempotent").application.commit is Commit.AFTER


@pytest.mark.parametrize("settings", ["autoCommit: false", "eachBatchAutoResolve: false"])
def test_application_names_the_committed_offset(read_yaml, settings: str) -> None:
    assert read_yaml(consumer("kafkajs", settings) + "  commit: before\n").application.commit is Commit.BEFORE
