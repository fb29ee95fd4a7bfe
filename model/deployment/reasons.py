"""Why a setting cannot matter to any property of the model: a class of reasons for each pattern of keys.

``tables/reasons.csv`` is read top down, the first pattern that fits wins. A pattern with ``names_keys`` also makes
a key known that the table of defaults does not list (security, serialisers, listeners: names are open-ended).
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from model.deployment.defaults import TABLES

REASONS: dict[str, str] = {
    "addresses": "addresses do not change delivery; every client is assumed to find the brokers",
    "administration": "administration of topics is not part of a run; the topic exists and stays",
    "checkpoints": "checkpoints are assumed to be as old as they can be",
    "checksums": "records are assumed not to be corrupted",
    "committed offsets": "a committed offset lasts, unless the fault lost-offsets is named",
    "compaction": "the topic is not compacted",
    "when the cleaner comes": "where a topic is compacted, the cleaner is taken to come at any time, or never",
    "coordinator": "the coordinator keeps what it decides, unless the fault lost-transaction-state is named",
    "controller": "the controller quorum is assumed to be available and durable",
    "delete policy": "records are deleted when they are older than retention.ms",
    "deployment tools": "it tells where values come from, not what they are",
    "durations": "this duration is not part of the model yet",
    "existing topic": "the topic is assumed to exist",
    "formats": "record format and protocol are assumed to be those of the release",
    "interceptors": "interceptors are assumed to neither drop nor change records",
    "length of transactions": (
        "a transaction that takes too long is the fault transaction-timeout, where there are any, whatever its length"
    ),
    "monitoring": "monitoring does not change delivery",
    "names": "names do not change delivery",
    "no eligible leader replicas": "eligible leader replicas (ELR) are off",
    "no transactions": "the producer uses no transactions",
    "ZooKeeper": "ZooKeeper is assumed to be available, however brokers reach it",
    "one consumer": "who gets which partition changes nothing for one of them",
    "one partition": "one partition is modelled",
    "one topic": "one topic is modelled",
    "placement": "each replica is assumed to have a machine and a disk of its own",
    "planned moves": "whether leadership is moved on purpose is an assumption: the fault leader-move",
    "producer state": "a broker's memory of a producer is assumed to outlast the run",
    "reading from the leader": "the consumer is assumed to read from the leader",
    "retention": "records are deleted for their age alone (retention.ms), as soon as they are old enough",
    "security": "security does not change delivery; every request is assumed to be authorised",
    "serialisation": "serialisation and compression do not change delivery; every record is assumed to be readable",
    "share groups": "share groups are not used",
    "sizes": "every record is assumed to fit",
    "throughput": "memory and throughput do not change which deliveries are possible",
    "tiered storage": "the topic does not use tiered storage",
    "timed commit": "some poll comes at the end of the interval, however long that is",
    "flush scheduler": "timed flushes happen only where this is set, and a power loss may always come before one",
    "timed flush": (
        "a power loss may always come before a timed flush, and without log.flush.scheduler.interval.ms there is none"
    ),
    "timestamps": "every record's timestamp is assumed to be acceptable",
    "topic outranks": "the topic's own replication factor takes precedence",
    "vendor extension": "an extension of a vendor; Apache Kafka does not read it",
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
    """Why a setting does not matter, or None when no pattern fits the key."""
    for pattern in _patterns():
        if pattern.fits(scope, key):
            return REASONS[pattern.reason]
    return None


def names_key(scope: str, key: str) -> bool:
    """Whether the key is known by its pattern alone."""
    return any(pattern.names_keys and pattern.fits(scope, key) for pattern in _patterns())
