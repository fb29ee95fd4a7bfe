"""Headers of requests and responses, with and without tagged fields."""

from __future__ import annotations

import struct

import pytest

from proofka.checker.cluster.apis import APIS
from proofka.checker.cluster.frames import LARGEST_BODY_BYTES, Frame, MalformedFrame, request_frame, response_frame
from proofka.checker.cluster.one_way import is_answered

API_VERSIONS, FETCH, PRODUCE = 18, 1, 0
TAGS = b"\x02" + b"\x00\x03abc" + b"\x81\x01\x00"
"""Two tagged fields: number 0 with three bytes, number 129 without bytes."""


def start(key: int, version: int, client: bytes | None = b"c") -> bytes:
    """Return the header of a request up to the client id."""
    name = struct.pack(">h", -1) if client is None else struct.pack(">h", len(client)) + client
    return struct.pack(">hhi", key, version, 3) + name


def request(data: bytes) -> Frame:
    """Return a request."""
    return request_frame(data, link="client->1", connection=4, at=1.5)


def test_a_request_has_tagged_fields_in_its_header_from_the_flexible_version_on() -> None:
    assert request(start(FETCH, 11) + b"body").body == b"body"
    assert request(start(FETCH, 12) + TAGS + b"body").body == b"body"
    assert request(start(FETCH, 12) + b"\0" + b"body").body == b"body"


@pytest.mark.parametrize("key", APIS)
def test_the_first_flexible_version_of_every_request(key: int) -> None:
    first = APIS[key].flexible_from
    versions = {(first, True)} if first is not None else {(0, False)}
    if first:
        versions.add((first - 1, False))
    for version, is_flexible in versions:
        frame = request(start(key, version) + (TAGS if is_flexible else b"") + b"body")
        assert (frame.api, frame.version, frame.body) == (APIS[key].name, version, b"body")
        has_tags = is_flexible and key != API_VERSIONS
        answer = response_frame(struct.pack(">i", 3) + (TAGS if has_tags else b"") + b"said", frame, at=2.0)
        assert (answer.body, answer.request, answer.at) == (b"said", frame, 2.0)


def test_a_response_to_api_versions_has_no_tagged_fields_in_its_header() -> None:
    asked = request(start(API_VERSIONS, 4) + b"\0" + b"body")
    said = response_frame(struct.pack(">i", 3) + b"\x00\x23", asked, at=2.0)
    assert (asked.body, said.body) == (b"body", b"\x00\x23")


def test_a_request_without_a_client_id_has_an_empty_one() -> None:
    frame = request(start(FETCH, 4, client=None) + b"body")
    assert (frame.client, frame.body) == ("", b"body")


def test_the_frames_of_an_unknown_request_have_no_body_and_say_so() -> None:
    frame = request(start(900, 0) + b"body")
    answer = response_frame(struct.pack(">i", 3) + b"said", frame, at=2.0)
    for each in (frame, answer):
        assert (each.api, each.body, each.client) == ("Unknown900", b"", "c")
        assert "900" in each.unread


def test_a_body_is_kept_up_to_the_largest_size() -> None:
    header = start(FETCH, 4)
    room = b"x" * (LARGEST_BODY_BYTES - len(header))
    assert request(header + room).body == room
    larger = request(header + room + b"x")
    assert (larger.body, larger.size) == (b"", LARGEST_BODY_BYTES + 1)
    assert str(LARGEST_BODY_BYTES + 1) in larger.unread


@pytest.mark.parametrize(
    "data",
    [
        b"",
        start(FETCH, 4)[:-1],
        start(FETCH, 12),
        start(FETCH, 12) + TAGS[:-2],
        start(FETCH, 12) + b"\x01\x00\x09abc",
        struct.pack(">hhih", FETCH, 4, 3, -2),
        start(FETCH, 4, client=b"\xff"),
    ],
)
def test_a_header_that_is_not_whole_is_an_error(data: bytes) -> None:
    with pytest.raises(MalformedFrame):
        request(data)


@pytest.mark.parametrize("data", [struct.pack(">i", 3), struct.pack(">i", 3) + b"\x01\x00"])
def test_a_response_with_an_incomplete_header_is_an_error(data: bytes) -> None:
    with pytest.raises(MalformedFrame):
        response_frame(data, request(start(FETCH, 12) + b"\0"), at=2.0)


def test_only_produce_with_acks_0_has_no_response() -> None:
    assert is_answered(start(FETCH, 4) + b"\xff\xff\x00\x00")
    assert not is_answered(start(PRODUCE, 2) + struct.pack(">h", 0))
    assert is_answered(start(PRODUCE, 2) + struct.pack(">h", 1))
    assert not is_answered(start(PRODUCE, 9) + TAGS + b"\x00" + struct.pack(">h", 0))
    assert is_answered(start(PRODUCE, 9) + TAGS + b"\x03tx" + struct.pack(">h", -1))
    with pytest.raises(MalformedFrame, match="acks"):
        is_answered(start(PRODUCE, 9) + TAGS + b"\x09tx")
