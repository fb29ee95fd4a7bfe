"""Spring Boot's names, relaxed; what the container adds; profiles; what is bound to nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from proofka.model.deployment.dialects import spring
from proofka.model.deployment.dialects.component import Component, Role
from proofka.model.deployment.dialects.document import YAML, Document, read_document
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.source import BYTE_ORDER_MARK
from tests.model.deployment.dialects.accounting import REAL, needs_real_files, read_file, read_text, unaccounted, values
from tests.model.deployment.dialects.mutations import near

SPRING = "Spring Boot application"


def test_relaxed_names_are_the_same_property() -> None:
    """All forms of a name are the same property."""
    for name in ("enable-auto-commit", "enableAutoCommit", "enable_auto_commit"):
        text = f"spring:\n  kafka:\n    consumer:\n      {name}: true\n"
        assert values(read_text(text, "application.yml", dialect=SPRING), Role.CONSUMER) == {
            "enable.auto.commit": "true"
        }


def test_container_commits_by_default() -> None:
    found = read_text("spring.kafka.consumer.group-id=orders\n", "application.properties", dialect=SPRING)
    (consumer,) = found.by_role[Role.CONSUMER]
    assert consumer.settings["enable.auto.commit"].value == "false"
    assert consumer.settings["enable.auto.commit"].origin.kind == "rule"
    assert consumer.application["commit"].value == "after"


def test_properties_that_spring_does_not_bind_have_no_effect() -> None:
    found = read_text(
        "spring:\n kafka:\n  producer:\n   acks: 1\n   enable-idempotence: true\n", "a.yml", dialect=SPRING
    )
    assert values(found, Role.PRODUCER) == {"acks": "1"}
    assert [one.given.origin.line for one in found.ignored] == [5]


def test_the_prefix_alone_is_nothing() -> None:
    found = read_text("spring.kafka=1\nspring.kafka.producer.acks=1\n", "a.properties", dialect=SPRING)
    assert [one.given.origin.line for one in found.ignored] == [1]


def test_a_default_in_a_placeholder_and_a_value_that_is_given() -> None:
    text = "spring.kafka.producer.acks=${ACKS:all}\nspring.kafka.producer.retries=${RETRIES}\n"
    assert values(read_text(text, "a.properties"), Role.PRODUCER) == {"acks": "all", "retries": "${RETRIES}"}
    assert values(read_text(text, "a.properties", {"ACKS": "1", "RETRIES": "3"}), Role.PRODUCER) == {
        "acks": "1",
        "retries": "3",
    }


def answers(component: Component) -> dict[str, str]:
    """Return the application's assumptions in the file."""
    return {key: one.value for key, one in component.application.items()}


def test_specific_properties_outrank_general_properties_in_any_order() -> None:
    text = (
        "spring.kafka.producer.properties.acks=all\nspring.kafka.producer.acks=1\n"
        "spring.kafka.properties.linger.ms=1\nspring.kafka.properties.max.poll.records=7\n"
        "spring.kafka.producer.properties.min.insync.replicas=2\nspring.kafka.producer.properties.lingger.ms=2\n"
    )
    found = read_text(text, "application.properties", dialect=SPRING)
    assert values(found, Role.PRODUCER) == {"acks": "all", "linger.ms": "1", "lingger.ms": "2"}
    assert values(found, Role.CONSUMER) == {"max.poll.records": "7", "enable.auto.commit": "false"}
    reasons = {one.given.origin.line: one.reason for one in found.ignored}
    assert reasons[2] == "another value of the file takes precedence"
    assert reasons[5].startswith("a broker's")


@pytest.mark.parametrize(
    ("mode", "automatic", "commit", "rejected"),
    [
        ("RECORD", "false", "after", 0),
        ("manual-immediate", "false", None, 0),
        ("MANUAL", "true", None, 1),
        ("BATCH", "true", None, 0),
        ("SOMETIMES", "false", "after", 1),
    ],
)
def test_modes_of_acknowledgement(mode: str, automatic: str, commit: str | None, rejected: int) -> None:
    text = f"spring.kafka.listener.ack-mode={mode}\nspring.kafka.consumer.enable-auto-commit={automatic}\n"
    found = read_text(text, "application.properties", dialect=SPRING)
    (consumer,) = found.components
    assert answers(consumer).get("commit") == commit
    assert len(found.rejected) == rejected
    if mode == "MANUAL":
        assert "IllegalStateException" in found.rejected[0].reason


