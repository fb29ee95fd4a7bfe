"""Known defects in deployments as a user writes them: each is named where it can show, and not after a change."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofka.model.deployment import read_deployment
from proofka.properties.known_defects.beside import defects_beside

IDEMPOTENT = "producer: {settings: {acks: all, enable.idempotence: true}}"
ONE_IN_FLIGHT = "producer: {settings: {acks: all, enable.idempotence: true, max.in.flight.requests.per.connection: 1}}"
PLAIN = "producer: {settings: {acks: all, enable.idempotence: false}}"
TRANSACTIONAL = "producer: {settings: {acks: all, enable.idempotence: true, transactional.id: t}}"
COMPACTED = "topic: {settings: {cleanup.policy: compact}}"
LIBRDKAFKA = "consumer: {client: librdkafka, version: %s, settings: {enable.auto.commit: %s%s}}"
EOF = LIBRDKAFKA % ("2.13.0", "false", ", enable.partition.eof: %s")
BY_HAND = "consumer: {client: librdkafka, version: %s, settings: {enable.auto.commit: false}}"
SARAMA_SENDS = "producer: {client: sarama, version: %s, settings: {Version: V2_6_0_0}}"
READS = "consumer: {client: kafka-go, version: 0.4.50, settings: {Reads: %s}}"
KAFKAJS = "consumer: {client: kafkajs, version: %s}"
AIOKAFKA = "consumer: {client: aiokafka, version: %s, settings: {enable_auto_commit: false}}"
SARAMA = "consumer: {client: sarama, version: %s%s}"

PAIRS = [
    # An idempotent producer without transactions.
    ("KAFKA-9892", "no-log-duplicate", ("2.6.0", IDEMPOTENT), ("2.6.0", PLAIN)),
    ("KAFKA-10832", "no-log-duplicate", ("2.7.2", IDEMPOTENT), ("2.8.0", IDEMPOTENT)),
    ("KAFKA-7692", "no-log-duplicate", ("2.1.0", ONE_IN_FLIGHT), ("2.1.1", ONE_IN_FLIGHT)),
    ("KAFKA-7693", "no-dropped-record", ("2.1.0", ONE_IN_FLIGHT), ("2.1.0", PLAIN)),
    ("KAFKA-14417", "no-dropped-record", ("3.3.1", IDEMPOTENT), ("3.3.2", IDEMPOTENT)),
    ("KAFKA-19990", "no-dropped-record", ("4.1.1", IDEMPOTENT), ("4.1.1", PLAIN)),
    # Topics of coordinators, which are compacted whatever the topic's own policy is.
    ("KAFKA-9065", "recoverability", ("2.4.0", ""), ("2.4.1", "")),
    ("KAFKA-7467", "no-hanging-transaction", ("2.0.0", TRANSACTIONAL), ("2.0.1", TRANSACTIONAL)),
    ("KAFKA-17941", "no-hanging-transaction", ("3.9.1", TRANSACTIONAL), ("3.9.2", TRANSACTIONAL)),
    ("KAFKA-8351-b", "no-reprocessing", ("2.2.1", TRANSACTIONAL), ("2.2.2", TRANSACTIONAL)),
    # Offsets of a group expire whatever the topic keeps.
    ("KAFKA-13636", "no-skip", ("3.1.0", "topic: {settings: {retention.ms: -1}}"), ("3.1.1", "")),
    (
        "KAFKA-19760",
        "recoverability",
        ("4.1.0", "broker: {settings: {offsets.topic.compression.codec: 1}}"),
        ("4.1.0", ""),
    ),
    # Lists, and conditions that need no fault.
    (
        "KAFKA-6568",
        "recoverability",
        ("1.0.0", "topic: {settings: {cleanup.policy: 'compact,delete'}}"),
        ("1.0.0", COMPACTED),
    ),
    (
        "KAFKA-7920",
        "no-acked-loss",
        (
            "2.1.0",
            "producer: {settings: {compression.type: zstd}}\n"
            "broker: {settings: {inter.broker.protocol.version: '2.0'}}",
        ),
        ("2.1.0", "producer: {settings: {compression.type: zstd}}"),
    ),
    (
        "librdkafka-4806",
        "recoverability",
        ("2.8.0", LIBRDKAFKA % ("2.5.0", "true", "") + "\nbroker: {settings: {inter.broker.protocol.version: '2.7'}}"),
        ("2.8.0", LIBRDKAFKA % ("2.5.0", "true", "")),
    ),
    (
        "librdkafka-1538",
        "no-skip",
        ("2.6", LIBRDKAFKA % ("1.8.0", "true", "")),
        ("2.6", LIBRDKAFKA % ("1.8.0", "false", "")),
    ),
    (
        "librdkafka-4293",
        "no-skip",
        ("2.6", LIBRDKAFKA % ("2.1.1", "false", ", security.protocol: sasl_ssl")),
        ("2.6", LIBRDKAFKA % ("2.1.1", "false", "")),
    ),
    # Events that the application or the releases bring about.
    (
        "KAFKA-4547",
        "no-reprocessing",
        ("0.10.1.1", "consumer: {on_processing_error: retry, settings: {enable.auto.commit: false}}"),
        ("0.10.1.1", "consumer: {on_processing_error: skip, settings: {enable.auto.commit: false}}"),
    ),
    (
        "librdkafka-3471",
        "no-skip",
        ("2.6", LIBRDKAFKA % ("1.8.0", "false", "") + "\nassume: {on_processing_error: retry}"),
        ("2.6", LIBRDKAFKA % ("1.9.0", "false", "") + "\nassume: {on_processing_error: retry}"),
    ),
    ("sarama-1462", "no-loss", ("2.0", SARAMA % ("1.24.0", ", group: unaware")), ("2.0", SARAMA % ("1.24.0", ""))),
    ("KAFKA-9232", "no-reprocessing", ("2.3.0", "consumer: {version: '2.0'}"), ("2.3.0", "")),
    ("KAFKA-6739", "recoverability", ("1.0.0", "consumer: {version: 0.10.2.0}"), ("1.0.0", "")),
    ("KAFKA-14831", "atomicity", ("3.5.2", TRANSACTIONAL), ("3.6.0", TRANSACTIONAL)),
    (
        "KAFKA-15552",
        "no-acked-loss",
        (
            "3.6.0",
            "broker: {settings: {zookeeper.connect: 'z:1', zookeeper.metadata.migration.enable: true}}\n" + IDEMPOTENT,
        ),
        ("3.6.0", "broker: {settings: {zookeeper.connect: 'z:1'}}\n" + IDEMPOTENT),
    ),
    # Commits by the library of what the application stores, and clients that are stopped.
    (
        "librdkafka-2948",
        "no-reprocessing",
        ("2.6", LIBRDKAFKA % ("1.8.2", "true", ", enable.auto.offset.store: false")),
        ("2.6", LIBRDKAFKA % ("1.9.0", "true", ", enable.auto.offset.store: false")),
    ),
    (
        "librdkafka-2948",
        "no-skip",
        ("2.6", LIBRDKAFKA % ("1.8.2", "true", ", enable.auto.offset.store: false")),
        ("2.6", LIBRDKAFKA % ("1.8.2", "true", ", enable.auto.offset.store: true")),
    ),
    (
        "librdkafka-4442",
        "no-reprocessing",
        ("2.6", LIBRDKAFKA % ("2.2.0", "true", ", enable.auto.offset.store: false")),
        ("2.6", LIBRDKAFKA % ("2.2.0", "true", ", enable.auto.offset.store: true")),
    ),
    ("librdkafka-4844", "no-skip", ("2.6", EOF % "1"), ("2.6", EOF % "f")),
    (
        "sarama-1846",
        "no-skip",
        ("2.6", SARAMA % ("1.27.2", ", settings: {Consumer.Offsets.AutoCommit.Enable: false}")),
        ("2.6", SARAMA % ("1.27.2", ", settings: {Consumer.Offsets.AutoCommit.Enable: true}")),
    ),
    ("kafkajs-874", "no-reprocessing", ("2.6", KAFKAJS % "1.13.0"), ("2.6", KAFKAJS % "1.14.0")),
    ("aiokafka-983", "recoverability", ("2.6", AIOKAFKA % "0.10.0"), ("2.6", AIOKAFKA % "0.11.0")),
    # Defects of every group, and defects that bring their event about themselves.
    ("KAFKA-20634", "no-reprocessing", ("4.3.0", ""), ("4.3.1", "")),
    ("librdkafka-4256", "no-reprocessing", ("2.6", BY_HAND % "2.1.0"), ("2.6", BY_HAND % "2.1.1")),
    ("sarama-1141", "no-dropped-record", ("2.6", SARAMA_SENDS % "1.20.0"), ("2.6", SARAMA_SENDS % "1.20.1")),
    ("kafka-go-1179", "no-skip", ("2.6", READS % "ReadMessage"), ("2.6", READS % "FetchMessage")),
    # A coordinator that is away ends sessions of some libraries; followers answer clients that send no leader epoch.
    ("kafka-go-1319", "no-loss", ("4.0", READS % "ReadMessage"), ("4.0", BY_HAND % "2.1.0")),
    ("sarama-1.60.1-a", "no-loss", ("4.0", SARAMA % ("1.60.1", "")), ("4.0", BY_HAND % "2.1.0")),
    ("kafkajs-2.2.4-e", "no-reprocessing", ("4.0", KAFKAJS % "2.2.4"), ("4.0", AIOKAFKA % "0.11.0")),
    ("KAFKA-14704", "read-stability", ("3.3.1", KAFKAJS % "2.2.4"), ("3.3.1", "")),
    # The default of a setting by release, and a row about consumers beside another library's consumer.
    (
        "librdkafka-5088",
        "recoverability",
        ("4.0", LIBRDKAFKA % ("2.10.0", "true", "")),
        ("4.0", LIBRDKAFKA % ("2.10.0", "true", ", metadata.recovery.strategy: none")),
    ),
    ("KAFKA-19242", "no-reprocessing", ("4.0.0", ""), ("4.0.0", SARAMA % ("1.60.1", ""))),
    # Names and texts of libraries.
    (
        "sarama-1.29.0-a",
        "no-loss",
        (
            "2.6",
            TRANSACTIONAL
            + "\n"
            + SARAMA
            % (
                "1.40.0",
                ", settings: {Consumer.IsolationLevel: ReadCommitted, Consumer.Offsets.Initial: OffsetNewest}",
            ),
        ),
        (
            "2.6",
            TRANSACTIONAL
            + "\n"
            + SARAMA
            % (
                "1.40.0",
                ", settings: {Consumer.IsolationLevel: ReadCommitted, Consumer.Offsets.Initial: OffsetOldest}",
            ),
        ),
    ),
    (
        "sarama-1252",
        "no-dropped-record",
        ("2.6", "producer: {client: sarama, version: 1.25.0, settings: {Producer.Compression: CompressionZSTD}}"),
        ("2.6", "producer: {client: sarama, version: 1.25.0, settings: {Producer.Compression: CompressionGZIP}}"),
    ),
    (
        "KAFKA-10284",
        "recoverability",
        ("2.6.0", "consumer: {client: aiokafka, version: '0.10', settings: {group_instance_id: a}}"),
        ("2.6.0", "consumer: {client: aiokafka, version: '0.10'}"),
    ),
    (
        "franz-go-1.21.6-h",
        "no-skip",
        (
            "2.6",
            COMPACTED
            + "\nproducer: {client: franz-go, version: 1.21.1}\nconsumer: {client: franz-go, version: 1.21.1}",
        ),
        (
            "2.6",
            COMPACTED
            + "\nproducer: {client: franz-go, version: 1.21.1, settings: {ProducerBatchCompression: NoCompression()}}"
            + "\nconsumer: {client: franz-go, version: 1.21.1}",
        ),
    ),
    (
        "kafka-go-1416",
        "recoverability",
        (
            "2.6",
            COMPACTED
            + "\nproducer: {client: kafka-go, version: 0.4.40, settings: {Compression: gzip}}"
            + "\nconsumer: {client: kafka-go, version: 0.4.40}",
        ),
        (
            "2.6",
            COMPACTED
            + "\nproducer: {client: kafka-go, version: 0.4.40}\nconsumer: {client: kafka-go, version: 0.4.40}",
        ),
    ),
]


@pytest.mark.parametrize(("defect", "prop", "there", "beside"), PAIRS, ids=[pair[0] for pair in PAIRS])
def test_a_defect_is_named_where_it_can_show(
    tmp_path: Path, defect: str, prop: str, there: tuple[str, str], beside: tuple[str, str]
) -> None:
    assert defect in _named(tmp_path, prop, *there)
    assert defect not in _named(tmp_path, prop, *beside)


def _named(folder: Path, prop: str, kafka: str, text: str) -> set[str]:
    path = folder / "deployment.yaml"
    path.write_text(f'kafka: "{kafka}"\n{text}\n', encoding="utf-8")
    return {one.id for one in defects_beside(read_deployment(path), prop)}
