"""Output of Kafka's tools, in all releases, alone and among other text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.recognising import dialect_of
from proofka.model.deployment.dialects.tool_output import DIALECT
from tests.model.deployment.dialects.accounting import REAL, needs_real_files, read_file, read_text, values
from tests.model.deployment.dialects.mutations import nearly, only_complains

PAGE = """# Our topics

    $ kafka-topics.sh --describe --topic orders
    Topic:orders   PartitionCount:2    ReplicationFactor:3 Configs:cleanup.policy=compact,delete,min.insync.replicas=2

        Topic: orders   Partition: 0    Leader: 1   Replicas: 1,2,3 Isr: 1,2
        Topic: orders   Partition: 1    Leader: 2   Replicas: 2,3,1 Isr: 2,3,1

> Topic: newer\tTopicId: abc\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: \tMarkedForDeletion: true
Configs for topic 'old' are retention.ms=1000,min.insync.replicas=1
All configs for broker 1 are:
  min.insync.replicas=2 sensitive=false synonyms={STATIC_BROKER_CONFIG:min.insync.replicas=2}
  ssl.key.password=null sensitive=true synonyms={}
  num.io.threads=8 sensitive=false synonyms={DEFAULT_CONFIG:num.io.threads=8}
Dynamic configs for topic orders are:
  retention.ms=7 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=7}
Dynamic configs for user alice are:
  producer_byte_rate=1 sensitive=false synonyms={}
"""


def test_outputs_among_other_text() -> None:
    found = read_text(PAGE, "README.md", dialect=DIALECT.name)
    by_name = {one.name: one for one in found.by_role[Role.TOPIC]}
    assert {key: given.value for key, given in by_name["orders"].settings.items()} == {
        "partitions": "2",
        "replication.factor": "3",
        "cleanup.policy": "compact,delete",
        "min.insync.replicas": "2",
        "retention.ms": "7",
    }
    assert by_name["orders"].settings["retention.ms"].origin.line == 16
    assert by_name["old"].settings["retention.ms"].value == "1000"
    assert by_name["newer"].settings["replication.factor"].value == "${it is marked for deletion}"
    assert not found.rejected
    assert values(found, Role.BROKER) == {"min.insync.replicas": "2"}


def test_a_topic_that_is_described_again_is_as_it_was_last() -> None:
    line = "Topic: a\tPartitionCount: 1\tReplicationFactor: %d\tConfigs: \n"
    found = read_text(line % 3 + line % 2, "log.txt", dialect=DIALECT.name)
    assert values(found, Role.TOPIC)["replication.factor"] == "2"
    assert {left.given.origin.line for left in found.ignored} == {1}


def test_eligible_replicas_show_the_feature_of_the_brokers() -> None:
    text = (
        "Topic: a\tTopicId: x\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: \n"
        "\tTopic: a\tPartition: 0\tLeader: none\tReplicas: 1,2\tIsr: \tElr: 1\tLastKnownElr: \n"
    )
    assert values(read_text(text, "a.txt"), Role.BROKER) == {"eligible.leader.replicas.version": "1"}


def test_lines_that_are_cut_off_are_rejected() -> None:
    text = "Topic: a\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n\tTopic: a\tPartition: 0\tLea\n"
    assert [left.given.origin.line for left in read_text(text, "a.txt").rejected] == [2]


def test_output_of_another_program_on_the_page_is_not_a_truncated_line() -> None:
    text = "Topic: a\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n"
    text += "\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\nTopic: a - Partition: 0 - Offset: 1\n"
    assert not read_text(text, "README.md").rejected


def test_other_text_about_topics_is_none() -> None:
    for text in ("Topic: meeting\n", "Configs for the app are in x\n", "PartitionCount: 3\n", "# Configs for you\n"):
        assert dialect_of(Document("README.md", text)) is None


@needs_real_files
@pytest.mark.parametrize("path", sorted(REAL.glob("cli-output/*")), ids=lambda path: path.name)
def test_real_pages_show_topics_whole(path: Path) -> None:
    found = read_file(path, dialect=DIALECT.name)
    assert found.by_role[Role.TOPIC]
    assert not found.rejected


@settings(max_examples=80, deadline=None)
@given(nearly(PAGE))
def test_any_text_is_read_or_refused(text: str) -> None:
    only_complains(DIALECT, "README.md", text)
