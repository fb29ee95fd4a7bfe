"""The client libraries whose settings Proofka interprets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib import import_module

from proofka.model.deployment import consumer_rules, producer_rules
from proofka.model.deployment.defaults import TABLES
from proofka.model.deployment.library import Library
from proofka.model.deployment.release import JAVA, NEWEST, OLDEST, Release
from proofka.model.deployment.values import CONFIG_EXCEPTION


def _named(table: str) -> Library:
    """Return the library of a table: the module of the same name has its rules."""
    module = import_module(f"proofka.model.deployment.{table.replace('-', '_')}")
    found: Library = module.LIBRARY
    return found


LIBRARIES: Mapping[str, Library] = {
    one.name: one for one in (_named(path.stem) for path in sorted((TABLES / "clients").glob("*.csv")))
}
"""The client libraries besides Kafka's own, in alphabetical order: one for each table in ``tables/clients``."""


def library(name: str, kafka: Release) -> Library:
    """Return the library of this name, with brokers of this release."""
    if name != JAVA:
        return LIBRARIES[name]
    rules = partial(producer_rules.apply_producer_rules, kafka=kafka)
    reads = consumer_rules.apply_consumer_rules
    keys = (producer_rules.KEYS, consumer_rules.KEYS)
    return Library(JAVA, OLDEST, NEWEST, CONFIG_EXCEPTION, keys[0], rules, keys[1], reads, {})
