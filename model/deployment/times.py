"""The durations of a deployment: settings, and assumptions about its environment."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from proofka.model.durations import JITTER, Duration, Quantity

MINUTE = 60_000
"""Milliseconds in a minute."""

MOST_DOUBLINGS = 40
"""The number of failures after which pauses no longer grow: their maximum is less than a thousand years."""

LOOKS_IN_SESSION = 8
"""The number of times in a session that a KRaft controller looks for brokers to fence."""

HEARTBEATS_TO_MOVE = 3
"""Heartbeats until a partition moves: one to learn the assignment, one to confirm, and one of the next member."""


@dataclass(frozen=True)
class Durations:
    """The durations of actions and timeouts: settings in ms, then assumed ranges of the environment.

    The meaning of each range is in :mod:`model.deployment.durations`.
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
    broker_request: Quantity  # of brokers, to each other
    network: Quantity
    metadata: Quantity
    election: Quantity
    coordinator: Quantity  # until another broker coordinates transactions
    broker_restart: Quantity
    application_restart: Quantity
    processing_time: Quantity
    poll_interval: Quantity
    slowness: Quantity
    cut_off: Quantity
    late_request: Quantity

    @property
    def between_fetches(self) -> Duration:
        """The longest time between two fetches of an undelayed follower (semantics 6.1)."""
        return Duration.of(self.fetch_wait) + Duration.of(self.fetch_backoff) + Duration.of(self.network, 3)

    @property
    def until_assigned(self) -> Duration:
        """The time until members know their new assignment from the brokers: one gives up, confirms, and another one
        learns it (12)."""
        return Duration.of(self.group_heartbeat, HEARTBEATS_TO_MOVE) + Duration.of(self.assignment_interval, 2)

    @property
    def backoff_jitter(self) -> Fraction:
        """The jitter of pauses. Clients that know retry.backoff.max.ms choose each pause at random around its length
        (semantics 3.1)."""
        return JITTER if self.retry_backoff_max.name == "retry.backoff.max.ms" else Fraction(0)

    def backs_off_at_least(self, failed: int) -> Duration:
        """Return the pause after that many failures: retry.backoff.ms, doubled each time up to its maximum (KIP-580).

        A pause that cannot grow is not random either: it is always the maximum.
        """
        first, longest = self.retry_backoff, self.retry_backoff_max
        if self.backoff_jitter and first.least >= longest.least:
            return Duration.of(longest)
        doubled = 2 ** min(failed - 1, MOST_DOUBLINGS) if self.backoff_jitter else 1
        if first.least * doubled <= longest.least:
            return Duration.of(first, (1 - self.backoff_jitter) * doubled)
        return Duration.of(longest, 1 - self.backoff_jitter)

    def retries_take_at_least(self, retries: int) -> int:
        """Return the least time, in ms, for which that many failures in a row occupy a producer."""
        growing = min(retries, MOST_DOUBLINGS)
        pauses = [self.backs_off_at_least(failed).at_least() for failed in range(1, growing + 1)]
        return sum(pauses) + (retries - growing) * (pauses[-1] if pauses else 0)

    @property
    def heartbeat(self) -> Duration:
        """The time between two heartbeats of a broker; with ZooKeeper, a third of the session (semantics 6.4)."""
        to_zookeeper = self.broker_heartbeat.name == self.broker_session.name
        return Duration.of(self.broker_heartbeat, Fraction(1, 3) if to_zookeeper else 1)

    def lags_at_least(self) -> Duration:
        """Return the least time for which a follower lags behind before its leader drops it (semantics 6.2, I1)."""
        return Duration.of(self.replica_lag) - self.between_fetches - self.between_fetches

    def until_fenced(self, brokers: int) -> Duration:
        """Return the longest time until a KRaft controller fences a broker of which it hears nothing (semantics 6.4).

        The controller fences a broker after broker.session.timeout.ms. It looks every eighth of that, and fences one
        broker at a time.
        """
        looks = 1 + Fraction(brokers, LOOKS_IN_SESSION)
        return Duration.of(self.broker_session, looks) + Duration.of(self.election) + Duration.of(self.network)

    @property
    def offsets_kept_at_least(self) -> Duration:
        """The least time for which the committed offsets of a group without members are kept (semantics 12)."""
        return Duration.of(self.offsets_kept, MINUTE)
