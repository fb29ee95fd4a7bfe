"""``--fail-on``: the properties that decide how a check ends."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from checker.cli.errors import fail

if TYPE_CHECKING:
    from model.deployment.deployment import Deployment


def refuse_what_is_not_asked(names: Collection[str], deployments: Sequence[Deployment]) -> None:
    """End the command where a name is no property, or one that is checked of no deployment here.

    A script that fails on a property which nobody asks about would never fail.
    """
    from model.deployment.hiding import printable
    from model.deployment.required_properties import ASKED_BY_DEFAULT, KNOWN_PROPERTIES

    asked = {*ASKED_BY_DEFAULT, *(name for one in deployments for name in one.require)}
    for name in names:
        if name not in KNOWN_PROPERTIES:
            fail(f"--fail-on {printable(name)}: unknown property; choose from {', '.join(KNOWN_PROPERTIES)}")
        if deployments and name not in asked:
            fail(f"--fail-on {name}: is not checked here, for nothing requires it; add --require {name}")
