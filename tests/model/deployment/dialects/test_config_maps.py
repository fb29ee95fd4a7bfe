"""ConfigMaps that hold the files of one application, those of its profiles among them."""

from __future__ import annotations

from proofka.model.deployment.dialects.component import Found
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.kubernetes import read


def read_map(**files: str) -> Found:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata:\n"
    for name, lines in files.items():
        text += f"  {name}: |\n" + "".join(f"    {line}\n" for line in lines.split("\n"))
    return read(Document("cm.yaml", text), {})


BASE = "spring.kafka.producer.acks: 0\nspring.kafka.producer.properties.enable.idempotence: false"


def test_a_profiles_file_is_not_taken_for_all_there_is_where_the_application_has_settings_beside_it() -> None:
    found = read_map(**{"application.yml": BASE, "application-prod.yml": "spring.kafka.producer.retries: 5\nx: 1"})
    assert [(left.given.key, left.given.origin.line) for left in found.rejected] == [("data.application-prod.yml", 8)]
    assert "lays over" in found.rejected[0].reason


def test_a_profiles_file_alone_and_one_over_a_file_without_settings_of_kafka_are_read() -> None:
    over = {"application-prod.yml": "spring.kafka.producer.acks: all\nx: 1"}
    for files in (over, {"application.yml": "server.port: 80\nx: 1"} | over):
        found = read_map(**files)
        assert not found.rejected
        assert [(one.name, one.settings["acks"].value) for one in found.components] == [
            ("spring.kafka.producer (prod)", "all")
        ]


def test_a_profiles_file_that_says_nothing_of_kafka_changes_nothing() -> None:
    found = read_map(**{"application.yml": BASE, "application-prod.yml": "server.port: 80\nx: 1"})
    assert not found.rejected
    assert [one.name for one in found.components] == ["spring.kafka.producer"]
