"""The choice of the way in which records are sent, by the producer's settings and its client's release."""

from __future__ import annotations

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.coordination import commits_without_refused
from proofka.model.producing.sending_alone import SendingAlone
from proofka.model.producing.sending_before_3_2 import SendingBefore32
from proofka.model.producing.sending_in_transactions import SendingInTransactions
from proofka.model.state.sending import Sending


def sending_of(deployment: Deployment) -> Sending:
    """Return the deployment's way of sending: the only place that asks for it."""
    if deployment.producer.transactional is None:
        return SendingAlone()
    return SendingBefore32() if commits_without_refused(deployment) else SendingInTransactions()
