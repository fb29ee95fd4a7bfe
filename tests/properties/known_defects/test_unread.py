"""A pass says of each release that the register does not cover which release counts instead."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from proofka.model.deployment import Deployment, read_deployment, read_properties
from proofka.properties.known_defects import unread
from proofka.properties.known_defects.register import defects_of, products, rows_of
from proofka.properties.known_defects.unread import unread_releases

HEADINGS = Path(__file__).parent / "headings"
OLDEST_WITHOUT_ENTRIES = {"librdkafka": {"1.0.0"}, "kafka-go": {"0.4.0"}}
"""The oldest releases that are accepted, where the entries that were read begin behind them."""


def deployment(kafka: str = "4.0") -> Deployment:
    return read_properties(kafka=kafka)


def with_producer(path: Path, library: str, release: str) -> Deployment:
    file = path / "orders.yaml"
    file.write_text(f'kafka: "4.0"\nproducer: {{client: {library}, version: "{release}"}}\n', encoding="utf-8")
    return read_deployment(file)


def test_releases_newer_than_the_register(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not unread_releases(deployment("4.3"))
    assert not unread_releases(deployment("4.3.1"))
    (later,) = unread_releases(deployment("4.3.2"))
    assert later.startswith("known defects of Kafka are listed up to release 4.3.1, as known on 2")
    (of_an_older_line,) = unread_releases(deployment("4.1.3"))
    assert "listed up to release 4.1.2" in of_an_older_line
    monkeypatch.setattr(unread, "releases_of", lambda _: [("broker", (9, 0)), ("sarama", (9, 9, 9))])
    kafka, sarama = unread_releases(deployment())
    assert kafka.startswith("known defects of Kafka are listed up to release 4.")
    assert sarama.startswith("known defects of sarama are listed up to release 1.")


@pytest.mark.parametrize(
    ("library", "release", "older"),
    [
        ("librdkafka", "2.3.7", "2.3.0"),
        ("librdkafka", "2.7", "2.6.1"),
        ("librdkafka", "2.3", ""),
        ("librdkafka", "2.3.0", ""),
        ("sarama", "1.55.0", "1.50.3"),
        ("kafka-python", "2.9", "2.3.2"),
        ("aiokafka", "0.10.7", "0.10.0"),
        ("kafkajs", "1.20.0", "1.16.0"),
    ],
)
def test_a_release_between_those_that_exist_counts_as_the_older(
    tmp_path: Path, library: str, release: str, older: str
) -> None:
    said = unread_releases(with_producer(tmp_path, library, release))
    assert [text.rpartition(" ")[2] for text in said] == ([older] if older else [])
    assert all(f" {release}: " in text for text in said)


def test_the_releases_are_those_of_the_change_logs() -> None:
    read: dict[str, set[str]] = {product: set() for product in products()}
    for file in HEADINGS.glob("*.csv"):
        for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines()):
            if re.fullmatch(r"\d+(\.\d+)+", row["release"]):
                read[row["product"]].add(row["release"])
    libraries = {product: releases for product, releases in read.items() if product not in ("broker", "java")}
    assert {row["product"]: set(row["releases"].split()) for row in rows_of("releases")} == {
        product: releases | OLDEST_WITHOUT_ENTRIES.get(product, set()) for product, releases in libraries.items()
    }


def test_defects_begin_and_end_with_releases_that_exist() -> None:
    """Otherwise a release between them would not have the defects of the release before."""
    for row in rows_of("releases"):
        released = {tuple(map(int, text.split("."))) for text in row["releases"].split()}
        newest = products()[row["product"]].newest
        for defect in defects_of(row["product"]):
            ends = {defect.affected.first, defect.affected.last, *defect.affected.fixed} - {()}
            assert {end for end in ends if end <= newest} <= released, defect.id
