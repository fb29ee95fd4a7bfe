"""Single lines, as the tools of each release print them."""

from __future__ import annotations

import time

import pytest

from proofka.model.deployment.describe.lines import (
    DEFAULT,
    EntryLine,
    Heading,
    OtherLine,
    PartitionLine,
    TopicLine,
    is_from_a_tool,
    read_line,
)

ORDERS = TopicLine("orders", 3, 2, (("min.insync.replicas", "2"),), False)


@pytest.mark.parametrize(
    "text",
    [
        "Topic:orders\tPartitionCount:3\tReplicationFactor:2\tConfigs:min.insync.replicas=2",
        "Topic: orders\tPartitionCount: 3\tReplicationFactor: 2\tConfigs: min.insync.replicas=2",
        "Topic: orders\tTopicId: yM9rL3\tPartitionCount: 3\tReplicationFactor: 2\tConfigs: min.insync.replicas=2",
        "Topic: orders  TopicId: yM9rL3  PartitionCount: 3  ReplicationFactor: 2  Configs: min.insync.replicas=2 \r",
    ],
)
def test_topics_of_every_release(text: str) -> None:
    assert read_line(text) == ORDERS
    assert is_from_a_tool(text)


@pytest.mark.parametrize(
    ("configs", "found"),
    [
        ("", ()),
        ("cleanup.policy=compact,delete,retention.ms=1", (("cleanup.policy", "compact,delete"), ("retention.ms", "1"))),
        ("preallocate=true,min.insync.replicas=2", (("preallocate", "true"), ("min.insync.replicas", "2"))),
        ("retention.ms=1,preallocate=true", (("retention.ms", "1"), ("preallocate", "true"))),
        ("leader.replication.throttled.replicas=0:1,1:2", (("leader.replication.throttled.replicas", "0:1,1:2"),)),
        ("vendor.placement={a=1,b=2}", (("vendor.placement", "{a=1,b=2}"),)),
        ("retention.ms=", (("retention.ms", ""),)),
        ("min.insync.repl", None),
        ("retention.ms=1,min.insync.repl", (("retention.ms", "1,min.insync.repl"),)),
        ("=1", None),
    ],
)
def test_lists_of_settings(configs: str, found: tuple[tuple[str, str], ...] | None) -> None:
    line = read_line(f"Topic: t\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: {configs}")
    assert line == TopicLine("t", 1, 1, found, False)


def test_a_topic_that_is_being_deleted() -> None:
    text = "Topic: t\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: preallocate=true"
    assert read_line(f"{text}\tMarkedForDeletion: true") == TopicLine("t", 1, 1, (("preallocate", "true"),), True)
    assert read_line(text) == TopicLine("t", 1, 1, (("preallocate", "true"),), False)


@pytest.mark.parametrize(
    ("rest", "moving", "eligible"),
    [
        ("Isr: 1,2", False, False),
        ("Isr: ", False, False),
        ("Isr: 1,2\tElr: \tLastKnownElr: ", False, False),
        ("Isr: 1,2\tElr: N/A\tLastKnownElr: N/A", False, False),
        ("Isr: 1\tElr: 2\tLastKnownElr: ", False, True),
        ("Isr: \tElr: \tLastKnownElr: 2", False, False),
        ("Isr: 1,2\tAdding Replicas: 3\tRemoving Replicas: 2\tElr: \tLastKnownElr: ", True, False),
        ("Isr: 1,2\tAdding Replicas: \tRemoving Replicas: 2", True, False),
        ("Isr: 1,2\tOffline: ", False, False),
    ],
)
def test_partitions(rest: str, moving: bool, eligible: bool) -> None:
    for leader in ("1", "none", "-1"):
        text = f"\tTopic: orders\tPartition: 10\tLeader: {leader}\tReplicas: 1,12\t{rest}"
        expected = PartitionLine("orders", 10, (1, 12), moving, eligible)
        assert read_line(text) == read_line(text.replace("\t", "  ")) == expected


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("All configs for topic orders are:", Heading("all", "topic", "orders")),
        ("Dynamic configs for topic orders are:", Heading("dynamic", "topic", "orders")),
        ("All configs for broker 1 are:", Heading("all", "broker", "1")),
        ("Dynamic configs for group my group are:", Heading("dynamic", "group", "my group")),
        ("Configs for broker 1 are:", Heading("dynamic", "broker", "1")),
        ("Default config for brokers in the cluster are:", Heading("cluster", "brokers", "")),
        ("Default configs for brokers in the cluster are:", Heading("cluster", "brokers", "")),
        ("Configs for topic 'orders' are cleanup.policy=compact", OtherLine("zookeeper")),
        ("Configs for broker '1' are ", OtherLine("zookeeper")),
        ("Quota configs for user-principal 'a', client-id 'b' are consumer_byte_rate=1.0", OtherLine("skip")),
    ],
)
def test_headings(text: str, line: object) -> None:
    assert read_line(text) == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "  min.insync.replicas=2 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:min.insync.replicas=2, "
            "STATIC_BROKER_CONFIG:min.insync.replicas=1, DEFAULT_CONFIG:min.insync.replicas=1}",
            EntryLine("min.insync.replicas", "2", "DYNAMIC_TOPIC_CONFIG", "1"),
        ),
        ("  follower.throttled= sensitive=false synonyms={}", EntryLine("follower.throttled", "", DEFAULT)),
        (
            "  listeners=A://:1,B://:2 sensitive=false synonyms={STATIC_BROKER_CONFIG:listeners=A://:1,B://:2}",
            EntryLine("listeners", "A://:1,B://:2", "STATIC_BROKER_CONFIG"),
        ),
        (
            "  rules=a=b, c=d sensitive=false synonyms={STATIC_BROKER_CONFIG:rules=a=b, c=d}",
            EntryLine("rules", "a=b, c=d", "STATIC_BROKER_CONFIG"),
        ),
        ("  log.dir=null sensitive=false synonyms={}", EntryLine("log.dir", None, DEFAULT)),
        (
            "  ssl.key.password=null sensitive=true synonyms={STATIC_BROKER_CONFIG:ssl.key.password=null}",
            EntryLine("ssl.key.password", None, "STATIC_BROKER_CONFIG"),
        ),
        ("  some.key=s3cret sensitive=true synonyms={}", EntryLine("some.key", None, DEFAULT)),
    ],
)
def test_entries(text: str, line: object) -> None:
    assert read_line(text) == line


