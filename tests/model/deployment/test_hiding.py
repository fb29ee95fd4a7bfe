"""Secrets are not shown, wherever in a value they stand."""

from __future__ import annotations

import pytest

from proofka.model.deployment.hiding import shown_placeholder, shown_value


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("${HA:?password hunter2}", "${HA...}"),
        ("${vault:secret/hunter2}", "${vault...}"),
        ("a-${X}-b", "a-${X}-b"),
        ("${var.name}", "${var.name}"),
        ("{{ .Values.acks }}", "{{ .Values.acks }}"),
    ],
)
def test_placeholder_is_shown_by_its_name(value: str, shown: str) -> None:
    assert shown_placeholder("retries", value) == shown


def test_arguments_of_a_template_are_not_shown() -> None:
    assert "hunter2" not in shown_placeholder("acks", "{{ lookup('vault', password='hunter2') }}")


@pytest.mark.parametrize(
    "value", ["https://user:hunter2/x@host", "jdbc:pg://h/db?user=x&password=hunter2", "x?api_key=hunter2&a=1"]
)
def test_secrets_in_addresses_are_not_shown(value: str) -> None:
    assert "hunter2" not in shown_value("retries", value)
    assert shown_value("bootstrap.servers", "b1:9092,b2:9092") == "b1:9092,b2:9092"


def test_long_values_are_looked_at_quickly() -> None:
    for text in ("://" * 100_000, "?" * 300_000, "${" * 100_000):
        assert len(shown_value("k", text)) <= 120
        assert len(shown_placeholder("k", text)) <= 120
