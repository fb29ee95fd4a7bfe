"""Proofka from Python: read a configuration of a Kafka pipeline, check it, and look at the verdicts.

::

    import proofka

    deployment = proofka.read("examples/acks-1.yaml")
    for verdict in proofka.check(deployment, faults=1).verdicts:
        print(verdict.property, verdict.status, *verdict.cut_sets)

This package is the public face: what it exports is documented and keeps its meaning. Everything else of Proofka can
change from release to release.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proofka.model.deployment.deployment import Deployment
    from proofka.model.deployment.errors import DeploymentError
    from proofka.properties.verdict import NoVerdict, Result, Status, Step, Trace, Verdict
    from proofka.public import check, frame, read, read_all, read_properties

_HOMES = {
    "Deployment": "model.deployment.deployment",
    "DeploymentError": "model.deployment.errors",
    "NoVerdict": "properties.verdict",
    "Result": "properties.verdict",
    "Status": "properties.verdict",
    "Step": "properties.verdict",
    "Trace": "properties.verdict",
    "Verdict": "properties.verdict",
    "check": "public",
    "frame": "public",
    "read": "public",
    "read_all": "public",
    "read_properties": "public",
}
"""The module of this package that has each exported name, which the first use of the name loads: the whole program
lies inside this package, and a command must not load what it does not use."""

__all__ = [
    "Deployment",
    "DeploymentError",
    "NoVerdict",
    "Result",
    "Status",
    "Step",
    "Trace",
    "Verdict",
    "check",
    "frame",
    "read",
    "read_all",
    "read_properties",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
