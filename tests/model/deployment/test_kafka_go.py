"""kafka-go: its defaults, what it refuses, what is not modelled of it, and who commits."""

from __future__ import annotations

import pytest

from proofka.model.deployment.choices import Acks, Commit, OffsetReset
from tests.model.deployment.test_libraries import consumer, producer

GROUP = "GroupID: g; Reads: FetchMessage"


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ("GroupID: g; Partition: 1", "G01"),
        ("MinBytes: 10000", "G02"),
        ("MinBytes: 10000; MaxBytes: 9999", "G02"),
        ("ReadBackoffMax: 50ms", "G03"),
        ("ReadBackoffMin: 2s", "G03"),
        ("SessionTimeout: 31m", "C13"),
    ],
)
def test_readers_are_refused(refusal, settings: str, rule: str) -> None:
    message = refusal(consumer("kafka-go", settings))
    assert message.endswith(f"(rule {rule})")
    assert rule[0] != "K" or "refused by the kafka-go consumer 0.4.50 with a panic: " in message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (producer("kafka-go", version="0.4.17"), "not modelled yet: writers of kafka-go before 0.4.18"),
        (producer("kafka-go", version="0.4"), "in any order; name the patch level of the version"),
        (producer("kafka-go", version="0.3.10"), "known releases are 0.4 to 0.4"),
        (producer("kafka-go", "RequiredAcks: 2"), "must be one of RequireAll, RequireOne, RequireNone"),
        (
            producer("kafka-go", "Async: true"),
            "the client does not report failed writes; set Completion, or accept that with on_send_error: ignore",
        ),
        (consumer("kafka-go", 'GroupID: ""'), "not modelled yet: a reader of kafka-go without a group"),
        (consumer("kafka-go", "RetentionTime: 24h"), "not modelled yet: a retention of offsets that the client sets"),
        (
            consumer("kafka-go", "OffsetOutOfRangeError: true"),
            "a reader that reports an offset out of range to the application",
        ),
        (consumer("kafka-go", "Reads: ReadMessage") + "  commit: after\n", "commits by itself (Reads=ReadMessage)"),
        (consumer("kafka-go") + "assume: {faults: {rebalance: 1}}\n", "not modelled yet: rebalances of kafka-go"),
        (consumer("kafka-go") + "assume: {faults: {eviction: 1}}\n", "not modelled yet: evictions of kafka-go"),
        (
            consumer("kafka-go") + "producer: {transactional.id: t}\n",
            "not modelled yet: reading of transactions with kafka-go",
        ),
        (
            consumer("kafka-go", "StartOffset: LastOffset") + "topic: {retention.ms: 60000}\n",
            "not modelled yet: kafka-go where records can be deleted unread",
        ),
    ],
)
def test_settings_that_are_not_modelled_are_refused(refusal, text: str, said: str) -> None:
    assert said in refusal(text)


def test_a_writer_by_default(read_yaml) -> None:
    deployment = read_yaml(producer("kafka-go"))
    assert deployment.client == "kafka-go 0.4.50 (producer), java 4.0 (consumer)"
    assert (deployment.producer.acks, deployment.producer.retries, deployment.producer.max_in_flight) == (
        Acks.NONE,
        9,
        1,
    )
    sender = deployment.producer.sender
    assert sender.one_at_a_time_everywhere and sender.only_attempts_end and not sender.in_any_order
    times = deployment.durations
    assert (times.linger.least, times.retry_backoff.least, times.retry_backoff_max.least) == (1_000, 100, 1_000)
    assert (times.request_timeout.least, times.request_timeout.most) == (0, 10_000)
    assert (times.delivery_timeout.least, times.delivery_timeout.most) == (0, None)
    assert any("a context without a deadline" in note for note in deployment.notes)


def test_settings_of_writers(read_yaml) -> None:
    settings = "RequiredAcks: kafka.RequireAll; MaxAttempts: 3; WriteTimeout: 2s; BatchTimeout: 10ms"
    deployment = read_yaml(producer("kafka-go", settings, "0.4.18"))
    assert (deployment.producer.acks, deployment.producer.retries) == (Acks.ALL, 2)
    assert (deployment.durations.ack_timeout.most, deployment.durations.linger.least) == (2_000, 10)
    assert read_yaml(producer("kafka-go", "MaxAttempts: 0")).producer.retries == 9
    heard = read_yaml(producer("kafka-go", "Async: true; Completion: a function"))
    assert heard.producer.acks is Acks.NONE
    unheard = read_yaml(producer("kafka-go", "Async: true") + "  on_send_error: ignore\n")
    assert unheard.application.on_send_error == "ignore"


@pytest.mark.parametrize(
    ("settings", "commit", "on_timer"),
    [
        ("Reads: ReadMessage", Commit.BEFORE, False),
        ("Reads: ReadMessage; CommitInterval: 1s", Commit.DELIVERED, True),
        ("Reads: FetchMessage", Commit.AFTER, False),
        ("Reads: FetchMessage; CommitInterval: 1s", Commit.AFTER, True),
        ("", Commit.AFTER, False),
    ],
)
def test_client_or_application_commits(read_yaml, settings: str, commit: Commit, on_timer: bool) -> None:
    deployment = read_yaml(consumer("kafka-go", settings))
    assert (deployment.application.commit, deployment.consumer.commits_on_timer) == (commit, on_timer)
    assert any("set Reads" in note for note in deployment.notes) is not settings.startswith("Reads")
    assert any("its commit fails" in note for note in deployment.notes) is (commit is Commit.BEFORE)


def test_a_reader_by_default(read_yaml) -> None:
    deployment = read_yaml(consumer("kafka-go", GROUP))
    assert (deployment.consumer.offset_reset, deployment.consumer.max_poll_records) == (OffsetReset.EARLIEST, 1)
    assert deployment.consumer.waits_beyond_end and not deployment.consumer.checks_epochs
    times = deployment.durations
    assert (times.consumer_session.least, times.max_poll.most, times.consumer_metadata.most) == (30_000, None, None)
    watches = read_yaml(consumer("kafka-go", f"{GROUP}; WatchPartitionChanges: true; StartOffset: -1"))
    assert (watches.durations.consumer_metadata.least, watches.consumer.offset_reset) == (5_000, OffsetReset.LATEST)
