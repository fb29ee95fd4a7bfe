"""Kafka Streams: settings with which it does not start, and parts of exactly-once that are not modelled."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofka.model.deployment.dialects.finding import find
from proofka.model.deployment.dialects.judging import judge
from proofka.model.deployment.dialects.pairing import pair
from tests.model.deployment.dialects.accounting import read_text

BASE = "application.id=a\nbootstrap.servers=b:9092\n"
ONCE = BASE + "processing.guarantee=exactly_once_v2\n"


@pytest.mark.parametrize(
    ("text", "line", "rule"),
    [
        (ONCE + "producer.max.in.flight.requests.per.connection=6\n", 4, "ConfigException.*S03"),
        (ONCE + "commit.interval.ms=20000\n", 4, "IllegalArgumentException.*S04"),
        (ONCE + "producer.transaction.timeout.ms=50\n", 4, "IllegalArgumentException.*S04"),
        (BASE + "group.protocol=streams\nmain.consumer.group.instance.id=i\n", 4, "ConfigException.*S08"),
    ],
)
def test_settings_that_streams_refuses_are_rejected_with_their_rule(text: str, line: int, rule: str) -> None:
    (left,) = read_text(text, "streams.properties").rejected
    assert left.given.origin.line == line
    first, second = rule.split(".*")
    assert first in left.reason
    assert f"rule {second}" in left.reason


@pytest.mark.parametrize(
    "text",
    [
        ONCE + "producer.max.in.flight.requests.per.connection=5\n",
        BASE + "producer.max.in.flight.requests.per.connection=6\n",
        ONCE + "commit.interval.ms=10000\n",
        BASE + "commit.interval.ms=20000\n",
        BASE + "main.consumer.group.instance.id=i\n",
    ],
)
def test_nearest_accepted_values_of_streams_are_accepted(text: str) -> None:
    assert not read_text(text, "streams.properties").rejected


def test_exactly_once_where_retries_outlast_the_records_names_the_change(tmp_path: Path) -> None:
    """Streams retries for 24 days what Kafka keeps for seven: a record may be too old as soon as it is written."""
    text = "application.id=a\nbootstrap.servers=b:1\nprocessing.guarantee=exactly_once_v2\n"
    (tmp_path / "streams.properties").write_text(text, encoding="utf-8")
    (problem,) = judge(*pair(find(tmp_path, {}), "orders").pipelines).problems
    assert "delivery.timeout.ms of the producer, or retention.ms=-1 of the topic" in problem.message
    assert "2147483647 ms" in problem.message
    assert "604800000 ms" in problem.message
    (tmp_path / "streams.properties").write_text(text + "producer.delivery.timeout.ms=120000\n", encoding="utf-8")
    assert not judge(*pair(find(tmp_path, {}), "orders").pipelines).problems
