"""Clients of other libraries: their names, their defaults, what they refuse and what they silently change."""

from __future__ import annotations

import pytest

from proofka.model.deployment.choices import Acks, Commit, OffsetReset
from proofka.model.deployment.defaults import find_default, find_definition
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.release import Release
from proofka.model.deployment.sarama import MOST_RETRIES
from proofka.model.deployment.setting import Setting
from proofka.model.recovery.choosing import recovery_of
from proofka.model.recovery.franz_go import FranzGo, FranzGoStopping
from proofka.model.recovery.librdkafka import Librdkafka
from proofka.model.state.pipeline import UNLIMITED_ATTEMPTS

IDEMPOTENT = "Producer.Idempotent: true; Producer.RequiredAcks: WaitForAll; Net.MaxOpenRequests: 1"


def producer(client: str, settings: str = "", version: str = "") -> str:
    return _client("producer", client, settings, version)


def consumer(client: str, settings: str = "", version: str = "") -> str:
    return _client("consumer", client, settings, version)


def _client(role: str, client: str, settings: str, version: str) -> str:
    said = f'  version: "{version}"\n' if version else ""
    lines = "".join(f"    {line}\n" for line in settings.split("; ") if line)
    return f'kafka: "4.0"\n{role}:\n  client: {client}\n{said}' + (f"  settings:\n{lines}" if lines else "")


def setting(deployment: Deployment, key: str, scope: str = "producer") -> Setting:
    return next(s for s in deployment.settings if (s.scope, s.key) == (scope, key))


@pytest.mark.parametrize(
    ("client", "settings", "rule"),
    [
        ("librdkafka", "enable.idempotence: true; max.in.flight: 6", "L01"),
        ("librdkafka", "enable.idempotence: true; message.send.max.retries: 0", "L03"),
        ("librdkafka", "enable.idempotence: true; acks: 1", "L05"),
        ("librdkafka", "enable.idempotence: true; queuing.strategy: lifo", "L07"),
        ("librdkafka", "enable.idempotence: true; queue.buffering.backpressure.threshold: 2", "L08"),
        ("librdkafka", "enable.gapless.guarantee: true", "L09"),
        ("librdkafka", "transactional.id: t; enable.idempotence: false", "L10"),
        ("librdkafka", "transactional.id: t; transaction.timeout.ms: 5000; socket.timeout.ms: 5101", "L12"),
        ("librdkafka", "transactional.id: t; transaction.timeout.ms: 5000; message.timeout.ms: 5001", "L13"),
        ("librdkafka", "transactional.id: t; acks: 1", "L05"),
        ("librdkafka", "linger.ms: 1000; message.timeout.ms: 900", "L14"),
        ("librdkafka", "acks: 2", "L23"),
        ("sarama", "Producer.Idempotent: true; Producer.RequiredAcks: WaitForAll; Producer.Retry.Max: 0", "A02"),
        ("sarama", "Producer.Idempotent: true", "A03"),
        ("sarama", "Producer.Idempotent: true; Producer.RequiredAcks: WaitForAll", "A04"),
        ("sarama", "Producer.Transaction.ID: t", "A05"),
        ("franz-go", "RequiredAcks: LeaderAck", "F01"),
        ("franz-go", "MaxProduceRequestsInflightPerBroker: 5", "F02"),
        ("franz-go", "DisableIdempotentWrite: true; TransactionalID: t", "F03"),
        ("franz-go", "AllowIdempotentProduceCancellation: true; TransactionalID: t", "F04"),
        ("franz-go", "RecordDeliveryTimeout: 999ms", "F08"),
        ("sarama", f"{IDEMPOTENT}; Version: 0.10.2.0", "A01"),
        ("sarama", f"{IDEMPOTENT}; Version: V0_10_2_1", "A01"),
    ],
)
def test_producers_are_refused(refusal, client: str, settings: str, rule: str) -> None:
    message = refusal(producer(client, settings))
    assert f"refused by the {client} producer" in message
    assert message.endswith(f"(rule {rule})")


