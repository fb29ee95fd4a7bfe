"""The source that the options of a command name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from proofka.checker.live.asked import Asked
    from proofka.checker.source import Source


def source_of(
    file: Path | None,
    kafka: str | None,
    topic: str | None,
    broker: Path | None = None,
    producer: Path | None = None,
    consumer: Path | None = None,
    *,
    assume: list[str] | None = None,
    fill: list[str] | None = None,
    environment: bool = False,
    pipeline: int | None = None,
    partly: bool = False,
    clients: list[str] | None = None,
    live: Asked | None = None,
) -> Source:
    """Return the source that the options of a command name. ``live``: a live cluster, which has the other options."""
    from proofka.checker.source import Source

    if live is not None:
        return Source(None, assume=tuple(assume or ()), pipeline=pipeline, live=live)
    return Source(
        file,
        kafka,
        topic,
        broker,
        producer,
        consumer,
        assume=tuple(assume or ()),
        fill=tuple(fill or ()),
        environment=environment,
        pipeline=pipeline,
        partial=partly,
        clients=tuple(clients or ()),
    )
