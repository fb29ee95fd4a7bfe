"""What a pass takes for granted: what no run of the model shows, and could violate the property."""

from __future__ import annotations

from collections.abc import Iterator

from model.deployment.deployment import Deployment

READ_IN_TIME = "records are taken to be read before retention.ms deletes them, however long brokers are away"
"""What a pass takes for granted where the model leaves retention out and outages could outlast it."""

NOTICED_AT_ONCE = (
    "a request in flight to a broker that falls silent, or that is lost, is taken to fail before newer records are sent"
)
"""What a pass takes for granted of connections that break unseen (docs/semantics.md, choice 26)."""

CAN_BE_OVERTAKEN = frozenset(
    {
        "no-dropped-record",
        "no-log-duplicate",
        "no-reprocessing",
        "exactly-once-effect",
        "log-order",
        "processing-order",
    }
)
"""The properties for which it can matter that newer records overtake such a request."""


def taken_for_granted(deployment: Deployment, name: str, *, reads: bool) -> Iterator[str]:
    """In words, for a pass of the property ``name``; ``reads``: its part of the system has the consumer's position."""
    if reads and deployment.reading_in_time_is_assumed:
        yield READ_IN_TIME
    if name in CAN_BE_OVERTAKEN and deployment.requests_can_be_overtaken:
        yield NOTICED_AT_ONCE
