"""Idempotence before 2.5: which releases do what, what their clients change, and what is refused (3.4, 3.5)."""

from __future__ import annotations

import pytest

from proofka.model.deployment.document import from_document, to_document
from proofka.model.deployment.sequencing import Forgets, Recovery, Sequencing, Unknown

WITH_ITS_RECORDS, AT_ITS_START = Forgets.WITH_ITS_RECORDS, Forgets.AT_ITS_START
IN_FLIGHT = "max.in.flight.requests.per.connection"


def pipeline(client: str, brokers: str, **producer: object) -> str:
    settings = "".join(f", {key}: {value}" for key, value in {"acks": "all", **producer}.items())
    return f'kafka: "{brokers}"\nproducer: {{version: "{client}", settings: {{enable.idempotence: true{settings}}}}}'


@pytest.mark.parametrize(
    ("client", "brokers", "expected"),
    [
        ("0.11", "0.11", Sequencing(Recovery.ONE_BY_ONE, True, Unknown.OUT_OF_ORDER, WITH_ITS_RECORDS)),
        ("0.11", "2.6", Sequencing(Recovery.ONE_BY_ONE, False, Unknown.APPENDED, AT_ITS_START)),
        ("2.3", "1.0", Sequencing(Recovery.PRODUCER_ID, False, Unknown.UNKNOWN_PRODUCER_ID, WITH_ITS_RECORDS)),
        ("2.4", "2.3", Sequencing(Recovery.PRODUCER_ID, False, Unknown.UNKNOWN_PRODUCER_ID, WITH_ITS_RECORDS)),
        ("2.4", "2.4", Sequencing(Recovery.PRODUCER_ID, False, Unknown.UNKNOWN_PRODUCER_ID, AT_ITS_START)),
        ("2.4", "4.0", Sequencing(Recovery.PRODUCER_ID, False, Unknown.APPENDED, AT_ITS_START)),
        ("2.5", "0.11", Sequencing(Recovery.EPOCH, True, Unknown.OUT_OF_ORDER, WITH_ITS_RECORDS)),
        ("3.9", "2.4", Sequencing(Recovery.EPOCH, False, Unknown.UNKNOWN_PRODUCER_ID, AT_ITS_START)),
        ("2.5", "2.5", None),
    ],
)
def test_rules_of_idempotence_by_release(read_yaml, client: str, brokers: str, expected: Sequencing | None) -> None:
    deployment = read_yaml(pipeline(client, brokers))
    assert deployment.producer.sequencing == expected
    assert from_document(to_document(deployment)) == deployment


@pytest.mark.parametrize(
    ("client", "counts"), [("2.0", False), ("2.1", True), ("2.5", True), ("3.5", True), ("3.6", False), ("4.0", False)]
)
def test_errors_that_come_late_count_from_2_1_to_3_5(read_yaml, client: str, counts: bool) -> None:
    sender = read_yaml(pipeline(client, "2.4" if client < "4" else "4.0", **{IN_FLIGHT: 1})).producer.sender
    assert sender.late_errors_count is counts


def test_errors_that_come_late_do_not_matter_without_idempotence_or_in_transactions(read_yaml) -> None:
    assert read_yaml('kafka: "3.5"').producer.sender.late_errors_count
    assert not read_yaml('kafka: "3.5"\nproducer: {enable.idempotence: false}').producer.sender.late_errors_count
    assert not read_yaml('kafka: "3.5"\nproducer: {transactional.id: t}').producer.sender.late_errors_count


def test_producer_without_idempotence_has_no_sequencing(read_yaml) -> None:
    assert read_yaml('kafka: "2.0"').producer.sequencing is None
    assert read_yaml('kafka: "2.0"\nproducer: {client: librdkafka}').producer.sequencing is None


@pytest.mark.parametrize(
    ("client", "given", "retries", "in_flight"),
    [
        ("0.11", {}, 2**31 - 1, 1),
        ("0.11", {"retries": 3, IN_FLIGHT: 1}, 3, 1),
        ("2.0", {IN_FLIGHT: 1}, 2**31 - 1, 1),
        ("2.4", {}, 2**31 - 1, 5),
    ],
)
def test_clients_fill_in_values_for_idempotence(
    read_yaml, client: str, given: dict[str, object], retries: int, in_flight: int
) -> None:
    """Rules P09 and P10."""
    deployment = read_yaml(pipeline(client, "2.4", **given))
    assert (deployment.producer.retries, deployment.producer.max_in_flight) == (retries, in_flight)
    origins = {setting.key: setting.origin.detail for setting in deployment.settings}
    assert ("P09" in origins["retries"]) is (client in ("0.11", "2.0") and "retries" not in given)
    assert ("P10" in origins[IN_FLIGHT]) is (client == "0.11" and IN_FLIGHT not in given)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (pipeline("0.11", "0.11", **{IN_FLIGHT: 2}), f"ConfigException: {IN_FLIGHT} must be 1 with enable"),
        (pipeline("0.11", "0.11", **{IN_FLIGHT: 2}), "(rule P04)"),
        (pipeline("2.4", "2.4", **{IN_FLIGHT: 6}), "(rule P05)"),
        (pipeline("2.4", "2.4", acks=1), "(rule P02)"),
        (pipeline("0.11", "0.11", retries=0), "(rule P03)"),
        (pipeline("2.2", "2.4"), "idempotent producers of 1.0 to 2.2 with more than one request in flight"),
        (pipeline("2.4", "0.10"), "idempotence with brokers before 0.11"),
        (pipeline("2.0", "4.0", **{IN_FLIGHT: 1}), "client and brokers of too different releases (KIP-896)"),
        (pipeline("2.4", "2.4") + "\ntopic: {message.format.version: 0.10.2}", "the record format of 0.10"),
        (pipeline("2.8", "2.4") + "\ntopic: {retention.ms: 1000}", "producer_id=known with brokers before 2.5"),
        (pipeline("2.8", "2.4") + "\ntopic: {retention.ms: 1000}", "set producer_id=new, or keep records for longer"),
        ('kafka: "2.4"\nproducer: {client: librdkafka, enable.idempotence: true}', "of librdkafka with brokers before"),
    ],
)
def test_idempotence_is_refused(refusal, text: str, message: str) -> None:
    assert message in refusal(text)
