"""What Kafka Streams does not start with."""

from __future__ import annotations

import pytest

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
def test_what_it_refuses(text: str, line: int, rule: str) -> None:
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
def test_the_nearest_that_it_takes(text: str) -> None:
    assert not read_text(text, "streams.properties").rejected
