"""Failures of another partition of the producer, which end the numbers of the modelled partition (semantics 3.4, 4)."""

from __future__ import annotations

from model.deployment.deployment import Deployment
from model.faults import Fault


def fails_elsewhere(deployment: Deployment) -> bool:
    """Tell whether another partition of the idempotent producer can fail and end the numbers of this one (semantics
    3.4, 4)."""
    return deployment.producer.idempotence and Fault.FAILURE_ELSEWHERE in deployment.faults.possible


def follows_epoch(deployment: Deployment) -> bool:
    """Tell whether this partition follows a failure in another one later: once nothing is in flight (Java from 2.5 on),
    or by rewinding."""
    producer = deployment.producer
    is_java = not (producer.drains or producer.numbers_ahead or producer.takes_new_ids)
    return fails_elsewhere(deployment) and (producer.rewinds or is_java)


def numbers_on(deployment: Deployment) -> bool:
    """Tell whether this partition can then continue its numbers in the new epoch (Java 2.5 to 2.7.0; KAFKA-12152)."""
    return follows_epoch(deployment) and deployment.producer.sender.keeps_numbers
