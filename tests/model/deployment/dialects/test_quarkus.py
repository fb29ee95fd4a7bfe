"""Quarkus channels: what the connector adds, what is for all channels, profiles, strategies, Streams."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from proofka.model.deployment.dialects import quarkus
from proofka.model.deployment.dialects.component import Component, Role
from proofka.model.deployment.dialects.document import Document, read_document
from proofka.model.deployment.dialects.finding import Findings, find
from proofka.model.deployment.dialects.judging import judge
from proofka.model.deployment.dialects.pairing import pair
from proofka.model.deployment.errors import DeploymentError
from tests.model.deployment.dialects.accounting import REAL, needs_real_files, read_file, read_text, unaccounted, values
from tests.model.deployment.dialects.mutations import near

IN = "mp.messaging.incoming.orders."
OUT = "mp.messaging.outgoing.paid."
PROPERTIES = f"""\
quarkus.application.name=shop
kafka.bootstrap.servers=${{KAFKA:a:1}}
kafka.acks=0
mp.messaging.connector.smallrye-kafka.max.poll.records=5
mp.messaging.connector.smallrye-kafka.failure-strategy=ignore
{IN}connector=smallrye-kafka
{IN}topic=the.orders
{IN}max.poll.records=7
{OUT}connector=smallrye-kafka
{OUT}max-inflight-messages=1
{OUT}enable.auto.commit=true
%prod.{OUT}acks=all
%prod.kafka.sasl.jaas.config=hunter2
quarkus.log.level=INFO
"""


def answers(component: Component) -> dict[str, str]:
    """Return the application's assumptions in the file."""
    return {key: one.value for key, one in component.application.items()}


def test_retries_of_the_connector_and_share_groups_are_not_modelled() -> None:
    for value, refused in (("3", 1), ("0", 0), ("2147483647", 0)):
        text = f"{OUT}connector=smallrye-kafka\n{OUT}retries={value}\n"
        assert len(read_text(text, "application.properties").rejected) == refused
    for value, refused in (("true", 1), ("false", 0)):
        text = f"{IN}connector=smallrye-kafka\n{IN}share-group.enabled={value}\n"
        assert len(read_text(text, "application.properties").rejected) == refused


def test_a_channel_is_a_client() -> None:
    found = read_text(PROPERTIES, "application.properties", dialect=quarkus.NAME)
    reads, writes, prod = found.components
    assert reads.name == "incoming orders"
    assert reads.topics == ("the.orders",)
    assert values(found, Role.CONSUMER) == {
        "enable.auto.commit": "false",
        "bootstrap.servers": "a:1",
        "max.poll.records": "7",
        "group.id": "shop",
    }
    assert answers(reads) == {"processing": "handed-off", "on_processing_error": "skip", "commit": "after"}
    assert writes.topics == ("paid",)
    assert values(found, Role.PRODUCER) == {"bootstrap.servers": "a:1", "acks": "0", "retries": "2147483647"}
    assert answers(writes) == {"sends": "sync"}
    assert (prod.profile, prod.settings["acks"].value) == ("prod", "all")
    assert {4, 11, 13, 14} <= {one.given.origin.line for one in found.ignored}
    assert 5 not in {one.given.origin.line for one in found.ignored}
    assert "hunter2" not in repr(found)


def test_the_connector_writes_acks() -> None:
    found = read_text(f"{OUT}connector=smallrye-kafka\n", "application.properties", dialect=quarkus.NAME)
    assert values(found, Role.PRODUCER) == {"acks": "1", "retries": "2147483647"}
    assert found.components[0].settings["acks"].origin.kind == "rule"


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("failure-strategy=dead-letter-queue", "on_processing_error", "forward"),
        ("failure-strategy=fail", "on_processing_error", "stop"),
        ("failure-strategy=mine", "on_processing_error", None),
        ("commit-strategy=ignore", "commit", "never"),
        ("commit-strategy=latest", "commit", None),
        ("enable.auto.commit=true", "commit", None),
    ],
)
def test_strategies(line: str, key: str, value: str | None) -> None:
    found = read_text(f"{IN}connector=smallrye-kafka\n{IN}{line}\n", "application.properties")
    assert answers(found.components[0]).get(key) == value


def test_channel_that_waits_for_no_write_ignores_send_errors() -> None:
    found = read_text(f"{OUT}connector=smallrye-kafka\n{OUT}waitForWriteCompletion=false\n", "application.properties")
    assert answers(found.components[0]) == {"on_send_error": "ignore"}


def test_yaml_with_a_profile_and_a_quoted_channel() -> None:
    text = (
        "mp:\n  messaging:\n    incoming:\n      orders:\n        connector: smallrye-kafka\n"
        "        auto: {offset: {reset: earliest}}\n      a.b: {connector: smallrye-kafka}\n"
        '"%dev":\n  mp:\n    messaging:\n      incoming: {\'"a.b"\': {topic: x}}\n'
    )
    found = read_text(text, "application.yml", dialect=quarkus.NAME)
    assert values(found, Role.CONSUMER)["auto.offset.reset"] == "earliest"
    names = [(one.name, one.profile) for one in found.components]
    assert names == [("incoming orders", ""), ("incoming a.b", ""), ("incoming a.b (dev)", "dev")]