@pytest.mark.parametrize(
    ("client", "settings", "rule"),
    [
        ("librdkafka", "session.timeout.ms: 60000; max.poll.interval.ms: 50000", "L15"),
        ("librdkafka", "session.timeout.ms: 3600000; max.poll.interval.ms: 3600000", "C13"),
        ("sarama", "Consumer.Group.Heartbeat.Interval: 10s", "A15"),
        ("sarama", "Consumer.Group.Session.Timeout: 1m; Consumer.Group.Heartbeat.Interval: 2m", "A15"),
        ("sarama", "Consumer.Offsets.AutoCommit.Interval: 0s", "A12"),
        ("sarama", "Consumer.Group.Session.Timeout: 31m", "C13"),
        ("franz-go", "DisableAutoCommit: true; GreedyAutoCommit: true", "F05"),
        ("franz-go", "DisableAutoCommit: true; AutoCommitMarks: true", "F05"),
        ("franz-go", "GreedyAutoCommit: true; AutoCommitMarks: true", "F05"),
        ("franz-go", 'ConsumerGroup: ""; AutoCommitMarks: true', "F06"),
        ("franz-go", "HeartbeatInterval: 46s", "F07"),
    ],
)
def test_consumers_are_refused(refusal, client: str, settings: str, rule: str) -> None:
    assert refusal(consumer(client, settings)).endswith(f"(rule {rule})")


@pytest.mark.parametrize(
    ("settings", "refused", "accepted", "rule"),
    [
        ("Consumer.IsolationLevel: ReadCommitted", "1.27.0", "1.27.1", "A14"),
        ("Consumer.Group.InstanceId: one", "1.50.2", "1.50.3", "A16"),
    ],
)
def test_the_default_protocol_of_sarama(
    read_yaml, refusal, settings: str, refused: str, accepted: str, rule: str
) -> None:
    """``Version`` is 0.8.2 before 1.27.1, 1.0.0 before 1.41.0, 2.1.0 before 1.50.3, and 2.6.0 before 1.60.1."""
    assert refusal(consumer("sarama", settings, refused)).endswith(f"(rule {rule})")
    assert read_yaml(consumer("sarama", settings, accepted)).client.startswith("java 4.0 (producer)")


@pytest.mark.parametrize(
    ("key", "since"),
    [
        ("Consumer.IsolationLevel", (1, 22, 0)),
        ("Consumer.Group.InstanceId", (1, 34, 0)),
        ("Consumer.Retry.Max", (1, 49, 0)),
        ("RackID", (1, 26, 2)),
        ("Producer.Retry.MaxBufferLength", (1, 44, 0)),
        ("Producer.Retry.MaxBufferBytes", (1, 45, 1)),
    ],
)
def test_the_first_release_of_sarama_with_a_setting(key: str, since: tuple[int, int, int]) -> None:
    scope = "sarama producer" if key.startswith("Producer") else "sarama consumer"
    major, minor, patch = since
    before = Release(major, minor, patch - 1) if patch else Release(major, minor - 1, 9)
    assert find_definition(scope, key, Release(*since)) is not None
    assert find_definition(scope, key, before) is None


