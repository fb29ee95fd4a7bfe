"""The settings whose values must be known: those that the rules and durations of the model read."""

from __future__ import annotations

from functools import cache

from proofka.model.deployment import broker_rules, consumer_rules, group_rules, producer_rules, transaction_rules
from proofka.model.deployment.durations import keys_of
from proofka.model.deployment.follower_reads import SELECTOR
from proofka.model.deployment.libraries import LIBRARIES
from proofka.model.deployment.release import JAVA

OF_BROKERS = (*broker_rules.BROKER_KEYS, SELECTOR, *group_rules.KEYS, *transaction_rules.KEYS)
"""The broker settings that rules read."""


@cache
def must_know(scope: str, library: str = JAVA) -> frozenset[str]:
    """Return the settings of topic, broker, producer or consumer; for a client, those of its library."""
    if scope in ("topic", "broker"):
        rules = broker_rules.TOPIC_KEYS if scope == "topic" else OF_BROKERS
        return frozenset((*rules, *keys_of(scope)))
    if library == JAVA:
        rules = producer_rules.KEYS if scope == "producer" else consumer_rules.KEYS
        return frozenset((*rules, *keys_of(scope)))
    of = LIBRARIES[library]
    rules = of.producer_keys if scope == "producer" else of.consumer_keys
    return frozenset((*rules, *keys_of(scope, of.durations)))
