"""The consumer's client of a deployment."""

from __future__ import annotations

from dataclasses import dataclass

from proofka.model.deployment.choices import OffsetReset
from proofka.model.deployment.rebalancing import Rebalancing


@dataclass(frozen=True)
class Consumer:
    """The effective settings of the consumer's client, and what its library and the brokers do for the group."""

    knows_epochs: bool  # never fetches from a leader of an older epoch (brokers from 2.1; KIP-320)
    checks_epochs: bool  # detects by epochs that a log was truncated (client and brokers from 2.3; 8)
    checks_starts: bool  # by epochs also the committed offset that it starts at (not librdkafka; 4.1)
    waits_beyond_end: bool  # at an offset beyond the end of a log, until a record has that offset (4.5)
    rebalancing: Rebalancing  # the group's way of taking the partition away (semantics 12)
    offset_reset: OffsetReset
    max_poll_records: int
    connects: int  # messages to connect, by its security.protocol
    commits_on_timer: bool  # commits wait for the end of auto.commit.interval.ms
    waits_for_bytes: bool  # fetch.min.bytes is more than one: available records may have to wait
