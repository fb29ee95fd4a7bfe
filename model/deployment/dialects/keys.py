"""Facts about a library's settings: existence, first name, and effect on deliveries."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

from proofka.model.deployment.clients import aliases
from proofka.model.deployment.defaults import is_known
from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.must_know import must_know
from proofka.model.deployment.reasons import find_reason, names_key
from proofka.model.deployment.release import JAVA

LIBRDKAFKA, SARAMA, FRANZ_GO = "librdkafka", "sarama", "franz-go"
KAFKA_PYTHON, AIOKAFKA = "kafka-python", "aiokafka"
KAFKAJS, KAFKA_GO = "kafkajs", "kafka-go"
_SIGNS = Path(__file__).with_name("tables") / "librdkafka_signs.csv"


def own_name(library: str, key: str) -> str:
    """Return the name that the library documents first."""
    return aliases().get((library, key), key)


def has_key(library: str, role: Role, key: str) -> bool:
    """Tell whether some release of the library's producer or consumer has the setting."""
    if library == JAVA:
        return is_known(role, key) or names_key(role, key)
    return is_known(f"{library} {role}", own_name(library, key))


def matters(library: str, role: Role, key: str) -> bool:
    """Tell whether the setting can change a delivery, so that its value must be known."""
    name = own_name(library, key)
    if library == JAVA:
        return find_reason(role, name) is None or name in must_know(role, library)
    return not has_key(library, role, key) or name in must_know(role, library)


def harmless(library: str, role: Role, key: str) -> str:
    """Return the reason for which a setting does not matter."""
    name = own_name(library, key)
    reason = find_reason(role, name) or find_reason(role, name if library == JAVA else name.replace("_", "."))
    return reason or "does not change which deliveries are possible"


@cache
def signs(*, flat: bool) -> frozenset[str]:
    """Return the settings of librdkafka that Kafka's own clients do not have. ``flat``: nor did its first clients, in
    Scala.

    Those first clients were configured in flat files, and librdkafka still has some of their names.
    """
    with _SIGNS.open(encoding="utf-8", newline="") as table:
        return frozenset(row["key"] for row in csv.DictReader(table) if row["flat"] or not flat)