def test_a_key_of_yaml_with_dots_is_one_name() -> None:
    text = (
        "mp:\n  messaging:\n    outgoing:\n      o.v1: {connector: smallrye-kafka, acks: 0}\n"
        "      o.v2: {connector: smallrye-kafka, acks: all}\n"
        "      o: {connector: smallrye-kafka, enable.idempotence: true, value.serializer: x}\n"
        "mp.messaging.outgoing.o.acks: all\n"
    )
    found = read_text(text, "application.yaml", dialect=quarkus.NAME)
    assert [(one.name, one.settings["acks"].value) for one in found.components] == [
        ("outgoing o.v1", "0"),
        ("outgoing o.v2", "all"),
        ("outgoing o", "1"),
    ]
    assert [one.given.origin.line for one in found.rejected] == [6, 7]


def test_refusal_of_a_default_of_the_connector_names_the_channel() -> None:
    text = f"a.b=1\n{OUT}connector=smallrye-kafka\n{OUT}enable.idempotence=true\n"
    found = read_text(text, "application.properties", dialect=quarkus.NAME)
    (pipeline,) = pair(Findings(".", (found,), (), 0)).pipelines
    (problem,) = judge(pipeline).problems
    assert (problem.file, problem.line, problem.key) == ("application.properties", 2, "acks")
    assert "SmallRye's Kafka connector sets acks=1 by default" in problem.message


def test_one_key_for_several_profiles() -> None:
    text = f"{OUT}connector=smallrye-kafka\n{OUT}acks=all\n%{{prod,staging}}.{OUT}acks=0\n%prod.{OUT}retries=10\n"
    found = read_text(text, "application.properties", dialect=quarkus.NAME)
    acks = {one.profile: one.settings["acks"].value for one in found.components}
    assert acks == {"": "all", "prod": "0", "staging": "0"}
    nested = (
        "mp: {messaging: {outgoing: {o: {connector: smallrye-kafka}}}}\n"
        '"%{a,b}": {mp: {messaging: {outgoing: {o: {acks: 0}}}}}\n'
    )
    found = read_text(nested, "application.yml", dialect=quarkus.NAME)
    assert {one.profile: one.settings["acks"].value for one in found.components} == {"": "1", "a": "0", "b": "0"}


def test_the_file_of_a_profile_is_laid_over_the_application(tmp_path: Path) -> None:
    base = f"{OUT}connector=smallrye-kafka\n{OUT}acks=0\n%prod.{OUT}retries=2147483647\n%prod.{OUT}linger.ms=5\n"
    (tmp_path / "application.properties").write_text(base, encoding="utf-8")
    (tmp_path / "application-prod.properties").write_text(f"{OUT}retries=0\n", encoding="utf-8")
    for place in (tmp_path, tmp_path / "application-prod.properties"):
        (prod,) = (one for found in find(place, {}).found for one in found.components if one.profile == "prod")
        assert {key: given.value for key, given in prod.settings.items()} == {
            "acks": "0",
            "retries": "0",
            "linger.ms": "5",
        }
    (tmp_path / "application.yaml").write_text("kafka: {acks: all}\n", encoding="utf-8")
    found = find(tmp_path / "application-prod.properties", {}).found[0]
    assert [one.given.origin.line for one in found.rejected] == [1]


def test_other_connectors_and_channels_that_are_off() -> None:
    text = (
        f"{IN}connector=smallrye-amqp\n{IN}address=x\n{OUT}connector=smallrye-kafka\n{OUT}enabled=false\n{OUT}acks=1\n"
    )
    found = read_text(text, "application.properties", dialect=quarkus.NAME)
    reasons = {one.given.origin.line: one.reason for one in found.ignored}
    assert (reasons[2], reasons[5]) == (
        "is for a channel of another connector",
        "is for a disabled channel",
    )
    assert not found.components
    assert len(found.notes) == 2


def test_a_bean_with_settings() -> None:
    found = read_text(f"{OUT}connector=smallrye-kafka\n{OUT}kafka-configuration=mine\n", "application.properties")
    assert [one.given.origin.line for one in found.rejected] == [2]


def test_streams() -> None:
    text = "quarkus.kafka-streams.application-id=shop\nkafka-streams.processing.guarantee=exactly_once_v2\n"
    found = read_text(text, "application.properties", dialect=quarkus.NAME)
    assert values(found, Role.PRODUCER)["transactional.id"] == "shop-TASK"
    assert values(found, Role.CONSUMER)["isolation.level"] == "read_committed"


@pytest.mark.parametrize(
    "text",
    [f"{IN}connector=smallrye-amqp\n{IN}address=x\n", "quarkus.http.port=1\n", "kafka.acks=1\n", "mp.messaging=1\n"],
)
def test_files_of_other_programs_are_not_read_as_quarkus(text: str) -> None:
    assert not quarkus.fits(Document("application.properties", text))


@needs_real_files
@pytest.mark.parametrize("path", sorted(REAL.glob("quarkus/*")), ids=lambda path: path.name)
def test_every_value_of_real_files_goes_somewhere(path: Path) -> None:
    assert not unaccounted(read_document(path).properties, read_file(path, dialect=quarkus.NAME))


@settings(max_examples=60, deadline=None)
@given(near(PROPERTIES))
def test_any_text_is_read_or_refused(text: str) -> None:
    for name in ("application.properties", "application.yml"):
        document = Document(name, text)
        quarkus.fits(document)
        try:
            found = quarkus.read(document, {})
        except DeploymentError:
            continue
        if name.endswith("properties"):
            assert not unaccounted(document.properties, found)
