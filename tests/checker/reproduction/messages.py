"""Bodies of the messages that fake brokers and fake clients send, in versions without tagged fields where there are."""

from __future__ import annotations

from collections.abc import Iterable

from proofka.checker.cluster.sends import Send
from proofka.checker.cluster.wire import (
    NO_TAGS,
    array,
    compact_array,
    compact_text,
    int8,
    int16,
    int32,
    int64,
    text,
)
from tests.checker.cluster.segments import batch

TOPIC = "proofka-1"
"""Name of the tested topic."""
PRODUCE, FETCH, METADATA, ALTER_PARTITION = (0, 7), (1, 11), (3, 7), (56, 0)
"""Key and version of each request that fakes send."""


def produce(send: Send, *, acks: int = -1) -> bytes:
    """Return the body of a Produce request of one call of ``send()``."""
    data = batch(0, [send.value.encode()], epoch=-1)
    return text(None) + int16(acks) + int32(1000) + array([text(TOPIC) + array([int32(0) + int32(len(data)) + data])])


def produced(error: int, offset: int) -> bytes:
    """Return the body of a Produce response. ``error``: its code, 0 for none."""
    partition = int32(0) + int16(error) + int64(-1 if error else offset) + int64(-1) + int64(0)
    return array([text(TOPIC) + array([partition])]) + int32(0)


def metadata(leader: int, *, topic: str = TOPIC) -> bytes:
    """Return the body of a Metadata response that names a leader."""
    partition = int16(0) + int32(0) + int32(leader) + int32(0) + array([]) + array([]) + array([])
    told = int16(0) + text(topic) + int8(0) + array([partition])
    return int32(0) + array([]) + text(None) + int32(100) + array([told])


def proposal(leader: int, isr: Iterable[int]) -> bytes:
    """Return the end of an AlterPartition request behind the client id: header and body."""
    partition = int32(0) + int32(0) + compact_array(map(int32, isr)) + int32(0) + NO_TAGS
    topic = compact_text(TOPIC) + compact_array([partition]) + NO_TAGS
    return NO_TAGS + int32(leader) + int64(0) + compact_array([topic]) + NO_TAGS
