"""Transactions of librdkafka: their guarantees, and faults that break them and not Java's (semantics 4.1, 11)."""

from __future__ import annotations

import pytest

from proofka.properties.verdict import Status
from tests.checker.records import decide

ALONE = {
    "kafka": "4.0",
    "topic.replicas": 1,
    "topic.min.insync.replicas": 1,
    "producer.client": "librdkafka",
    "producer.transactional.id": "orders",
    "producer.on_send_error": "resend",
    "consumer.group.id": "orders",
    "consumer.enable.auto.commit": False,
    "consumer.isolation.level": "read_committed",
}
THREE = {**ALONE, "topic.replicas": 3, "topic.min.insync.replicas": 2, "producer.on_send_error": "drop"}
JAVA = {"producer.client": "java"}
EACH = {"assume.transaction_records": 1}

LOST = {"full-buffer": 1, "lost-response": 1}
REFUSED = {"refused-record": 1, "lost-response": 1}
KILL, LATE, SLOW = {"kill": 1}, {"delayed-request": 1}, {"slow-follower": 1}


@pytest.mark.parametrize(
    ("base", "more", "faults", "prop", "status"),
    [
        # What was stored and is purged gives its number to a record of the next transaction, which is never stored.
        pytest.param(ALONE, {}, LOST, "no-acked-loss", Status.VIOLATED, marks=pytest.mark.slow),
        # Java's client gives no such number back; one record each, so that another transaction can be aborted.
        pytest.param(ALONE, {**JAVA, **EACH}, LOST, "no-acked-loss", Status.HOLDS, marks=pytest.mark.slow),
        pytest.param(ALONE, {}, {"lost-response": 1}, "no-log-duplicate", Status.HOLDS, marks=pytest.mark.slow),
        pytest.param(ALONE, {}, REFUSED, "no-aborted-read", Status.VIOLATED, marks=pytest.mark.slow),
        pytest.param(ALONE, {}, REFUSED, "no-hanging-transaction", Status.HOLDS, marks=pytest.mark.slow),
        # Version 2 of the protocol is Java's: a late request to commit ends librdkafka's next transaction.
        pytest.param(THREE, {}, LATE, "atomicity", Status.VIOLATED, marks=pytest.mark.slow),
        pytest.param(THREE, JAVA, LATE, "atomicity", Status.HOLDS, marks=pytest.mark.slow),
        # Brokers that do not ask the coordinator open a transaction for what is late, whatever the client (KIP-890).
        pytest.param(THREE, {"kafka": "3.5"}, KILL, "no-hanging-transaction", Status.VIOLATED, marks=pytest.mark.slow),
        pytest.param(THREE, {}, KILL, "no-hanging-transaction", Status.HOLDS, marks=pytest.mark.slow),
        pytest.param(THREE, {}, KILL, "atomicity", Status.HOLDS, marks=pytest.mark.slow),
        # A producer that was fenced, or has stopped for good, is replaced.
        pytest.param(ALONE, {}, {"lost-response": 1}, "recoverability", Status.HOLDS, marks=pytest.mark.slow),
        pytest.param(ALONE, {}, {"power-loss": 1}, "recoverability", Status.HOLDS, marks=pytest.mark.slow),
    ],
)
def test_faults_that_break_transactions_of_librdkafka(
    base: dict[str, object], more: dict[str, object], faults: dict[str, int], prop: str, status: Status
) -> None:
    verdict = decide(prop, faults, base, more)
    assert verdict.status is status, verdict.cut_sets
    if status is Status.VIOLATED:
        assert verdict.cut_sets == (tuple(sorted(faults.items())),), "no part of them suffices"


@pytest.mark.slow
@pytest.mark.parametrize("version", ["1.8.0", "1.8.2"])
def test_an_epoch_in_the_middle_of_a_transaction(version: str) -> None:
    """1.8.0 leaves a record behind in a transaction that nobody ends; what else it holds was added after (I043)."""
    of_2_5 = {"kafka": "2.5", "topic.replicas": 2, "producer.version": version, "assume.transaction_records": 3}
    larger = {"bounds.records": 3, "bounds.log": 6}
    verdict = decide("no-hanging-transaction", SLOW, THREE, of_2_5, larger)
    assert verdict.status is (Status.VIOLATED if version == "1.8.0" else Status.HOLDS)
