"""The steps that explain what is seen of a consumer: where it begins, what poll() returns, and its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from proofka.checker.conformance.asked_event import AskedEvent, Explanation
from proofka.model.consuming.consumer import record_at
from proofka.model.language.terms import And, Not


def started_consumer(asked: AskedEvent) -> tuple[Explanation, ...]:
    """Explain a consumer that starts; where it begins, a later event tells."""
    return (Explanation(asked.steps(lambda _: True)),)


def joined(asked: AskedEvent) -> tuple[Explanation, ...]:
    """Explain a position, which a client tells after it has compared the position with the leader's log."""
    consumer = asked.pipeline.consumer
    return (Explanation(stays=And(consumer.running.is_set, consumer.position.term == asked.argument("position"))),)


def polled(asked: AskedEvent) -> tuple[Explanation, ...]:
    """Explain a record that poll() returned: some broker has the record at this offset, and gave it."""
    consumer, offset, record = asked.pipeline.consumer, asked.argument("offset"), asked.argument("record")
    if not asked.pipeline.producer.of_record(record):
        raise IndexError(f"record {record}")
    here = consumer.position.term == offset
    return tuple(
        Explanation(
            asked.steps(lambda given, leader=broker.number: given["leader"] == leader and given.get("count", 1) == 1),  # type: ignore[misc]
            before=And(here, record_at(asked.pipeline, broker, consumer.position.term) == record),
        )
        for broker in asked.pipeline.replicas
    )


def ended_consumer(asked: AskedEvent) -> tuple[Explanation, ...]:
    """Explain the end of a consumer's process; the end of one that has not begun changes nothing in the model."""
    return (Explanation(asked.steps(lambda _: True), stays=Not(asked.pipeline.consumer.running.is_set)),)


WAYS: Mapping[str, Callable[[AskedEvent], tuple[Explanation, ...]]] = MappingProxyType(
    {"started_consumer": started_consumer, "joined": joined, "polled": polled, "ended_consumer": ended_consumer}
)
"""Kind of event -> the function that returns the ways in which the event can have happened."""
