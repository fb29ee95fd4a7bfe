"""The setting that determines each duration of a deployment, with Kafka's own clients and by kind of broker."""

from __future__ import annotations

from collections.abc import Mapping

from proofka.model.durations import LONGEST

NEVER = LONGEST + 1
SYSTEM_GIVES_UP = 127_000
"""Milliseconds after which Linux gives up on a connection attempt that nobody answers."""

Source = tuple[str, str, str | int | None]
"""Component, setting, and the substitute before a release has that setting: another setting, or a value in ms."""

OF_JAVA: Mapping[str, Source] = {
    "linger": ("producer", "linger.ms", None),
    "request_timeout": ("producer", "request.timeout.ms", None),
    "ack_timeout": ("producer", "request.timeout.ms", None),
    "retry_backoff": ("producer", "retry.backoff.ms", None),
    "retry_backoff_max": ("producer", "retry.backoff.max.ms", "retry.backoff.ms"),
    "delivery_timeout": ("producer", "delivery.timeout.ms", "request.timeout.ms"),
    "max_block": ("producer", "max.block.ms", None),
    "reconnect_backoff_max": ("producer", "reconnect.backoff.max.ms", "reconnect.backoff.ms"),
    "connection_setup": ("producer", "socket.connection.setup.timeout.max.ms", SYSTEM_GIVES_UP),
    "replica_lag": ("broker", "replica.lag.time.max.ms", None),
    "replica_socket": ("broker", "replica.socket.timeout.ms", None),
    "fetch_wait": ("broker", "replica.fetch.wait.max.ms", None),
    "fetch_backoff": ("broker", "replica.fetch.backoff.ms", None),
    "broker_session": ("broker", "broker.session.timeout.ms", None),
    "broker_heartbeat": ("broker", "broker.heartbeat.interval.ms", None),
    "max_poll": ("consumer", "max.poll.interval.ms", "session.timeout.ms"),
    "auto_commit": ("consumer", "auto.commit.interval.ms", None),
    "consumer_session": ("consumer", "session.timeout.ms", None),
    "consumer_request": ("consumer", "request.timeout.ms", None),
    "consumer_connection": ("consumer", "socket.connection.setup.timeout.max.ms", SYSTEM_GIVES_UP),
    "consumer_reconnect": ("consumer", "reconnect.backoff.max.ms", "reconnect.backoff.ms"),
    "consumer_backoff": ("consumer", "retry.backoff.max.ms", "retry.backoff.ms"),
    "consumer_fetch_wait": ("consumer", "fetch.max.wait.ms", None),
    "consumer_metadata": ("consumer", "metadata.max.age.ms", None),
    "rebalance_delay": ("broker", "group.initial.rebalance.delay.ms", 0),
    "retention": ("topic", "retention.ms", None),
    "offsets_kept": ("broker", "offsets.retention.minutes", None),
}
"""The source of each field of :class:`Durations`, with Kafka's own clients and brokers in KRaft mode (KIP-601)."""

OF_COMPACTION: Mapping[str, Source] = {
    "delete_retention": ("topic", "delete.retention.ms", None),
    "compaction_lag": ("topic", "min.compaction.lag.ms", 0),
}
"""The sources of durations of a compacted topic."""

NOT_COMPACTED: Mapping[str, Source] = {
    "delete_retention": ("topic", "no compaction", NEVER),
    "compaction_lag": ("topic", "no compaction", NEVER),
}
"""The sources of the same durations where the topic is not compacted."""

OF_IDEMPOTENCE: Mapping[str, Source] = {
    "producer_ids_kept": ("broker", "producer.id.expiration.ms", "transactional.id.expiration.ms"),
}
"""The source of the time for which brokers know producers whose records have sequence numbers (KIP-854)."""

NOT_NUMBERED: Mapping[str, Source] = {"producer_ids_kept": ("broker", "no sequence numbers", NEVER)}
"""The source of the same duration where records have no sequence numbers."""

OF_TRANSACTIONS: Mapping[str, Source] = {"broker_request": ("broker", "request.timeout.ms", None)}
"""The source of the longest time for which the thread of a coordinator that sends markers sleeps (11.1)."""

WITHOUT_TRANSACTIONS: Mapping[str, Source] = {"broker_request": ("broker", "no transactions", 0)}
"""The source of the same duration where the producer has no transactions."""

OF_ZOOKEEPER: Mapping[str, Source] = {
    "broker_session": ("broker", "zookeeper.session.timeout.ms", None),
    "broker_heartbeat": ("broker", "zookeeper.session.timeout.ms", None),
}
"""The sources for brokers with ZooKeeper, whose client sends a heartbeat after a fixed part of the session."""

OF_BROKERS_PROTOCOL: Mapping[str, Source] = {
    "consumer_session": ("broker", "group.consumer.session.timeout.ms", None),
    "group_heartbeat": ("broker", "group.consumer.heartbeat.interval.ms", None),
    "assignment_interval": ("broker", "group.consumer.assignment.interval.ms", 0),
}
"""The sources, on the brokers, for members of a group with ``group.protocol=consumer`` (KIP-848)."""

BY_MEMBERS: Mapping[str, Source] = {
    "group_heartbeat": ("broker", "no heartbeat that brokers ask for", 0),
    "assignment_interval": ("broker", "no assignment by brokers", 0),
}
"""The sources of the same durations where a member of the group assigns the partitions."""


def sources(
    own: Mapping[str, Mapping[str, Source]],
    *,
    zookeeper: bool,
    brokers_protocol: bool,
    compacts: bool,
    numbered: bool,
    transactional: bool,
) -> dict[str, Source]:
    """Return the source of each duration. ``own``: by role, the sources of libraries other than Java's.

    ``brokers_protocol``: the brokers assign the partitions of the consumer's group. ``compacts``: the topic is
    compacted. ``numbered``: the records have sequence numbers. ``transactional``: the producer has transactions.
    """
    found = {**OF_JAVA, **(OF_BROKERS_PROTOCOL if brokers_protocol else BY_MEMBERS)}
    found |= OF_COMPACTION if compacts else NOT_COMPACTED
    found |= OF_IDEMPOTENCE if numbered else NOT_NUMBERED
    found |= OF_TRANSACTIONS if transactional else WITHOUT_TRANSACTIONS
    found |= OF_ZOOKEEPER if zookeeper else {}
    for role, durations in own.items():
        found |= {name: source for name, source in durations.items() if source[0] == role}
    return found
