"""Put chosen properties of a deployment, or of a model changed by a test, to the embedded engine."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

from proofka.checker.budget import Budget
from proofka.checker.check import Run
from proofka.checker.engine import EMBEDDED, Engine
from proofka.checker.questions import Prepared, group, prepare
from proofka.model.deployment import Deployment, read_deployment
from proofka.model.deployment.explored import Bounds, FaultBudget
from proofka.model.faults import ONCE, Fault
from proofka.model.pipeline import Model, build
from proofka.properties.catalogue import properties_of
from proofka.properties.verdict import CutSet, Verdict

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
MANY = 9
"""More of a kind than any test explores."""

MOST_KINDS = tuple(kind for kind in Fault if kind not in ONCE)
"""Every kind of fault that adds no broker."""

SMALL = Bounds(records=1, log=2, sends=1, epochs=4, producer_epochs=2)
"""Enough for most of what can happen to a single record."""


def assuming(deployment: Deployment, kinds: Iterable[Fault], total: int) -> Deployment:
    """Return the deployment with ``total`` faults at most, of these kinds only."""
    return replace(deployment, faults=FaultBudget(total, tuple((kind.value, MANY) for kind in kinds)))


def example(name: str, kinds: Iterable[Fault] = MOST_KINDS, total: int = 1) -> Deployment:
    """Return an example's deployment with ``total`` faults at most, of these kinds only."""
    return assuming(_of_example(name), kinds, total)


@cache
def _of_example(name: str) -> Deployment:
    return read_deployment(EXAMPLES / f"{name}.yaml")


def deployment_of(text: str, folder: Path, name: str = "orders") -> Deployment:
    """Read the deployment in a YAML text; its settings say what is modelled, as every result has to."""
    file = folder / f"{name}.yaml"
    file.write_text(text, encoding="utf-8")
    return read_deployment(file)


def ask(question: Deployment | Model, *properties: str, budget: Budget | None = None) -> dict[str, Verdict]:
    """Return the verdicts on these properties (on all, where none is named), explored together."""
    return {verdict.property: verdict for verdict in run(question, properties, budget).verdicts()}


def run(
    question: Deployment | Model,
    properties: Collection[str] = (),
    budget: Budget | None = None,
    engine: Engine = EMBEDDED,
) -> Run:
    """Explore a deployment, or a model, for these properties."""
    model = build(question) if isinstance(question, Deployment) else question
    return explored(prepare(model), properties, budget, engine)


def explored(
    prepared: Prepared, properties: Collection[str] = (), budget: Budget | None = None, engine: Engine = EMBEDDED
) -> Run:
    """Explore a prepared system for these properties."""
    pipeline = prepared.model.pipeline
    asked = [prop for prop in properties_of(pipeline) if not properties or prop.name in properties]
    assert len(asked) == len(properties) or not properties, f"the catalogue lacks one of {properties}"
    started = Run(pipeline.deployment, prepared, group(prepared, asked), budget or Budget(threads=2), engine)
    started.explore(None)
    return started


def cut(*kinds: Fault) -> CutSet:
    """Return the cut set of these faults."""
    return tuple((kind, kinds.count(Fault(kind))) for kind in sorted({kind.value for kind in kinds}))
