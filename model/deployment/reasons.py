"""The reasons for which a setting cannot matter to any property of the model: a class of reasons for each pattern of
keys.

``tables/reasons.csv`` is read from the top; the first pattern that fits wins. A pattern with ``names_keys`` also makes
keys known that the table of defaults does not list (security, serialisers, listeners: their names are open-ended).
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from proofka.model.deployment.defaults import TABLES

REASONS: dict[str, str] = {
    "addresses": "addresses do not change delivery; every client is assumed to find the brokers",
    "administration": "administration of topics is not part of the model; the topic is assumed to exist permanently",
    "checkpoints": "each checkpoint is assumed to have the greatest possible age",
    "checksums": "records are assumed not to be corrupted",
    "committed offsets": "committed offsets are assumed to be durable, unless the fault lost-offsets is named",
    "compaction": "the topic is not compacted",
    "compression": (
        "compression changes what is delivered only to a librdkafka consumer of 1.2.0 to 1.5.2 that reads committed "
        "records"
    ),
    "when the cleaner comes": "the cleaner of a compacted topic is assumed to run at any time, or never",
    "coordinator": "the coordinator's state is assumed to be durable, unless the fault lost-transaction-state is named",
    "controller": "the controller quorum is assumed to be available and durable",
    "delete policy": "records are deleted when they are older than retention.ms",
    "deployment tools": "this setting names a source of values, not a value",
    "durations": "this duration is not part of the model yet",
    "existing topic": "the topic is assumed to exist",
    "formats": "record format and protocol are assumed to be those of the release",
    "interceptors": "interceptors are assumed to neither drop nor change records",
    "length of transactions": (
        "a transaction that exceeds its timeout is the fault transaction-timeout, whatever the timeout is"
    ),
    "longest transactions": (
        "brokers refuse a producer whose transaction.timeout.ms exceeds this value (rule P30); nothing else depends on "
        "the value"
    ),
    "monitoring": "monitoring does not change delivery",
    "names": "names do not change delivery",
    "no eligible leader replicas": "eligible leader replicas (ELR) are off",
    "no transactions": "the producer uses no transactions",
    "ZooKeeper": "ZooKeeper is assumed to be available, however brokers reach it",
    "one consumer": "the assignment of partitions does not change the deliveries of a single partition",
    "one partition": "only one partition is modelled",
    "one topic": "only one topic is modelled",
    "placement": "each replica is assumed to have its own machine and disk",
    "planned moves": "planned moves of the leader are an assumption: the fault leader-move",
    "producer state": "brokers are assumed to remember a producer for the whole run",
    "reading from the leader": "the consumer is assumed to read from the leader",
    "retention": "records are assumed to be deleted for their age only (retention.ms), as soon as they reach it",
    "security": "security does not change delivery; every request is assumed to be authorised",
    "serialisation": "serialisation does not change delivery; every record is assumed to be readable",
    "share groups": "share groups are not used",
    "sizes": "every record is assumed to fit the size limits",
    "throughput": "memory and throughput do not change which deliveries are possible",
    "tiered storage": "the topic does not use tiered storage",
    "timed commit": "a poll is assumed to follow the end of the interval, whatever its length",
    "flush scheduler": "without this setting no timed flush happens, and a power loss can always come before a flush",
    "timed flush": (
        "a power loss can always come before a timed flush, and without log.flush.scheduler.interval.ms none happens"
    ),
    "timestamps": "every record's timestamp is assumed to be acceptable",
    "topic outranks": "the topic's own replication factor takes precedence",
    "vendor extension": "a vendor's extension, which Apache Kafka does not read",
}
"""The sentence for each class of reasons in the table."""


@dataclass(frozen=True)
class _Pattern:
    scopes: frozenset[str]
    pattern: str
    names_keys: bool
    reason: str

    def fits(self, scope: str, key: str) -> bool:
        return scope in self.scopes and fnmatchcase(key, self.pattern)


@cache
def _patterns() -> tuple[_Pattern, ...]:
    with (TABLES / "reasons.csv").open(encoding="utf-8", newline="") as table:
        return tuple(
            _Pattern(frozenset(row["scopes"].split("|")), row["pattern"], row["names_keys"] == "yes", row["reason"])
            for row in csv.DictReader(table)
        )


def find_reason(scope: str, key: str) -> str | None:
    """Return the reason for which a setting does not matter, or None if no pattern fits the key."""
    for pattern in _patterns():
        if pattern.fits(scope, key):
            return REASONS[pattern.reason]
    return None


def names_key(scope: str, key: str) -> bool:
    """Tell whether the key is known by a pattern alone."""
    return any(pattern.names_keys and pattern.fits(scope, key) for pattern in _patterns())
