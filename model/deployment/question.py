"""What a deployment asks, apart from how it came to be said."""

from __future__ import annotations

from dataclasses import replace

from model.deployment.deployment import Deployment


def question(deployment: Deployment) -> Deployment:
    """The deployment without names, origins, notes and what is required of it: what is left decides every verdict."""
    said = replace(deployment, name="", client="", settings=(), ignored=(), notes=(), require=(), profile=None)
    return replace(said, given=None)
