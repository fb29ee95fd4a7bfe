"""The bodies of frames in the words that steering needs, equal for all versions of the protocol."""

from __future__ import annotations

from proofka.checker.cluster.bodies.controlling import (
    AlteredPartition,
    AlterPartitionRequest,
    BrokerHeartbeatRequest,
    alter_partition_request,
    broker_heartbeat_request,
)
from proofka.checker.cluster.bodies.fetching import (
    FetchedPartition,
    FetchRequest,
    FetchResponse,
    PartitionFetch,
    fetch_request,
    fetch_response,
)
from proofka.checker.cluster.bodies.metadata import PartitionLeader, metadata_response
from proofka.checker.cluster.bodies.offsets import (
    CommittedOffset,
    OffsetCommitRequest,
    offset_commit_request,
    txn_offset_commit_request,
)
from proofka.checker.cluster.bodies.place import Place, Topic
from proofka.checker.cluster.bodies.producing import (
    ProduceAnswer,
    ProducedPartition,
    ProduceRequest,
    ProduceResponse,
    produce_request,
    produce_response,
)
from proofka.checker.cluster.bodies.transactions import (
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    FindCoordinatorRequest,
    InitProducerIdRequest,
    InitProducerIdResponse,
    TransactionMarker,
    add_partitions_to_txn_requests,
    end_txn_request,
    find_coordinator_request,
    init_producer_id_request,
    init_producer_id_response,
    write_txn_markers_request,
)
from proofka.checker.cluster.messages import UnreadableBody, read_body

__all__ = [
    "AddPartitionsToTxnRequest",
    "AlterPartitionRequest",
    "AlteredPartition",
    "BrokerHeartbeatRequest",
    "CommittedOffset",
    "EndTxnRequest",
    "FetchRequest",
    "FetchResponse",
    "FetchedPartition",
    "FindCoordinatorRequest",
    "InitProducerIdRequest",
    "InitProducerIdResponse",
    "OffsetCommitRequest",
    "PartitionFetch",
    "PartitionLeader",
    "Place",
    "ProduceAnswer",
    "ProduceRequest",
    "ProduceResponse",
    "ProducedPartition",
    "Topic",
    "TransactionMarker",
    "UnreadableBody",
    "add_partitions_to_txn_requests",
    "alter_partition_request",
    "broker_heartbeat_request",
    "end_txn_request",
    "fetch_request",
    "fetch_response",
    "find_coordinator_request",
    "init_producer_id_request",
    "init_producer_id_response",
    "metadata_response",
    "offset_commit_request",
    "produce_request",
    "produce_response",
    "read_body",
    "txn_offset_commit_request",
    "write_txn_markers_request",
]
