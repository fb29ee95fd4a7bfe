"""Bodies of every version are read as Kafka reads them, or not at all."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proofka.checker.cluster.apis import APIS, api_named
from proofka.checker.cluster.frames import Frame
from proofka.checker.cluster.messages import UnreadableBody, fields_of, read_body
from tests.checker.cluster.kafkas_reading import differences

VECTORS = Path(__file__).with_name("messages.csv")
"""Random bodies with Kafka's reading of them, written by ``scripts/write_vectors.py``."""


def frame_of(message: str, version: int, body: bytes) -> Frame:
    """Return a frame with a body."""
    side = "Request" if message.endswith("Request") else "Response"
    return Frame(
        link="client->1",
        side=side.lower(),
        api=message.removesuffix(side),
        version=version,
        correlation=7,
        client="c",
        body=body,
        at=0.0,
    )


def vectors() -> dict[tuple[str, int], tuple[Frame, Any]]:
    """Return each frame with Kafka's reading, by message and version."""
    with VECTORS.open(encoding="utf-8", newline="") as table:
        return {
            (row["message"], int(row["version"])): (
                frame_of(row["message"], int(row["version"]), bytes.fromhex(row["body"])),
                json.loads(row["kafka_reads"]),
            )
            for row in csv.DictReader(table)
        }


VECTOR = vectors()


def test_every_version_of_the_table_has_a_vector() -> None:
    messages = {message for message, _ in VECTOR}
    versions = {(name, number) for name in messages for number in range(30) if fields_of(name, number)}
    assert versions == set(VECTOR)


@pytest.mark.parametrize("message, version", VECTOR)
def test_a_body_is_read_as_kafka_reads_it(message: str, version: int) -> None:
    frame, expected = VECTOR[message, version]
    assert not differences(read_body(frame), expected)


@pytest.mark.parametrize("message, version", dict(sorted(VECTOR)).items())
def test_a_body_with_bytes_missing_or_left_is_an_error_that_names_request_and_version(
    message: str, version: int
) -> None:
    frame, _ = VECTOR[message, version]
    for body in (*(frame.body[:length] for length in range(len(frame.body))), frame.body + b"\0"):
        with pytest.raises(UnreadableBody, match=rf"{frame.api} {frame.side} v{version} "):
            read_body(replace(frame, body=body))


def test_a_version_outside_of_the_table_is_an_error() -> None:
    frame, _ = VECTOR["FetchRequest", 18]
    with pytest.raises(UnreadableBody, match="v19") as raised:
        read_body(replace(frame, version=19))
    assert (raised.value.api, raised.value.version) == ("Fetch", 19)


def test_a_request_outside_of_the_table_is_an_error() -> None:
    with pytest.raises(UnreadableBody, match="CreateTopics"):
        read_body(frame_of("CreateTopicsRequest", 7, b""))


def test_a_body_that_the_proxy_did_not_keep_is_an_error() -> None:
    with pytest.raises(UnreadableBody, match="too large"):
        read_body(replace(frame_of("FetchRequest", 4, b""), unread="too large"))


def test_a_tagged_field_that_the_table_lacks_is_skipped() -> None:
    frame, _ = VECTOR["EndTxnRequest", 4]
    with_tag = replace(frame, body=frame.body[:-1] + b"\x01\x09\x02ab")
    assert read_body(with_tag) == read_body(frame)


def test_keys_and_names_of_requests_belong_together() -> None:
    assert api_named("Produce").key == 0
    assert APIS[56].name == "AlterPartition"
    assert [APIS[1].is_flexible(version) for version in (11, 12)] == [False, True]
    assert APIS[17].flexible_from is None


def test_a_tagged_field_with_another_size_than_it_says_is_an_error() -> None:
    frame, _ = VECTOR["FetchRequest", 18]
    start = replace(frame, body=bytes.fromhex("000001f4000000010000ffff00000000000000000001" + "01" + "01"))
    follower = "00000002" + "0000000000000007"
    good = replace(start, body=start.body + bytes.fromhex("01" + "01" + "0d" + follower + "00"))
    assert read_body(good)["ReplicaState"] == {"ReplicaId": 2, "ReplicaEpoch": 7}
    for size in ("0c", "0e"):
        bad = replace(start, body=start.body + bytes.fromhex("01" + "01" + size + follower + "00"))
        with pytest.raises(UnreadableBody, match="ReplicaState"):
            read_body(bad)
