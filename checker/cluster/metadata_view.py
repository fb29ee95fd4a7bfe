"""The state of a partition as one broker believes it, asked of that broker alone."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from proofka.checker.cluster.wire import (
    NO_TAGS,
    Answer,
    array,
    ask,
    compact_array,
    compact_text,
    int8,
    int32,
    int64,
    text,
)

_METADATA, _LIST_OFFSETS, _DESCRIBE_PARTITIONS = 3, 2, 75
_EARLIEST, _LATEST = -2, -1
_ERRORS = Path(__file__).parent / "protocol_errors.csv"


NO_LEADER = -1
"""The id of a leader that a broker tells where a partition has none."""


@dataclass(frozen=True)
class View:
    """A partition as one broker believes it; the leader is -1 when there is none, and the error is "" when all is well.

    ``error`` has Kafka's own name, such as "LEADER_NOT_AVAILABLE".
    """

    leader: int
    epoch: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    error: str

    @property
    def chosen(self) -> int | None:
        """The leader, or None when there is none."""
        return None if self.leader == NO_LEADER else self.leader


@dataclass(frozen=True)
class Range:
    """The offsets that a leader gives to consumers: the log start offset, and the high watermark, which the leader may
    know lower than it is. ``error`` is "" when all is well.
    """

    start: int
    high_watermark: int
    error: str


def metadata_of(port: int, topic: str, *, partition: int = 0, seconds: float = 5) -> View:
    """Return the state of a partition as the broker behind a port of its own (not of the proxy) believes it.

    A topic that the broker does not know has the error "UNKNOWN_TOPIC_OR_PARTITION" and no replicas.
    Raises ``NoAnswer``.
    """
    answer = _metadata(port, array([text(topic)]), seconds=seconds)
    _brokers(answer)
    found: dict[int, View] = {}
    unknown = View(leader=NO_LEADER, epoch=-1, isr=(), replicas=(), error="")
    for _ in range(answer.int32()):
        error, _name, _internal = answer.int16(), answer.text(), answer.int8()
        unknown = View(leader=NO_LEADER, epoch=-1, isr=(), replicas=(), error=error_name(error or 3))
        found.update(_partitions(answer))
    return found.get(partition, unknown)


def live_brokers(port: int, *, seconds: float = 5) -> tuple[int, ...]:
    """Return the brokers that the broker behind a port believes to be registered and unfenced, in order of ids.

    Raises ``NoAnswer``.
    """
    return tuple(sorted(_brokers(_metadata(port, array([]), seconds=seconds))))


def eligible_leaders(port: int, topic: str, *, partition: int = 0) -> tuple[int, ...]:
    """Return the eligible leader replicas of a partition as the broker behind a port believes them (Kafka 4.0 on).

    Raises ``NoAnswer``, also for a release without the request.
    """
    body = compact_array([compact_text(topic) + NO_TAGS]) + int32(2000) + int8(-1) + NO_TAGS
    answer = ask(port, _DESCRIBE_PARTITIONS, 0, body, flexible=True)
    answer.int32()  # throttle time
    found: dict[int, tuple[int, ...]] = {}
    for _ in range(answer.unsigned() - 1):
        answer.int16(), answer.compact_text(), answer.raw(16), answer.int8()
        found.update(answer.compact_array(lambda: _eligible(answer)))
        answer.int32(), answer.tags()
    return found.get(partition, ())


def range_of(port: int, topic: str, *, partition: int = 0) -> Range:
    """Return the offsets that the broker behind a port gives to consumers. Raises ``NoAnswer``."""
    start, error = _offset(port, topic, partition, at=_EARLIEST)
    end, later = _offset(port, topic, partition, at=_LATEST)
    return Range(start=start, high_watermark=end, error=error or later)


def error_name(code: int) -> str:
    """Return Kafka's name of an error code; "" for no error, and "ERROR_" with the number for a newer one."""
    return "" if code == 0 else _names().get(code, f"ERROR_{code}")


@cache
def _names() -> dict[int, str]:
    with _ERRORS.open(encoding="utf-8", newline="") as file:
        return {int(row["code"]): row["name"] for row in csv.DictReader(file)}


def _metadata(port: int, topics: bytes, *, seconds: float) -> Answer:
    answer = ask(port, _METADATA, 7, topics + int8(False), seconds=seconds)
    answer.int32()  # throttle time
    return answer


def _brokers(answer: Answer) -> tuple[int, ...]:
    brokers = answer.array(lambda: (answer.int32(), answer.text(), answer.int32(), answer.text())[0])
    answer.text(), answer.int32()  # cluster id, controller id
    return brokers


def _partitions(answer: Answer) -> Iterator[tuple[int, View]]:
    for _ in range(answer.int32()):
        error, number = answer.int16(), answer.int32()
        leader, epoch = answer.int32(), answer.int32()
        replicas, isr, _offline = (answer.array(answer.int32) for _ in range(3))
        yield number, View(leader=leader, epoch=epoch, isr=isr, replicas=replicas, error=error_name(error))


def _eligible(answer: Answer) -> tuple[int, tuple[int, ...]]:
    _error, number, _leader, _epoch = answer.int16(), answer.int32(), answer.int32(), answer.int32()
    _replicas, _isr, eligible, _last_known, _offline = (answer.compact_array(answer.int32) for _ in range(5))
    answer.tags()
    return number, eligible


def _offset(port: int, topic: str, partition: int, *, at: int) -> tuple[int, str]:
    asked = text(topic) + array([int32(partition) + int64(at)])
    answer = ask(port, _LIST_OFFSETS, 2, int32(-1) + int8(0) + array([asked]))
    answer.int32(), answer.int32(), answer.text(), answer.int32(), answer.int32()
    error, _time, offset = answer.int16(), answer.int64(), answer.int64()
    return offset, error_name(error)
