"""How long things take, as a deployment says and as is assumed of its environment."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from model.durations import JITTER, Duration, Quantity

MINUTE = 60_000
"""In milliseconds."""

MOST_DOUBLINGS = 40
"""Pauses do not grow any more after so many failures: their maximum is less than a thousand years."""

HEARTBEATS_TO_MOVE = 3
"""Heartbeats of members until a partition has another one: one to hear, one to say, and one of the next to hear."""


@dataclass(frozen=True)
class Durations:
    """How long things take and how long somebody waits: settings in ms, then ranges assumed of the environment.

    What each range means stands in :mod:`model.deployment.durations`.
    """

    linger: Quantity
    request_timeout: Quantity  # of the producer
    ack_timeout: Quantity  # how long the broker waits for the ISR (semantics 3.2): with Java the same
    retry_backoff: Quantity
    retry_backoff_max: Quantity
    delivery_timeout: Quantity
    max_block: Quantity
    reconnect_backoff_max: Quantity
    connection_setup: Quantity
    replica_lag: Quantity
    replica_socket: Quantity
    fetch_wait: Quantity
    fetch_backoff: Quantity
    broker_session: Quantity
    broker_heartbeat: Quantity
    max_poll: Quantity
    auto_commit: Quantity
    consumer_session: Quantity
    consumer_request: Quantity
    consumer_connection: Quantity
    consumer_reconnect: Quantity
    consumer_backoff: Quantity
    consumer_fetch_wait: Quantity
    consumer_metadata: Quantity  # how old what it knows of its topics may get
    rebalance_delay: Quantity
    retention: Quantity
    offsets_kept: Quantity  # in minutes, as brokers say it
    group_heartbeat: Quantity  # of members, where brokers ask for it (semantics 12)
    assignment_interval: Quantity  # between two assignments that brokers work out for a group
    delete_retention: Quantity  # of tombstones, where the topic is compacted
    compaction_lag: Quantity  # how old a record is before the cleaner looks at it
    producer_ids_kept: Quantity  # how long after its last record brokers know an idempotent producer
    network: Quantity
    metadata: Quantity
    election: Quantity
    broker_restart: Quantity
    application_restart: Quantity
    processing_time: Quantity
    poll_interval: Quantity
    slowness: Quantity
    cut_off: Quantity
    late_request: Quantity

    @property
    def between_fetches(self) -> Duration:
        """The longest time between two fetches of a follower that nothing holds up (semantics 6.1)."""
        return Duration.of(self.fetch_wait) + Duration.of(self.fetch_backoff) + Duration.of(self.network, 3)

    @property
    def until_assigned(self) -> Duration:
        """Until members know from their brokers who has what: one gives up, says so, and another hears of it (12)."""
        return Duration.of(self.group_heartbeat, HEARTBEATS_TO_MOVE) + Duration.of(self.assignment_interval, 2)

    @property
    def backoff_jitter(self) -> Fraction:
        """Clients that know retry.backoff.max.ms choose each pause at random around its length (semantics 3.1)."""
        return JITTER if self.retry_backoff_max.name == "retry.backoff.max.ms" else Fraction(0)

    def backs_off_at_least(self, failed: int) -> Duration:
        """The pause after so many failures: retry.backoff.ms, doubled each time as far as its maximum (KIP-580).

        A pause that cannot grow is not chosen at random either: it is always the maximum.
        """
        first, longest = self.retry_backoff, self.retry_backoff_max
        if self.backoff_jitter and first.least >= longest.least:
            return Duration.of(longest)
        doubled = 2 ** min(failed - 1, MOST_DOUBLINGS) if self.backoff_jitter else 1
        if first.least * doubled <= longest.least:
            return Duration.of(first, (1 - self.backoff_jitter) * doubled)
        return Duration.of(longest, 1 - self.backoff_jitter)

    def retries_take_at_least(self, retries: int) -> int:
        """How long so many failures in a row keep a producer busy at least, in ms."""
        growing = min(retries, MOST_DOUBLINGS)
        pauses = [self.backs_off_at_least(failed).at_least() for failed in range(1, growing + 1)]
        return sum(pauses) + (retries - growing) * (pauses[-1] if pauses else 0)

    @property
    def heartbeat(self) -> Duration:
        """How often a broker says that it lives; to ZooKeeper every third of its session (semantics 6.4)."""
        to_zookeeper = self.broker_heartbeat.name == self.broker_session.name
        return Duration.of(self.broker_heartbeat, Fraction(1, 3) if to_zookeeper else 1)

    @property
    def offsets_kept_at_least(self) -> Duration:
        """How long the committed offsets of a group without members are kept at least (semantics 12)."""
        return Duration.of(self.offsets_kept, MINUTE)
