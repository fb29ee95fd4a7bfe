"""What is claimed of the published protocols; each claim as the term that holds where it is violated."""

from __future__ import annotations

from collections.abc import Mapping

import z3

from model.published.cluster import NOBODY, Cluster, Replica


def type_ok_violated(cluster: Cluster) -> z3.BoolRef:
    """Some variable is out of its domain, or a log has a record above an empty slot."""
    domains = [variable.domain for variable in cluster.variables]
    gapless = [
        z3.Implies(replica.log.has(offset + 1), replica.log.has(offset))
        for replica in cluster.replicas
        for offset in replica.log.offsets[:-1]
    ]
    return z3.Not(z3.And(*domains, *gapless))


def weak_isr_violated(cluster: Cluster) -> z3.BoolRef:
    """Below the high watermark of a replica that presumes to lead, a member of its *own* ISR lacks a record."""
    return z3.Or(
        *(
            z3.And(leader.counts_in_sync(member), misses)
            for leader in cluster.replicas
            for member in cluster.replicas
            for misses in _misses_committed(cluster, leader, member)
        )
    )


def strong_isr_violated(cluster: Cluster) -> z3.BoolRef:
    """Below the high watermark of a replica that presumes to lead, a member of the *quorum's* ISR lacks a record."""
    return z3.Or(
        *(
            z3.And(cluster.in_quorum_isr(member), misses)
            for leader in cluster.replicas
            for member in cluster.replicas
            for misses in _misses_committed(cluster, leader, member)
        )
    )


def _misses_committed(cluster: Cluster, leader: Replica, member: Replica) -> list[z3.BoolRef]:
    """Per offset: it is below the high watermark of a presumed leader, and the logs do not agree there."""
    return [
        z3.And(
            cluster.presumes_leadership(leader),
            leader.high_watermark.term > offset,
            z3.Not(leader.log.agrees_at(offset, member.log)),
        )
        for offset in leader.log.offsets
    ]


def leader_in_isr_violated(cluster: Cluster) -> z3.BoolRef:
    """The quorum's leader is not in the quorum's ISR; taken literally, so wherever nobody leads too."""
    outside = [
        z3.And(cluster.quorum_leader == replica.number, z3.Not(cluster.in_quorum_isr(replica)))
        for replica in cluster.replicas
    ]
    return z3.Or(cluster.quorum_leader == NOBODY, *outside)


def violated(cluster: Cluster) -> Mapping[str, z3.BoolRef]:
    """Invariant -> the term that is true in the states that violate it."""
    return {
        "TypeOk": type_ok_violated(cluster),
        "WeakIsr": weak_isr_violated(cluster),
        "StrongIsr": strong_isr_violated(cluster),
        "LeaderInIsr": leader_in_isr_violated(cluster),
    }
