"""Consumers that can read from followers: accepted with a note, or refused if the difference can matter."""

from __future__ import annotations

import pytest

SELECTOR = "replica.selector.class: x.RackAwareReplicaSelector"


def sent(kafka: str = "4.0", consumer: str = "client.rack: a", more: str = "", selector: str = SELECTOR) -> str:
    return f"kafka: '{kafka}'\nbroker: {{{selector}}}\nconsumer: {{{consumer}}}\n{more}"


def said(deployment) -> bool:
    return any("can read from followers" in note for note in deployment.notes)


@pytest.mark.parametrize(
    "text",
    [
        sent(),
        sent(consumer="client.rack: '${RACK}'"),
        sent("3.9", more="assume: {faults: {kill: 1, leader-move: 1}}"),
        sent("3.5", selector=f"{SELECTOR}, zookeeper.connect: 'zk:2181'"),
        sent(consumer="version: '2.4', settings: {client.rack: a}"),
        sent(consumer="", selector="replica.selector.class: com.acme.Nearest"),
    ],
)
def test_reading_from_followers_is_accepted_with_a_note(read_yaml, text: str) -> None:
    assert said(read_yaml(text))


@pytest.mark.parametrize(
    "text",
    [
        sent(consumer=""),
        sent(consumer="client.rack: ''"),
        sent(selector=""),
        sent(selector="replica.selector.class: 'null'"),
        sent("2.3", consumer="client.rack: a"),
        sent("2.6", consumer=""),
    ],
)
def test_a_consumer_without_a_rack_or_brokers_without_a_selector_read_from_the_leader(read_yaml, text: str) -> None:
    assert not said(read_yaml(text))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (sent("3.4"), "client.rack: not modelled yet: reading from followers with brokers before 3.4.1"),
        (sent("2.4"), "with brokers before 3.4.1"),
        (
            sent("3.9"),
            "in the same epoch with a shorter log (brokers before 4.0 in KRaft mode); name faults without "
            "controller-stall",
        ),
        (
            sent(more="topic: {replicas: 2, cleanup.policy: compact}\nproducer: {transactional.id: t}"),
            "that can lack a transaction's marker",
        ),
        (sent(consumer="version: '2.3', settings: {client.rack: a}"), "other than Java's from 2.4 on"),
        (sent(consumer="client: librdkafka, settings: {client.rack: a}"), "other than Java's from 2.4 on"),
        (sent(consumer="client: sarama, settings: {RackID: a}"), "RackID: not modelled yet"),
        (
            sent(more="topic: {retention.ms: 3600000}\nassume: {faults: {consumer-crash: 1}}"),
            "where brokers can delete unread records",
        ),
        (
            sent(more="assume: {processing: handed-off, processing_time: 0..1s}"),
            "with a limited processing_time",
        ),
    ],
)
def test_reading_from_followers_is_refused_where_a_verdict_could_change(refusal, text: str, what: str) -> None:
    message = refusal(text)
    assert what in message
    assert len(message.splitlines()) == 1
