"""What each reduction gives on the examples: states without it divided by states with it.

Run ``python benchmarks/reductions.py [EXAMPLE ...]``. Every combination of at most one fault is explored, with all
properties asked together; for the cone of influence one property is asked by itself. The verdicts with and without each
reduction are compared as well: a difference ends the script.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from checker.budget import Budget
from checker.check import Run
from checker.questions import group, prepare
from checker.reductions.choice import Reduction
from model.deployment import Deployment, read_deployment
from model.pipeline import build
from properties.catalogue import properties_of

EXAMPLES = Path(__file__).parent.parent / "examples"
FAULTS = 1
ALONE = "no-acked-loss"
"""The property that is asked by itself to see what its cone of influence leaves out."""


def states(deployment: Deployment, reductions: frozenset[Reduction], *names: str) -> tuple[int, dict[str, object]]:
    """Distinct states explored for these properties (all, if none is named), and their smallest fault sets."""
    prepared = prepare(build(deployment))
    asked = [prop for prop in properties_of(prepared.model.pipeline) if not names or prop.name in names]
    groups = group(prepared, asked, cone=Reduction.CONE in reductions)
    run = Run(deployment, prepared, groups, Budget(), reductions=reductions)
    run.explore(None)
    found = {name: sets for one in run.explorations for name, sets in one.named_cut_sets().items()}
    return sum(one.states for one in run.explorations), found


def factor(deployment: Deployment, reduction: Reduction) -> float:
    """States without the reduction for one state with it."""
    names = (ALONE,) if reduction is Reduction.CONE else ()
    base = frozenset() if reduction is Reduction.CONE else frozenset({Reduction.CONE})
    without, expected = states(deployment, base, *names)
    having, found = states(deployment, base | {reduction}, *names)
    if found != expected:
        raise SystemExit(f"{deployment.name}: {reduction} changes a verdict: {expected} becomes {found}")
    return without / having


def main(examples: Sequence[str]) -> None:
    """Print a row per example."""
    print(f"| example | {' | '.join(Reduction)} |")
    print("|---|" + "---|" * len(Reduction))
    for name in examples or sorted(path.stem for path in EXAMPLES.glob("*.yaml")):
        deployment = read_deployment(EXAMPLES / f"{name}.yaml")
        deployment = replace(deployment, faults=deployment.faults.up_to(FAULTS))
        factors = (factor(deployment, reduction) for reduction in Reduction)
        print(f"| {name} | {' | '.join(f'{value:.2f}' for value in factors)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