def test_a_record_that_fails_is_passed_over_or_goes_to_another_topic() -> None:
    text = "spring.kafka.consumer.group-id=${random.uuid}\n"
    found = read_text(text, "application.properties", dialect=SPRING)
    assert answers(found.components[0])["on_processing_error"] == "skip"
    assert answers(found.components[0])["group"] == "new"
    found = read_text(text + "spring.kafka.retry.topic.enabled=true\n", "application.properties", dialect=SPRING)
    assert answers(found.components[0])["on_processing_error"] == "forward"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "spring.kafka.consumer.enable-auto-commit=maybe",
            "maybe is no value of enable.auto.commit in Spring; write true",
        ),
        ("spring.kafka.consumer.fetch-min-size=much", "much is no value of fetch.min.bytes in Spring; write a number"),
        (
            "spring.kafka.consumer.fetch-max-wait=soon",
            "soon is no value of fetch.max.wait.ms in Spring; write a number",
        ),
    ],
)
def test_a_value_that_spring_refuses_is_named_with_the_valid_ones(line: str, said: str) -> None:
    (left,) = read_text(f"{line}\n", "application.properties", dialect=SPRING).rejected
    assert left.reason.startswith(said)


def test_transactions_and_positions() -> None:
    text = "spring.kafka.producer.transaction-id-prefix=t\nspring.kafka.consumer.enable-auto-commit={}\n"
    beside = read_text(text.format("true"), "application.properties").notes
    assert any("outside of the transactions" in note for note in beside)
    assert not any(
        "outside of the transactions" in note
        for note in read_text(text.format("false"), "application.properties").notes
    )


def test_profiles_by_document_and_by_the_name_of_the_file() -> None:
    text = (
        "spring.kafka.producer.acks=all\n#---\nspring.config.activate.on-profile=dev\n"
        "spring.kafka.producer.acks=1\n#---\nspring.kafka.producer.retries=5\n"
    )
    found = read_text(text, "application.properties", dialect=SPRING)
    assert [(one.profile, one.settings["acks"].value) for one in found.components] == [("", "all"), ("dev", "1")]
    assert found.components[0].settings["retries"].value == "5"
    found = read_text("spring.kafka.producer.acks=1\n", "application-prod.properties", dialect=SPRING)
    assert found.components[0].profile == "prod"


def test_lists_and_names_of_the_environment() -> None:
    text = "spring:\n kafka:\n  bootstrap-servers:\n  - a:1\n  - b:2\n  producer: {acks: 1}\n"
    assert values(read_text(text, "a.yml", dialect=SPRING), Role.PRODUCER) == {
        "bootstrap.servers": "a:1,b:2",
        "acks": "1",
    }
    text = (
        "SPRING_KAFKA_BOOTSTRAP_SERVERS=a:1\nSPRING_KAFKA_CONSUMER_ENABLE_AUTO_COMMIT=true\n"
        "SPRING_KAFKA_CONSUMER_PROPERTIES_MAX_POLL_RECORDS=5\nSPRING_KAFKA_LISTENER_ACK_MODE=RECORD\n"
    )
    assert values(read_text(text, "local.env"), Role.CONSUMER) == {
        "bootstrap.servers": "a:1",
        "enable.auto.commit": "true",
        "max.poll.records": "5",
    }


def test_settings_inside_a_template_condition_or_after_a_byte_order_mark_are_rejected() -> None:
    text = "spring.kafka.producer.acks=1\n{% if x %}\nspring.kafka.producer.retries=1\na.b=1\n{% endif %}\n"
    found = read_text(text, "application.properties.j2", dialect=SPRING)
    assert values(found, Role.PRODUCER) == {"acks": "1"}
    assert [one.given.origin.line for one in found.rejected] == [3]
    marked = Document("application.properties", text, notes=(BYTE_ORDER_MARK,))
    assert [one.given.origin.line for one in spring.read(marked, {}).rejected] == [1, 3]


def test_streams_in_an_application() -> None:
    text = (
        "spring.kafka.streams.application-id=shop\n"
        "spring.kafka.streams.properties.processing.guarantee=exactly_once_v2\n"
    )
    found = read_text(text, "application.properties", dialect=SPRING)
    assert values(found, Role.PRODUCER)["transactional.id"] == "shop-TASK"


CLOUD = """\
spring:
  cloud:
    stream:
      kafka:
        binder:
          brokers: a:1
          required-acks: all
          producer-properties:
            linger.ms: 3
        bindings:
          pay-in-0:
            consumer:
              enable-dlq: true
              configuration:
                max.poll.records: 4
          pay-out-0:
            producer:
              sync: true
      bindings:
        pay-in-0:
          destination: orders
          group: g
        pay-out-0:
          destination: paid
"""


