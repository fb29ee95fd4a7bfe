"""Defaults by release: the table, and what a deployment makes of it."""

from __future__ import annotations

import pytest

from proofka.model.deployment.choices import Acks, Commit, OffsetReset
from proofka.model.deployment.defaults import find_default, find_definition, known_keys
from proofka.model.deployment.durations import keys_of
from proofka.model.deployment.reasons import REASONS, find_reason, names_key
from proofka.model.deployment.release import NEWEST, Release, ReleaseError, parse_release
from proofka.model.faults import Fault


@pytest.mark.parametrize(
    ("scope", "key", "release", "default"),
    [
        ("producer", "acks", "2.8", "1"),
        ("producer", "acks", "3.0", "all"),
        ("producer", "enable.idempotence", "2.8", "false"),
        ("producer", "enable.idempotence", "3.3", "true"),
        ("producer", "linger.ms", "3.9.1", "0"),
        ("producer", "linger.ms", "4.0", "5"),
        ("consumer", "session.timeout.ms", "2.5", "10000"),
        ("consumer", "session.timeout.ms", "4.3", "45000"),
        ("topic", "min.insync.replicas", "4.0", "1"),
        ("topic", "flush.messages", "4.0", "9223372036854775807"),
        ("broker", "replica.lag.time.max.ms", "3.3", "30000"),
        ("broker", "default.replication.factor", "4.3", "1"),
    ],
)
def test_default(scope: str, key: str, release: str, default: str) -> None:
    assert find_default(scope, key, parse_release(release)) == default


def test_a_setting_exists_only_in_its_releases() -> None:
    assert find_definition("broker", "zookeeper.connect", parse_release("3.9")) is not None
    assert find_definition("broker", "zookeeper.connect", parse_release("4.0")) is None
    assert find_definition("producer", "transaction.two.phase.commit.enable", parse_release("4.0")) is None


def test_a_deployment_that_says_nothing_has_the_defaults_of_the_release(read_yaml) -> None:
    deployment = read_yaml('kafka: "4.0"')
    assert deployment.cluster.kafka == (4, 0, 0)
    assert deployment.client == "java 4.0"
    assert (deployment.cluster.replicas, deployment.cluster.min_insync_replicas) == (1, 1)
    assert (deployment.producer.acks, deployment.producer.idempotence, deployment.producer.max_in_flight) == (
        Acks.ALL,
        True,
        5,
    )
    assert deployment.producer.retries == 2**31 - 1
    assert deployment.cluster.flush_messages is None
    assert (deployment.application.commit, deployment.consumer.offset_reset) == (Commit.AUTO, OffsetReset.LATEST)
    assert deployment.consumer.max_poll_records == 500
    assert not deployment.cluster.unclean_leader_election
    assert any("1, the default of Kafka 4.0, is assumed (--assume replicas=N)" in note for note in deployment.notes)