@pytest.mark.parametrize(
    ("release", "version"),
    [
        (Release(1, 27, 0), "0.8.2"),
        (Release(1, 27, 1), "1.0.0"),
        (Release(1, 40, 1), "1.0.0"),
        (Release(1, 41, 0), "2.1.0"),
        (Release(1, 50, 3), "2.6.0"),
        (Release(1, 60, 0), "2.6.0"),
        (Release(1, 60, 1), "2.8.0"),
    ],
)
def test_the_protocol_of_each_release_of_sarama(release: Release, version: str) -> None:
    assert find_default("sarama producer", "Version", release) == version
    assert find_default("sarama consumer", "Version", release) == version


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            producer("librdkafka", "transactional.id: t", "1.6"),
            "not modelled yet: transactions of librdkafka before 1.7",
        ),
        (producer("librdkafka", "transactional.id: t", "1.8"), "1.8.2 requires its abort: name the patch level"),
        (
            producer("librdkafka", "transactional.id: t", "1.9").replace('"4.0"', '"2.6"'),
            "not modelled yet: transactions of librdkafka before 2.0 with brokers from 2.6 on",
        ),
        (
            producer("sarama", f"{IDEMPOTENT}; Producer.Transaction.ID: t"),
            "not modelled yet: transactions of sarama",
        ),
        (producer("sarama", IDEMPOTENT, version="1.48"), "not modelled yet: idempotence of sarama before 1.49"),
        (
            producer("sarama", IDEMPOTENT).replace('"4.0"', '"2.4"'),
            "with brokers before 2.5; name newer brokers, or disable idempotence",
        ),
        (
            producer("librdkafka", "enable.idempotence: true").replace('"4.0"', '"2.4"'),
            "with brokers before 2.5; name newer brokers, or disable idempotence",
        ),
        (consumer("librdkafka", "group.protocol: consumer"), "not modelled yet: the consumer group protocol"),
        (consumer("franz-go", "opt_in_kafka_next_gen_balancer_beta: true"), "not modelled yet: the consumer group"),
        (
            producer("sarama", "Producer.Return.Errors: false"),
            "the client does not report failed sends",
        ),
        (
            consumer("sarama", "Consumer.Offsets.Retention: 1s"),
            "not modelled yet: a retention of offsets that the client sets",
        ),
        (
            producer("kafka-node"),
            "not modelled yet: the client 'kafka-node'; choose one of java, aiokafka, franz-go",
        ),
        (producer("franz-go", "TransactionalID: t"), "not modelled yet: transactions of franz-go"),
        (producer("franz-go", "DisableIdempotentWrite: true"), "not modelled yet: franz-go without idempotence"),
        (producer("franz-go", "RecordDeliveryTimeout: 30s"), "not modelled yet: records of franz-go that time out"),
        (producer("franz-go", "RecordRetries: 5"), "not modelled yet: a limited number of retries of franz-go"),
        (
            producer("franz-go", "AllowIdempotentProduceCancellation: true"),
            "not modelled yet: records of franz-go that",
        ),
        (producer("franz-go", version="1.20"), "known releases are 1.21 to 1.21"),
        (producer("franz-go", version="1.21.0"), "not modelled yet: franz-go 1.21.0"),
        (producer("franz-go", version="1.21"), "as one that has answered; name the patch level of the version"),
        (
            consumer("franz-go", "HeartbeatInterval: 46s", "1.21.3"),
            "not modelled yet: franz-go before 1.21.4 with a HeartbeatInterval longer than SessionTimeout",
        ),
        (producer("franz-go", "RequiredAcks: All"), "an error of NewClient: Invalid value"),
        (
            consumer("franz-go") + "  on_processing_error: close\n",
            "not modelled yet: close() of a client that commits only part of what poll() returned",
        ),
        (
            consumer("franz-go") + "assume: {faults: {rebalance: 1}}\n",
            "not modelled yet: rebalances of a client that commits only part of its last poll",
        ),
        (
            consumer("franz-go", "ConsumeStartOffset: AtEnd; ConsumeResetOffset: AtStart"),
            "not modelled yet: another offset than ConsumeStartOffset",
        ),
        (
            consumer("franz-go", "ConsumeResetOffset: AtEnd") + "topic: {retention.ms: 60000}\n",
            "not modelled yet: franz-go where records can be deleted unread",
        ),
        (
            consumer("franz-go").replace('"4.0"', '"2.2"'),
            "not modelled yet: franz-go with brokers or records without leader epochs",
        ),
        (producer("librdkafka", version="0.9"), "unknown release of librdkafka"),
        (producer("sarama", version="latest"), "known releases are 1.19 to 1.60"),
        (producer("librdkafka", "retires: 3"), "unknown producer setting of librdkafka; did you mean retries?"),
        (producer("librdkafka", "request.requird.acks: 1"), "did you mean request.required.acks?"),
        (producer("sarama", "request.requird.acks: 1"), "unknown producer setting of sarama"),
        (
            producer("librdkafka", "acks: 1; request.required.acks: 1"),
            "is another name of acks, which is also set; keep one",
        ),
        (producer("sarama", "Producer.Retry.Backoff: 100"), "must be a duration, as in 100ms"),
        (producer("sarama", "Producer.RequiredAcks: All"), "must be one of WaitForAll, WaitForLocal, NoResponse"),
        (producer("librdkafka", "message.timeout.ms: soon"), "must be an integer"),
        (producer("sarama", "Producer.Retry.Max: 11"), "not modelled yet: more than 10 retries"),
        (producer("librdkafka", "queuing.strategy: lifo"), "not modelled yet: sending the newest message first"),
        (producer("librdkafka", "acks: most"), "acks must be all, or a number from -1 to 1000"),
        (producer("librdkafka", "retries: many"), "RD_KAFKA_CONF_INVALID: Invalid value"),
        (producer("sarama", "Producer.Retry.Max: many"), "ConfigurationError: Invalid value"),
        (
            consumer("librdkafka") + "  on_processing_error: retry\n",
            "not modelled yet: retries of a record with a client that commits by itself",
        ),
        (consumer("librdkafka", "fetch.min.bytes: ${BYTES}"), "has a placeholder (${BYTES}); replace it with a value"),
        (consumer("sarama", "Consumer.Fetch.Min: ${BYTES}"), "has a placeholder (${BYTES}); replace it with a value"),
        (
            consumer("sarama", "Consumer.Group.ResetInvalidOffsets: ${RESET}"),
            "has a placeholder (${RESET}); replace it with a value",
        ),
        (consumer("librdkafka", "commit: x"), "unknown consumer setting"),
    ],
)
def test_impossible_configurations_are_refused(refusal, text: str, said: str) -> None:
    message = refusal(text)
    assert said in message
    assert "\n" not in message


