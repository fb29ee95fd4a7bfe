"""What the cleaner has done, beside the holes in the logs (semantics 10, D3 D4)."""

from __future__ import annotations

from dataclasses import dataclass

from model.deployment.compaction import Keys
from model.deployment.deployment import Deployment
from model.language import Variable, flag

REMOVED = "removed"
"""The field of a slot that says whether the cleaner has taken out what stood there: 0, or why. All else is kept."""

REPLACED = 1
"""It was removed for what stood behind it."""

DROPPED = 2
"""It was a tombstone, and removed for its age."""


@dataclass(frozen=True)
class Compacted:
    """What is remembered of compaction. All records have one key.

    ``tombstones`` are the batches that delete it (by number). ``passed``, by record: the group never processed it, and
    went past the place from which the cleaner had rightly removed it; of a record that the cleaner removes for a later
    one only, so that the last one has none unless it can be dropped. ``marked``: the cleaner has passed over a
    tombstone, since when its time counts; None where that does not decide how long it is kept. ``unserved``: since then
    the consumer may have been kept from reading for longer than clients ever are; None where clients alone may be.
    """

    tombstones: frozenset[int]
    passed: tuple[Variable, ...]
    marked: Variable | None
    unserved: Variable | None

    @property
    def variables(self) -> tuple[Variable, ...]:
        return (*self.passed, *(one for one in (self.marked, self.unserved) if one is not None))


def declare_compacted(deployment: Deployment) -> Compacted | None:
    """Nothing was removed yet; None where the cleaner takes out no record."""
    if not deployment.cleans or deployment.compaction is None:
        return None
    bounds = deployment.bounds
    last = bounds.records - 1
    deletes = deployment.keys is Keys.DELETED
    drops = deployment.drops_tombstones
    return Compacted(
        frozenset(range(last, bounds.records * bounds.sends, bounds.records)) if deletes else frozenset(),
        tuple(flag(f"passed_{record}") for record in range(bounds.records if drops else last)),
        flag("tombstone_marked") if drops and deployment.compaction.horizon_from_cleaning else None,
        flag("tombstone_unserved") if drops and not deployment.clients_miss_tombstones else None,
    )