@pytest.mark.parametrize(
    ("release", "gated", "fast_restart"),
    [("3.3", False, True), ("3.6", False, True), ("3.7", True, True), ("3.9", True, True), ("4.0", True, False)],
)
def test_eras(read_yaml, release: str, gated: bool, fast_restart: bool) -> None:
    deployment = read_yaml(f"kafka: {release}")
    assert deployment.cluster.high_watermark_needs_min_isr is gated
    assert deployment.cluster.restart_before_fenced is fast_restart
    assert (Fault.CONTROLLER_STALL in deployment.faults.possible) is fast_restart


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ('kafka: "3.9"', None),
        ('kafka: "4.0"', "leaves the ISR, whether or not it was fenced"),
        ('{kafka: "3.9", broker: {zookeeper.connect: "zk:2181"}}', "before ZooKeeper ends its old session"),
        ('kafka: "3.2"', "before ZooKeeper ends its old session"),
    ],
)
def test_a_stall_of_the_controller_counts_from_3_3_to_3_9(read_yaml, text: str, noted: str | None) -> None:
    """Other brokers have the fault only where it is named, and a note says that it has no effect."""
    kind = Fault.CONTROLLER_STALL
    assert (kind in read_yaml(text).faults.possible) is (noted is None)
    inner = text[1:-1] if text.startswith("{") else text
    named = read_yaml(f"{{{inner}, assume: {{faults: {{{kind}: 1}}}}}}")
    notes = [note for note in named.notes if str(kind) in note]
    assert named.faults.at_most == ((kind.value, 1),)
    assert bool(notes) is (noted is not None) and all(str(noted) in note for note in notes)


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ('kafka: "3.5"', None),
        ('kafka: "3.6"', None),
        ('kafka: "3.4"', "count fetches from before a replica's restart in any case"),
        ('kafka: "3.6"\nbroker: {zookeeper.connect: "zk:2181"}', "from before a replica's restart in any case"),
        ('kafka: "3.7"', "the offset and the broker epoch of one fetch"),
    ],
)
def test_mixed_fetches_count_in_3_5_and_3_6(read_yaml, text: str, noted: str | None) -> None:
    """Other brokers have the fault only where it is named, and a note says that it has no effect."""
    kind = Fault.MIXED_FETCHES
    assert (kind in read_yaml(text).faults.possible) is (noted is None)
    named = read_yaml(f"{text}\nassume: {{faults: {{{kind}: 1}}}}")
    notes = [note for note in named.notes if str(kind) in note]
    assert named.faults.at_most == ((kind.value, 1),)
    assert bool(notes) is (noted is not None) and all(str(noted) in note for note in notes)


def test_clients_have_their_own_release(read_yaml) -> None:
    deployment = read_yaml('kafka: "4.0"\nproducer: {version: 2.8.2}\nconsumer: {version: 3.9}')
    assert deployment.producer.acks is Acks.LEADER
    assert not deployment.producer.idempotence
    assert deployment.client == "java 2.8.2 (producer), java 3.9 (consumer)"


@pytest.mark.parametrize(
    "text", ["4", "latest", "9.9", "3.10", "4.4", "4.0.0-rc1", "", "0.9", "4.0.0.0", "\u0664.\u0660"]
)
def test_unknown_release(text: str) -> None:
    with pytest.raises(ReleaseError, match=r"known releases are 0\.10 to 4\.3"):
        parse_release(text)


@pytest.mark.parametrize(("text", "line", "full"), [("3.9.1", (3, 9), (3, 9, 1)), (" 4.0 ", (4, 0), (4, 0, 0))])
def test_release(text: str, line: tuple[int, int], full: tuple[int, int, int]) -> None:
    release = parse_release(text)
    assert (release.line, release.full, str(release)) == (line, full, text.strip())


@pytest.mark.parametrize("scope", ["producer", "consumer", "topic", "broker"])
def test_every_known_setting_is_used_or_has_a_reason(scope: str) -> None:
    from proofka.model.deployment import broker_rules, consumer_rules, producer_rules, transaction_rules

    used = {
        "producer": (*producer_rules.KEYS, producer_rules.TRANSACTIONAL, *keys_of("producer")),
        "consumer": (*consumer_rules.KEYS, consumer_rules.GROUP),
        "topic": broker_rules.TOPIC_KEYS,
        "broker": (*broker_rules.BROKER_KEYS, *transaction_rules.KEYS, *keys_of("broker")),
    }[scope]
    current = [key for key in known_keys(scope) if find_definition(scope, key, Release(*NEWEST)) is not None]
    assert current
    assert [key for key in current if key not in used and find_reason(scope, key) is None] == []


@pytest.mark.parametrize(
    ("scope", "key"),
    [
        ("producer", "ssl.truststore.location"),
        ("consumer", "sasl.jaas.config"),
        ("broker", "listener.name.internal.ssl.keystore.password"),
        ("broker", "socket.send.buffer.bytes"),
        ("broker", "listeners"),
        ("broker", "security.inter.broker.protocol"),
        ("producer", "client.dns.lookup"),
        ("consumer", "receive.buffer.bytes"),
        ("producer", "metrics.num.samples"),
        ("consumer", "schema.registry.url"),
    ],
)
def test_standard_settings_outside_the_table_are_known(scope: str, key: str) -> None:
    assert names_key(scope, key)
    assert find_reason(scope, key) in REASONS.values()