def test_cloud_stream() -> None:
    found = read_text(CLOUD, "application.yml", dialect=SPRING)
    reads, writes = found.components
    assert reads.topics == ("orders",)
    assert values(found, Role.CONSUMER) == {
        "bootstrap.servers": "a:1",
        "max.poll.records": "4",
        "enable.auto.commit": "false",
        "group.id": "g",
        "auto.offset.reset": "earliest",
    }
    assert answers(reads) == {"commit": "after", "on_processing_error": "forward"}
    assert values(found, Role.PRODUCER) == {"bootstrap.servers": "a:1", "acks": "all", "linger.ms": "3"}
    assert answers(writes) == {"sends": "sync"}
    plain = "spring.cloud.stream.kafka.binder.brokers=a\nspring.cloud.stream.bindings.x.producer.y=1\n"
    assert values(read_text(plain, "a.properties"), Role.PRODUCER)["acks"] == "1"


def test_specific_binder_properties_outrank_general_binder_properties_in_any_order() -> None:
    binder = "spring.cloud.stream.kafka.binder."
    lines = [
        "spring.cloud.stream.kafka.bindings.out-0.producer.configuration.linger.ms=5",
        f"{binder}producer-properties.linger.ms=4",
        f"{binder}producer-properties.acks=0",
        f"{binder}configuration.linger.ms=3",
        f"{binder}configuration.acks=1",
        f"{binder}configuration.retries=3",
        "spring.kafka.producer.retries=2",
        "spring.kafka.producer.acks=1",
        "spring.kafka.producer.batch-size=7",
        "spring.kafka.producer.transaction-id-prefix=t",
        f"{binder}required-acks=all",
        "spring.cloud.stream.bindings.out-0.destination=orders",
    ]
    for order in (lines, lines[::-1]):
        found = read_text("\n".join(order), "application.properties", dialect=SPRING)
        (writes,) = (one for one in found.components if one.name == "out-0")
        assert {key: given.value for key, given in writes.settings.items()} == {
            "acks": "0",
            "linger.ms": "5",
            "retries": "3",
            "batch.size": "7",
        }


def test_the_binder_takes_neither_group_nor_automatic_commits_of_boot() -> None:
    text = (
        "spring.kafka.consumer.group-id=g\nspring.kafka.consumer.enable-auto-commit=true\n"
        "spring.kafka.consumer.max-poll-records=7\n"
        "spring.cloud.stream.kafka.bindings.x-in-0.consumer.auto-commit-offset=no\n"
        "spring.cloud.stream.bindings.x-in-0.destination=orders\n"
    )
    found = read_text(text, "application.properties", dialect=SPRING)
    (reads,) = (one for one in found.components if one.name == "x-in-0")
    assert reads.settings["enable.auto.commit"].value == "false"
    assert reads.settings["max.poll.records"].value == "7"
    assert "group.id" not in reads.settings
    assert "commit" not in reads.application
    assert any(note.startswith("auto-commit-offset=false: the application decides") for note in found.notes)
    reasons = {one.given.origin.line: one.reason for one in found.ignored}
    assert "the application decides" in reasons[4]


def test_keys_for_one_binder_alone_that_are_not_interpreted_are_rejected() -> None:
    """The binder's context inherits the settings outside it; its own environment takes precedence over them."""
    text = (
        "spring.cloud.stream.kafka.binder.required-acks=all\n"
        "spring.cloud.stream.binders.k.environment.spring.cloud.stream.kafka.binder.required-acks=0\n"
        "spring.cloud.stream.binders.k.environment.spring.kafka.producer.acks=0\n"
        "spring.cloud.stream.binders.k.environment.spring.cloud.stream.kafka.binder.brokers=a\n"
        "spring.cloud.stream.kafka.binder.transaction.producer.configuration.acks=0\n"
        "spring.cloud.stream.bindings.out-0.binder=k\n"
    )
    found = read_text(text, "application.properties", dialect=SPRING)
    assert [one.given.origin.line for one in found.rejected] == [3, 5]
    (writes,) = (one for one in found.components if one.name == "out-0")
    assert writes.settings["acks"].value == "0"


@settings(max_examples=50, deadline=None)
@given(near(CLOUD + "  kafka:\n    listener: {ack-mode: MANUAL}\n    producer: {acks: 1}\n"))
def test_any_text_is_read_or_refused(text: str) -> None:
    for name in ("application.properties", "application.yml"):
        document = Document(name, text)
        spring.fits(document)
        try:
            found = spring.read(document, {})
        except DeploymentError:
            continue
        if name.endswith("properties"):
            assert not unaccounted((one for one in document.properties if one.key), found)


@needs_real_files
@pytest.mark.parametrize(
    "path", sorted(set(REAL.glob("spring/*")) - {REAL / "spring" / "canal.properties"}), ids=lambda path: path.name
)
def test_every_value_of_real_files_goes_somewhere(path: Path) -> None:
    document = read_document(path)
    nested = document.suffix in YAML
    said = [one for node in document.yaml for one in values_of(node)] if nested else document.properties
    assert not unaccounted(said, read_file(path, dialect=SPRING))
