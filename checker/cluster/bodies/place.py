"""Partitions as bodies name them: by the name or by the id of a topic, as the version wants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from proofka.checker.cluster.frames import Frame
from proofka.checker.cluster.messages import Fields, UnreadableBody, read_body


@dataclass(frozen=True)
class Topic:
    """A topic with both its names; the id is text as Kafka prints it."""

    name: str
    id: str


@dataclass(frozen=True)
class Place:
    """A partition in a body. ``topic`` or ``topic_id`` is None where the version of the message does not say it."""

    topic: str | None
    topic_id: str | None
    partition: int

    def is_of(self, topic: Topic, partition: int) -> bool:
        """Tell whether the place is a partition of a topic."""
        is_topic = self.topic == topic.name if self.topic_id is None else self.topic_id == topic.id
        return is_topic and self.partition == partition


def fields_of_message(frame: Frame, api: str, side: str) -> Fields:
    """Return the values of a body that must be of one kind. Raises UnreadableBody."""
    if (frame.api, frame.side) != (api, side):
        raise UnreadableBody(frame, f"it is no {api} {side}; name this kind of frame in the gate")
    return read_body(frame)


def places(
    topics: list[Fields], name: str, *, partitions: str, index: str
) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """Yield each partition below topics, with its own values; the names are those of the message's fields."""
    for topic in topics:
        for values in topic[partitions]:
            yield Place(topic.get(name), topic.get("TopicId"), values[index]), values
