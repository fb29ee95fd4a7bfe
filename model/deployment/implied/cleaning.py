"""Records, markers and tombstones that the cleaner can remove from a compacted topic (semantics 10)."""

from __future__ import annotations

from proofka.model.deployment.compaction import KEEPS_ABORTED, Keys
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.expiry import records_expire_unread
from proofka.model.deployment.implied.waiting import clients_may_miss, may_get_too_old, outlasts_brokers


def cleans(deployment: Deployment) -> bool:
    """Tell whether the cleaner removes records: those that share a key, or can be aborted (semantics 10, D3 D6)."""
    share_keys = deployment.application.keys is not Keys.DISTINCT
    return deployment.cluster.compaction is not None and (share_keys or deployment.producer.transactional is not None)


def forgets_aborted(deployment: Deployment) -> bool:
    """Tell whether the cleaner can omit a transaction from the index of aborted transactions (before 3.1.1; 10, D7)."""
    compacts = deployment.cluster.compaction is not None and deployment.producer.transactional is not None
    return compacts and deployment.cluster.kafka < KEEPS_ABORTED


def drops_markers(deployment: Deployment) -> bool:
    """Tell whether the removal of a marker, or its omission from the index, can be visible (10, D6 D7)."""
    if deployment.cluster.compaction is None or deployment.producer.transactional is None:
        return False
    return forgets_aborted(deployment) or outlasts_brokers(deployment, deployment.durations.delete_retention)


def clients_miss_tombstones(deployment: Deployment) -> bool:
    """Tell whether a client can wait so long that the cleaner drops a tombstone, however soon brokers are back (10,
    D4)."""
    deletes = deployment.application.keys is Keys.DELETED
    return deletes and clients_may_miss(deployment, deployment.durations.delete_retention)


def drops_tombstones(deployment: Deployment) -> bool:
    """Tell whether a tombstone can be dropped before the consumer or a follower has it."""
    deletes = deployment.application.keys is Keys.DELETED
    away = deletes and outlasts_brokers(deployment, deployment.durations.delete_retention)
    return away or clients_miss_tombstones(deployment)


def reading_is_timed(deployment: Deployment) -> bool:
    """Tell whether records can disappear before the consumer reads them."""
    return records_expire_unread(deployment) or drops_tombstones(deployment)


def deletes_in_time_are_assumed(deployment: Deployment) -> bool:
    """Tell whether passes assume that tombstones are read in time; without compaction they are kept permanently."""
    counted = deployment.application.keys is not Keys.DELETED or clients_miss_tombstones(deployment)
    return not counted and may_get_too_old(deployment, deployment.durations.delete_retention)
