"""What a pass takes for granted: what no run of the model shows, and could violate the property."""

from __future__ import annotations

from collections.abc import Iterator

from model.deployment.deployment import Deployment

READ_IN_TIME = (
    "records are taken to be read and processed before retention.ms deletes them, however long brokers are away and "
    "workers take"
)
"""What a pass takes for granted where the model leaves retention out and something could outlast it."""


def taken_for_granted(deployment: Deployment, *, reads: bool) -> Iterator[str]:
    """In words, for a pass; ``reads``: the property's part of the system has the consumer's position."""
    if reads and deployment.reading_in_time_is_assumed:
        yield READ_IN_TIME
