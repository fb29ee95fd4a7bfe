"""The time at which a member that lives on gives up its partition (semantics 4.1, 12)."""

from __future__ import annotations

from proofka.model.deployment.choices import Rebalances
from proofka.model.deployment.deployment import Deployment


def gives_up_at_any_time(deployment: Deployment) -> bool:
    """Tell whether the client can give up a partition while the application processes its records."""
    rebalancing, application = deployment.consumer.rebalancing, deployment.application
    in_background = rebalancing.in_background and application.rebalances is Rebalances.ANY_TIME
    return rebalancing.at_any_time or in_background
