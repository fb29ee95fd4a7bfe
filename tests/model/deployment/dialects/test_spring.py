"""Spring Boot's names, relaxed; what the container adds; profiles; what is bound to nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.deployment.dialects.component import Role
from model.deployment.dialects.document import YAML, read_document
from model.deployment.dialects.formats.yaml import values_of
from tests.model.deployment.dialects.accounting import REAL, needs_real_files, read_file, read_text, unaccounted, values

SPRING = "Spring Boot application"


def test_relaxed_names_are_one() -> None:
    """All forms of a name are the same property."""
    for name in ("enable-auto-commit", "enableAutoCommit", "enable_auto_commit"):
        text = f"spring:\n  kafka:\n    consumer:\n      {name}: true\n"
        assert values(read_text(text, "application.yml", dialect=SPRING), Role.CONSUMER) == {
            "enable.auto.commit": "true"
        }


def test_the_container_commits_where_nobody_says_otherwise() -> None:
    found = read_text("spring.kafka.consumer.group-id=orders\n", "application.properties", dialect=SPRING)
    (consumer,) = found.by_role[Role.CONSUMER]
    assert consumer.settings["enable.auto.commit"].value == "false"
    assert consumer.settings["enable.auto.commit"].origin.kind == "rule"
    assert consumer.application["commit"].value == "after"


def test_what_spring_does_not_bind_has_no_effect() -> None:
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


@needs_real_files
@pytest.mark.parametrize("path", sorted(REAL.glob("spring/*application*")), ids=lambda path: path.name)
def test_every_value_of_real_files_goes_somewhere(path: Path) -> None:
    document = read_document(path)
    nested = document.suffix in YAML
    said = [one for node in document.yaml for one in values_of(node)] if nested else document.properties
    assert not unaccounted(said, read_file(path, dialect=SPRING))
