"""Names that others use for properties and their violations: Jepsen's anomalies, and words of Kafka's documentation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from proofka.reports.guide.entry import Entries, Entry, row_of, some, table

ANOMALY = "name in Jepsen's tests"

NOT_COMPARED = {"scope": "", "differs": "Not compared yet.", "kafka": "", "sections": ""}
"""The names elsewhere of a property that ``tables/other_names.csv`` lacks."""


def anomalies() -> Mapping[str, Entry]:
    """Return every name of Jepsen's workload for Kafka and of its reports."""
    return Entries(ANOMALY, (row["name"] for row in table("jepsen")), _anomaly)


def _anomaly(name: str) -> Iterator[tuple[str, str]]:
    row = row_of("jepsen", "name", name)
    yield "means", row["meaning"]
    properties = row["properties"].split()
    yield "nearest", ", ".join(properties) or "no property"
    yield from some("remark", row["why"])
    for one in properties:
        yield one, names_elsewhere(one)["differs"]


def names_elsewhere(name: str) -> Mapping[str, str]:
    """Return the scope of a property and its names elsewhere."""
    return next((row for row in table("other_names") if row["property"] == name), NOT_COMPARED)


def anomalies_near(name: str) -> Sequence[str]:
    """Return the names of Jepsen that are nearest to a property."""
    return [row["name"] for row in table("jepsen") if name in row["properties"].split()]


def names_of_property(name: str) -> Iterator[tuple[str, str]]:
    """Yield the scope of a property and its names elsewhere, with their differences, as paragraphs."""
    row = names_elsewhere(name)
    yield from some("scope", ", ".join(row["scope"].split()))
    yield "in Jepsen", f"{', '.join(anomalies_near(name)) or 'no anomaly'}. {row['differs']}"
    where = "; ".join(row_of("kafka_sections", "section", one)["title"] for one in row["sections"].split())
    yield from some("in Kafka", row["kafka"] and f"{row['kafka']} ({where})")
