"""Clients of Python: kafka-python and aiokafka, their defaults by release, what they refuse, what is not modelled."""

from __future__ import annotations

import pytest

from proofka.model.deployment.choices import Acks, Commit, OffsetReset
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.document import from_document, to_document
from proofka.model.deployment.release import JAVA

KAFKA_PYTHON, AIOKAFKA = "kafka-python", "aiokafka"


def client(role: str, library: str, settings: str = "", version: str = "", more: str = "") -> str:
    """Return a deployment whose producer or consumer uses the library."""
    said = f'  version: "{version}"\n' if version else ""
    lines = "".join(f"    {line}\n" for line in settings.split("; ") if line)
    text = f'kafka: "4.0"\n{role}:\n  client: {library}\n{said}' + (f"  settings:\n{lines}" if lines else "")
    return text + more


def ignored(deployment: Deployment, key: str) -> str:
    return next(one.reason for one in deployment.ignored if one.key == key)


@pytest.mark.parametrize(
    ("version", "acks", "retries", "in_accumulator", "delivery"),
    [
        ("1.4", Acks.LEADER, 0, True, 30_000),
        ("1.4.7", Acks.LEADER, 0, True, 30_000),
        ("2.0", Acks.LEADER, 0, True, 30_000),
        ("2.1", Acks.LEADER, 0, True, 30_000),
        ("2.2", Acks.LEADER, 2**31 - 1, False, 120_000),
        ("2.3", Acks.LEADER, 2**31 - 1, False, 120_000),
    ],
)
def test_producers_of_kafka_python_have_their_own_defaults(
    read_yaml, version: str, acks: Acks, retries: int, in_accumulator: bool, delivery: int
) -> None:
    deployment = read_yaml(client("producer", KAFKA_PYTHON, version=version))
    assert (deployment.producer.acks, deployment.producer.retries, deployment.producer.max_in_flight) == (
        acks,
        retries,
        5,
    )
    assert deployment.producer.expires_in_accumulator is in_accumulator
    assert deployment.durations.delivery_timeout.least == deployment.durations.delivery_timeout.most == delivery
    assert not deployment.producer.idempotence and not deployment.producer.sender.knows_epochs
    assert (
        not deployment.producer.sender.retries_keep_their_place and deployment.producer.sender.one_at_a_time_everywhere
    )


def test_the_newest_kafka_python_without_idempotence(read_yaml) -> None:
    deployment = read_yaml(client("producer", KAFKA_PYTHON, "enable_idempotence: false"))
    assert deployment.client == "kafka-python 3.0 (producer), java 4.0 (consumer)"
    assert (deployment.producer.acks, deployment.producer.idempotence) == (Acks.ALL, False)
    switched = read_yaml(client("producer", KAFKA_PYTHON, "acks: 1"))
    assert (switched.producer.acks, switched.producer.idempotence) == (Acks.LEADER, False)
    assert any("disables idempotence because of acks=1" in note and "rule K02" in note for note in switched.notes)


@pytest.mark.parametrize(
    ("version", "session", "answered", "reconnect", "isolation"),
    [
        ("1.4", 10_000, 305_000, 1_000, False),
        ("2.0.4", 10_000, 305_000, 30_000, False),
        ("2.1", 10_000, 305_000, 30_000, False),
        ("2.2", 10_000, 305_000, 30_000, True),
        ("3.0", 45_000, 30_000, 30_000, True),
    ],
)
def test_consumers_of_kafka_python_have_their_own_defaults(
    read_yaml, version: str, session: int, answered: int, reconnect: int, isolation: bool
) -> None:
    deployment = read_yaml(client("consumer", KAFKA_PYTHON, version=version))
    assert (deployment.application.commit, deployment.consumer.commits_on_timer) == (Commit.AUTO, True)
    assert (deployment.consumer.offset_reset, deployment.consumer.max_poll_records) == (OffsetReset.LATEST, 500)
    times = deployment.durations
    assert times.consumer_session.least == session
    assert times.consumer_request.least == times.consumer_connection.least == answered
    assert (times.consumer_reconnect.least, times.consumer_backoff.least) == (reconnect, 100)
    assert (times.max_poll.least, times.auto_commit.least) == (300_000, 5_000)
    assert not deployment.consumer.knows_epochs and not deployment.consumer.checks_epochs
    read = read_yaml(client("consumer", KAFKA_PYTHON, "isolation_level: read_committed", version))
    assert (ignored(read, "isolation_level") == "the producer uses no transactions") is isolation


