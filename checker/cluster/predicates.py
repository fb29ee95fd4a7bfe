"""Predicates over the bodies of frames, for gates and for waiting. Each is false for frames of another kind."""

from __future__ import annotations

from collections.abc import Iterable

from checker.cluster.bodies import (
    Topic,
    alter_partition_request,
    fetch_request,
    fetch_response,
    offset_commit_request,
    produce_request,
)
from checker.cluster.frames import REQUEST, RESPONSE, Frame
from checker.cluster.gate import Matching


def _is(frame: Frame, api: str, side: str) -> bool:
    return (frame.api, frame.side) == (api, side)


def produces(value: bytes) -> Matching:
    """Return a predicate: a Produce request has a record with this value."""

    def matching(frame: Frame) -> bool:
        return _is(frame, "Produce", REQUEST) and any(
            value in partition.values for partition in produce_request(frame).partitions
        )

    return matching


def answers(value: bytes) -> Matching:
    """Return a predicate: a Produce response answers a request with a record of this value."""
    asked = produces(value)
    return lambda frame: frame.request is not None and asked(frame.request)


def fetches(topic: Topic, partition: int, offset: int) -> Matching:
    """Return a predicate: a Fetch request names this offset for a partition.

    A session does not name the offset again in its next requests; see ``FetchSessions``.
    """

    def matching(frame: Frame) -> bool:
        return _is(frame, "Fetch", REQUEST) and any(
            each.place.is_of(topic, partition) and each.fetch_offset == offset
            for each in fetch_request(frame).partitions
        )

    return matching


def carries_records(topic: Topic, partition: int) -> Matching:
    """Return a predicate: a Fetch response has at least one whole batch of a partition."""

    def matching(frame: Frame) -> bool:
        return _is(frame, "Fetch", RESPONSE) and any(
            each.place.is_of(topic, partition) and each.batch_count > 0 for each in fetch_response(frame).partitions
        )

    return matching


def asks_for_isr(topic: Topic, partition: int, isr: Iterable[int]) -> Matching:
    """Return a predicate: an AlterPartition request asks for this ISR, in any order, for a partition."""
    wanted = frozenset(isr)

    def matching(frame: Frame) -> bool:
        return _is(frame, "AlterPartition", REQUEST) and any(
            each.place.is_of(topic, partition) and frozenset(each.new_isr) == wanted
            for each in alter_partition_request(frame).partitions
        )

    return matching


def commits(topic: Topic, partition: int, offset: int) -> Matching:
    """Return a predicate: an OffsetCommit request commits this offset for a partition."""

    def matching(frame: Frame) -> bool:
        return _is(frame, "OffsetCommit", REQUEST) and any(
            each.place.is_of(topic, partition) and each.offset == offset
            for each in offset_commit_request(frame).offsets
        )

    return matching
