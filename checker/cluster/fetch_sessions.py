"""All partitions of a Fetch request, also those that its session leaves out because they did not change (KIP-227)."""

from __future__ import annotations

from proofka.checker.cluster.bodies import PartitionFetch, Place, fetch_request, fetch_response
from proofka.checker.cluster.errors import ClusterError
from proofka.checker.cluster.frames import RESPONSE, Frame

_NO_SESSION = 0
_FINAL_EPOCH = -1
_FIRST_EPOCH = 0


class UnknownSession(ClusterError):
    """A Fetch request of a session whose begin was not observed."""

    code = "K38"


class FetchSessions:
    """The sessions of clients and followers. Each Fetch frame is to be observed once, in the order of the record."""

    def __init__(self) -> None:
        self._partitions: dict[tuple[str, int], dict[Place, PartitionFetch]] = {}

    def observe(self, frame: Frame) -> tuple[PartitionFetch, ...]:
        """Return all partitions that a Fetch request asks for, or nothing for a response.

        Raises UnreadableBody, and UnknownSession where the begin of the session was not observed.
        """
        if frame.side == RESPONSE:
            self._begin(frame)
            return ()
        asked = fetch_request(frame)
        named = {each.place: each for each in asked.partitions}
        key = frame.link, asked.session_id
        if asked.session_epoch in (_FINAL_EPOCH, _FIRST_EPOCH):
            self._partitions.pop(key, None)
            return tuple(named.values())
        if key not in self._partitions:
            raise UnknownSession(f"{frame} is of session {asked.session_id}; observe every Fetch frame of its link")
        partitions = self._partitions[key]
        for place in asked.forgotten:
            partitions.pop(place, None)
        partitions.update(named)
        return tuple(partitions.values())

    def _begin(self, frame: Frame) -> None:
        assert frame.request is not None
        asked, answered = fetch_request(frame.request), fetch_response(frame)
        if asked.session_epoch == _FIRST_EPOCH and answered.session_id != _NO_SESSION:
            self._partitions[frame.link, answered.session_id] = {each.place: each for each in asked.partitions}