def test_aiokafka_by_default(read_yaml) -> None:
    deployment = read_yaml(client("producer", AIOKAFKA) + client("consumer", AIOKAFKA).partition("\n")[2])
    assert deployment.client == "aiokafka 0.14"
    assert (deployment.producer.acks, deployment.producer.max_in_flight, deployment.producer.idempotence) == (
        Acks.LEADER,
        1,
        False,
    )
    assert deployment.producer.sender.one_at_a_time_everywhere
    times = deployment.durations
    assert (times.delivery_timeout.least, times.delivery_timeout.most) == (40_000, None)
    assert (times.request_timeout.least, times.ack_timeout.least, times.max_block.most) == (40_000, 40_000, None)
    assert (deployment.application.commit, deployment.consumer.commits_on_timer) == (Commit.DELIVERED, True)
    assert (times.consumer_session.least, times.auto_commit.least, times.consumer_reconnect.least) == (
        10_000,
        5_000,
        100,
    )
    assert deployment.consumer.max_poll_records == 2**31 - 1


def test_durations_that_are_said(read_yaml) -> None:
    settings = "request_timeout_ms: 5000; linger_ms: 7; retry_backoff_ms: 3"
    times = read_yaml(client("producer", AIOKAFKA, settings)).durations
    assert (times.delivery_timeout.least, times.delivery_timeout.most) == (5_000, None)
    assert (times.linger.least, times.retry_backoff.least, times.retry_backoff_max.least) == (7, 3, 3)
    settings = "delivery_timeout_ms: 60000; request_timeout_ms: 20000; max_block_ms: 9"
    times = read_yaml(client("producer", KAFKA_PYTHON, settings, "2.3")).durations
    assert (times.delivery_timeout.most, times.connection_setup.least, times.max_block.least) == (60_000, 20_000, 9)


def test_a_range_survives_being_written_down(read_yaml) -> None:
    deployment = read_yaml(client("producer", AIOKAFKA))
    assert from_document(to_document(deployment)) == deployment


@pytest.mark.parametrize(
    ("library", "settings", "version", "rule", "exception"),
    [
        (KAFKA_PYTHON, "enable_idempotence: true; acks: 1", "", "K01", "KafkaConfigurationError"),
        (KAFKA_PYTHON, "enable_idempotence: true; retries: 0", "2.2", "K01", "KafkaConfigurationError"),
        (
            KAFKA_PYTHON,
            "enable_idempotence: true; max_in_flight_requests_per_connection: 2",
            "2.3",
            "K01",
            "KafkaConfigurationError",
        ),
        (KAFKA_PYTHON, "transactional_id: t; acks: 0", "3.0", "K01", "KafkaConfigurationError"),
        (KAFKA_PYTHON, "transactional_id: t; enable_idempotence: false", "2.2", "K03", "KafkaConfigurationError"),
        (KAFKA_PYTHON, "delivery_timeout_ms: 29999", "2.2", "K04", "KafkaConfigurationError"),
        (AIOKAFKA, "enable_idempotence: true; acks: 1", "", "Y01", "ValueError"),
        (AIOKAFKA, "transactional_id: t; acks: 0", "", "Y01", "ValueError"),
    ],
)
def test_producers_are_refused(refusal, library: str, settings: str, version: str, rule: str, exception: str) -> None:
    message = refusal(client("producer", library, settings, version))
    assert f"refused by the {library} producer" in message and f" with {exception}: " in message
    assert message.endswith(f"(rule {rule})")