def test_librdkafka_by_default(read_yaml) -> None:
    deployment = read_yaml(producer("librdkafka") + consumer("librdkafka").partition("\n")[2])
    assert deployment.client == "librdkafka 2.15"
    assert (deployment.producer.acks, deployment.producer.idempotence, deployment.producer.max_in_flight) == (
        Acks.ALL,
        False,
        1_000_000,
    )
    assert deployment.producer.retries == 2**31 - 1
    assert deployment.producer.sender.retries_keep_their_place and not deployment.producer.sender.refusals_count
    assert (deployment.application.commit, deployment.consumer.max_poll_records) == (Commit.DELIVERED, 1)
    assert deployment.consumer.offset_reset is OffsetReset.LATEST
    times = deployment.durations
    assert (times.delivery_timeout.least, times.request_timeout.least, times.ack_timeout.least) == (
        300_000,
        60_000,
        30_000,
    )
    assert (times.max_block.most, times.linger.least, times.consumer_fetch_wait.name) == (0, 5, "fetch.wait.max.ms")


def test_idempotence_of_librdkafka_changes_settings_without_a_value(read_yaml) -> None:
    deployment = read_yaml(producer("librdkafka", "enable.idempotence: true"))
    assert (deployment.producer.acks, deployment.producer.max_in_flight) == (Acks.ALL, 5)
    assert recovery_of(deployment) == Librdkafka()
    assert setting(deployment, "max.in.flight.requests.per.connection").origin.detail.startswith("L02")
    assert setting(deployment, "retries").origin.detail.startswith("L04")
    assert setting(deployment, "acks").origin.detail.startswith("L06")
    kept = read_yaml(producer("librdkafka", "enable.idempotence: true; max.in.flight: 2; retries: 7"))
    assert (kept.producer.max_in_flight, kept.producer.retries) == (2, 7)


