"""Frames that real clients and brokers sent: records "record-0" to "record-2" in the topics "t" and "u"."""

from __future__ import annotations

import csv
from pathlib import Path

from proofka.checker.cluster.frames import Frame

TABLE = Path(__file__).with_name("captured.csv")
RELEASES = ("3.9.2", "4.1.1")
TOPIC_IDS = {
    ("3.9.2", "t"): "33JsrnraTSq0pRcMx5AURQ",
    ("3.9.2", "u"): "CX4J-CCKSjeeh2Z8vlHPpQ",
    ("4.1.1", "t"): "E8L96MG9SriYBXphYTNqwg",
    ("4.1.1", "u"): "PY6WdQQpSNishGdAFCN_eg",
}
"""The ids that the controllers gave to the topics."""


def captured(release: str, client: str, kind: str) -> Frame:
    """Return the first frame of a kind such as "Fetch request" that a client sent or got."""
    with TABLE.open(encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table):
            if (row["release"], row["client"], f"{row['api']} {row['side']}") == (release, client, kind):
                return Frame(
                    link="client->1",
                    side=row["side"],
                    api=row["api"],
                    version=int(row["version"]),
                    correlation=1,
                    client=client,
                    body=bytes.fromhex(row["body"]),
                    at=0.0,
                )
    raise LookupError(f"{release} {client} {kind}")
