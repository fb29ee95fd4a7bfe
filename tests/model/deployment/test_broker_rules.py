"""Rules of broker and controller for topic and broker settings: precedence, eras, refusals."""

from __future__ import annotations

import pytest


def setting(deployment, key: str):
    return next(s for s in deployment.settings if (s.scope, s.key) == ("topic", key))


def test_the_topic_outranks_the_broker(read_files) -> None:
    deployment = read_files(
        topic="min.insync.replicas=2\nreplication.factor=3\nflush.messages=1",
        broker="min.insync.replicas=1\ndefault.replication.factor=1\nlog.flush.interval.messages=9",
    )
    assert (deployment.cluster.replicas, deployment.cluster.min_insync_replicas, deployment.cluster.flush_messages) == (
        3,
        2,
        1,
    )
    assert [i.key for i in deployment.ignored] == [
        "min.insync.replicas",
        "default.replication.factor",
        "log.flush.interval.messages",
    ]
    assert {i.reason for i in deployment.ignored} == {"another setting of this topic or broker takes precedence"}


def test_the_broker_stands_in_for_the_topic(read_files) -> None:
    deployment = read_files(
        broker="min.insync.replicas=2\ndefault.replication.factor=3\nlog.flush.interval.messages=7\n"
        "unclean.leader.election.enable=true"
    )
    assert (deployment.cluster.replicas, deployment.cluster.min_insync_replicas, deployment.cluster.flush_messages) == (
        3,
        2,
        7,
    )
    assert deployment.cluster.unclean_leader_election
    origin = setting(deployment, "flush.messages").origin
    assert (origin.kind, origin.line, origin.detail) == ("file", 3, "broker setting log.flush.interval.messages")
    assert deployment.ignored == ()


def test_replicas_of_minus_one_ask_for_the_brokers_default(read_files) -> None:
    assert read_files(topic="replication.factor=-1", broker="default.replication.factor=3").cluster.replicas == 3


@pytest.mark.parametrize("text", ["{replicas: 6}", "{replicas: 0}", "{replication.factor: 30}"])
def test_replicas_out_of_range(refusal, text: str) -> None:
    assert "use 1 to 5" in refusal(f'kafka: "4.0"\ntopic: {text}')


def test_min_isr_is_capped_since_3_7(read_yaml) -> None:
    deployment = read_yaml("kafka: 3.7\ntopic: {replicas: 2, min.insync.replicas: 3}")
    assert deployment.cluster.min_insync_replicas == 2
    assert setting(deployment, "min.insync.replicas").origin.kind == "rule"
    assert any("(rule B03)" in note for note in deployment.notes)


def test_min_isr_is_not_capped_before_3_7(read_yaml) -> None:
    deployment = read_yaml("kafka: 3.6\ntopic: {replicas: 2, min.insync.replicas: 3}")
    assert deployment.cluster.min_insync_replicas == 3
    assert any("NotEnoughReplicasException (rule B04)" in note for note in deployment.notes)


@pytest.mark.parametrize(
    ("acks", "in_sync", "told"), [("1", 2, True), ("0", 2, True), ("all", 2, False), ("1", 1, False)]
)
def test_min_isr_without_effect_on_writes_is_noted(read_yaml, acks: str, in_sync: int, told: bool) -> None:
    text = f'kafka: "4.0"\ntopic: {{replicas: 3, min.insync.replicas: {in_sync}}}\nproducer: {{acks: {acks}}}'
    sentence = (
        f"min.insync.replicas={in_sync} has no effect on this producer's writes: brokers apply it only to writes with "
        f"acks=all, and the producer has acks={acks}"
    )
    assert (sentence in read_yaml(text).notes) is told


@pytest.mark.parametrize(("release", "honoured"), [("3.3", False), ("3.8", False), ("3.9", True), ("4.0", True)])
def test_unclean_election_is_honoured_since_3_9(read_yaml, release: str, honoured: bool) -> None:
    deployment = read_yaml(f"kafka: {release}\ntopic: {{unclean.leader.election.enable: true}}")
    assert deployment.cluster.unclean_leader_election is honoured
    assert any("(rule B09)" in note for note in deployment.notes) is not honoured


@pytest.mark.parametrize(
    ("value", "effective"), [("1", 1), ("10000", 10000), (str(2**31 - 1), 2**31 - 1), (str(2**31), None)]
)
def test_flush(read_yaml, value: str, effective: int | None) -> None:
    assert read_yaml(f'kafka: "4.0"\ntopic: {{flush.messages: {value}}}').cluster.flush_messages == effective


