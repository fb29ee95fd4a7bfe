"""The brokers, the controller and the topic of a deployment."""

from __future__ import annotations

from dataclasses import dataclass

from model.deployment.compaction import Compaction
from model.deployment.truncation import Truncation


@dataclass(frozen=True)
class Cluster:
    """The effective settings of brokers and topic, and what their release does."""

    kafka: tuple[int, int, int]  # release of the brokers, e.g. (4, 0, 0)
    replicas: int
    min_insync_replicas: int  # effective: capped at `replicas` from 3.7 on (semantics 2)
    zookeeper: bool  # the brokers use ZooKeeper (to 3.9), not KRaft (from 3.3)
    high_watermark_needs_min_isr: bool  # from 3.7 on (semantics 2, R2)
    eligible_leader_replicas: bool  # ELR (KIP-966): replicas that left the ISR below min ISR can lead (6.3)
    unclean_leader_election: bool  # as the release honours it (semantics 2: ignored in KRaft 3.3-3.8)
    restart_before_fenced: bool  # 3.3-3.9: a new incarnation can keep its ISR seat (semantics 6.4)
    old_fetches_count: bool  # fetches before a replica's restart can bring it into the ISR (6.2, KIP-903)
    new_replica_suffices: bool  # a new replica suffices to remove a moved one (KRaft before 3.8; 6.8, KAFKA-15665)
    copies_newer_epochs: bool  # a follower copies epochs newer than its fetch (to 3.9.0, in 4.0.0; 6.1, KAFKA-18723)
    believes_any_fetch: bool  # even a client's, in the name of a follower (before 1.0.1; 6.1, CVE-2018-1288)
    truncation: Truncation  # a follower's reconciliation of its log with a new leader's (semantics 8)
    reads_may_overrun: bool  # a read can return a record above the high watermark (1.1 to 2.5.0; 6.1, KAFKA-9835)
    mends_of_2_0_1: bool  # of followers and of leaders' answers (8; KAFKA-7164, KAFKA-7128, KAFKA-7414, KAFKA-7415)
    offsets_age_in_use: bool  # committed offsets expire by the age of the commit (before 2.1; 12, KIP-211)
    loaded_offsets_expire: bool  # offsets that a coordinator has loaded expire at once (2.1; 12, KAFKA-8069)
    offsets_applied_late: bool  # a transaction's, even after the next transaction's come (11.3, KAFKA-17507)
    fenced_may_join: bool  # a replica that the controller has lost can join the ISR (before 3.3; 6.2, KIP-841)
    compaction: Compaction | None  # the topic's compaction; None if it is not compacted (semantics 10)
    flush_messages: int | None  # force to disk after this many records; None = left to the operating system
    deletes_for_size: bool  # records are also deleted when the log exceeds retention.bytes (10, D1)
    followers_wait_for_bytes: bool  # replica.fetch.min.bytes is more than one
