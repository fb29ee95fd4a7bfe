"""The account of a file blames the values that are wrong, and no others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from proofka.model.deployment.dialects.accounting import Entry, Fate, accounts_of
from proofka.model.deployment.dialects.finding import find
from proofka.model.deployment.dialects.judging import judge
from proofka.model.deployment.dialects.pairing import pair


def entries(folder: Path, name: str, text: str) -> Mapping[str, Entry]:
    (folder / name).write_text(text, encoding="utf-8")
    findings = find(folder / name, {})
    (account,) = accounts_of(findings, [judge(one) for one in pair(findings).pipelines])
    return {entry.name: entry for entry in account.entries}


def rejected(found: Mapping[str, Entry]) -> set[str]:
    return {name for name, entry in found.items() if entry.fate is Fate.REJECTED}


def test_a_pipeline_that_cannot_be_built_blames_no_line_of_its_own(tmp_path: Path) -> None:
    """Idempotence of kafka-python, which no line sets, is not modelled."""
    found = entries(
        tmp_path,
        "a.py",
        "from kafka import KafkaProducer\n"
        "p = KafkaProducer(\n  bootstrap_servers='b:9092',\n  acks='all',\n  security_protocol='SSL',\n)\n"
        "p.send('t', b'x')\n",
    )
    assert rejected(found) == set()
    assert (found["security_protocol"].fate, found["acks"].fate) == (Fate.IGNORED, Fate.USED)
    assert "cannot be built" in found["acks"].what


def test_a_duration_that_rules_read_is_not_called_ignored_where_the_pipeline_cannot_be_built(tmp_path: Path) -> None:
    (tmp_path / "producer.properties").write_text("acks=all\nlinger.ms=5\nsecurity.providers=x\n", encoding="utf-8")
    (tmp_path / "compose.yml").write_text(
        "services:\n  kafka:\n    image: apache/kafka:3.9.9\n    environment:\n      KAFKA_NODE_ID: 1\n",
        encoding="utf-8",
    )
    findings = find(tmp_path, {})
    judged = [judge(one) for one in pair(findings).pipelines]
    found = {entry.name: entry for account in accounts_of(findings, judged) for entry in account.entries}
    assert (found["linger.ms"].fate, found["security.providers"].fate) == (Fate.USED, Fate.IGNORED)
    assert "cannot be built" in found["linger.ms"].what


def test_a_release_that_is_wrong_is_blamed(tmp_path: Path) -> None:
    found = entries(
        tmp_path,
        "compose.yml",
        "services:\n  kafka:\n    image: apache/kafka:3.9.9\n    environment:\n      KAFKA_NODE_ID: 1\n"
        "      KAFKA_PROCESS_ROLES: broker\n      KAFKA_MIN_INSYNC_REPLICAS: 1\n",
    )
    assert rejected(found) == {"services.kafka.image"}


@pytest.mark.parametrize(
    ("text", "wrong", "right"),
    [
        ("session.timeout.ms=2000\nheartbeat.interval.ms=1O0\n", "heartbeat.interval.ms", "session.timeout.ms"),
        ("session.timeout.ms=100\nheartbeat.interval.ms=200\n", "heartbeat.interval.ms", "session.timeout.ms"),
    ],
)
def test_a_value_that_only_a_default_contradicts_is_not_judged(
    tmp_path: Path, text: str, wrong: str, right: str
) -> None:
    found = entries(tmp_path, "consumer.properties", "group.id=g\n" + text)
    assert found[wrong].fate is Fate.REJECTED and "cannot be judged" not in found[wrong].what
    assert found[right].what.startswith(f"cannot be judged before {wrong} is right: with the default of {wrong}, ")


def test_number_of_brokers_is_no_value_of_the_file(tmp_path: Path) -> None:
    """The first value of a broker was said to be used as the number of brokers, and ignored as a setting."""
    text = """services:
  kafka:
    image: apache/kafka:3.9.0
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_MIN_INSYNC_REPLICAS: 1
"""
    node = entries(tmp_path, "docker-compose.yml", text)["services.kafka.environment.KAFKA_NODE_ID"]
    assert (node.fate, node.what) == (Fate.IGNORED, "names do not change delivery")