@pytest.mark.parametrize(
    ("broker", "exception", "rule"),
    [
        ("replica.fetch.wait.max.ms: 40000, replica.socket.timeout.ms: 50000", "IllegalArgumentException", "B16"),
        ("replica.lag.time.max.ms: 100", "IllegalArgumentException", "B16"),
        ("replica.socket.timeout.ms: 100", "IllegalArgumentException", "B15"),
    ],
)
def test_refused_by_the_broker(refusal, broker: str, exception: str, rule: str) -> None:
    message = refusal(f'kafka: "4.0"\nbroker: {{{broker}}}')
    assert f"refused by Kafka 4.0 with {exception}" in message
    assert f"(rule {rule})" in message


def test_before_2_3_a_compaction_lag_has_no_upper_end(read_yaml) -> None:
    deployment = read_yaml('kafka: "2.2"\ntopic: {cleanup.policy: compact, min.compaction.lag.ms: 10}')
    assert deployment.durations.compaction_lag.least == 10


def test_compaction_lags_must_not_cross(refusal) -> None:
    text = 'kafka: "4.0"\ntopic: {min.compaction.lag.ms: 10, max.compaction.lag.ms: 5}'
    assert refusal(text).endswith("exceeds max.compaction.lag.ms (5) (rule B21)")


def test_small_segments_are_refused_since_4_1(read_yaml, refusal) -> None:
    assert read_yaml('kafka: "4.0"\ntopic: {segment.bytes: 1000}')
    assert "must be an integer from 1048576" in refusal(
        'kafka: "4.1"\nbroker: {elr: off}\ntopic: {segment.bytes: 1000}'
    )


def test_a_topic_cannot_have_a_setting_that_the_release_dropped(refusal, read_yaml) -> None:
    message = refusal('kafka: "4.0"\ntopic: {message.format.version: 3.0}')
    assert "refused by Kafka 4.0 with InvalidConfigurationException: Unknown topic config name" in message
    assert read_yaml("kafka: 3.9\ntopic: {message.format.version: 3.0}")


def test_a_broker_ignores_a_setting_that_the_release_dropped(read_yaml) -> None:
    (ignored,) = read_yaml('kafka: "4.0"\nbroker: {leader.imbalance.per.broker.percentage: 5}').ignored
    assert ignored.reason == "not read: Kafka 4.0 does not have this setting (it exists before 4.0)"


@pytest.mark.parametrize(
    "text",
    [
        "kafka: 2.0\nproducer: {enable.idempotence: true, acks: all}",
        "kafka: 2.0\nproducer: {version: 4.0}",
        "kafka: 0.10\nproducer: {version: 2.8, enable.idempotence: true, acks: all}",
        "kafka: 2.4\nproducer: {client: librdkafka, enable.idempotence: true}",
        "kafka: 2.8\nbroker: {log.message.format.version: 0.10.2}\nproducer: {enable.idempotence: true, acks: all}",
        "kafka: 3.2\nbroker: {process.roles: broker}",
        "kafka: 3.9\nbroker: {process.roles: broker, zookeeper.connect: 'zk:2181'}",
        "kafka: 4.0\nbroker: {zookeeper.connect: 'zk:2181'}",
        "kafka: 3.9\nbroker: {eligible.leader.replicas.enable: true}",
        "kafka: 4.0\nproducer: {client: kafka-node}",
        "kafka: 4.0\nconsumer: {client: ruby-kafka}",
        "kafka: 4.0\nproducer: {version: 2.0, enable.idempotence: true, acks: all}",
        "kafka: 3.0.2\ntopic: {cleanup.policy: compact}\nproducer: {transactional.id: t}",
        "kafka: 4.0\ntopic: {remote.storage.enable: true}",
    ],
)
def test_not_modelled_yet(refusal, text: str) -> None:
    message = refusal(text)
    assert "not modelled yet" in message
    assert message.startswith("deployment.yaml:")


@pytest.mark.parametrize(
    ("text", "on"),
    [
        ("kafka: 4.0", False),
        ("kafka: 4.1", True),
        ("kafka: 4.3", True),
        ("kafka: 4.0\nbroker: {elr: on}", True),
        ("kafka: 4.0\nbroker: {eligible.leader.replicas.version: 1}", True),
    ],
)
def test_elr_is_on_if_turned_on_or_in_a_new_cluster(read_yaml, text: str, on: bool) -> None:
    deployment = read_yaml(text)
    assert deployment.cluster.eligible_leader_replicas is on
    assert any("--assume elr=off" in note for note in deployment.notes) is ("broker" not in text and on)
    assert ("eligible.leader.replicas.version" in {s.key for s in deployment.assumptions}) is (
        "broker" not in text and on
    )


