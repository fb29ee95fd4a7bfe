"""The question of a deployment, independent of its names and sources."""

from __future__ import annotations

from dataclasses import replace

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.outages import answers_may_be_late


def question(deployment: Deployment) -> Deployment:
    """Return the deployment without names, origins, notes and requirements: the rest decides every verdict.

    That followers copy newer epochs decides something only where answers can be late. Otherwise two releases with this
    one difference ask the same.
    """
    said = replace(deployment, name="", client="", settings=(), ignored=(), notes=(), require=(), profile=None)
    cluster = replace(deployment.cluster, copies_newer_epochs=answers_may_be_late(deployment))
    return replace(said, given=None, cluster=cluster)
