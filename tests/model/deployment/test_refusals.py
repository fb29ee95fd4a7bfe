"""Refusals of clients and brokers on which no delivery depends."""

from __future__ import annotations

import pytest

from proofka.model.deployment.errors import RefusedError
from proofka.model.deployment.refusals import REFUSALS

SARAMA = "consumer: {client: sarama, settings: {"
LIBRDKAFKA = "consumer: {client: librdkafka, settings: {"
REFUSED = {
    "C07": 'kafka: "1.1"\nconsumer: {request.timeout.ms: 9000, session.timeout.ms: 10000}',
    "B18": 'kafka: "3.9"\nbroker: {offsets.commit.required.acks: 3, offsets.topic.replication.factor: 2}',
    "L16": f'kafka: "4.0"\n{LIBRDKAFKA}group.protocol: consumer, session.timeout.ms: 6000}}}}',
    "L17": f'kafka: "4.0"\n{LIBRDKAFKA}fetch.max.bytes: 1000}}}}',
    "L18": f'kafka: "4.0"\n{LIBRDKAFKA}partition.assignment.strategy: "range,cooperative-sticky"}}}}',
    "A10": 'kafka: "4.0"\nproducer: {client: sarama, settings: '
    "{Producer.Flush.MaxMessages: 5, Producer.Flush.Messages: 10}}",
    "A14": f'kafka: "4.0"\n{SARAMA}Consumer.IsolationLevel: ReadCommitted, Version: V0_10_2_0}}}}',
    "A16": f'kafka: "4.0"\n{SARAMA}Consumer.Group.InstanceId: one, Version: 2.2.0}}}}',
}
"""A deployment that breaks each rule."""

ACCEPTED = {
    "C07": 'kafka: "2.0"\nconsumer: {request.timeout.ms: 9000, session.timeout.ms: 10000}',
    "B18": 'kafka: "3.9"\nbroker: {offsets.commit.required.acks: 2, offsets.topic.replication.factor: 2}',
    "L17": f'kafka: "4.0"\n{LIBRDKAFKA}fetch.max.bytes: 1000000}}}}',
    "L18": f'kafka: "4.0"\n{LIBRDKAFKA}partition.assignment.strategy: "range,roundrobin"}}}}',
    "A10": 'kafka: "4.0"\nproducer: {client: sarama, settings: '
    "{Producer.Flush.MaxMessages: 10, Producer.Flush.Messages: 10}}",
    "A14": f'kafka: "4.0"\n{SARAMA}Consumer.IsolationLevel: ReadCommitted, Version: V0_11_0_0}}}}',
    "A16": f'kafka: "4.0"\n{SARAMA}Consumer.Group.InstanceId: one, Version: 2.3.0}}}}',
}
"""A deployment that only just keeps each rule.

L16 has none: without the settings that it forbids, its protocol is not modelled.
"""


def test_every_rule_has_a_deployment() -> None:
    assert {one.rule for one in REFUSALS} == REFUSED.keys()


@pytest.mark.parametrize("rule", REFUSED)
def test_refusal_names_the_exception_and_the_rule(read_yaml, rule: str) -> None:
    exception = next(one.exception for one in REFUSALS if one.rule == rule)
    with pytest.raises(RefusedError, match=rf"{exception}.*\(rule {rule}\)"):
        read_yaml(REFUSED[rule])


@pytest.mark.parametrize("rule", ACCEPTED)
def test_the_nearest_that_is_accepted(read_yaml, rule: str) -> None:
    assert read_yaml(ACCEPTED[rule]).name
