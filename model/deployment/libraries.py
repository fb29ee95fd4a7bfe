"""The client libraries whose settings Proofka interprets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from model.deployment import (
    aiokafka,
    consumer_rules,
    franz_go,
    kafka_go,
    kafka_python,
    kafkajs,
    librdkafka,
    producer_rules,
    sarama,
)
from model.deployment.library import Library
from model.deployment.release import JAVA, NEWEST, OLDEST, Release
from model.deployment.values import CONFIG_EXCEPTION

_MODULES = (librdkafka, sarama, franz_go, kafka_python, aiokafka, kafkajs, kafka_go)
LIBRARIES: Mapping[str, Library] = {one.LIBRARY.name: one.LIBRARY for one in _MODULES}
"""The client libraries besides Kafka's own."""


def library(name: str, kafka: Release) -> Library:
    """Return the library of this name, with brokers of this release."""
    if name != JAVA:
        return LIBRARIES[name]
    rules = partial(producer_rules.apply_producer_rules, kafka=kafka)
    reads = consumer_rules.apply_consumer_rules
    keys = (producer_rules.KEYS, consumer_rules.KEYS)
    return Library(JAVA, OLDEST, NEWEST, CONFIG_EXCEPTION, keys[0], rules, keys[1], reads, {})
