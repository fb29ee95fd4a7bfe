"""Configurations that are named, and not modelled."""

from __future__ import annotations

from proofka.model.deployment.dialects.not_modelled import COLLECTOR
from tests.model.deployment.dialects.accounting import read_text

OTEL = """receivers:
  otlp: {protocols: {grpc: {}}}
  kafka/in: {topic: a, autocommit: {enable: true}}
exporters:
  kafka:
    topic: b
    producer: {required_acks: 1, max_message_bytes: 9}
service:
  pipelines: {traces: {receivers: [kafka/in], exporters: [kafka]}}
"""


def test_a_collector_of_opentelemetrys_is_not_taken_for_sarama() -> None:
    found = read_text(OTEL, "collector.yaml", dialect=COLLECTOR.name)
    assert not found.components
    assert [(left.given.key, left.given.origin.line) for left in found.rejected] == [
        ("receivers.kafka/in", 3),
        ("exporters.kafka", 6),
    ]
