"""Assumptions of this deployment behind passes: with another value of the assumption the property may fail.

``tables/resting.csv`` has the worse value of each such assumption and the properties. Reports print the results of a
search with other values (:mod:`checker.sensitivity`) separately, because this search takes longer than an answer.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofka.model.deployment import with_assumption
from proofka.model.deployment.choices import OffsetReset
from proofka.model.deployment.consumer_rules import GROUP
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.known_properties import properties_about
from proofka.model.deployment.setting import Setting
from proofka.model.faults import Fault
from proofka.properties.modelling_assumption import AssumptionKind
from proofka.properties.verdict import Result, Status
from proofka.reports import wording
from proofka.reports.inherent import table

WITHOUT_GROUP = "without it, subscribe() and commits fail with InvalidGroupIdException"
"""The consequence if the application sets no group (rule C05)."""


def resting(deployment: Deployment, result: Result) -> Iterator[str]:
    """Yield the required properties that hold, with the assumptions on which their verdicts depend."""
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


def count_of_assumptions(deployment: Deployment, result: Result) -> int:
    """Return the number of different assumptions that :func:`resting` names."""
    holding = [v.property for v in result.verdicts if v.required and v.status is Status.HOLDS]
    return len({assumed for name in holding for assumed in _assumed(deployment, name)})


def modelling_assumptions_here(result: Result) -> Iterator[str]:
    """Yield the number of modelling assumptions behind required passes that can be false in this deployment, if any."""
    resting_on = {
        verdict.property: {one.text for one in verdict.assumptions if one.kind is AssumptionKind.OF_DEPLOYMENT}
        for verdict in result.verdicts
        if verdict.required and verdict.status is Status.HOLDS
    }
    properties = [name for name, texts in resting_on.items() if texts]
    if properties:
        count = wording.counted(len(set().union(*resting_on.values())), "modelling assumption")
        rests = "rests" if len(properties) == 1 else "rest"
        yield f"{wording.listed(properties)} {rests} on {count} that can be false in this deployment (--details)"


def _assumed(deployment: Deployment, name: str) -> Iterator[str]:
    settings = {setting.key: setting for setting in deployment.assumptions}
    if GROUP in settings and name in properties_about("reading"):
        yield f"the application sets {GROUP}, which no file gives ({WITHOUT_GROUP})"
    for row in table("resting"):
        setting = settings.get(row["assumption"])
        if setting is not None and name in row["properties"].split() and _may_matter(deployment, setting, row["worse"]):
            yield f"{row['means']} ({setting.key}={setting.value})"
    if deployment.cluster.deletes_for_size and name in properties_about("deletion"):
        yield "consumers read each record before retention.bytes deletes the record"


def _may_matter(deployment: Deployment, setting: Setting, worse: str) -> bool:
    """Tell whether the worse value is possible in this deployment and can change a verdict."""
    if setting.value == worse:
        return False
    if setting.key == "group" and deployment.consumer.offset_reset is OffsetReset.EARLIEST:
        return False
    if setting.key == "on_processing_error" and Fault.FAILED_PROCESSING not in deployment.faults.possible:
        return False
    try:
        with_assumption(deployment, setting.key, worse)
    except DeploymentError:
        return False
    return True