def test_aliases_keep_their_place(read_yaml) -> None:
    deployment = read_yaml(producer("librdkafka", "request.required.acks: 1; queue.buffering.max.ms: 20"))
    assert deployment.producer.acks is Acks.LEADER
    assert (setting(deployment, "linger.ms").value, setting(deployment, "linger.ms").origin.line) == ("20", 6)


def test_defaults_by_version(read_yaml) -> None:
    assert read_yaml(producer("librdkafka", version="1.0")).producer.retries == 2
    assert read_yaml(producer("librdkafka", version="1.5.2")).producer.retries == 2**31 - 1
    assert read_yaml(consumer("librdkafka", version="1.6")).durations.consumer_session.least == 10_000
    assert read_yaml(consumer("librdkafka", version="2.0")).consumer.checks_epochs is False
    assert read_yaml(consumer("librdkafka", version="2.1")).consumer.checks_epochs is True
    assert read_yaml(producer("librdkafka", version="1.8")).durations.connection_setup.least == 127_000
    assert read_yaml(consumer("sarama", version="1.32")).durations.consumer_fetch_wait.least == 250


def test_messages_of_librdkafka_last_for_their_timeout(read_yaml) -> None:
    for_ever = read_yaml(producer("librdkafka", "message.timeout.ms: 0"))
    assert for_ever.durations.delivery_timeout.most is None
    short = read_yaml(producer("librdkafka", "message.timeout.ms: 5000"))
    assert (short.durations.request_timeout.least, short.durations.delivery_timeout.least) == (5_000, 5_000)
    half = read_yaml(producer("librdkafka", "linger.ms: 0.5"))
    assert half.durations.linger.least == 1


@pytest.mark.parametrize(
    ("settings", "commit", "on_timer"),
    [
        ("", Commit.DELIVERED, True),
        ("enable.auto.offset.store: false", Commit.AFTER, True),
        ("enable.auto.commit: false", Commit.AFTER, False),
        ("auto.commit.enable: false", Commit.AFTER, False),
    ],
)
def test_librdkafka_or_the_application_commits(read_yaml, settings: str, commit: Commit, on_timer: bool) -> None:
    deployment = read_yaml(consumer("librdkafka", settings))
    assert (deployment.application.commit, deployment.consumer.commits_on_timer) == (commit, on_timer)


def test_sarama_by_default(read_yaml) -> None:
    deployment = read_yaml(producer("sarama") + consumer("sarama").partition("\n")[2])
    assert (deployment.producer.acks, deployment.producer.retries, deployment.producer.max_in_flight) == (
        Acks.LEADER,
        3,
        1,
    )
    assert deployment.producer.sender.connecting_counts
    assert (deployment.application.commit, deployment.consumer.commits_on_timer) == (Commit.AFTER, True)
    times = deployment.durations
    assert times.delivery_timeout.most is None
    assert (times.retry_backoff.least, times.ack_timeout.least, times.auto_commit.least) == (100, 10_000, 1_000)


def test_idempotence_of_sarama(read_yaml) -> None:
    deployment = read_yaml(producer("sarama", f"{IDEMPOTENT}; Version: V3_6_0_0", "1.49"))
    assert (deployment.producer.idempotence, deployment.producer.numbers_ahead, deployment.producer.max_in_flight) == (
        True,
        True,
        1,
    )
    assert setting(deployment, "Producer.Idempotent").value == "true"
    assert not read_yaml(producer("sarama", version="1.19")).producer.idempotence
    assert not read_yaml(producer("sarama")).producer.numbers_ahead


@pytest.mark.parametrize(
    ("version", "said", "in_flight"), [("1.30", 5, 1), ("1.31", 1, 2), ("1.43", 5, 5), ("1.60", 5, 1)]
)
def test_requests_in_flight_with_sarama(read_yaml, version: str, said: int, in_flight: int) -> None:
    deployment = read_yaml(producer("sarama", f"Net.MaxOpenRequests: {said}", version))
    assert deployment.producer.max_in_flight == in_flight


