"""Write the tables of Kafka's protocol that the proxy reads, from the message definitions in jars of kafka-clients.

    python scripts/write_messages.py kafka-clients-3.9.2.jar kafka-clients-4.4.0.jar

Give jars from old to new: a version that the newest release still has is taken from its definition, and an older
version from the release before.
"""

from __future__ import annotations

import csv
import json
import re
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CLUSTER = Path(__file__).parent.parent / "checker" / "cluster"
APIS = CLUSTER / "apis.csv"
FIELDS = CLUSTER / "message_fields.csv"
NAMES = (
    "AddOffsetsToTxn",
    "AddPartitionsToTxn",
    "AlterPartition",
    "BrokerHeartbeat",
    "BrokerRegistration",
    "ConsumerGroupHeartbeat",
    "EndTxn",
    "Fetch",
    "FindCoordinator",
    "Heartbeat",
    "InitProducerId",
    "JoinGroup",
    "LeaveGroup",
    "ListOffsets",
    "Metadata",
    "OffsetCommit",
    "OffsetFetch",
    "OffsetForLeaderEpoch",
    "Produce",
    "SyncGroup",
    "TxnOffsetCommit",
    "WriteTxnMarkers",
)
"""The requests whose bodies the proxy can read, with their responses."""

Definition = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """A field of a message as some versions have it."""

    field: str
    type: str
    nullable: str
    tag: str


def definitions(jar: Path) -> dict[str, Definition]:
    """Return the definitions of requests and responses in a jar, by name."""
    found = {}
    with zipfile.ZipFile(jar) as archive:
        for name in archive.namelist():
            if name.startswith("common/message/") and name.endswith(".json"):
                text = re.sub(r"^\s*//.*$", "", archive.read(name).decode(), flags=re.MULTILINE)
                definition = json.loads(text)
                if definition["type"] in ("request", "response") and definition["validVersions"] != "none":
                    found[definition["name"]] = definition
    return found


def bounds(text: str) -> tuple[int, int]:
    """Return the first and the last version of a range such as "3", "3-5", "3+" or "none"."""
    if text == "none":
        return 1, 0
    first, _, last = text.rstrip("+").partition("-")
    return int(first), int(last or (1 << 15 if text.endswith("+") else first))


def contains(text: str, version: int) -> bool:
    """Tell whether a range of versions has a version."""
    first, last = bounds(text)
    return first <= version <= last


def rows(definition: Definition, version: int) -> Iterator[Row]:
    """Yield the fields of one version of a message in the order of the wire, a structure before its own fields."""
    shared = {each["name"]: each["fields"] for each in definition.get("commonStructs", [])}

    def of(fields: Sequence[Definition], prefix: str) -> Iterator[Row]:
        for field in fields:
            if not contains(field["versions"], version):
                continue
            tagged = "tag" in field and contains(field["taggedVersions"], version)
            base = field["type"].removeprefix("[]")
            below = field.get("fields") or shared.get(base)
            yield Row(
                field=prefix + field["name"],
                type=("[]" if field["type"].startswith("[]") else "") + ("struct" if below else base),
                nullable="yes" if contains(field.get("nullableVersions", "none"), version) else "",
                tag=str(field["tag"]) if tagged else "",
            )
            if below:
                yield from of(below, prefix + field["name"] + ".")

    yield from of(definition["fields"], "")


def merged(by_version: dict[int, list[Row]]) -> list[tuple[Row, int, int]]:
    """Return each field with its first and last version, so that every version has its fields in its own order."""
    order: list[Row] = []
    for version in sorted(by_version):
        place = 0
        for row in by_version[version]:
            if row not in order[place:]:
                order.insert(place, row)
            place = order.index(row, place) + 1
    found = []
    for row in order:
        having = [version for version in by_version if row in by_version[version]]
        assert sorted(having) == list(range(min(having), max(having) + 1)), row
        found.append((row, min(having), max(having)))
    for version, expected in by_version.items():
        assert [row for row, first, last in found if first <= version <= last] == expected, version
    return found


def main(jars: Sequence[str]) -> None:
    """Write both tables."""
    by_release = [definitions(Path(jar)) for jar in jars]
    apis: dict[int, tuple[str, str]] = {}
    for release in by_release:
        for name, definition in release.items():
            flexible = definition["flexibleVersions"]
            entry = (
                name.removesuffix("Request").removesuffix("Response"),
                "" if flexible == "none" else flexible.rstrip("+"),
            )
            if apis.get(definition["apiKey"], entry)[1] != entry[1]:
                raise SystemExit(f"{name} has other flexible versions than its counterpart")
            apis[definition["apiKey"]] = entry
    with APIS.open("w", encoding="utf-8", newline="") as table:
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(("key", "name", "flexible_from"))
        writer.writerows((key, *apis[key]) for key in sorted(apis))
    with FIELDS.open("w", encoding="utf-8", newline="") as table:
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(("message", "field", "type", "first_version", "last_version", "nullable", "tag"))
        for message in (name + side for name in NAMES for side in ("Request", "Response")):
            by_version: dict[int, list[Row]] = {}
            for release in by_release:
                first, last = bounds(release[message]["validVersions"])
                for version in range(first, last + 1):
                    by_version[version] = list(rows(release[message], version))
            for row, first, last in merged(by_version):
                writer.writerow((message, row.field, row.type, first, last, row.nullable, row.tag))


if __name__ == "__main__":
    main(sys.argv[1:])
