"""Which setting says each duration of a deployment, by client library and kind of broker."""

from __future__ import annotations

from collections.abc import Mapping

from model.deployment.release import JAVA

LONGEST = 2**53
"""Settings in ms that are longer than this (292 million years: the largest of a Java long) mean never."""

NEVER = LONGEST + 1
SYSTEM_GIVES_UP = 127_000
"""After so long Linux gives up on a connection that nobody answers, in ms."""

Source = tuple[str, str, str | int | None]
"""Component, setting, and what stands in before a release has it: another setting, or a value in ms."""

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
    "rebalance_delay": ("broker", "group.initial.rebalance.delay.ms", 0),
    "retention": ("topic", "retention.ms", None),
    "offsets_kept": ("broker", "offsets.retention.minutes", None),
}
"""Field of :class:`Durations` -> what says it, with Kafka's own clients and brokers in KRaft mode (KIP-601)."""

OF_COMPACTION: Mapping[str, Source] = {
    "delete_retention": ("topic", "delete.retention.ms", None),
    "compaction_lag": ("topic", "min.compaction.lag.ms", 0),
}
"""What is said of a topic that is compacted."""

NOT_COMPACTED: Mapping[str, Source] = {
    "delete_retention": ("topic", "no compaction", NEVER),
    "compaction_lag": ("topic", "no compaction", NEVER),
}
"""What stands in where it is not."""

OF_ZOOKEEPER: Mapping[str, Source] = {
    "broker_session": ("broker", "zookeeper.session.timeout.ms", None),
    "broker_heartbeat": ("broker", "zookeeper.session.timeout.ms", None),
}
"""What is said elsewhere of brokers with ZooKeeper, whose client says at fixed parts of its session that it lives."""

OF_LIBRDKAFKA: Mapping[str, Source] = {
    "request_timeout": ("producer", "socket.timeout.ms", None),
    "delivery_timeout": ("producer", "message.timeout.ms", None),
    "max_block": ("producer", "no wait for a call", 0),
    "connection_setup": ("producer", "socket.connection.setup.timeout.ms", SYSTEM_GIVES_UP),
    "consumer_request": ("consumer", "socket.timeout.ms", None),
    "consumer_connection": ("consumer", "socket.connection.setup.timeout.ms", SYSTEM_GIVES_UP),
    "consumer_backoff": ("consumer", "retry.backoff.max.ms", 1_000),
    "consumer_fetch_wait": ("consumer", "fetch.wait.max.ms", None),
}
"""What librdkafka says by other settings. It never blocks a caller that does not ask for it."""

OF_SARAMA: Mapping[str, Source] = {
    "linger": ("producer", "Producer.Flush.Frequency", None),
    "request_timeout": ("producer", "Net.ReadTimeout", None),
    "ack_timeout": ("producer", "Producer.Timeout", None),
    "retry_backoff": ("producer", "Producer.Retry.Backoff", None),
    "retry_backoff_max": ("producer", "Producer.Retry.Backoff", None),
    "delivery_timeout": ("producer", "no limit for a delivery", NEVER),
    "max_block": ("producer", "no limit for a call", NEVER),
    "reconnect_backoff_max": ("producer", "Metadata.Retry.Backoff", None),
    "connection_setup": ("producer", "Net.DialTimeout", None),
    "max_poll": ("consumer", "no limit between two polls", NEVER),
    "auto_commit": ("consumer", "Consumer.Offsets.AutoCommit.Interval", 1_000),
    "consumer_session": ("consumer", "Consumer.Group.Session.Timeout", None),
    "consumer_request": ("consumer", "Net.ReadTimeout", None),
    "consumer_connection": ("consumer", "Net.DialTimeout", None),
    "consumer_reconnect": ("consumer", "Consumer.Retry.Backoff", None),
    "consumer_backoff": ("consumer", "Consumer.Group.Rebalance.Retry.Backoff", None),
    "consumer_fetch_wait": ("consumer", "Consumer.MaxWaitTime", None),
}
"""What sarama says by other settings. It has no limit of its own for a delivery, nor for the time between two polls."""

ELSEWHERE: Mapping[str, Mapping[str, Source]] = {JAVA: {}, "librdkafka": OF_LIBRDKAFKA, "sarama": OF_SARAMA}


def sources(libraries: Mapping[str, str], *, zookeeper: bool, compacts: bool) -> dict[str, Source]:
    """What says each duration, with these libraries of producer and consumer."""
    found = {**OF_JAVA, **(OF_ZOOKEEPER if zookeeper else {}), **(OF_COMPACTION if compacts else NOT_COMPACTED)}
    for role, library in libraries.items():
        found |= {name: source for name, source in ELSEWHERE[library].items() if source[0] == role}
    return found
