"""The texts that a live cluster becomes: the reader of the tools' outputs gets the same facts back."""

from __future__ import annotations

from proofka.checker.live.facts import Feature, Features, Partition, Synonym, Topic, Value, value_of
from proofka.checker.live.printed import (
    features_text,
    level_name,
    settings_of_topics,
    topics_text,
)
from proofka.model.deployment.describe.lines import EntryLine, FeatureLine, Heading, PartitionLine, TopicLine, read_line
from tests.checker.live.fake_admin import FEATURES, OWN


def lines(text: str) -> list[object]:
    assert text.endswith("\n")
    return [read_line(line) for line in text.splitlines()]


def test_a_topic() -> None:
    partitions = (
        Partition(0, 1, (1, 2), (1, 2)),
        Partition(1, None, (2, 3, 4), (), adding=(4,), removing=(2,)),
    )
    assert lines(topics_text([Topic("orders", None, partitions, ())])) == [
        TopicLine("orders", 2, 2, (), deleted=False),
        PartitionLine("orders", 0, (1, 2), moving=False, eligible=False),
        PartitionLine("orders", 1, (2, 3, 4), moving=True, eligible=False),
    ]


def test_settings_with_their_sources() -> None:
    settings = (
        Value("b", "x=y, z", OWN, (Synonym(OWN, "b", "x=y, z"), Synonym("DEFAULT_CONFIG", "log.b", "1"))),
        Value("a", None, "DEFAULT_CONFIG", ()),
        value_of("c", "one\ntwo", OWN, (Synonym(OWN, "c", "one\ntwo"),)),
    )
    assert lines(settings_of_topics([Topic("orders", None, (), settings)])) == [
        Heading("all", "topic", "orders"),
        EntryLine("a", None, "DEFAULT_CONFIG"),
        EntryLine("b", "x=y, z", OWN, "1"),
        EntryLine("c", "one two", OWN),
    ]


def test_secrets_are_not_kept() -> None:
    for value in (
        value_of("custom.key", "hunter2", OWN, (Synonym(OWN, "custom.key", "hunter2"),), sensitive=True),
        value_of("ssl.key.password", "hunter2", OWN, (Synonym(OWN, "ssl.key.password", "hunter2"),)),
        value_of("some.url", "https://alice:hunter2@host", OWN, (Synonym(OWN, "some.url", "https://a:hunter2@host"),)),
    ):
        assert "hunter2" not in repr(value)
        assert "hunter2" not in settings_of_topics([Topic("orders", None, (), (value,))])


def test_features() -> None:
    assert lines(features_text(FEATURES)) == [
        FeatureLine("eligible.leader.replicas.version", "1", "0"),
        FeatureLine("group.version", "1", "1"),
        FeatureLine("metadata.version", "4.0-IV3", "4.0-IV3"),
        FeatureLine("transaction.version", "2", "2"),
    ]
    assert "Epoch: -" in features_text(Features((Feature("a", 0, 1, 0),), None))


def test_levels_by_name() -> None:
    assert level_name("metadata.version", 7) == "3.3-IV3"
    assert level_name("metadata.version", 999) == "999"
    assert level_name("transaction.version", 2) == "2"
