"""Records that the application processes again, or leaves behind, after a failure (semantics 12.1)."""

from __future__ import annotations

from proofka.model.deployment.choices import OnProcessingError, Processing
from proofka.model.deployment.deployment import Deployment
from proofka.model.faults import Fault


def retries_processing(deployment: Deployment) -> bool:
    """Tell whether the application can process the same record again without limit."""
    again = deployment.application.on_processing_error in (OnProcessingError.RETRY, OnProcessingError.RETRY_LAST)
    return again and Fault.FAILED_PROCESSING in deployment.faults.possible


def goes_back_to_last(deployment: Deployment) -> bool:
    """Tell whether the consumer can go back to the last failed record, past an earlier failed one (12.1)."""
    application = deployment.application
    fails = Fault.FAILED_PROCESSING in deployment.faults.possible and application.processing is Processing.HANDED_OFF
    return fails and application.on_processing_error is OnProcessingError.RETRY_LAST


def forwards_unconfirmed(deployment: Deployment) -> bool:
    """Tell whether failed records are written to another topic without waiting for the acknowledgement (12.1)."""
    fails = Fault.FAILED_PROCESSING in deployment.faults.possible
    return fails and deployment.application.on_processing_error is OnProcessingError.FORWARD_UNCONFIRMED