@pytest.mark.parametrize(
    ("text", "assume"),
    [
        ("kafka: 4.1\nbroker: {elr: off}", {}),
        ("kafka: 4.1\nbroker: {eligible.leader.replicas.version: 0}", {}),
        ("kafka: 4.1\nassume: {elr: off}", {}),
        ("kafka: 4.1", {"elr": "off"}),
        ("kafka: 4.1\nbroker: {elr: on}", {"elr": "off"}),
    ],
)
def test_elr_that_is_off_is_modelled(read_yaml, text: str, assume: dict[str, str]) -> None:
    deployment = read_yaml(text, assume)
    assert (deployment.cluster.kafka, deployment.cluster.eligible_leader_replicas) == ((4, 1, 0), False)


def test_a_topic_that_deletes_outranks_a_broker_that_compacts(read_yaml) -> None:
    assert read_yaml('kafka: "4.0"\nbroker: {log.cleanup.policy: compact}\ntopic: {cleanup.policy: delete}')


@pytest.mark.parametrize(
    ("said", "deletes"),
    [
        ("topic: {retention.bytes: 1000}", True),
        ("broker: {log.retention.bytes: 0}", True),
        ("topic: {retention.bytes: -1}\nbroker: {log.retention.bytes: 1000}", False),
        ("topic: {retention.bytes: 9, cleanup.policy: compact}", False),
        ("topic: {retention.bytes: 9, cleanup.policy: 'compact,delete'}", True),
        (
            "topic: {retention.bytes: 9, cleanup.policy: 'compact,delete'}\nbroker: {log.cleaner.enable: false}",
            False,
        ),
        ("", False),
    ],
)
def test_retention_by_size(read_yaml, said: str, deletes: bool) -> None:
    read = read_yaml(f'kafka: "4.0"\n{said}')
    assert read.cluster.deletes_for_size is deletes
    assert "retention.bytes" not in {setting.key for setting in read.ignored}


@pytest.mark.parametrize(
    ("said", "milliseconds"),
    [
        ("topic: {retention.ms: 1000}\nbroker: {log.retention.hours: 1}", 1_000),
        ("broker: {log.retention.hours: 2}", 7_200_000),
        ("broker: {log.retention.minutes: 3, log.retention.hours: 2}", 180_000),
        ("broker: {log.retention.ms: 4, log.retention.minutes: 3}", 4),
        ("", 604_800_000),
    ],
)
def test_retention_is_known_in_three_units(read_yaml, said: str, milliseconds: int) -> None:
    retention = read_yaml(f'kafka: "4.0"\n{said}').durations.retention
    assert (retention.least, retention.most) == (milliseconds, milliseconds)


def test_retention_of_minus_one_is_for_ever(read_yaml) -> None:
    assert read_yaml('kafka: "4.0"\ntopic: {retention.ms: -1}').durations.retention.most is None


ZOOKEEPER = "\nbroker: {zookeeper.connect: 'zk:2181'}"


@pytest.mark.parametrize(
    ("text", "zookeeper"),
    [("kafka: 2.5", True), ("kafka: 3.2", True), ("kafka: 3.3", False), (f"kafka: 3.9{ZOOKEEPER}", True)],
)
def test_the_mode_of_the_brokers(read_yaml, text: str, zookeeper: bool) -> None:
    deployment = read_yaml(text)
    assert deployment.cluster.zookeeper is zookeeper
    assert any("assumed to run in KRaft mode" in note for note in deployment.notes) is not zookeeper


@pytest.mark.parametrize(
    ("text", "old_fetches_count", "mixes_fetches", "fenced_may_join", "restart_before_fenced"),
    [
        ("kafka: 2.8", True, False, True, False),
        (f"kafka: 3.6{ZOOKEEPER}", True, False, False, False),
        (f"kafka: 3.9{ZOOKEEPER}", True, False, False, False),
        ("kafka: 3.4", True, False, False, True),
        ("kafka: 3.5", False, True, False, True),
        ("kafka: 3.6.2", False, True, False, True),
        ("kafka: 3.7", False, False, False, True),
        ('kafka: "4.0"', False, False, False, False),
    ],
)
def test_rules_for_returning_replicas_by_release(
    read_yaml,
    text: str,
    old_fetches_count: bool,
    mixes_fetches: bool,
    fenced_may_join: bool,
    restart_before_fenced: bool,
) -> None:
    deployment = read_yaml(text)
    assert deployment.cluster.old_fetches_count is old_fetches_count
    assert deployment.cluster.mixes_fetches is mixes_fetches
    assert deployment.cluster.fenced_may_join is fenced_may_join
    assert deployment.cluster.restart_before_fenced is restart_before_fenced


@pytest.mark.parametrize("text", ["kafka: 2.8", f"kafka: 3.4{ZOOKEEPER}", "kafka: 3.9"])
def test_unclean_election_is_honoured_with_zookeeper_and_from_3_9_on(read_yaml, text: str) -> None:
    unclean = "\ntopic: {unclean.leader.election.enable: true}"
    assert read_yaml(text + unclean).cluster.unclean_leader_election
    assert not read_yaml("kafka: 3.4" + unclean).cluster.unclean_leader_election
