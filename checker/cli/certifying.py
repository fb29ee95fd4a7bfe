"""Write the certificate of a check, for ``proofka certify`` and ``proofka check --certificate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from checker.cli.errors import fail

if TYPE_CHECKING:
    from checker.certificates.certifying import Certified
    from checker.check import Run
    from model.deployment.deployment import Deployment
    from properties.verdict import Result


def refuse_any_number(deployment: Deployment) -> None:
    """End the command if a deployment is checked for any number of faults."""
    if deployment.faults.any_number:
        fail("--faults any: certificates are for a number of faults; name one with --faults N")


def certified(run: Run, result: Result, file: Path) -> Certified:
    """Write the certificate of a finished check. End the command if the states do not fit into a file."""
    from checker.certificates.archive import TooLarge
    from checker.certificates.certifying import certify

    try:
        return certify(run, result, file)
    except TooLarge as error:
        fail(f"{file}: not written: {error}")
