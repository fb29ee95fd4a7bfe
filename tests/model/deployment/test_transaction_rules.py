"""Transactions: what releases and settings allow, and which settings depend on them."""

from __future__ import annotations

import pytest

from proofka.model.deployment.choices import Sink
from proofka.model.deployment.implied.commits import offsets_of_transactions_overlap
from proofka.model.deployment.required_properties import OF_TRANSACTIONS
from proofka.model.deployment.sender import ClientRecovery


def pipeline(kafka: str, *more: str, client: str = "") -> str:
    version = f"client: java, version: '{client}', " if client else ""
    producer = f"producer: {{{version}settings: {{transactional.id: t}}}}"
    return "\n".join((f'kafka: "{kafka}"', producer, *more))


@pytest.mark.parametrize(
    ("kafka", "client", "broker", "verified", "epoch_each", "first_is_zero"),
    [
        ("2.8", "", "{}", False, False, False),
        ("3.5", "", "{}", False, False, False),
        ("3.6", "", "{}", True, False, False),
        ("3.9", "", "{transaction.partition.verification.enable: false}", False, False, False),
        ("4.0", "", "{}", True, True, False),
        ("4.0", "3.9", "{}", True, False, False),
        ("4.0", "", "{transaction.version: 1}", True, False, False),
        ("4.0", "", "{transaction.partition.verification.enable: false}", True, True, False),
        ("4.1", "", "{}", True, True, True),
        ("4.1", "", "{transaction.version: 0}", True, False, False),
    ],
)
def test_rules_of_transactions_by_release(
    read_yaml, kafka: str, client: str, broker: str, verified: bool, epoch_each: bool, first_is_zero: bool
) -> None:
    """KIP-890 came in two parts: 3.6 asks the coordinator, 4.0 raises the epoch with every transaction."""
    rules = read_yaml(pipeline(kafka, f"broker: {{settings: {broker}}}", client=client)).producer.transactional
    assert rules is not None
    assert (rules.verified, rules.epoch_each, rules.first_is_zero) == (verified, epoch_each, first_is_zero)


@pytest.mark.parametrize(
    ("kafka", "fences"), [("0.11.0.1", False), ("0.11.0", False), ("0.11.0.2", True), ("1.0", True)]
)
def test_a_release_before_1_0_has_a_fourth_number(read_yaml, kafka: str, fences: bool) -> None:
    """KAFKA-6119 is fixed in 0.11.0.2."""
    deployment = read_yaml(pipeline(kafka))
    assert deployment.producer.timeouts_fence is fences
    assert deployment.producer.max_in_flight == (1 if kafka.startswith("0.11") else 5)
    assert (deployment.producer.sequencing, deployment.producer.transactional.older is None) == (None, False)
    assert next(s.value for s in deployment.settings if s.key == "release") == kafka


@pytest.mark.parametrize(
    ("consumer", "committed"),
    [
        ("{}", False),
        ("{settings: {isolation.level: read_committed}}", True),
        ("{client: librdkafka, version: '2.5'}", True),
        ("{client: librdkafka, version: '2.5', settings: {isolation.level: READ_UNCOMMITTED}}", False),
        ("{client: librdkafka, version: '1.1'}", False),
        ("{client: sarama, version: '1.40'}", False),
        ("{client: sarama, version: '1.40', settings: {Consumer.IsolationLevel: ReadCommitted}}", True),
        ("{client: sarama, version: '1.40', settings: {Consumer.IsolationLevel: 1}}", True),
    ],
)
def test_consumers_read_by_their_isolation_level(read_yaml, consumer: str, committed: bool) -> None:
    """Java's and sarama's read everything unless told otherwise, librdkafka's what is committed."""
    deployment = read_yaml(pipeline("4.0", f"consumer: {consumer}"))
    assert deployment.producer.transactional.read_committed is committed
    assert any("read_uncommitted" in note for note in deployment.notes) is not committed


