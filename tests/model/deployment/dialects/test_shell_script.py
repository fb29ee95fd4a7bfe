"""Scripts that create topics: what their calls say, and what is told only when they run."""

from __future__ import annotations

from hypothesis import given, settings

from model.deployment.dialects.component import Role
from model.deployment.dialects.document import Document
from model.deployment.dialects.recognising import dialect_of
from model.deployment.dialects.shell_script import DIALECT
from tests.model.deployment.dialects.accounting import read_text, values
from tests.model.deployment.dialects.mutations import nearly, only_complains

SCRIPT = """#!/bin/sh
# kafka-topics --create --topic none --partitions 9
/opt/kafka/bin/kafka-topics.sh --create --topic orders \\
  --partitions 3 --replication-factor=2 --config min.insync.replicas=2 --config "cleanup.policy=compact,delete"
kafka-topics --list && kafka-topics --create --topic "bills" --partitions 1; echo done
for topic in a b; do kafka-topics --create --topic "$topic" --partitions 1; done
"""


def test_calls_with_all_that_they_say() -> None:
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
