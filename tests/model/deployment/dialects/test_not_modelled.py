"""Configurations that are named, and not modelled."""

from __future__ import annotations

from model.deployment.dialects.not_modelled import COLLECTOR, NET
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

SETTINGS = """{
  "Logging": {"LogLevel": {"Default": "Information"}},
  "Kafka": {
    "ProducerConfig": {"BootstrapServers": "b", "Acks": "Leader", "SaslPassword": "hidden"},
    "ConsumerConfig": {"GroupId": "g"}
  }
}
"""


def test_a_collector_of_opentelemetrys_is_not_taken_for_sarama() -> None:
    found = read_text(OTEL, "collector.yaml", dialect=COLLECTOR.name)
    assert not found.components
    assert [(left.given.key, left.given.origin.line) for left in found.rejected] == [
        ("receivers.kafka/in", 3),
        ("exporters.kafka", 6),
    ]


def test_settings_of_net_are_named() -> None:
    found = read_text(SETTINGS, "appsettings.Production.json", dialect=NET.name)
    assert not found.components
    assert [left.given.key for left in found.rejected] == ["Kafka.ProducerConfig", "Kafka.ConsumerConfig"]
    assert "hidden" not in str(found)
