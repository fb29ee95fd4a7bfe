"""A connection of a broker through the proxy to ZooKeeper."""

from __future__ import annotations

import time

from checker.cluster.connection import Connection
from checker.cluster.frames import REQUEST, RESPONSE, Frame
from checker.cluster.passed import DROPPED
from checker.cluster.zookeeper_frames import is_ping, zookeeper_frame


class ZooKeeperConnection(Connection):
    """Frames of ZooKeeper's protocol, which has frames like Kafka's.

    A ping passes held frames, so a broker whose write is held keeps its session. Only the other frames are recorded.
    """

    def _take_request(self, data: bytes) -> None:
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