def test_franz_go_by_default(read_yaml) -> None:
    deployment = read_yaml(producer("franz-go", "RequiredAcks: kgo.AllISRAcks()"))
    assert deployment.client == "franz-go 1.21.6 (producer), java 4.0 (consumer)"
    assert (deployment.producer.acks, deployment.producer.idempotence, deployment.producer.max_in_flight) == (
        Acks.ALL,
        True,
        4,
    )
    assert recovery_of(deployment) == FranzGo()
    times = deployment.durations
    assert times.delivery_timeout.most is None
    assert (times.request_timeout.least, times.ack_timeout.least, times.linger.least) == (20_000, 10_000, 10)
    stops = read_yaml(producer("franz-go", "StopProducerOnDataLossDetected: true; ProduceRequestTimeout: 30s"))
    assert recovery_of(stops) == FranzGoStopping() and stops.durations.request_timeout.least == 40_000


@pytest.mark.parametrize(
    ("settings", "commit", "on_timer"),
    [
        ("", Commit.EARLIER, True),
        ("GreedyAutoCommit: true", Commit.DELIVERED, True),
        ("AutoCommitMarks: true", Commit.AFTER, True),
        ("DisableAutoCommit: true", Commit.AFTER, False),
    ],
)
def test_franz_go_or_the_application_commits(read_yaml, settings: str, commit: Commit, on_timer: bool) -> None:
    deployment = read_yaml(consumer("franz-go", settings))
    assert (deployment.application.commit, deployment.consumer.commits_on_timer) == (commit, on_timer)
    assert deployment.consumer.checks_epochs and deployment.consumer.offset_reset is OffsetReset.EARLIEST


def test_franz_go_starts_at_its_reset_offset(read_yaml) -> None:
    assert (
        read_yaml(consumer("franz-go", "ConsumeStartOffset: NewOffset().AtEnd()")).consumer.offset_reset
        is OffsetReset.LATEST
    )
    assert (
        read_yaml(consumer("franz-go", "ConsumeResetOffset: kgo.NoResetOffset()")).consumer.offset_reset
        is OffsetReset.NONE
    )
    times = read_yaml(consumer("franz-go", "FetchMaxWait: 1s; AutoCommitInterval: 200ms")).durations
    assert (times.consumer_request.least, times.auto_commit.least, times.max_poll.most) == (11_000, 200, None)


def test_short_forms_of_values_are_accepted(read_yaml) -> None:
    assert isinstance(recovery_of(read_yaml(producer("librdkafka", "enable.idempotence: 1"))), Librdkafka)
    assert not read_yaml(producer("librdkafka", "enable.idempotence: f")).producer.idempotence
    assert read_yaml(producer("sarama", "Producer.RequiredAcks: sarama.WaitForAll")).producer.acks is Acks.ALL


def test_no_more_retries_than_are_counted() -> None:
    assert MOST_RETRIES == UNLIMITED_ATTEMPTS


def test_durations_of_go(read_yaml) -> None:
    deployment = read_yaml(producer("sarama", "Producer.Retry.Backoff: 1m0.5s; Producer.Timeout: 2h"))
    assert deployment.durations.retry_backoff.least == 60_500
    assert deployment.durations.ack_timeout.least == 7_200_000


def test_a_setting_of_the_other_role_is_not_read(read_yaml) -> None:
    deployment = read_yaml(producer("librdkafka", "session.timeout.ms: 6000"))
    ignored = next(one for one in deployment.ignored if one.key == "session.timeout.ms")
    assert ignored.reason == "a consumer setting: the producer does not read it"


def test_two_clients_of_different_libraries(read_yaml) -> None:
    deployment = read_yaml(producer("librdkafka", version="2.3") + 'consumer:\n  version: "3.9"\n')
    assert deployment.client == "librdkafka 2.3 (producer), java 3.9 (consumer)"
    assert deployment.application.commit is Commit.AUTO
