"""Scripts that create topics: what their calls say, and what is told only when they run."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from proofka.model.deployment.dialects.component import EVERYTHING, Role
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.finding import find
from proofka.model.deployment.dialects.judging import judge, with_left_out
from proofka.model.deployment.dialects.pairing import pair
from proofka.model.deployment.dialects.recognising import dialect_of
from proofka.model.deployment.dialects.shell_script import DIALECT
from tests.model.deployment.dialects.accounting import read_text, values
from tests.model.deployment.dialects.mutations import nearly, only_complains

SCRIPT = """#!/bin/sh
# kafka-topics --create --topic none --partitions 9
/opt/kafka/bin/kafka-topics.sh --create --topic orders \\
  --partitions 3 --replication-factor=2 --config min.insync.replicas=2 --config "cleanup.policy=compact,delete"
kafka-topics --list && kafka-topics --create --topic "bills" --partitions 1; echo done
for topic in a b; do kafka-topics --create --topic "$topic" --partitions 1; done
"""


def test_calls_give_topics_with_all_their_settings() -> None:
    found = read_text(SCRIPT, "create-topics.sh", dialect=DIALECT.name)
    assert [one.name for one in found.by_role[Role.TOPIC]] == ["orders", "bills"]
    assert values(found, Role.TOPIC) == {
        "partitions": "3",
        "replication.factor": "2",
        "min.insync.replicas": "2",
        "cleanup.policy": "compact,delete",
    }
    assert [one.settings["partitions"].origin.line for one in found.components] == [3, 5]
    assert [left.given.origin.line for left in found.rejected] == [6]


def test_other_scripts_are_none() -> None:
    assert dialect_of(Document("run.sh", "kafka-console-producer.sh --topic a\n")) is None


@settings(max_examples=60, deadline=None)
@given(nearly(SCRIPT))
def test_any_script_is_read_or_refused(text: str) -> None:
    only_complains(DIALECT, "a.sh", text)


def test_a_call_ends_where_the_next_one_begins() -> None:
    text = "kafka-topics --create " * 2000 + "--topic last --partitions 1\n"
    found = read_text(text, "a.sh", dialect=DIALECT.name)
    assert [one.name for one in found.components] == ["last"]
    assert [one.given.origin.line for one in found.rejected] == [1]


def test_a_script_that_names_the_tool_without_calling_it() -> None:
    only_complains(DIALECT, "a.sh", "#!/bin/sh\n# kafka-topics --creat:/opt/kafka/bin/kafka-topics.sh\n")


CHANGED = """kafka-topics --create --topic a \\
  --replication-factor 3 --config min.insync.replicas=2 --config cleanup.policy=delete
kafka-configs.sh --alter --entity-type topics --entity-name a --delete-config cleanup.policy --add-config \\
  min.insync.replicas=1,follower.replication.throttled.replicas=[1:2,2:3],unclean.leader.election.enable=true
kafka-configs --describe --entity-type topics --entity-name b
kafka-configs --alter --entity-type users --entity-name u --add-config 'SCRAM-SHA-256=[password=p]'
kafka-configs --alter --topic b --add-config follower.replication.throttled.replicas=*
"""


def test_a_topic_is_as_the_last_command_leaves_it() -> None:
    found = read_text(CHANGED, "topics.sh", dialect=DIALECT.name)
    (topic,) = found.components
    assert values(found, Role.TOPIC) == {
        "replication.factor": "3",
        "min.insync.replicas": "1",
        "follower.replication.throttled.replicas": "1:2,2:3",
        "unclean.leader.election.enable": "true",
    }
    assert topic.settings["min.insync.replicas"].origin.line == 3
    assert not found.rejected
    assert "SCRAM" not in str(found)


@pytest.mark.parametrize(
    ("call", "reaches"),
    [
        ("kafka-configs --alter --entity-type topics --entity-name b --add-config min.insync.replicas=1", "b"),
        ("kafka-configs --alter --topic b --delete-config min.insync.replicas", "b"),
        ("kafka-configs --alter --entity-type brokers --entity-default --add-config min.insync.replicas=1", EVERYTHING),
        ("kafka-configs --alter --broker-defaults --add-config unclean.leader.election.enable=true", EVERYTHING),
        ("kafka-configs --alter --entity-type topics --entity-name $T --add-config min.insync.replicas=1", EVERYTHING),
        ("kafka-configs --alter --entity-type topics --entity-name b --add-config $CONFIG", EVERYTHING),
        ("kafka-configs --alter --topic b --add-config-file f.properties", EVERYTHING),
        ("kafka-configs --alter --topic b --add-config min.insync.replicas=$N", "b"),
        ("kafka-topics --alter --topic b --config min.insync.replicas=1", "b"),
        ("kafka-topics --alter --topic b --partitions 3", "b"),
    ],
)
def test_commands_that_change_existing_topics_are_rejected(call: str, reaches: str) -> None:
    found = read_text(f"#!/bin/sh\n{call}\n", "change.sh", dialect=DIALECT.name)
    assert [(left.given.origin.line, left.reaches) for left in found.rejected] == [(2, reaches)]


@pytest.mark.parametrize(("name", "kept_back"), [("b", True), ("c", False)])
def test_command_about_a_topic_of_another_file_prevents_its_verdict(tmp_path: Path, name: str, kept_back: bool) -> None:
    (tmp_path / "create.sh").write_text("kafka-topics --create --topic b --replication-factor 3\n")
    change = f"kafka-configs --alter --topic {name} --add-config min.insync.replicas=1\n"
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "change.sh").write_text(change)
    findings = find(tmp_path, {})
    (pipeline,) = pair(findings).pipelines
    assert bool(with_left_out(judge(pipeline), findings).rejected) == kept_back
