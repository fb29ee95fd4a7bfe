"""Failures of another partition of the producer, which end the numbers of the modelled partition (semantics 3.4, 4)."""

from __future__ import annotations

from proofka.model.deployment.deployment import Deployment
from proofka.model.faults import Fault


def fails_elsewhere(deployment: Deployment) -> bool:
    """Tell whether another partition of the idempotent producer can fail and end the numbers of this one (semantics
    3.4, 4)."""
    return deployment.producer.idempotence and Fault.FAILURE_ELSEWHERE in deployment.faults.possible
