"""Files of what the tools printed: read back as they were meant, and never half."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.model.deployment.describe.lines import DEFAULT, OWN
from proofka.model.deployment.describe.output import Output, Section, Topic, read_output
from proofka.model.deployment.errors import DeploymentError
from tests.model.deployment.describe.printed import (
    STATIC,
    every_setting,
    printed_all,
    printed_section,
    printed_topic,
)

TOPIC = printed_topic("orders", [(1, 2), (2, 3)], {"min.insync.replicas": "2"})
RELEASES = ("2.3", "2.7", "2.8", "3.3", "3.9", "4.0", "4.3")


def read(text: str) -> Output:
    return read_output(text.encode(), "dump.txt")


def refusal(text: str) -> str:
    with pytest.raises(DeploymentError) as caught:
        read(text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("release", RELEASES)
def test_a_topic(release: str) -> None:
    (topic,) = read(printed_topic("orders", [(1, 2), (2, 3)], {"min.insync.replicas": "2"}, release)).topics
    assert (topic.name, topic.partitions, topic.replicas, topic.brokers) == ("orders", 2, 2, {1, 2, 3})
    told = topic.told["min.insync.replicas"]
    assert (told.given.value, told.source) == ("2", None)
    assert (told.given.origin.file, told.given.origin.line) == ("dump.txt", 1)
    assert (topic.moving, topic.eligible, topic.deleted) == (None, None, False)


@pytest.mark.parametrize("release", ["3.3", "3.6", "4.0", "4.3"])
@pytest.mark.parametrize("kind", ["topic", "broker"])
def test_every_setting_of_a_release(kind: str, release: str) -> None:
    """Every line of ``--all`` is read; defaults are kept only if the model reads the setting."""
    (section,) = read(printed_all(kind, "7", {"min.insync.replicas": ("2", STATIC)}, release)).sections
    assert (section.extent, section.kind, section.name) == ("all", kind, "7")
    assert section.told["min.insync.replicas"].source == STATIC
    assert section.told["unclean.leader.election.enable"].source == DEFAULT
    assert "compression.type" not in section.told
    lines = {told.given.origin.line for told in section.told.values()}
    assert len(lines) == len(section.told)
    assert min(lines) > 1


def test_null_and_secret_values_are_left_out() -> None:
    secret = "  ssl.keystore.password=hunter2 sensitive=true synonyms={STATIC_BROKER_CONFIG:x=hunter2}\n"
    (section,) = read(printed_all("broker", "1", {"broker.rack": ("null", STATIC)}) + secret).sections
    (topic,) = read(TOPIC.replace("=2", "=2,some.plugin=null,retention.ms=1")).topics
    assert list(topic.told) == ["min.insync.replicas", "retention.ms"]
    assert "broker.rack" not in section.told
    assert "ssl.keystore.password" not in section.told
    assert "hunter2" not in repr(section)


def test_other_entities_are_read_past() -> None:
    text = (
        printed_section("Dynamic configs for group billing are:", {"consumer.session.timeout.ms": ("1", "X")})
        + "Quota configs for the default user-principal are consumer_byte_rate=1\n"
        + TOPIC
    )
    output = read(text)
    assert [topic.name for topic in output.topics] == ["orders"]
    assert [section.kind for section in output.sections] == ["group"]


def test_log_lines_and_line_ends_between_the_output_are_ignored() -> None:
    """A byte order mark is removed before; Windows' line ends, blank lines and Java's own messages are ignored."""
    noise = "SLF4J: multiple bindings\n[2026-01-01 00:00:00,000] WARN x (y)\n\n"
    between = "".join(noise + line + "\r\n" for line in TOPIC.splitlines())
    (plain,), (noisy,) = read(TOPIC).topics, read(between).topics
    assert (noisy.partitions, noisy.brokers) == (plain.partitions, plain.brokers)
    assert noisy.line == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TOPIC[: TOPIC.rindex("\tTopic")], "dump.txt:1: orders: shows 1 of 2 partitions"),
        (TOPIC[: TOPIC.index("\n") + 1] + TOPIC.replace("orders", "two"), "dump.txt:1: orders: shows 0 of 2"),
        (TOPIC[: TOPIC.index("=") + 1], "dump.txt:1: orders: the file ends within this line"),
        (TOPIC[:-30], "dump.txt:3: is no complete line"),
        (TOPIC[TOPIC.index("\n") + 1 :], "dump.txt:1: orders: a partition without the line of its topic"),
        (TOPIC.replace("\tTopic: orders\tPartition: 1", "\tTopic: two\tPartition: 1"), "dump.txt:3: two: a partition"),
        (TOPIC + TOPIC.splitlines()[1], "dump.txt:4: orders: partition 0 is listed twice"),
        (printed_all("broker", "1") + TOPIC[TOPIC.index("\n") + 1 :], "orders: a partition without"),
        (TOPIC.replace("replicas=2", ""), "dump.txt:1: orders: has settings that are cut off"),
        (TOPIC.replace("=2", "=2,min.insync.replicas=1"), "dump.txt:1: orders: min.insync.replicas is listed twice"),
        (TOPIC + "password=hunter2", "dump.txt:4: is no complete line"),
        (TOPIC + "Error while executing topic command : x", "dump.txt:4: the tool failed here"),
        (printed_all("topic", "t").replace("  unclean", "#  unclean"), "topic t: does not list unclean.leader.elec"),
        (printed_all("broker", "1")[:5000].rpartition("\n")[0], "dump.txt:1: broker 1: does not list"),
        (printed_all("topic", "t").split("\n", 1)[1], "dump.txt:1: cleanup.policy: a setting without a heading"),
        (printed_all("topic", "t") + printed_all("topic", "t").split("\n", 1)[1], "cleanup.policy: is listed twice"),
        (
            "Configs for topic 'orders' are cleanup.policy=compact",
            "dump.txt:1: is a line of a tool that used ZooKeeper",
        ),
    ],
)
def test_incomplete_output_is_refused(text: str, words: str) -> None:
    assert words in refusal(text)
    assert "hunter2" not in refusal(text)


def test_a_list_without_partitions_is_whole() -> None:
    """``--topics-with-overrides`` prints such a list."""
    lines = TOPIC.split("\n")[0] + "\n" + TOPIC.replace("orders", "two").split("\n")[0] + "\n"
    assert [(topic.name, topic.brokers) for topic in read(lines).topics] == [("orders", set()), ("two", set())]


def test_text_that_is_no_utf8() -> None:
    with pytest.raises(DeploymentError, match="is not valid UTF-8"):
        read_output(b"# a\n\xff", "dump.txt")


NAMES = st.from_regex(r"[a-zA-Z0-9._-]{1,20}", fullmatch=True)
KEYS = st.from_regex(r"[a-z]{1,8}(\.[a-z]{1,8}){1,3}", fullmatch=True)
VALUES = st.from_regex(r"[a-z0-9:/*{}\[\]\"]{1,6}(, ?[a-z0-9:]{1,6}){0,3}", fullmatch=True).filter(
    lambda v: v != "null"
)
SOURCES = st.sampled_from([OWN, STATIC, "DYNAMIC_BROKER_CONFIG", "DYNAMIC_DEFAULT_BROKER_CONFIG"])
REPLICAS = st.lists(st.integers(0, 20), min_size=1, max_size=4, unique=True).map(tuple)


@given(
    st.dictionaries(
        NAMES,
        st.tuples(st.lists(REPLICAS, min_size=1, max_size=4), st.dictionaries(KEYS, VALUES, max_size=4)),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(RELEASES),
    st.booleans(),
)
@settings(deadline=None)
def test_any_topics_are_read_back(
    topics: dict[str, tuple[list[tuple[int, ...]], dict[str, str]]], release, tabs
) -> None:
    text = "".join(printed_topic(name, *rest, release=release) for name, rest in topics.items())
    found = read(text if tabs else text.replace("\t", "    ")).topics
    assert [topic.name for topic in found] == list(topics)
    for topic, (partitions, configs) in zip(found, topics.values(), strict=True):
        assert (topic.partitions, topic.replicas) == (len(partitions), len(partitions[0]))
        assert topic.brokers == {broker for replicas in partitions for broker in replicas}
        assert set(topic.lines) == {len(replicas) for replicas in partitions}
        assert {key: told.given.value for key, told in topic.told.items()} == configs


@given(st.dictionaries(KEYS, st.tuples(VALUES, SOURCES), max_size=6), NAMES, st.sampled_from(["topic", "broker"]))
@settings(deadline=None)
def test_any_settings_are_read_back(values: dict[str, tuple[str, str]], name: str, kind: str) -> None:
    (section,) = read(printed_all(kind, name, values)).sections
    found = {key: (told.given.value, told.source) for key, told in section.told.items() if told.source != DEFAULT}
    assert (section.kind, section.name) == (kind, name)
    assert found == values
    (section,) = read(printed_section(f"Dynamic configs for {kind} {name} are:", values)).sections
    assert {key: (told.given.value, told.source) for key, told in section.told.items()} == values


PIECES = [
    *TOPIC.split("\t"),
    *printed_section("All configs for topic t are:", every_setting("topic")).split(" "),
    *("\n", "\t", ",", "=", "}", "Topic:", "null", "All configs for broker 1 are:\n", "\ufeff", "\r"),
]


@given(st.text(max_size=200) | st.binary(max_size=200) | st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join))
@settings(deadline=None, max_examples=500)
def test_any_text_is_read_or_refused(text: str | bytes) -> None:
    with suppress(DeploymentError):
        read_output(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"), "dump.txt")


@given(st.integers(0, len(TOPIC)) | st.integers(0, 2000), st.sampled_from(["topic", "broker"]))
@settings(deadline=None, max_examples=300)
def test_a_text_that_is_cut_off_is_refused_or_says_the_same(at: int, kind: str) -> None:
    """Wherever a text ends early: what is read of it is what the whole text says, or nothing is."""
    for whole in (TOPIC, printed_all(kind, "1")):
        whole_output = read(whole)
        with suppress(DeploymentError):
            cut = read(whole[:at])
            assert _values(cut.topics) in ([], _values(whole_output.topics))
            assert _values(cut.sections) in ([], _values(whole_output.sections))


def _values(read: tuple[Topic, ...] | tuple[Section, ...]) -> list[dict[str, str]]:
    return [{key: told.given.value for key, told in one.told.items()} for one in read]
