"""Deletion of records that makes brokers forget the producer of the records (semantics 3.5)."""

from __future__ import annotations

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.waiting import retries_outlast
from proofka.model.deployment.sequencing import Unknown
from proofka.model.faults import BREAKS_CONNECTIONS, Fault


def unknown_producer_is_refused(deployment: Deployment) -> bool:
    """Tell whether brokers refuse a number other than 0 from a producer that they do not know (before 2.5)."""
    sequencing = deployment.producer.sequencing
    return sequencing is not None and sequencing.unknown is not Unknown.APPENDED


def deletion_forgets_producer(deployment: Deployment) -> bool:
    """Tell whether a broker can forget its producer once the producer's records are deleted."""
    producer = deployment.producer
    starts = bool((BREAKS_CONNECTIONS | {Fault.REASSIGNMENT}) & deployment.faults.possible)
    matters = starts or unknown_producer_is_refused(deployment) or producer.older_transactions is not None
    return producer.idempotence and matters


def retries_outlast_records(deployment: Deployment) -> bool:
    """Tell whether a record can be retried after earlier records of its producer are deleted, and their producer
    forgotten."""
    return deletion_forgets_producer(deployment) and retries_outlast(deployment, deployment.durations.retention)
