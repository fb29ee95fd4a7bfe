"""The questions of which ``proofka certify`` and ``proofka check --certificate`` write no certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proofka.checker.cli.errors import fail

if TYPE_CHECKING:
    from proofka.model.deployment.deployment import Deployment


def refuse_any_number(deployment: Deployment) -> None:
    """End the command if a deployment is checked for any number of faults."""
    if deployment.faults.any_number:
        fail("--faults any: certificates are for a number of faults; name one with --faults N")
