"""The client libraries whose settings are understood, and the rules of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from model.deployment import consumer_rules, librdkafka, producer_rules, sarama
from model.deployment.consumer_rules import ConsumerValues
from model.deployment.producer_rules import ProducerValues
from model.deployment.release import JAVA, Release
from model.deployment.section import Section


class ConsumerRules(Protocol):
    """What a library makes of a consumer's settings; ``needs_group``: nobody but a group keeps the offsets."""

    def __call__(self, section: Section, *, needs_group: bool) -> ConsumerValues: ...


@dataclass(frozen=True)
class Library:
    """One library: the settings that its rules read, and the rules."""

    producer_keys: tuple[str, ...]
    producer: Callable[[Section], ProducerValues]
    consumer_keys: tuple[str, ...]
    consumer: ConsumerRules


def library(name: str, kafka: Release) -> Library:
    """The library of this name, with brokers of this release."""
    java = partial(producer_rules.apply_producer_rules, kafka=kafka)
    libraries: Mapping[str, Library] = {
        JAVA: Library(producer_rules.KEYS, java, consumer_rules.KEYS, consumer_rules.apply_consumer_rules),
        "librdkafka": Library(
            librdkafka.PRODUCER_KEYS,
            partial(librdkafka.producer, kafka=kafka),
            librdkafka.CONSUMER_KEYS,
            librdkafka.consumer,
        ),
        "sarama": Library(sarama.PRODUCER_KEYS, sarama.producer, sarama.CONSUMER_KEYS, sarama.consumer),
    }
    return libraries[name]
