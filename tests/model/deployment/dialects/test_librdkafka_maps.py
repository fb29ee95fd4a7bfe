"""Maps of librdkafka's settings: one client's, or a producer's and a consumer's side by side."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.model.deployment.dialects import librdkafka_maps
from proofka.model.deployment.dialects.component import Found, Role
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.errors import DeploymentError
from tests.model.deployment.dialects.accounting import REAL, needs_real_files, read_file, read_text, values

NAME = "settings of librdkafka"
SIDE_BY_SIDE = """{
  "prefix": "shop",
  "bootstrap.servers": "kafka:9092",
  "consumer": {"auto.offset.reset": "earliest", "session.timeout.ms": 6000},
  "producer": {"linger.ms": 0, "retry.backoff.ms": 50, "bootstrap.servers": "other:9092"},
  "streams": {"num.stream.threads": 2}
}
"""


def reasons(found: Found) -> dict[str, str]:
    """Return the reason for which each value is in no component."""
    return {one.given.key: one.reason for one in (*found.ignored, *found.rejected)}


def test_producer_and_consumer_share_the_settings_above_both() -> None:
    found = read_text(SIDE_BY_SIDE, "kafka.json", dialect=NAME)
    assert values(found, Role.CONSUMER) == {
        "auto.offset.reset": "earliest",
        "session.timeout.ms": "6000",
        "bootstrap.servers": "kafka:9092",
    }
    assert values(found, Role.PRODUCER)["bootstrap.servers"] == "other:9092"
    client = found.by_role[Role.PRODUCER][0].client
    assert client is not None and client.value == "librdkafka"
    assert [one.given.key for one in found.rejected] == ["streams.num.stream.threads"]
    assert [one.given.key for one in found.ignored] == ["prefix"]


def test_settings_of_topics_belong_to_their_client() -> None:
    text = json.dumps({"bootstrap.servers": "a", "default.topic.config": {"acks": 1}, "message.timeout.ms": 9})
    assert values(read_text(text, "producer.json"), Role.PRODUCER) == {
        "bootstrap.servers": "a",
        "acks": "1",
        "message.timeout.ms": "9",
    }


def test_an_alias_that_is_said_nearer_wins() -> None:
    text = "retries: 3\nproducer:\n  message.send.max.retries: 5\n  queue.buffering.max.ms: 1\n"
    assert values(read_text(text, "a.yaml"), Role.PRODUCER) == {
        "message.send.max.retries": "5",
        "queue.buffering.max.ms": "1",
    }


def test_a_flat_file_needs_a_setting_that_only_librdkafka_has() -> None:
    text = "bootstrap.servers=a\nacks=all\n"
    assert not librdkafka_maps.fits(Document("client.properties", text))
    assert not librdkafka_maps.fits(Document("client.properties", text + "message.send.max.retries=3\n"))
    found = read_text(text + "message.timeout.ms=1000\n", "client.properties")
    assert [one.role for one in found.components] == [Role.PRODUCER]


def test_a_dictionary_of_python_in_a_flat_file() -> None:
    text = "group.id=g\n'default.topic.config'={'auto.offset.reset': 'smallest'}\n"
    found = read_text(text, "consumer.config")
    assert values(found, Role.CONSUMER) == {"group.id": "g", "auto.offset.reset": "smallest"}


def test_unknown_names_stay_and_those_of_bindings_go() -> None:
    text = json.dumps({"bootstrap.servers": "a", "linger.ms": 1, "ackz.all": 1, "go.events.channel.size": 1, "x": 2})
    found = read_text(text, "a.json", dialect=NAME)
    assert values(found, Role.PRODUCER) == {"bootstrap.servers": "a", "linger.ms": "1", "ackz.all": "1"}
    assert set(reasons(found)) == {"go.events.channel.size", "x"}


def test_producer_without_delivery_reports_ignores_send_errors() -> None:
    text = json.dumps({"bootstrap.servers": "a", "acks": 1, "dotnet.producer.enable.delivery.reports": False})
    (producer,) = read_text(text, "a.json").components
    assert producer.application["on_send_error"].value == "ignore"


def test_map_with_connection_settings_alone_is_no_client() -> None:
    found = read_text('{"bootstrap.servers": "a"}', "a.json")
    assert not found.components and "has no setting that only a producer" in found.notes[0]


def test_broken_files_are_one_line() -> None:
    with pytest.raises(DeploymentError, match=r"a\.yaml:3: is not valid YAML"):
        read_text("bootstrap.servers: a\nsasl.mechanisms: PLAIN\nx: [a]:[b]\n", "a.yaml")
    assert not librdkafka_maps.fits(Document("a.json", '{"bootstrap.servers": "a",}'))


@needs_real_files
def test_a_template_with_brackets_is_refused_with_its_line() -> None:
    with pytest.raises(DeploymentError, match=r"sample:14: "):
        read_file(REAL / "librdkafka-agents" / "houseplants-config.yaml.sample")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_nothing_but_an_error_of_ours(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["a.json", "a.yaml", "a.toml", "a.properties"]))
    at, to = sorted(data.draw(st.tuples(*[st.integers(0, len(SIDE_BY_SIDE))] * 2)))
    text = SIDE_BY_SIDE[:at] + data.draw(st.text(max_size=8)) + SIDE_BY_SIDE[to:]
    document = Document(name, text)
    librdkafka_maps.fits(document)
    try:
        librdkafka_maps.read(document, {})
    except DeploymentError as error:
        assert "\n" not in str(error)


def test_maps_in_toml_have_names_with_and_without_quotation_marks() -> None:
    text = """\
title = "orders"
[kafka.producer]
"bootstrap.servers" = "a:9092"
message.timeout.ms = 5000
acks = 1
sasl.username = "me"
"""
    found = read_text(text, "service.toml", dialect="settings of librdkafka")
    assert values(found, Role.PRODUCER) == {
        "bootstrap.servers": "a:9092",
        "message.timeout.ms": "5000",
        "acks": "1",
        "sasl.username": "me",
    }
    again = read_text(text + '"acks" = "all"\n', "service.toml", dialect="settings of librdkafka")
    assert [left.given.origin.line for left in again.rejected] == [5]