@pytest.mark.parametrize(
    ("library", "settings", "version", "rule", "exception"),
    [
        (KAFKA_PYTHON, "group_id: null", "", "K05", "IllegalStateError"),
        (KAFKA_PYTHON, "group_id: null", "2.3", "K05", "AssertionError"),
        (KAFKA_PYTHON, "heartbeat_interval_ms: 10000", "2.3", "K07", "KafkaConfigurationError"),
        (KAFKA_PYTHON, "heartbeat_interval_ms: 10000", "2.2.7", "K07", "KafkaConfigurationError"),
        (KAFKA_PYTHON, "heartbeat_interval_ms: 10001", "2.2.6", "K07", "AssertionError"),
        (KAFKA_PYTHON, "session_timeout_ms: 305000", "2.0", "K08", "KafkaConfigurationError"),
        (KAFKA_PYTHON, "request_timeout_ms: 500; session_timeout_ms: 5000", "", "K09", "KafkaConf"),
        (KAFKA_PYTHON, "connections_max_idle_ms: 305000", "1.4.5", "K09", "KafkaConfigurationError"),
        (KAFKA_PYTHON, "session_timeout_ms: 1900000; request_timeout_ms: 2000000", "1.4", "C13", "InvalidSession"),
        (AIOKAFKA, "group_id: null", "", "Y02", "IllegalOperation"),
        (AIOKAFKA, "session_timeout_ms: 1900000", "", "C13", "InvalidSessionTimeoutException"),
    ],
)
def test_consumers_are_refused(refusal, library: str, settings: str, version: str, rule: str, exception: str) -> None:
    message = refusal(client("consumer", library, settings, version))
    assert f"refused by the {library} consumer" in message and f" with {exception}" in message
    assert message.endswith(f"(rule {rule})")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (client("producer", KAFKA_PYTHON), "idempotence of kafka-python, which is on by default from 3.0 on"),
        (client("producer", KAFKA_PYTHON, "enable_idempotence: true", "2.2"), "idempotence of kafka-python; set"),
        (
            client("producer", KAFKA_PYTHON, "transactional_id: t", "2.3"),
            "transactions of kafka-python; remove this setting",
        ),
        (
            client("producer", KAFKA_PYTHON, "acks: 1; max_in_flight_requests_per_connection: 1"),
            "one request in flight with kafka-python from 3.0 on",
        ),
        (client("producer", KAFKA_PYTHON, "acks: all; retries: 3", "1.4"), "retries of kafka-python before 1.4.5"),
        (
            client("consumer", KAFKA_PYTHON, "partition_assignment_strategy: CooperativeStickyAssignor"),
            "cooperative rebalances of kafka-python",
        ),
        (
            client("consumer", KAFKA_PYTHON, more="assume: {faults: {rebalance: 1}}\n"),
            "rebalances of kafka-python consumer 3.0 that commits by itself",
        ),
        (
            client("producer", AIOKAFKA, "enable_idempotence: true"),
            "idempotence of aiokafka; set enable_idempotence=False",
        ),
        (
            client("producer", AIOKAFKA, "transactional_id: t; acks: all"),
            "transactions of aiokafka; remove this setting",
        ),
        (
            client("consumer", AIOKAFKA, "isolation_level: read_committed"),
            "which starts after open transactions; set auto_offset_reset=earliest",
        ),
        (
            client("consumer", AIOKAFKA, "enable_auto_commit: false", more="assume: {faults: {rebalance: 1}}\n"),
            "rebalances of aiokafka, which gives up partitions in the background",
        ),
        (
            client("consumer", AIOKAFKA, more="assume: {faults: {eviction: 1}}\n"),
            "evictions of aiokafka, which gives up partitions in the background",
        ),
        *(
            (
                client("consumer", library, "enable_auto_commit: false", more="  sink: kafka\n"),
                "a consumer that does not wait for pending offsets",
            )
            for library in (KAFKA_PYTHON, AIOKAFKA)
        ),
    ],
)
def test_settings_that_are_not_modelled_are_refused(refusal, text: str, said: str) -> None:
    message = refusal(text)
    assert "not modelled yet: " in message and said in message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (client("producer", KAFKA_PYTHON, version="1.3"), "known releases are 1.4 to 3.0"),
        (client("producer", AIOKAFKA, version="0.6"), "known releases are 0.7 to 0.14"),
        (client("producer", KAFKA_PYTHON, "ackz: 1", "2.2"), "setting of kafka-python; did you mean acks?"),
        (client("producer", KAFKA_PYTHON, "acks: 2", "2.2"), "KafkaConfigurationError: Invalid value"),
        (client("producer", AIOKAFKA, "acks: most"), "ValueError: Invalid value"),
        (client("consumer", AIOKAFKA, "session_timeout_ms: soon"), "must be an integer"),
        (client("consumer", AIOKAFKA, "session_timeout_ms: ${S}"), "has a placeholder (${S}); replace it with a value"),
    ],
)
def test_impossible_configurations_are_refused(refusal, text: str, said: str) -> None:
    assert said in refusal(text)