def test_deployment_without_a_transactional_id_has_no_transactions(read_yaml) -> None:
    deployment = read_yaml('kafka: "4.0"\nconsumer: {isolation.level: read_committed}')
    assert deployment.producer.transactional is None
    assert not set(OF_TRANSACTIONS) & set(deployment.require)
    assert (deployment.bounds.records, deployment.bounds.log) == (2, 3)
    reasons = {ignored.key: ignored.reason for ignored in deployment.ignored}
    assert reasons["isolation.level"] == "the producer uses no transactions"


def test_transactions_bring_their_properties_and_room(read_yaml) -> None:
    deployment = read_yaml(pipeline("4.0", "consumer: {settings: {isolation.level: read_committed}}"))
    assert set(OF_TRANSACTIONS) < set(deployment.require)
    assert (deployment.bounds.records, deployment.bounds.log, deployment.bounds.producer_epochs) == (2, 5, 6)
    used = {(setting.scope, setting.key): setting.value for setting in deployment.settings}
    assert used["producer", "transactional.id"] == "t"
    assert used["consumer", "isolation.level"] == "read_committed"
    assert used["application", "transaction_records"] == "2"


def test_any_transactional_id_will_do(read_yaml) -> None:
    text = pipeline("4.0").replace("transactional.id: t", "transactional.id: '${HOSTNAME}'")
    assert read_yaml(text).producer.transactional is not None


def to_kafka(client: str, version: str, settings: str) -> str:
    """Return a consumer whose results and offsets are in one transaction."""
    about = f"client: {client}, version: '{version}', sink: kafka"
    return f'kafka: "4.0"\nconsumer: {{{about}, settings: {{{settings}}}}}'


def test_a_consumer_waits_for_offsets_that_are_pending(read_yaml) -> None:
    committed = to_kafka("librdkafka", "1.6", "group.id: g, enable.auto.commit: false")
    assert read_yaml(committed).application.sink is Sink.KAFKA
    franz = to_kafka("franz-go", "1.21", "ConsumerGroup: g, DisableAutoCommit: true")
    assert read_yaml(franz).application.sink is Sink.KAFKA


@pytest.mark.parametrize(
    ("kafka", "broker", "late"),
    [
        ("2.5", "", True),
        ("3.9", "", True),
        ("3.9.0", "", True),
        ("3.9.1", "", False),
        ("4.0", "", False),
        ("3.8", "group.coordinator.new.enable: true", False),
        ("3.9.0", "group.coordinator.rebalance.protocols: 'classic,consumer'", False),
    ],
)
def test_offsets_that_are_applied_late(read_yaml, kafka: str, broker: str, late: bool) -> None:
    """KAFKA-17507, but not with the coordinator of KIP-848; of no consequence without transactions."""
    given = f'kafka: "{kafka}"\nbroker: {{settings: {{{broker}}}}}\n'
    reads = "consumer: {settings: {enable.auto.commit: false, group.id: g}"
    assert offsets_of_transactions_overlap(read_yaml(f"{given}{reads}, sink: kafka}}")) is late
    assert not offsets_of_transactions_overlap(read_yaml(f"{given}{reads}, sink: plain}}"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (pipeline("4.0", "require: [no-dropped-record]"), "the time that a transaction coordinator takes"),
        (
            pipeline("4.0", "topic: {settings: {retention.ms: 1000}}"),
            "transactional.id: not modelled yet: transactions",
        ),
        (pipeline("4.0", "broker: {settings: {transaction.version: 3}}"), "transaction.version: must be 0, 1 or 2"),
        (pipeline("3.9", "broker: {settings: {transaction.version: 2}}"), "version 2 exists only from Kafka 4.0 on"),
        (pipeline("0.10", client="0.11"), "transactions with brokers before 0.11; remove transactional.id to check"),
        (
            pipeline("2.4", "assume: {faults: {lost-transaction-state: 1}}"),
            "lost-transaction-state with clients or brokers before 2.5",
        ),
        ('kafka: "2.4"\nconsumer: {enable.auto.commit: false, group.id: g, sink: kafka}', "consumers before 2.5"),
        (to_kafka("sarama", "1.60", "Consumer.Offsets.AutoCommit.Enable: false"), "does not wait for pending offsets"),
        (to_kafka("librdkafka", "1.5", "group.id: g, enable.auto.commit: false"), "does not wait for pending offsets"),
        (
            to_kafka("librdkafka", "2.15", "group.id: g, enable.auto.commit: false, isolation.level: read_uncommitted"),
            "does not wait for pending offsets",
        ),
        (pipeline("4.0", "bounds: {log: 9}"), "from 1 to 8"),
        (
            pipeline("4.0").replace("t}", "t, transaction.timeout.ms: 900001}"),
            "refused by the Java producer 4.0 with InvalidTxnTimeoutException: transaction.timeout.ms (900001) must be "
            "at most transaction.max.timeout.ms=900000 by default (rule P30)",
        ),
        (
            pipeline("4.0", "broker: {settings: {transaction.max.timeout.ms: 59999}}"),
            "transaction.max.timeout.ms: refused by Kafka 4.0 with InvalidTxnTimeoutException",
        ),
        (
            pipeline("4.1").replace("t}", "t, transaction.two.phase.commit.enable: true}"),
            "not modelled yet: transactions with an external coordinator",
        ),
    ],
)
def test_transactions_are_refused(refusal, text: str, message: str) -> None:
    assert message in refusal(text)


