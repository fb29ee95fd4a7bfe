"""``--fail-on``: the properties that decide how a check ends."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from proofka.checker.cli.errors import fail

if TYPE_CHECKING:
    from proofka.model.deployment.deployment import Deployment


def refuse_what_is_not_asked(names: Collection[str], deployments: Sequence[Deployment]) -> None:
    """End the command if a name is no property, or is a property that is not checked for any of the deployments.

    A script that fails on an unchecked property would never fail.
    """
    from proofka.model.deployment.hiding import printable
    from proofka.model.deployment.required_properties import ASKED_BY_DEFAULT, KNOWN_PROPERTIES

    asked = {*ASKED_BY_DEFAULT, *(name for one in deployments for name in one.require)}
    for name in names:
        if name not in KNOWN_PROPERTIES:
            fail(f"--fail-on {printable(name)}: unknown property; choose from {', '.join(KNOWN_PROPERTIES)}")
        if deployments and name not in asked:
            fail(f"--fail-on {name}: is not checked here, because nothing requires it; add --require {name}")
