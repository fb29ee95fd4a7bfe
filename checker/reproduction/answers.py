"""The error of an answer to a Produce request, by the name that Kafka gives the error."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Optional

from checker.cluster.bodies import produce_response
from checker.cluster.frames import Frame

TABLE = Path(__file__).with_name("error_codes.csv")
"""The error codes of the protocol that answers to Produce requests carry: code, name."""


def error_of(frame: Frame) -> Optional[str]:
    """Return the name of the error in an answer to a Produce request; None for a success."""
    codes = [partition.error for partition in produce_response(frame)]
    failed = [code for code in codes if code]
    return name_of(failed[0]) if failed else None


def name_of(code: int) -> str:
    """Return the name of an error code of the protocol; "error N" for a code that the table does not have."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        names = {int(row["code"]): row["name"] for row in csv.DictReader(file)}
    return names.get(code, f"error {code}")
