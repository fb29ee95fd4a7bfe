"""Which settings the model reads, whoever's they are, and why the others change nothing."""

from __future__ import annotations

from model.deployment.defaults import is_known, known_keys
from model.deployment.dialects.component import Role
from model.deployment.dialects.keys import harmless, matters
from model.deployment.libraries import LIBRARIES
from model.deployment.must_know import must_know
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
    return sorted({*known_keys(component), *(must_know(component) if component in CLUSTER else ())})


def is_read(component: str, key: str) -> bool:
    """Whether the model depends on the setting, in some release and beside some other settings."""
    if component in CLUSTER:
        return key in must_know(component) or find_reason(component, key) is None
    library, _, role = component.rpartition(" ")
    return matters(library or JAVA, Role(role), key)


def why_not(component: str, key: str) -> str:
    """Why a setting that the model does not read changes nothing."""
    if component in CLUSTER:
        return find_reason(component, key) or HARMLESS
    library, _, role = component.rpartition(" ")
    return harmless(library or JAVA, Role(role), key)


def known_by_pattern(key: str) -> list[str]:
    """The components that know a setting by its pattern alone, such as ``ssl.*``: no table lists these."""
    return [one for one in OWN if names_key(one, key) and not is_known(one, key) and not is_read(one, key)]
