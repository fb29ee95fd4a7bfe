"""The recovery of each client's releases from failures: what model/recovery/ has for them (semantics 3.4, 4, 11)."""

from __future__ import annotations

import pytest

from proofka.model.recovery.choosing import recovery_of
from proofka.model.recovery.franz_go import FranzGo, FranzGoStopping
from proofka.model.recovery.franz_go_elsewhere import FranzGoBeginningAgain, FranzGoStoppingElsewhere
from proofka.model.recovery.java import Java
from proofka.model.recovery.java_0_11 import Java011
from proofka.model.recovery.java_2_7_0 import Java270, JavaKeepingNumbers
from proofka.model.recovery.java_before_2_5 import JavaBefore25
from proofka.model.recovery.java_elsewhere import JavaFollowing
from proofka.model.recovery.java_transactions import JavaTransactions
from proofka.model.recovery.java_transactions_before_2_5 import (
    JavaTransactions011,
    JavaTransactionsStopping,
    JavaTransactionsWaiting,
)
from proofka.model.recovery.librdkafka import Librdkafka, LibrdkafkaForgetting
from proofka.model.recovery.librdkafka_transactions import LibrdkafkaTransactions, LibrdkafkaWithin
from proofka.model.recovery.none import WithoutNumbers
from proofka.model.recovery.sarama import Sarama
from proofka.model.state.recovery import Recovery

IDEMPOTENT, TRANSACTIONAL = "enable.idempotence: true", "transactional.id: orders"


@pytest.mark.parametrize(
    ("kafka", "producer", "expected"),
    [
        ("4.0", "enable.idempotence: false", WithoutNumbers()),
        ("4.0", "client: kafkajs", WithoutNumbers()),
        ("4.0", IDEMPOTENT, Java()),
        ("2.7.1", IDEMPOTENT, Java()),
        ("2.7.0", IDEMPOTENT, Java270()),
        ("2.4", IDEMPOTENT, JavaBefore25()),
        ("0.11", f"{IDEMPOTENT}, max.in.flight.requests.per.connection: 1", Java011()),
        ("4.0", TRANSACTIONAL, JavaTransactions()),
        ("2.4", f"version: '3.6', {TRANSACTIONAL}", JavaTransactionsWaiting()),
        ("2.4", TRANSACTIONAL, JavaTransactionsStopping()),
        ("0.11", f"{TRANSACTIONAL}, max.in.flight.requests.per.connection: 1", JavaTransactions011()),
        ("4.0", f"client: librdkafka, {IDEMPOTENT}", Librdkafka()),
        ("4.0", f"client: librdkafka, {IDEMPOTENT}, enable.gapless.guarantee: true", Librdkafka(gapless=True)),
        ("4.0", f"client: librdkafka, version: '1.8', {IDEMPOTENT}", LibrdkafkaForgetting()),
        ("4.0", f"client: librdkafka, version: '2.3', {TRANSACTIONAL}", LibrdkafkaTransactions()),
        ("2.5", f"client: librdkafka, version: '1.9', {TRANSACTIONAL}", LibrdkafkaTransactions(bump_aborts=True)),
        ("2.5", f"client: librdkafka, version: '1.7', {TRANSACTIONAL}", LibrdkafkaWithin()),
        ("4.0", "client: franz-go", FranzGo()),
        ("4.0", "client: franz-go, StopProducerOnDataLossDetected: true", FranzGoStopping()),
        (
            "4.0",
            "client: sarama, Producer.Idempotent: true, Producer.RequiredAcks: WaitForAll, Net.MaxOpenRequests: 1",
            Sarama(),
        ),
    ],
)
def test_each_client_has_its_recovery(read_yaml, kafka: str, producer: str, expected: Recovery) -> None:
    assert recovery_of(read_yaml(f'kafka: "{kafka}"\nproducer: {{{producer}}}\n')) == expected


@pytest.mark.parametrize(
    ("kafka", "producer", "expected"),
    [
        ("4.0", IDEMPOTENT, JavaFollowing()),
        ("2.7.1", IDEMPOTENT, JavaFollowing()),
        ("2.7.0", IDEMPOTENT, JavaKeepingNumbers()),
        ("2.4", IDEMPOTENT, JavaBefore25()),
        ("4.0", f"client: librdkafka, {IDEMPOTENT}", Librdkafka()),
        ("4.0", "client: franz-go", FranzGoBeginningAgain()),
        ("4.0", "client: franz-go, StopProducerOnDataLossDetected: true", FranzGoStoppingElsewhere()),
        ("4.0", "enable.idempotence: false", WithoutNumbers()),
    ],
)
def test_java_and_franz_go_recover_in_another_way_where_another_partition_fails(
    read_yaml, kafka: str, producer: str, expected: Recovery
) -> None:
    faults = "assume: {faults: {failure-elsewhere: 1}}"
    assert recovery_of(read_yaml(f'kafka: "{kafka}"\nproducer: {{{producer}}}\n{faults}\n')) == expected
