"""The state of compaction besides the holes in the logs (semantics 10, D3 D4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from proofka.model.deployment.compaction import Keys
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.cleaning import cleans, clients_miss_tombstones, drops_markers, drops_tombstones
from proofka.model.language import Variable, flag, present
from proofka.model.state.transactions import number_of_transactions

REMOVED = "removed"
"""The name of the slot field that says whether, and why, the cleaner has removed the entry; 0 where it stands. All
other fields are kept."""

REPLACED = 1
"""The value of ``removed`` for an entry removed for what stood behind it."""

DROPPED = 2
"""The value of ``removed`` for a tombstone removed for its age."""


MARKER = "marker"
"""The name of the slot field that says what the cleaner has done to a marker, where that can be seen."""


class Marker(IntEnum):
    """The state of a marker in one broker's log (semantics 10, D6).

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
    """The variables of compaction. All records have one key, or no two records share a key.

    ``tombstones`` are the batches that delete the key (by number). ``passed``, by record: the group never processed the
    record, and went past the place from which the cleaner had rightly removed it. Only records that the cleaner removes
    for a later one have this flag, so the last one has none unless it can be dropped. ``marked``: the cleaner has
    passed over a tombstone, and its time counts from then; None where that does not decide how long it is kept.
    ``unserved``: since then an outage of brokers can have kept the consumer from reading for longer than clients alone
    ever are; None where clients alone can be away as long. ``expiring``, by transaction: a cleaner has passed over its
    marker, which is kept for delete.retention.ms at least from then on; empty where nobody sees that.
    """

    tombstones: frozenset[int]
    passed: tuple[Variable, ...]
    marked: Variable | None
    unserved: Variable | None
    expiring: tuple[Variable, ...]

    @property
    def variables(self) -> tuple[Variable, ...]:
        return (*self.passed, *present(self.marked, self.unserved), *self.expiring)


def declare_compacted(deployment: Deployment) -> Compacted | None:
    """Return the variables of compaction, with nothing removed yet; None where the cleaner removes no record."""
    if not cleans(deployment) or deployment.cluster.compaction is None:
        return None
    bounds = deployment.bounds
    last = bounds.records - 1
    deletes = deployment.application.keys is Keys.DELETED
    drops = drops_tombstones(deployment)
    # The records of the last transaction are not followed, and its marker stays.
    ended = number_of_transactions(deployment) - 1 if drops_markers(deployment) else 0
    return Compacted(
        frozenset(range(last, bounds.records * bounds.sends, bounds.records)) if deletes else frozenset(),
        tuple(flag(f"passed_{record}") for record in range(_may_be_passed(deployment))),
        flag("tombstone_marked") if drops and deployment.cluster.compaction.horizon_from_cleaning else None,
        flag("tombstone_unserved") if drops and not clients_miss_tombstones(deployment) else None,
        tuple(flag(f"marker_{number}_expires") for number in range(ended)),
    )


def _may_be_passed(deployment: Deployment) -> int:
    """Return the number of records that can be gone rightly: the last one counts only where it can be dropped."""
    if deployment.application.keys is Keys.DISTINCT:
        return 0
    return deployment.bounds.records if drops_tombstones(deployment) else deployment.bounds.records - 1
