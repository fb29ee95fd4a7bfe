"""The settings with which tests run each library, in its own names."""

from __future__ import annotations

from collections.abc import Mapping

CAREFUL: Mapping[str, Mapping[str, str]] = {
    "java": {"acks": "all"},
    "librdkafka": {"acks": "all", "enable.idempotence": "true"},
    "kafka-python": {"acks": "all", "enable_idempotence": "True"},
    "aiokafka": {"acks": "all", "enable_idempotence": "true"},
    "sarama": {
        "Producer.RequiredAcks": "all",
        "Producer.Idempotent": "true",
        "Producer.Return.Successes": "true",
        "Producer.Retry.Backoff": "50ms",
        "Net.MaxOpenRequests": "1",
        "Version": "V2_8_0_0",
    },
    "franz-go": {"RequiredAcks": "all", "ProducerLinger": "0s"},
    "kafka-go": {"RequiredAcks": "all", "BatchSize": "1", "MaxAttempts": "3"},
    "kafkajs": {"acks": "all", "idempotent": "true", "maxInFlightRequests": "5", "retry.retries": "9"},
}
"""Settings of a careful producer: acks of the ISR in the word that deployments have, and idempotence if possible."""

TRANSACTIONAL: Mapping[str, str] = {
    "java": "transactional.id",
    "librdkafka": "transactional.id",
    "kafka-python": "transactional_id",
    "aiokafka": "transactional_id",
    "sarama": "Producer.Transaction.ID",
    "franz-go": "TransactionalID",
    "kafkajs": "transactionalId",
}
"""The name of the transactional id, for libraries with transactions."""
WITHOUT_OFFSETS = {"franz-go"}
"""Libraries whose producer alone cannot send offsets to a transaction."""

FROM_THE_START: Mapping[str, Mapping[str, str]] = {
    "java": {"auto.offset.reset": "earliest", "enable.auto.commit": "false", "max.poll.records": "10"},
    "librdkafka": {"auto.offset.reset": "earliest", "enable.auto.commit": "false"},
    "kafka-python": {"auto_offset_reset": "earliest", "enable_auto_commit": "False"},
    "aiokafka": {"auto_offset_reset": "earliest", "enable_auto_commit": "false"},
    "sarama": {"Consumer.Offsets.Initial": "OffsetOldest", "Consumer.Offsets.AutoCommit.Enable": "false"},
    "franz-go": {"ConsumeStartOffset": "NewOffset().AtStart()", "DisableAutoCommit": "true"},
    "kafka-go": {"StartOffset": "FirstOffset", "MaxWait": "500ms", "Reads": "FetchMessage"},
    "kafkajs": {"fromBeginning": "true", "autoCommit": "false"},
}
"""Settings of a consumer that begins with the first record and commits only by command."""

SHORT_SESSION: Mapping[str, Mapping[str, str]] = {
    "java": {"session.timeout.ms": "6000", "heartbeat.interval.ms": "500"},
    "librdkafka": {"session.timeout.ms": "6000", "heartbeat.interval.ms": "500"},
    "kafka-python": {"session_timeout_ms": "6000", "heartbeat_interval_ms": "500"},
    "aiokafka": {"session_timeout_ms": "6000", "heartbeat_interval_ms": "500"},
    "sarama": {"Consumer.Group.Session.Timeout": "6s", "Consumer.Group.Heartbeat.Interval": "500ms"},
    "franz-go": {"SessionTimeout": "6s", "HeartbeatInterval": "500ms"},
    "kafka-go": {"SessionTimeout": "6s", "HeartbeatInterval": "500ms"},
    "kafkajs": {"sessionTimeout": "6000", "heartbeatInterval": "500"},
}
"""Settings after which the group soon gives up a killed member."""
