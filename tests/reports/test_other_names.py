"""Names that others use: each property and each anomaly of Jepsen has a row, and the page agrees with the tables."""

from __future__ import annotations

import pytest

from proofka.model.deployment.required_properties import KNOWN_PROPERTIES
from proofka.reports.guide.entry import table
from proofka.reports.guide.lookup import find
from proofka.reports.guide.other_names import names_elsewhere
from scripts import write_properties

SCOPES = {"answers", "log", "consumer", "transactions"}

REPORTED = (
    "duplicate",
    "int-poll-skip",
    "int-nonmonotonic-poll",
    "int-nonmonotonic-send",
    "int-send-skip",
    "inconsistent-offsets",
    "precommitted-read",
    "G1a",
    "lost-write",
    "nonmonotonic-poll",
    "nonmonotonic-send",
    "poll-skip",
    "unseen",
    "G0",
    "G1c",
)
"""The errors that the checker of Jepsen's workload can report, without the variants of G0 and G1c."""


def test_the_page_is_that_of_the_tables() -> None:
    """Otherwise: python scripts/write_properties.py"""
    assert write_properties.PAGE.read_text(encoding="utf-8") == write_properties.text()


def test_rows_are_in_the_order_of_properties() -> None:
    rows = [row["property"] for row in table("other_names")]
    assert rows == [name for name in KNOWN_PROPERTIES if name in rows]


def test_a_property_without_a_row_is_told_as_not_compared() -> None:
    assert names_elsewhere("toy")["differs"] == "Not compared yet."


def test_every_row_has_a_scope_a_difference_and_known_sections() -> None:
    sections = {row["section"] for row in table("kafka_sections")}
    for row in table("other_names"):
        assert set(row["scope"].split()) <= SCOPES
        assert row["scope"]
        assert row["differs"].endswith(".")
        assert set(row["sections"].split()) <= sections
        assert bool(row["kafka"]) == bool(row["sections"]), row["property"]


def test_no_section_is_left_over() -> None:
    cited = {one for row in table("other_names") for one in row["sections"].split()}
    assert cited == {row["section"] for row in table("kafka_sections")}


def test_every_anomaly_names_properties_or_says_why_not() -> None:
    for row in table("jepsen"):
        properties = row["properties"].split()
        assert set(properties) <= set(KNOWN_PROPERTIES)
        assert len(set(properties)) == len(properties)
        assert properties or row["why"], row["name"]


def test_each_anomaly_of_jepsen_is_named_once() -> None:
    names = [row["name"] for row in table("jepsen")]
    assert len(set(names)) == len(names)
    assert set(REPORTED) <= set(names)


@pytest.mark.parametrize("name", REPORTED)
def test_an_anomaly_is_explained(name: str) -> None:
    (entry,) = find(name)
    said = dict(entry.paragraphs)
    (row,) = (row for row in table("jepsen") if row["name"] == name)
    assert said["nearest"].split(", ") == (row["properties"].split() or ["no property"])
    assert set(row["properties"].split()) <= said.keys()


def test_a_property_names_its_anomalies() -> None:
    (entry,) = find("no-log-duplicate")
    said = dict(entry.paragraphs)
    assert said["in Jepsen"].startswith("duplicate. ")
    assert said["in Kafka"].endswith("(Design, Message Delivery Semantics)")
