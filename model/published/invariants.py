"""The invariants of the published protocols, each as the term that holds where it is violated."""

from __future__ import annotations

from collections.abc import Mapping

import z3

from proofka.model.language.terms import And, Implies, Not, Or
from proofka.model.published.cluster import NOBODY, Cluster, Replica


def type_ok_violated(cluster: Cluster) -> z3.BoolRef:
    """Tell whether some variable is out of its domain, or a log has a record above an empty slot."""
    domains = [variable.domain for variable in cluster.variables]
    gapless = [
        Implies(replica.log.has(offset + 1), replica.log.has(offset))
        for replica in cluster.replicas
        for offset in replica.log.offsets[:-1]
    ]
    return Not(And(*domains, *gapless))


def weak_isr_violated(cluster: Cluster) -> z3.BoolRef:
    """Tell whether a member of a presumed leader's *own* ISR lacks a record below the leader's high watermark."""
    return Or(
        *(
            And(leader.counts_in_sync(member), misses)
            for leader in cluster.replicas
            for member in cluster.replicas
            for misses in _misses_committed(cluster, leader, member)
        )
    )


def strong_isr_violated(cluster: Cluster) -> z3.BoolRef:
    """Tell whether a member of the *quorum's* ISR lacks a record below a presumed leader's high watermark."""
    return Or(
        *(
            And(cluster.in_quorum_isr(member), misses)
            for leader in cluster.replicas
            for member in cluster.replicas
            for misses in _misses_committed(cluster, leader, member)
        )
    )


def _misses_committed(cluster: Cluster, leader: Replica, member: Replica) -> list[z3.BoolRef]:
    """Return, per offset, the condition that logs differ there, below a presumed leader's high watermark."""
    return [
        And(
            cluster.presumes_leadership(leader),
            leader.high_watermark.term > offset,
            Not(leader.log.agrees_at(offset, member.log)),
        )
        for offset in leader.log.offsets
    ]


def leader_in_isr_violated(cluster: Cluster) -> z3.BoolRef:
    """Tell whether the quorum's leader is not in the quorum's ISR; taken literally, also wherever nobody leads."""
    outside = [
        And(cluster.quorum_leader == replica.number, Not(cluster.in_quorum_isr(replica)))
        for replica in cluster.replicas
    ]
    return Or(cluster.quorum_leader == NOBODY, *outside)


def violated(cluster: Cluster) -> Mapping[str, z3.BoolRef]:
    """Return, by invariant, the term that is true in the states that violate the invariant."""
    return {
        "TypeOk": type_ok_violated(cluster),
        "WeakIsr": weak_isr_violated(cluster),
        "StrongIsr": strong_isr_violated(cluster),
        "LeaderInIsr": leader_in_isr_violated(cluster),
    }
