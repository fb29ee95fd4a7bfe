"""Compare the known defects that the passes of a result name with the register of this version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from proofka.model.deployment.deployment import Deployment
from proofka.properties.known_defects.beside import known_defects


def verify_known_defects(
    deployment: Deployment, document: Mapping[str, Any]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a line if every pass names the defects that this version names, or a line for each pass that does not.

    The first tuple has the lines of what agrees, and the second tuple has the lines of what differs.

    A difference is no proof of a changed result: the register of defects grows between versions of one model.
    """
    passes = [verdict for verdict in document["verdicts"] if verdict["status"] == "holds"]
    unequal = tuple(line for verdict in passes if (line := _difference(deployment, verdict)))
    if unequal or not passes:
        return (), unequal
    return (f"known defects: passes name those that this version names ({len(passes)} compared)",), ()


def _difference(deployment: Deployment, verdict: Mapping[str, Any]) -> str | None:
    """Return how the known defects of a verdict differ from those of this version, or None."""
    named = {one["id"]: one for one in verdict.get("known_defects", ())}
    here = {one.id: asdict(one) for one in known_defects(deployment, verdict["property"])}
    ways = {
        "lacks": here.keys() - named.keys(),
        "adds": named.keys() - here.keys(),
        "describes differently": {name for name in named.keys() & here.keys() if named[name] != here[name]},
    }
    told = [f"{how} {', '.join(sorted(names))}" for how, names in ways.items() if names]
    if not told:
        return None
    return f"{verdict['property']}: its known defects are not those of this version: the result {', and '.join(told)}"