def test_an_ignored_longest_transaction_names_the_rule_that_reads_it(read_yaml) -> None:
    deployment = read_yaml(pipeline("4.0", "broker: {settings: {transaction.max.timeout.ms: 60000}}"))
    reasons = {one.key: one.reason for one in deployment.ignored}
    assert "rule P30" in reasons["transaction.max.timeout.ms"]


@pytest.mark.parametrize(
    ("kafka", "version", "recovery"),
    [
        ("2.5", "1.7", ClientRecovery.LIBRDKAFKA_BUMP_WITHIN),
        ("2.5", "1.8.0", ClientRecovery.LIBRDKAFKA_BUMP_WITHIN),
        ("2.5", "1.8.2", ClientRecovery.LIBRDKAFKA_BUMP_ABORTS),
        ("2.5", "1.9", ClientRecovery.LIBRDKAFKA_BUMP_ABORTS),
        ("2.5", "2.0", ClientRecovery.LIBRDKAFKA_TRANSACTIONS),
        ("4.1", "2.15", ClientRecovery.LIBRDKAFKA_TRANSACTIONS),
    ],
)
def test_librdkafka_handles_epochs_by_release(read_yaml, kafka: str, version: str, recovery: ClientRecovery) -> None:
    """KIP-360 came with 1.7, its first correction with 1.8.2 (issue 3575), the second with 2.0. It has no version 2."""
    text = (
        f'kafka: "{kafka}"\nproducer: {{client: librdkafka, version: "{version}", settings: {{transactional.id: t}}}}'
    )
    deployment = read_yaml(text)
    assert deployment.producer.sender.recovery is recovery
    rules = deployment.producer.transactional
    assert (rules.epoch_each, rules.first_is_zero, rules.verified) == (False, False, kafka >= "3.6")


@pytest.mark.parametrize(
    ("settings", "message", "socket"),
    [
        ("", "60000", "59900"),
        (", transaction.timeout.ms: 5000", "5000", "4900"),
        (", transaction.timeout.ms: 1000", "1000", "900"),
        (", message.timeout.ms: 0", "0", "59900"),
        (", message.timeout.ms: 20000", "20000", "20000"),
        (", socket.timeout.ms: 60100", "60000", "60000"),
    ],
)
def test_librdkafka_derives_timeouts_from_the_length_of_transactions(
    read_yaml, settings: str, message: str, socket: str
) -> None:
    text = f'kafka: "4.0"\nproducer: {{client: librdkafka, settings: {{transactional.id: t{settings}}}}}'
    found = {one.key: one.value for one in read_yaml(text).settings if one.scope == "producer"}
    assert (found["message.timeout.ms"], found["socket.timeout.ms"]) == (message, socket)
    assert found["enable.idempotence"] == "true"