def test_values_refused_elsewhere_are_modelled_in_these_releases(read_yaml) -> None:
    for settings, version in (("heartbeat_interval_ms: 10000", "2.2.6"), ("connections_max_idle_ms: 305000", "1.4.4")):
        assert read_yaml(client("consumer", KAFKA_PYTHON, settings, version)).application.commit is Commit.AUTO
    one = "acks: all; max_in_flight_requests_per_connection: 1"
    assert read_yaml(client("producer", KAFKA_PYTHON, one, "2.3")).producer.max_in_flight == 1
    assert read_yaml(client("producer", KAFKA_PYTHON, "acks: all; retries: 3", "1.4.5")).producer.retries == 3
    assert read_yaml(client("producer", KAFKA_PYTHON, "acks: 1; retries: 3", "1.4")).producer.retries == 3
    rebalance = "assume: {faults: {rebalance: 1}}\n"
    assert read_yaml(client("consumer", KAFKA_PYTHON, version="2.0", more=rebalance)).application.commit is Commit.AUTO
    by_hand = client("consumer", KAFKA_PYTHON, "enable_auto_commit: false", more=rebalance)
    assert read_yaml(by_hand).application.commit is Commit.AFTER
    earliest = "isolation_level: read_committed; auto_offset_reset: earliest"
    assert read_yaml(client("consumer", AIOKAFKA, earliest)).consumer.offset_reset is OffsetReset.EARLIEST


@pytest.mark.parametrize("library", [KAFKA_PYTHON, AIOKAFKA])
def test_consumer_without_a_group_commits_nothing(read_yaml, library: str) -> None:
    deployment = read_yaml(client("consumer", library, "group_id: null", more="  commit: never\n"))
    assert (deployment.application.commit, deployment.consumer.commits_on_timer) == (Commit.NEVER, False)
    assert any("group_id is None" in note for note in deployment.notes)
    unsaid = read_yaml(client("consumer", library))
    assert unsaid.application.commit.is_by_client
    assert "group_id is assumed to be set by the application" in unsaid.notes


@pytest.mark.parametrize(
    ("library", "word", "start"),
    [
        (KAFKA_PYTHON, "smallest", OffsetReset.EARLIEST),
        (KAFKA_PYTHON, "largest", OffsetReset.LATEST),
        (KAFKA_PYTHON, "earliest", OffsetReset.EARLIEST),
        (KAFKA_PYTHON, "beginning", OffsetReset.NONE),
        (AIOKAFKA, "Earliest", OffsetReset.EARLIEST),
        (AIOKAFKA, "smallest", OffsetReset.NONE),
    ],
)
def test_consumers_start_at_their_reset_offset(read_yaml, library: str, word: str, start: OffsetReset) -> None:
    assert read_yaml(client("consumer", library, f"auto_offset_reset: {word}")).consumer.offset_reset is start


def test_settings_that_change_no_delivery_are_ignored_with_javas_reasons(read_yaml) -> None:
    settings = "bootstrap_servers: b:9092; sasl_plain_password: hush; batch_size: ${SIZE}; client_id: c"
    deployment = read_yaml(client("producer", KAFKA_PYTHON, settings, "2.3"))
    assert ignored(deployment, "bootstrap_servers").startswith("addresses do not change delivery")
    assert ignored(deployment, "sasl_plain_password").startswith("security does not change delivery")
    assert ignored(deployment, "batch_size").startswith("memory and throughput")
    assert "hush" not in str(deployment)


def test_connections_with_their_name_of_the_protocol(read_yaml) -> None:
    plain = read_yaml(client("producer", AIOKAFKA)).producer.connects
    assert read_yaml(client("producer", AIOKAFKA, "security_protocol: SASL_SSL")).producer.connects > plain


def test_settings_without_a_dot_are_no_misspelt_words(read_yaml) -> None:
    text = 'kafka: "4.0"\nconsumer: {client: aiokafka, group_id: g, client_id: c, enable_auto_commit: false}\n'
    assert read_yaml(text).application.commit is Commit.AFTER


def test_client_rack_of_kafka_python_counts_as_a_rack(refusal) -> None:
    broker = "broker: {settings: {replica.selector.class: RackAwareReplicaSelector}}\n"
    text = client("consumer", KAFKA_PYTHON, "client_rack: a", more=broker)
    assert "reading from followers with consumers other than Java's" in refusal(text)


def test_java_settings_are_not_read_with_underscores(refusal) -> None:
    assert "unknown consumer setting" in refusal(client("consumer", JAVA, "group_id: g"))
