"""Topics that Java programs create: their replicas and settings."""

from __future__ import annotations

import pytest

from proofka.model.deployment.dialects.component import Role
from tests.model.deployment.dialects.accounting import read_text, values

PROGRAM = """package shop;

import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.config.TopicConfig;
import org.springframework.kafka.config.TopicBuilder;

class Topics {{
  private static final String ORDERS = "orders";
  @Value("${{shop.topic}}")
  private String named;

  NewTopic topic() {{
    return {topic};
  }}
}}
"""


@pytest.mark.parametrize(
    ("topic", "name", "settings"),
    [
        ('new NewTopic("orders", 3, (short) 1)', "orders", {"partitions": "3", "replication.factor": "1"}),
        ("new NewTopic(ORDERS, Optional.of(6), Optional.empty())", "orders", {"partitions": "6"}),
        ("new NewTopic(named, 1, (short) 1)", "${shop.topic}", {"partitions": "1", "replication.factor": "1"}),
        (
            'TopicBuilder.name("orders").partitions(3).replicas(2).compact().build()',
            "orders",
            {"partitions": "3", "replication.factor": "2", "cleanup.policy": "compact"},
        ),
        (
            'TopicBuilder.name(ORDERS).replicas(3).config(TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG, "2")'
            ".config(TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_COMPACT).build()",
            "orders",
            {"replication.factor": "3", "min.insync.replicas": "2", "cleanup.policy": "compact"},
        ),
        (
            'new NewTopic("orders", 1, (short) 3).configs(Map.of("min.insync.replicas", "2"))',
            "orders",
            {"partitions": "1", "replication.factor": "3", "min.insync.replicas": "2"},
        ),
    ],
)
def test_a_topic_has_the_replicas_and_settings_of_the_program(topic: str, name: str, settings: dict[str, str]) -> None:
    found = read_text(PROGRAM.format(topic=topic), "Topics.java", dialect="Java source")
    (one,) = found.by_role[Role.TOPIC]
    assert one.name == name
    assert values(found, Role.TOPIC) == settings
    assert found.rejected == () and len(found.components) == 1


def test_a_topic_whose_name_only_the_program_knows_is_rejected() -> None:
    found = read_text(PROGRAM.format(topic="new NewTopic(name(), 1, (short) 1)"), "Topics.java")
    assert [(one.given.key, one.given.origin.line) for one in found.rejected] == [("NewTopic", 13)]
    assert not found.components
