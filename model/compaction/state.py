"""What the cleaner has done, beside the holes in the logs (semantics 10, D3 D4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from model.deployment.compaction import Keys
from model.deployment.deployment import Deployment
from model.language import Variable, flag
from model.transactions.state import number_of_transactions

REMOVED = "removed"
"""The field of a slot that says whether the cleaner has taken out what stood there: 0, or why. All else is kept."""

REPLACED = 1
"""It was removed for what stood behind it."""

DROPPED = 2
"""It was a tombstone, and removed for its age."""


MARKER = "marker"
"""The field of a slot that says what the cleaner has made of a marker, where that may be seen."""


class Marker(IntEnum):
    """What has become of a marker in one broker's log (semantics 10, D6).

    ``UNLISTED``: it stands, and the cleaner has left it out of the index of aborted transactions. ``DROPPED``: it was
    removed; the broker had it, and has its transaction as ended. ``UNSEEN``: it was removed before the broker copied
    the log.
    """

    STANDS = 0
    UNLISTED = 1
    DROPPED = 2
    UNSEEN = 3


@dataclass(frozen=True)
class Compacted:
    """What is remembered of compaction. All records have one key, or none shares its own.

    ``tombstones`` are the batches that delete it (by number). ``passed``, by record: the group never processed it, and
    went past the place from which the cleaner had rightly removed it; of a record that the cleaner removes for a later
    one only, so that the last one has none unless it can be dropped. ``marked``: the cleaner has passed over a
    tombstone, since when its time counts; None where that does not decide how long it is kept. ``unserved``: since then
    the consumer may have been kept from reading for longer than clients ever are; None where clients alone may be.
    ``expiring``, by transaction: a cleaner has passed over its marker, since when that is kept for delete.retention.ms
    at least; empty where that is seen by nobody.
    """

    tombstones: frozenset[int]
    passed: tuple[Variable, ...]
    marked: Variable | None
    unserved: Variable | None
    expiring: tuple[Variable, ...]

    @property
    def variables(self) -> tuple[Variable, ...]:
        marks = (one for one in (self.marked, self.unserved) if one is not None)
        return (*self.passed, *marks, *self.expiring)


def declare_compacted(deployment: Deployment) -> Compacted | None:
    """Nothing was removed yet; None where the cleaner takes out no record."""
    if not deployment.cleans or deployment.compaction is None:
        return None
    bounds = deployment.bounds
    last = bounds.records - 1
    deletes = deployment.keys is Keys.DELETED
    drops = deployment.drops_tombstones
    # The last transaction is of records that are not followed, and keeps its marker.
    ended = number_of_transactions(deployment) - 1 if deployment.drops_markers else 0
    return Compacted(
        frozenset(range(last, bounds.records * bounds.sends, bounds.records)) if deletes else frozenset(),
        tuple(flag(f"passed_{record}") for record in range(_may_be_passed(deployment))),
        flag("tombstone_marked") if drops and deployment.compaction.horizon_from_cleaning else None,
        flag("tombstone_unserved") if drops and not deployment.clients_miss_tombstones else None,
        tuple(flag(f"marker_{number}_expires") for number in range(ended)),
    )


def _may_be_passed(deployment: Deployment) -> int:
    """So many records may be gone rightly: the last one only where it can be dropped."""
    if deployment.keys is Keys.DISTINCT:
        return 0
    return deployment.bounds.records if deployment.drops_tombstones else deployment.bounds.records - 1
