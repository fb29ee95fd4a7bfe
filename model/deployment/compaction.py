"""Compaction of a topic, and the keys of its records (semantics 10, D3 D4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Keys(StrEnum):
    """The keys of the modelled records.

    ``distinct``: each record has its own key. ``updated``: all records have the same key. ``deleted``: all records have
    the same key, and the last sent record has no value: it is a tombstone, which deletes the key.
    """

    DISTINCT = "distinct"
    UPDATED = "updated"
    DELETED = "deleted"


KEEPS_ABORTED = (3, 1, 1)
"""The first release whose cleaner keeps every transaction in the index of aborted transactions (10, D7;
KAFKA-13727)."""


@dataclass(frozen=True)
class Compaction:
    """The release's way of compaction.

    ``below_high_watermark``: the cleaner skips uncommitted records (3.1, KAFKA-13194). ``horizon_from_cleaning``:
    delete.retention.ms counts from the cleaner's first pass over a tombstone (3.1, KIP-534), otherwise from the time
    when the tombstone was written.
    """

    below_high_watermark: bool
    horizon_from_cleaning: bool
