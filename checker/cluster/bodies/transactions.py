"""Bodies of requests about producer ids, coordinators and transactions."""

from __future__ import annotations

from dataclasses import dataclass

from proofka.checker.cluster.bodies.place import Place, fields_of_message
from proofka.checker.cluster.frames import REQUEST, RESPONSE, Frame
from proofka.checker.cluster.messages import Fields

NO_PRODUCER = -1
"""Producer id and producer epoch of a producer that has none yet."""


@dataclass(frozen=True)
class FindCoordinatorRequest:
    """A question for coordinators; ``key_type`` is 0 for groups, 1 for transactions."""

    keys: tuple[str, ...]
    key_type: int


@dataclass(frozen=True)
class InitProducerIdRequest:
    """A request for a producer id; id and epoch are -1 where the producer has none, or the version says none."""

    transactional_id: str | None
    producer_id: int
    producer_epoch: int


@dataclass(frozen=True)
class InitProducerIdResponse:
    """A producer id with its epoch, or an error."""

    error_code: int
    producer_id: int
    producer_epoch: int


@dataclass(frozen=True)
class AddPartitionsToTxnRequest:
    """Partitions of one transaction. ``only_verifies`` tells whether a broker asks if they belong to it already."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    only_verifies: bool
    places: tuple[Place, ...]


@dataclass(frozen=True)
class EndTxnRequest:
    """The end of a transaction, as its producer asks for it."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    commits: bool


@dataclass(frozen=True)
class TransactionMarker:
    """The end of a transaction, as the coordinator tells it to the leaders of partitions."""

    producer_id: int
    producer_epoch: int
    commits: bool
    coordinator_epoch: int
    places: tuple[Place, ...]


def find_coordinator_request(frame: Frame) -> FindCoordinatorRequest:
    """Return the body of a FindCoordinator request. Raises UnreadableBody."""
    values = fields_of_message(frame, "FindCoordinator", REQUEST)
    keys = values["CoordinatorKeys"] if "CoordinatorKeys" in values else [values["Key"]]
    return FindCoordinatorRequest(keys=tuple(keys), key_type=values.get("KeyType", 0))


def init_producer_id_request(frame: Frame) -> InitProducerIdRequest:
    """Return the body of an InitProducerId request. Raises UnreadableBody."""
    values = fields_of_message(frame, "InitProducerId", REQUEST)
    return InitProducerIdRequest(
        transactional_id=values["TransactionalId"],
        producer_id=values.get("ProducerId", NO_PRODUCER),
        producer_epoch=values.get("ProducerEpoch", NO_PRODUCER),
    )


def init_producer_id_response(frame: Frame) -> InitProducerIdResponse:
    """Return the body of an InitProducerId response. Raises UnreadableBody."""
    values = fields_of_message(frame, "InitProducerId", RESPONSE)
    return InitProducerIdResponse(values["ErrorCode"], values["ProducerId"], values["ProducerEpoch"])


def add_partitions_to_txn_requests(frame: Frame) -> tuple[AddPartitionsToTxnRequest, ...]:
    """Return the body of an AddPartitionsToTxn request, an entry for each transaction. Raises UnreadableBody.

    Producers ask for one transaction; brokers ask the coordinator for several.
    """
    values = fields_of_message(frame, "AddPartitionsToTxn", REQUEST)
    prefix, transactions = ("", values["Transactions"]) if "Transactions" in values else ("V3AndBelow", [values])
    return tuple(
        AddPartitionsToTxnRequest(
            transactional_id=each[prefix + "TransactionalId"],
            producer_id=each[prefix + "ProducerId"],
            producer_epoch=each[prefix + "ProducerEpoch"],
            only_verifies=each.get("VerifyOnly", False),
            places=_places(each[prefix + "Topics"], "Partitions"),
        )
        for each in transactions
    )


def end_txn_request(frame: Frame) -> EndTxnRequest:
    """Return the body of an EndTxn request. Raises UnreadableBody."""
    values = fields_of_message(frame, "EndTxn", REQUEST)
    return EndTxnRequest(
        transactional_id=values["TransactionalId"],
        producer_id=values["ProducerId"],
        producer_epoch=values["ProducerEpoch"],
        commits=values["Committed"],
    )


def write_txn_markers_request(frame: Frame) -> tuple[TransactionMarker, ...]:
    """Return the body of a WriteTxnMarkers request, an entry for each transaction. Raises UnreadableBody."""
    values = fields_of_message(frame, "WriteTxnMarkers", REQUEST)
    return tuple(
        TransactionMarker(
            producer_id=each["ProducerId"],
            producer_epoch=each["ProducerEpoch"],
            commits=each["TransactionResult"],
            coordinator_epoch=each["CoordinatorEpoch"],
            places=_places(each["Topics"], "PartitionIndexes"),
        )
        for each in values["Markers"]
    )


def _places(topics: list[Fields], partitions: str) -> tuple[Place, ...]:
    return tuple(Place(topic["Name"], None, partition) for topic in topics for partition in topic[partitions])
