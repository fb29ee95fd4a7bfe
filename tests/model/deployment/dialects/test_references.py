"""Placeholders that name another key of the same application: what that says counts, and not the default."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from proofka.model.deployment.dialects.component import Found
from proofka.model.deployment.dialects.finding import find


def read_in(folder: Path, files: Mapping[str, str], given: Mapping[str, str] | None = None) -> list[Found]:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return list(find(folder, given or {}).found)


def acks(found: list[Found]) -> dict[str, str]:
    return {one.name: one.settings["acks"].value for each in found for one in each.components}


SPRING = "spring.kafka.producer"
QUARKUS = (
    "mp.messaging.outgoing.orders.connector=smallrye-kafka\nmp.messaging.outgoing.orders.acks=${app.my-acks:all}\n"
)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"application.yml": "app: {my-acks: '0'}\nspring.kafka.producer.acks: ${app.my-acks:all}"}, {SPRING: "0"}),
        ({"application.yml": "app: {myAcks: '0'}\nspring.kafka.producer.acks: ${app.my-acks:${X:all}}"}, {SPRING: "0"}),
        ({"application.yml": "app: {acks: '0'}\nspring.kafka.producer.acks: ${X:${app.acks:all}}"}, {SPRING: "0"}),
        ({"application.yml": "app: {acks: '0'}\nspring.kafka.producer.acks: ${APP_ACKS:all}"}, {SPRING: "all"}),
        (
            {
                "application.yml": "spring.kafka.producer.acks: ${app.level:all}",
                "application.properties": "app.level=0",
            },
            {SPRING: "0"},
        ),
        # It says something else for a profile: somebody has to give the value.
        (
            {"application.yml": "spring.kafka.producer.acks: ${a.b:all}", "application-prod.yml": "a.b: 0"},
            {SPRING: "${a.b}"},
        ),
        ({"application.yml": "a: {b: '${X}'}\nspring.kafka.producer.acks: ${a.b:all}"}, {SPRING: "${a.b}"}),
        ({"application.properties": "app.my-acks=0\n" + QUARKUS}, {"outgoing orders": "0"}),
        ({"application.properties": QUARKUS}, {"outgoing orders": "all"}),
        (
            {"application.properties": "app.my-acks=1\n%prod.app.my-acks=0\n" + QUARKUS},
            {"outgoing orders": "${app.my-acks}"},
        ),
    ],
)
def test_value_of_the_application_outranks_the_default_of_a_placeholder(
    files: dict[str, str], expected: dict[str, str], tmp_path: Path
) -> None:
    assert acks(read_in(tmp_path, files)) == expected


def test_given_value_outranks_the_value_of_the_application(tmp_path: Path) -> None:
    files = {"application.yml": "app: {acks: '0'}\nspring.kafka.producer.acks: ${app.acks:all}"}
    assert acks(read_in(tmp_path, files, {"app.acks": "1"})) == {SPRING: "1"}


def test_a_secret_is_not_put_in_anywhere(tmp_path: Path) -> None:
    files = {"application.yml": "db: {password: hunter2}\nspring.kafka.producer.acks: ${db.password:all}"}
    assert acks(read_in(tmp_path, files)) == {SPRING: "${db.password}"}
