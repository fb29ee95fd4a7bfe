"""Administrative requests: each goes to one node, and its answer is complete when the function returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from proofka.checker.cluster.errors import ClusterError
from proofka.checker.cluster.metadata_view import error_name
from proofka.checker.cluster.wire import (
    NO_TAGS,
    Answer,
    array,
    ask,
    compact_array,
    compact_text,
    int8,
    int16,
    int32,
    int64,
    text,
)

_OFFSET_FETCH, _FIND_COORDINATOR, _CREATE_TOPICS, _DELETE_TOPICS, _DELETE_RECORDS = 9, 10, 19, 20, 21
_DESCRIBE_CONFIGS, _ELECT_LEADERS, _REASSIGN = 32, 43, 45
_PATIENCE = 20
"""Seconds that a node has for an answer."""
_TOPIC = 2


class Refused(ClusterError):
    """A request that a node answers with an error. ``error``: Kafka's name of the error."""

    code = "K45"

    def __init__(self, request: str, error: str, message: str | None) -> None:
        super().__init__(f"the cluster refuses to {request}: {error} {message or ''}".rstrip())
        self.error = error


class Admin:
    """Administrative requests to the nodes of a cluster.

    ``any_port``: returns the port of a node that reaches the controller. ``port_of``: returns the port of a broker.
    """

    def __init__(self, any_port: Callable[[], int], port_of: Callable[[int], int]) -> None:
        self._any_port = any_port
        self._port_of = port_of

    def create_topic(self, name: str, assignment: Sequence[Sequence[int]], settings: Mapping[str, str]) -> None:
        """Create a topic whose partitions have these replicas, preferred leader first. Raises ``Refused``."""
        replicas = array(int32(number) + array(map(int32, ids)) for number, ids in enumerate(assignment))
        configs = array(text(key) + text(value) for key, value in settings.items())
        topic = text(name) + int32(-1) + int16(-1) + replicas + configs
        answer = self._ask(_CREATE_TOPICS, 2, array([topic]) + int32(_PATIENCE * 1000) + int8(False))
        answer.int32(), answer.int32(), answer.text()
        _check(answer.int16(), answer.text(), f"create topic {name}")

    def delete_topic(self, name: str) -> None:
        """Delete a topic. Raises ``Refused``."""
        answer = self._ask(_DELETE_TOPICS, 1, array([text(name)]) + int32(_PATIENCE * 1000))
        answer.int32(), answer.int32(), answer.text()
        _check(answer.int16(), None, f"delete topic {name}")

    def reorder_replicas(self, topic: str, replicas: Sequence[int], *, partition: int = 0) -> None:
        """Reassign a partition to these replicas; the same replicas in another order move no data.

        Raises ``Refused``.
        """
        places = int32(partition) + compact_array(map(int32, replicas)) + NO_TAGS
        moved = compact_text(topic) + compact_array([places]) + NO_TAGS
        body = int32(_PATIENCE * 1000) + compact_array([moved]) + NO_TAGS
        answer = self._ask(_REASSIGN, 0, body, flexible=True)
        request = f"reassign {topic}-{partition}"
        answer.int32()
        _check(answer.int16(), answer.compact_text(), request)
        answer.unsigned(), answer.compact_text(), answer.unsigned(), answer.int32()
        _check(answer.int16(), answer.compact_text(), request)

    def elect_preferred_leader(self, topic: str, *, partition: int = 0) -> None:
        """Make the first replica the leader; nothing when that replica leads already. Raises ``Refused``, for example
        when the replica is not in the ISR.
        """
        asked = text(topic) + array([int32(partition)])
        answer = self._ask(_ELECT_LEADERS, 1, int8(0) + array([asked]) + int32(_PATIENCE * 1000))
        request = f"elect the preferred leader of {topic}-{partition}"
        answer.int32()
        _check(answer.int16(), None, request)
        answer.int32(), answer.text(), answer.int32(), answer.int32()
        error, message = answer.int16(), answer.text()
        if error_name(error) != "ELECTION_NOT_NEEDED":
            _check(error, message, request)

    def settings_of_topic(self, topic: str) -> dict[str, str | None]:
        """Return the settings that count for a topic, those of brokers and defaults included. Raises ``Refused``."""
        body = array([int8(_TOPIC) + text(topic) + int32(-1)]) + int8(False)
        answer = self._ask(_DESCRIBE_CONFIGS, 1, body)
        answer.int32(), answer.int32()
        _check(answer.int16(), answer.text(), f"describe topic {topic}")
        answer.int8(), answer.text()
        return dict(answer.array(lambda: _setting(answer)))

    def begin_to_delete_records(self, topic: str, before: int, *, leader: int, partition: int = 0) -> None:
        """Delete the records below an offset at their leader, and wait for no other replica. Raises ``Refused``."""
        asked = text(topic) + array([int32(partition) + int64(before)])
        answer = ask(self._port_of(leader), _DELETE_RECORDS, 0, array([asked]) + int32(1), seconds=_PATIENCE)
        answer.int32(), answer.int32(), answer.text(), answer.int32(), answer.int32(), answer.int64()
        error = answer.int16()
        if error_name(error) != "REQUEST_TIMED_OUT":
            _check(error, None, f"delete records of {topic}-{partition}")

    def coordinator_of(self, group: str) -> int:
        """Return the broker that coordinates a consumer group. Raises ``Refused`` when none is known."""
        answer = self._ask(_FIND_COORDINATOR, 1, text(group) + int8(0))
        answer.int32()
        _check(answer.int16(), answer.text(), f"name the coordinator of group {group}")
        return answer.int32()

    def committed_offset(self, group: str, topic: str, *, partition: int = 0) -> int | None:
        """Return the committed offset of a group, as its coordinator answers; None when there is none.

        Raises ``Refused``, for example while the coordinator loads.
        """
        port = self._port_of(self.coordinator_of(group))
        body = text(group) + array([text(topic) + array([int32(partition)])])
        answer = ask(port, _OFFSET_FETCH, 5, body, seconds=_PATIENCE)
        request = f"tell the committed offset of group {group}"
        answer.int32()
        offsets = [offset for found in answer.array(lambda: _committed(answer, request)) for offset in found]
        _check(answer.int16(), None, request)
        return offsets[0] if offsets and offsets[0] >= 0 else None

    def _ask(self, api: int, version: int, body: bytes, *, flexible: bool = False) -> Answer:
        return ask(self._any_port(), api, version, body, flexible=flexible, seconds=_PATIENCE)


def _setting(answer: Answer) -> tuple[str, str | None]:
    name, value = answer.text(), answer.text()
    answer.int8(), answer.int8(), answer.int8()
    answer.array(lambda: (answer.text(), answer.text(), answer.int8()))
    return name or "", value


def _committed(answer: Answer, request: str) -> tuple[int, ...]:
    answer.text()
    return answer.array(lambda: _committed_of_partition(answer, request))


def _committed_of_partition(answer: Answer, request: str) -> int:
    _partition, offset, _epoch, _metadata = answer.int32(), answer.int64(), answer.int32(), answer.text()
    _check(answer.int16(), None, request)
    return offset


def _check(error: int, message: str | None, request: str) -> None:
    if error:
        raise Refused(request, error_name(error), message)
