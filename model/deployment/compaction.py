"""How a topic is compacted, and what keys its records have (semantics 10, D3 D4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Keys(StrEnum):
    """The keys of the records that are followed.

    ``distinct``: each has a key of its own. ``updated``: all have one key. ``deleted``: so they have, and the last one
    sent has no value: it is a tombstone, which deletes the key.
    """

    DISTINCT = "distinct"
    UPDATED = "updated"
    DELETED = "deleted"


KEEPS_ABORTED = (3, 1, 1)
"""From here on the cleaner leaves no transaction out of the index of those that are aborted (10, D7; KAFKA-13727)."""


@dataclass(frozen=True)
class Compaction:
    """What the release makes of compaction.

    ``below_high_watermark``: the cleaner leaves alone what is not committed yet (3.1, KAFKA-13194).
    ``horizon_from_cleaning``: delete.retention.ms counts from when the cleaner first passed over a tombstone (3.1,
    KIP-534), else from when it was written.
    """

    below_high_watermark: bool
    horizon_from_cleaning: bool
