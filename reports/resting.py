"""What passes rest on that no file says: assumptions with another value of which a property may fail.

``tables/resting.csv`` says of each such assumption which value is worse and for which properties. What a search with
other values found (:mod:`checker.sensitivity`) is told apart: it takes longer than an answer may.
"""

from __future__ import annotations

from collections.abc import Iterator

from model.deployment import with_assumption
from model.deployment.choices import OffsetReset
from model.deployment.deployment import Deployment
from model.deployment.errors import DeploymentError
from model.deployment.setting import Setting
from model.faults import Fault
from properties.verdict import Result, Status
from reports import wording
from reports.inherent import table


def resting(deployment: Deployment, result: Result) -> Iterator[str]:
    """Tell of required properties that hold on which assumptions that rests."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for verdict in result.verdicts:
        if verdict.required and verdict.status is Status.HOLDS:
            on = tuple(_assumed(deployment, verdict.property))
            if on:
                groups.setdefault(on, []).append(verdict.property)
    for assumptions, properties in groups.items():
        holds = "holds" if len(properties) == 1 else "hold"
        yield (
            f"{wording.listed(properties)} {holds} under assumptions that no file states (--assume): "
            f"{wording.listed(list(assumptions))}"
        )


def _assumed(deployment: Deployment, name: str) -> Iterator[str]:
    settings = {setting.key: setting for setting in deployment.assumptions}
    for row in table("resting"):
        setting = settings.get(row["assumption"])
        if setting is not None and name in row["properties"].split() and _may_matter(deployment, setting, row["worse"]):
            yield f"{row['means']} ({setting.key}={setting.value})"


def _may_matter(deployment: Deployment, setting: Setting, worse: str) -> bool:
    """Tell whether the worse value is possible here, and makes a difference at all."""
    if setting.value == worse:
        return False
    if setting.key == "group" and deployment.offset_reset is OffsetReset.EARLIEST:
        return False
    if setting.key == "on_processing_error" and Fault.FAILED_PROCESSING not in deployment.possible_faults:
        return False
    try:
        with_assumption(deployment, setting.key, worse)
    except DeploymentError:
        return False
    return True
