"""Frames of ZooKeeper's protocol: the kind of a request, and the ISR that a broker writes."""

from __future__ import annotations

import json
import re
import struct

from proofka.checker.cluster.frames import LARGEST_BODY_BYTES, REQUEST, RESPONSE, Frame

PING = -2
"""The number of requests that keep a session alive, and of their answers; ZooKeeper answers them in any order."""
_SET_DATA = 5
_HEADER = struct.Struct(">ii")
_LENGTH = struct.Struct(">i")
_STATE = re.compile(r"/brokers/topics/[^/]+/partitions/\d+/state")
_API = "ZooKeeper"
_NO_VERSION = 2**31 - 1


def zookeeper_frame(data: bytes, *, link: str, side: str, connection: int, at: float) -> Frame:
    """Return a frame of ZooKeeper's protocol, given without the length field.

    ``version`` is the kind of a request, 0 in answers; the first frame of each side has no header and counts as kind 0.
    """
    number, kind = _HEADER.unpack_from(data) if len(data) >= _HEADER.size else (0, 0)
    is_kept = len(data) <= LARGEST_BODY_BYTES
    return Frame(
        link=link,
        side=side,
        api=_API,
        version=kind if side == REQUEST else 0,
        correlation=number,
        client="",
        body=data if is_kept else b"",
        at=at,
        size=len(data),
        connection=connection,
        unread="" if is_kept else "it is too large",
    )


def is_ping(frame: Frame) -> bool:
    """Tell whether a frame keeps a session alive, or answers such a frame."""
    return frame.correlation == PING


def isr_of_write(frame: Frame) -> tuple[int, ...] | None:
    """Return the ISR that a broker writes as the state of a partition, sorted; None for any other frame.

    A write that must fail, with a version that no node has, is another frame.
    """
    if frame.api != _API or frame.side == RESPONSE or frame.version != _SET_DATA:
        return None
    if frame.body.endswith(_LENGTH.pack(_NO_VERSION)):
        return None
    path, at = _field(frame.body, _HEADER.size)
    if not _STATE.fullmatch(path.decode("utf-8", "replace")):
        return None
    data, _ = _field(frame.body, at)
    return tuple(sorted(json.loads(data)["isr"]))


def with_a_passed_version(data: bytes) -> bytes:
    """Return a write with a version that its node never has, so ZooKeeper answers that the version is passed."""
    return data[: -_LENGTH.size] + _LENGTH.pack(_NO_VERSION)


def _field(data: bytes, at: int) -> tuple[bytes, int]:
    (length,) = _LENGTH.unpack_from(data, at)
    start = at + _LENGTH.size
    return data[start : start + max(length, 0)], start + max(length, 0)
