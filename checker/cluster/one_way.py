"""Requests without a response: a broker answers no Produce request with acks=0."""

from __future__ import annotations

import struct

from proofka.checker.cluster.batches import unsigned_varint
from proofka.checker.cluster.frames import MalformedFrame, request_header

_PRODUCE_KEY = 0
_FIRST_WITH_TRANSACTIONAL_ID = 3
_SHORT = struct.Struct(">h")


def is_answered(data: bytes) -> bool:
    """Tell whether a broker answers a request, given as its frame without the length field. Raises MalformedFrame."""
    header = request_header(data)
    if header.key != _PRODUCE_KEY or header.api is None or header.length is None:
        return True
    at = header.length
    try:
        if header.api.is_flexible(header.version):
            size, at = unsigned_varint(data, at)
            at += max(size - 1, 0)
        elif header.version >= _FIRST_WITH_TRANSACTIONAL_ID:
            (size,) = _SHORT.unpack_from(data, at)
            at += _SHORT.size + max(size, 0)
        (acks,) = _SHORT.unpack_from(data, at)
    except (struct.error, IndexError):
        raise MalformedFrame(f"A Produce request of version {header.version} has no acks") from None
    return bool(acks)
