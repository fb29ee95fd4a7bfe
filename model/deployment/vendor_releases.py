"""Releases of vendors: the release of Apache Kafka that a vendor's own spelling names.

``tables/vendor_releases.csv``: a pattern, whose group is a release of Apache Kafka (``same``) or a line of Confluent
Platform (``platform``), and the mode of the brokers where the spelling tells the mode.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TABLES = Path(__file__).with_name("tables")


@dataclass(frozen=True)
class VendorRelease:
    """A vendor's release. ``apache``: the release of Apache Kafka. ``mode``: zookeeper, kraft, or empty if unknown."""

    vendor: str
    apache: str
    mode: str


def vendor_release(text: str) -> VendorRelease | None:
    """Return the vendor's release that a text names; None for any other text.

    >>> vendor_release("2.4.1.1").apache, vendor_release("7.6.0-ccs").apache, vendor_release("3.9.1")
    ('2.4.1', '3.6', None)
    """
    for row in _rows("vendor_releases"):
        if found := re.fullmatch(row["pattern"], text.strip(), re.ASCII):
            apache = confluent_line(found[1]) if row["release"] == "platform" else found[1]
            return VendorRelease(row["vendor"], apache, row["mode"]) if apache else None
    return None


def vendor_note(text: str) -> str:
    """Return the note that a vendor's release counts as a release of Apache Kafka; empty for any other text."""
    found = vendor_release(text)
    return f"{text.strip()} of {found.vendor} is checked as Apache Kafka {found.apache}" if found is not None else ""


def confluent_line(platform: str) -> str:
    """Return the line of Apache Kafka in a line of Confluent Platform, such as 3.6 for 7.6; empty if unknown."""
    return next((row["kafka"] for row in _rows("confluent_releases") if row["platform"] == platform), "")


@cache
def _rows(table: str) -> tuple[dict[str, str], ...]:
    with (TABLES / f"{table}.csv").open(encoding="utf-8", newline="") as text:
        return tuple(csv.DictReader(text))
