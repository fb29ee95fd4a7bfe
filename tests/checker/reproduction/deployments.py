"""Deployments whose traces are replayed, and the plans of these traces."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import proofka
from proofka.checker.reproduction.of_trace import plan_of
from proofka.checker.reproduction.plan import Plan


def plan_for(text: str, *, of_property: str, total: int = 1) -> Plan:
    """Return the plan of the first trace of a property with the most faults, of a deployment in YAML."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "deployment.yaml"
        file.write_text(text, encoding="utf-8")
        deployment = proofka.read(file)
    verdicts = proofka.check(deployment, faults=total).verdicts
    verdict = next(one for one in verdicts if one.property == of_property)
    trace = max(verdict.traces, key=lambda one: sum(count for _, count in one.faults))
    return plan_of(deployment, trace, [(of_property, trace.failure)])
