"""Which settings the model reads, whoever's they are, and why the others change nothing."""

from __future__ import annotations

from functools import cache

from model.deployment import broker_rules, group_rules, transaction_rules
from model.deployment.builder import FOLLOWER_BYTES
from model.deployment.defaults import is_known, known_keys
from model.deployment.dialects.component import Role
from model.deployment.dialects.keys import harmless, matters
from model.deployment.duration_settings import (
    OF_BROKERS_PROTOCOL,
    OF_COMPACTION,
    OF_IDEMPOTENCE,
    OF_JAVA,
    OF_ZOOKEEPER,
)
from model.deployment.durations import keys_of
from model.deployment.follower_reads import SELECTOR
from model.deployment.libraries import LIBRARIES
from model.deployment.reasons import find_reason, names_key
from model.deployment.release import JAVA

CLUSTER = ("topic", "broker")
OWN = ("producer", "consumer", *CLUSTER)
"""The components of Kafka itself, as the tables of defaults name them."""

HARMLESS = "does not change which deliveries are possible"


def components() -> tuple[str, ...]:
    """Whose settings there are tables of: ``producer``, ..., ``librdkafka producer``, ..."""
    return (*OWN, *(f"{library} {role.value}" for library in LIBRARIES for role in (Role.PRODUCER, Role.CONSUMER)))


def settings_of(component: str) -> list[str]:
    """Every setting of a component that any release has, or that is read whatever the release."""
    return sorted({*known_keys(component), *(_of_cluster(component) if component in CLUSTER else ())})


def is_read(component: str, key: str) -> bool:
    """Whether the model depends on the setting, in some release and beside some other settings."""
    if component in CLUSTER:
        return key in _of_cluster(component) or find_reason(component, key) is None
    library, _, role = component.rpartition(" ")
    if matters(library or JAVA, Role(role), key):
        return True
    return not library and key in keys_of(role)  # the first of pauses that grow, where a rule takes it for the longest


def why_not(component: str, key: str) -> str:
    """Why a setting that the model does not read changes nothing."""
    if component in CLUSTER:
        return find_reason(component, key) or HARMLESS
    library, _, role = component.rpartition(" ")
    return harmless(library or JAVA, Role(role), key)


def known_by_pattern(key: str) -> list[str]:
    """The components that know a setting by its pattern alone, such as ``ssl.*``: no table lists these."""
    return [one for one in OWN if names_key(one, key) and not is_known(one, key) and not is_read(one, key)]


@cache
def _of_cluster(component: str) -> frozenset[str]:
    """The settings of brokers or topics that rules and durations read; what stands in for one has a space in it."""
    rules = {
        "topic": broker_rules.TOPIC_KEYS,
        "broker": (*broker_rules.BROKER_KEYS, FOLLOWER_BYTES, SELECTOR, *group_rules.KEYS, *transaction_rules.KEYS),
    }[component]
    durations = {**OF_JAVA, **OF_COMPACTION, **OF_IDEMPOTENCE, **OF_ZOOKEEPER, **OF_BROKERS_PROTOCOL}.values()
    stand_ins = [instead for of, _, instead in durations if of == component and isinstance(instead, str)]
    return frozenset(key for key in (*rules, *keys_of(component), *stand_ins) if " " not in key)
