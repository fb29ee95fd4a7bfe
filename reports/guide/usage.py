"""The settings of each component that the model reads, and the reasons why the others change nothing."""

from __future__ import annotations

from proofka.model.deployment.defaults import is_known, known_keys
from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.keys import harmless, matters
from proofka.model.deployment.libraries import LIBRARIES
from proofka.model.deployment.must_know import must_know
from proofka.model.deployment.reasons import find_reason, names_key
from proofka.model.deployment.release import JAVA

CLUSTER = ("topic", "broker")
OWN = ("producer", "consumer", *CLUSTER)
"""The components of Kafka itself, as the tables of defaults name them."""

HARMLESS = "does not change which deliveries are possible"


def components() -> tuple[str, ...]:
    """Return the components with tables of settings: ``producer``, ..., ``librdkafka producer``, ..."""
    return (*OWN, *(f"{library} {role.value}" for library in LIBRARIES for role in (Role.PRODUCER, Role.CONSUMER)))


def settings_of(component: str) -> list[str]:
    """Return every setting of a component in any release, and settings that are read for every release."""
    return sorted({*known_keys(component), *(must_know(component) if component in CLUSTER else ())})


def is_read(component: str, key: str) -> bool:
    """Tell whether the model depends on the setting in some release and with some other settings."""
    if component in CLUSTER:
        return key in must_know(component) or find_reason(component, key) is None
    library, _, role = component.rpartition(" ")
    return matters(library or JAVA, Role(role), key)


def why_not(component: str, key: str) -> str:
    """Return the reason why a setting that the model does not read changes nothing."""
    if component in CLUSTER:
        return find_reason(component, key) or HARMLESS
    library, _, role = component.rpartition(" ")
    return harmless(library or JAVA, Role(role), key)


def known_by_pattern(key: str) -> list[str]:
    """Return the components that know a setting only by a pattern, such as ``ssl.*``, and not by a table."""
    return [one for one in OWN if names_key(one, key) and not is_known(one, key) and not is_read(one, key)]
