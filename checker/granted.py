"""What a pass takes for granted: what no run of the model shows, and could violate the property."""

from __future__ import annotations

from collections.abc import Iterator

from model.deployment.deployment import Deployment

READ_IN_TIME = (
    "records are taken to be read and processed before retention.ms deletes them, however long brokers are away and "
    "workers take"
)
"""What a pass takes for granted where the model leaves retention out and something could outlast it."""

HEARD_IN_TIME = (
    "brokers that run are taken to be heard of before their session is over, although broker.session.timeout.ms is no "
    "longer than broker.heartbeat.interval.ms and one message take"
)
"""What a pass takes for granted where the controller could fence a broker that nothing is wrong with."""


def taken_for_granted(deployment: Deployment, *, reads: bool) -> Iterator[str]:
    """In words, for a pass; ``reads``: the property's part of the system has the consumer's position."""
    if reads and deployment.reading_in_time_is_assumed:
        yield READ_IN_TIME
    if deployment.heartbeats_may_come_too_late:
        yield HEARD_IN_TIME
