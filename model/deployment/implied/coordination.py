"""Possible failures between a producer and the coordinator of its transactions (semantics 4.1, 11.4, 11.7)."""

from __future__ import annotations

from proofka.model.deployment.choices import Sends
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.sender import ClientRecovery
from proofka.model.faults import Fault

KEEPS_COORDINATOR_AWAY = frozenset(
    {Fault.REASSIGNMENT, Fault.SHUTDOWN, Fault.LOG_DIR_FAILURE, Fault.LOST_TRANSACTION_STATE}
)
"""The faults after which the model does not limit the time until a coordinator serves again (docs/semantics.md)."""


def coordinator_outage_is_limited(deployment: Deployment) -> bool:
    """Tell whether the time until a coordinator of transactions serves again after a fault has a limit (11.1)."""
    return not deployment.faults.possible & KEEPS_COORDINATOR_AWAY


def transactions_split(deployment: Deployment) -> bool:
    """Tell whether the coordinator can mistake a later part of a transaction for another transaction (semantics 4.1,
    11.7)."""
    producer = deployment.producer
    unfenced = not producer.timeouts_fence and Fault.TRANSACTION_TIMEOUT in deployment.faults.possible
    return producer.sender.recovery is ClientRecovery.LIBRDKAFKA_BUMP_WITHIN or unfenced


def commits_without_refused(deployment: Deployment) -> bool:
    """Tell whether a transaction can be committed without a record that the client's full buffer refused (11.1).

    An application that waits for each send sees the failure, and aborts. Other applications rely on
    ``commitTransaction()``, which Kafka's documentation says reports every failed send.
    """
    transactional = deployment.producer.transactional
    survives = transactional is not None and transactional.survives_refused_send
    waits = deployment.application.sends is Sends.SYNC
    return survives and not waits and Fault.FULL_BUFFER in deployment.faults.possible


def transaction_state_may_be_lost(deployment: Deployment) -> bool:
    """Tell whether the coordinator of the producer's transactions can lose its state (semantics 11.4)."""
    return deployment.producer.transactional is not None and Fault.LOST_TRANSACTION_STATE in deployment.faults.possible
