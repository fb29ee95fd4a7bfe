"""A connection of a broker through the proxy to ZooKeeper."""

from __future__ import annotations

import time
from typing import Any

from proofka.checker.cluster.connection import Connection
from proofka.checker.cluster.frames import REQUEST, RESPONSE, Frame
from proofka.checker.cluster.passed import DROPPED
from proofka.checker.cluster.zookeeper_frames import is_ping, isr_of_write, with_a_passed_version, zookeeper_frame


class IsrWrites:
    """The ISRs that brokers may write to ZooKeeper; every one at first. Any thread uses the class."""

    def __init__(self) -> None:
        self._is_open = True
        self._wanted: tuple[int, ...] | None = None

    def withhold(self, wanted: tuple[int, ...] | None) -> None:
        """Let every write of an ISR but ``wanted`` (sorted) fail."""
        self._wanted, self._is_open = wanted, False

    def admit(self) -> None:
        """Let every write pass."""
        self._is_open = True

    def fails(self, frame: Frame) -> bool:
        """Tell whether a frame is the write of an ISR that must fail."""
        isr = None if self._is_open else isr_of_write(frame)
        return isr is not None and isr != self._wanted


class ZooKeeperConnection(Connection):
    """Frames of ZooKeeper's protocol, which has frames like Kafka's.

    A ping passes held frames, so a broker whose write is held keeps its session. Only the other frames are recorded.
    ``writes``: the ISRs that may be written.
    """

    def __init__(self, *arguments: Any, writes: IsrWrites, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._writes = writes

    def _take_request(self, data: bytes) -> None:
        frame = self._frame(data, REQUEST)
        if self._writes.fails(frame):
            data = with_a_passed_version(data)
            frame = self._frame(data, REQUEST)
        if is_ping(frame):
            self._to_broker.write(self._raw(data))
        elif self._has_broker:
            self._requests.put(self._parcel(frame, data, lane=self._requests, answered=False))
        else:
            self._desk.record.add(frame, DROPPED)

    def _take_response(self, data: bytes) -> None:
        frame = self._frame(data, RESPONSE)
        if self.is_abandoned:
            self._end_if_idle()
        elif is_ping(frame):
            self._to_client.write(self._raw(data))
        else:
            self._responses.put(self._parcel(frame, data, lane=self._responses, answered=False))

    def _frame(self, data: bytes, side: str) -> Frame:
        return zookeeper_frame(data, link=self._link, side=side, connection=self._number, at=time.time())