@pytest.mark.parametrize(
    "text",
    [
        "",
        "SLF4J: Class path contains multiple SLF4J bindings.",
        "SLF4J(W): No SLF4J providers were found.",
        "log4j:WARN No appenders could be found for logger (kafka.admin).",
        "2026-01-01T10:00:00.123456Z main ERROR Reconfiguration failed: No configuration found for '4b85612c'",
        "[2026-01-01 10:00:00,123] WARN [AdminClient clientId=a] Connection to node -1 (h/1:9092) could not be "
        "established. (org.apache.kafka.clients.NetworkClient)",
        "OpenJDK 64-Bit Server VM warning: Option UseConcMarkSweepGC was deprecated",
        "Picked up JAVA_TOOL_OPTIONS: -Xmx1g",
        "WARNING: sun.reflect.Reflection.getCallerClass is not supported.",
        'Defaulted container "kafka" out of: kafka, init (init)',
        "# taken on Monday",
        "$ kafka-topics.sh --bootstrap-server b:9092 --describe",
        "[kafka@b1 ~]$ /opt/kafka/bin/kafka-configs.sh --bootstrap-server b:9092 --describe --all",
        "+ bin/kafka-topics.sh --bootstrap-server b:9092 --describe",
        "me@laptop external % kafka-configs.sh --bootstrap-server b:9092 --describe --all --entity-type brokers",
        "D:\\kafka\\bin\\windows>kafka-topics.bat --describe --bootstrap-server b:9092",
        "kafka-topics --describe --bootstrap-server b:9092",
        "root@b1:/# kafka-topics --describe --bootstrap-server b:9092",
    ],
)
def test_lines_of_other_programs_are_skipped(text: str) -> None:
    assert read_line(text) == OtherLine("skip")


@pytest.mark.parametrize(
    "text",
    [
        "Error while executing topic command : Timed out waiting for a node assignment. Call: listTopics",
        "Error while executing config command with args '--describe'",
        "[2026-01-01 10:00:00,123] ERROR java.lang.IllegalArgumentException: x (org.apache.kafka.tools.TopicCommand)",
        "java.util.concurrent.ExecutionException: org.apache.kafka.common.errors.TimeoutException: Timed out",
        "\tat java.base/java.util.concurrent.CompletableFuture.reportGet(CompletableFuture.java:396)",
        "Caused by: org.apache.kafka.common.errors.ClusterAuthorizationException: no",
        "bash: kafka-topics.sh: command not found",
        "Topic orders doesn't exist!",
        "The topic 'orders' doesn't exist and doesn't have dynamic config.",
    ],
)
def test_failures_are_recognised(text: str) -> None:
    assert read_line(text) == OtherLine("failed")


@pytest.mark.parametrize(
    "text",
    [
        "Topic: orders\tPartitionCount: 3\tReplicationFactor: 2",
        "Topic: orders\tPartitionCount: 3\tReplicationFactor",
        "Topic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2",
        "Topic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,\tIsr: 1",
        "Topic: orders",
        "  min.insync.replicas=2 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:min.insync.repl",
        "  min.insync.replicas=2 sensitive=fal",
        "  min.insync.replicas=2",
        "  a.b=1 sensitive=false synonyms={}  c.d=2 sensitive=false synonyms={}",
        "  a.b=1 sensitive=false synonyms={X:a.b=1} c.d=2 sensitive=false synonyms={X:c.d=2}",
        "Topic: a\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: b.c=d\tTopic: a\tPartition: 0\tLeader: 1",
        "Topic: a\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1 Topic: a\tPartition: 1\tLeader: 1\tReplicas: 1\tIsr: 1",
        "All configs for topic orders are",
        "orders",
        "password=hunter2",
    ],
)
def test_broken_lines_are_none(text: str) -> None:
    assert read_line(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "x" * 3_000_000,
        "$" * 1_000_000,
        "Topic: t" + " " * 1_000_000,
        "Topic: t PartitionCount: 1 ReplicationFactor: 1 Configs:" + " " * 500_000 + "x",
        "a=" + " sensitive=true synonyms={A:" * 30_000 + "}",
        "a=" + " sensitive=true synonyms={A:" * 30_000,
        "Topic: t PartitionCount: 1 ReplicationFactor: 1 Configs: " + ",a.b" * 100_000,
        "configs for " * 80_000,
        "a." * 400_000,
    ],
)
def test_nothing_takes_long(text: str) -> None:
    start = time.monotonic()
    read_line(text)
    is_from_a_tool(text)
    assert time.monotonic() - start < 5
