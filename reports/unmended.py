"""The next steps if no known change repairs a violated property.

:mod:`reports.inherent` has the failures of the best deployment of the same client and release, and the first newer
release without them. The table of :mod:`model.faults` has remedies that prevent a fault itself, outside of the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from proofka.model.deployment.changing import Unchangeable, upgrades_of
from proofka.model.deployment.deployment import Deployment
from proofka.model.faults import ENDS_PRODUCER, FAULT_ROWS, Fault
from proofka.properties.verdict import CutSet, Verdict
from proofka.reports import wording
from proofka.reports.inherent import NO_FAULT, Known, known, release_with_settings


def next_steps(deployment: Deployment, violated: Iterable[Verdict]) -> Iterator[str]:
    """Yield the next step for these properties, by the faults that violate each property."""
    found: dict[tuple[str, str], list[str]] = {}
    for verdict in violated:
        for step, cut_sets in _by_step(deployment, verdict).items():
            faults = "; or with ".join(map(wording.faults_needed, cut_sets))
            found.setdefault((faults, step), []).append(verdict.property)
    for (faults, step), names in found.items():
        yield f"{wording.listed(names)} with {faults}: {step}"


def preventions(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """Yield the ways to prevent faults themselves that violate properties, each with the properties."""
    found: dict[str, list[str]] = {}
    for verdict in verdicts:
        for way in dict.fromkeys(way for cut_set in verdict.cut_sets for way in _remedies(cut_set)):
            found.setdefault(way, []).append(verdict.property)
    for way, names in found.items():
        yield f"{way}; a fault that violates {wording.listed(names)} is prevented then"


def _remedies(cut_set: CutSet) -> list[str]:
    return [FAULT_ROWS[kind]["remedy"] for kind, _ in cut_set if FAULT_ROWS[kind]["remedy"]]


def _by_step(deployment: Deployment, verdict: Verdict) -> dict[str, list[CutSet]]:
    found: dict[str, list[CutSet]] = {}
    for cut_set in verdict.cut_sets:
        found.setdefault(_step(deployment, verdict.property, cut_set), []).append(cut_set)
    return found


def _step(deployment: Deployment, name: str, cut_set: CutSet) -> str:
    """Return the next step for one fault set."""
    if remedies := _remedies(cut_set):
        return f"prevent the fault itself and remove the fault from assume.faults: {'; '.join(remedies)}"
    if (size := sum(count for _, count in cut_set)) > 1:
        return f"whether settings prevent {size} faults together was not computed; --faults {size - 1} checks fewer"
    fault = cut_set[0][0] if cut_set else NO_FAULT
    release = release_with_settings(deployment, name, fault)
    newer = "" if release is None else f'; with brokers {release} settings prevent this: check with kafka: "{release}"'
    match known(deployment, name, fault):
        case Known.NOTHING | Known.UNDECIDED:
            which = "inherent: no setting of this client and release and no known application prevents this"
            none = "; no newer release is known to prevent this: drop the property, or prevent the fault"
            return f"{which}{newer or none}"
        case Known.APPLICATION:
            which = "no setting of this client and release prevents this: the application must"
            return f"{which} ({_of_application(fault)}), together with the best settings{newer}"
        case Known.SETTINGS:
            which = "settings of this client and release prevent this where no other setting conflicts with them"
            return f"{which}: remove conflicting settings from this deployment, and check again"
        case Known.UNKNOWN:
            return f"whether any setting of this client and release prevents this was not computed{newer}"


def _of_application(fault: str) -> str:
    """Return the keys of a deployment file for application behaviour that can help against a fault."""
    if fault in ENDS_PRODUCER:
        return "producer.on_restart"
    return "consumer.commit and consumer.sink" if fault == Fault.CONSUMER_CRASH else "producer.on_send_error"


def tried_releases(deployment: Deployment) -> Iterator[str]:
    """Yield the newer releases that were tried, or a sentence that no newer release makes a difference."""
    try:
        upgrades = upgrades_of(deployment)
    except Unchangeable:
        return
    if upgrades:
        yield f"newer releases were tried and do not help: {wording.listed([str(change) for change in upgrades])}"
    else:
        yield "no newer release that is modelled makes a difference here"
