"""The factor of each reduction on the examples: states without the reduction divided by states with it.

Run ``python benchmarks/reductions.py [EXAMPLE ...]``. The script explores every combination of at most one fault
with all properties together; for the cone of influence it checks one property alone. It also compares the verdicts with
and without each reduction: a difference ends the script.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from proofka.checker.budget import Budget
from proofka.checker.check import Run
from proofka.checker.questions import group, prepare
from proofka.checker.reductions.choice import Reduction
from proofka.model.deployment import Deployment, read_deployment
from proofka.model.pipeline import build
from proofka.properties.catalogue import properties_of

EXAMPLES = Path(__file__).parent.parent / "examples"
FAULTS = 1
ALONE = "no-acked-loss"
"""The property that is checked alone, to measure the effect of its cone of influence."""


def states(deployment: Deployment, reductions: frozenset[Reduction], *names: str) -> tuple[int, dict[str, object]]:
    """Return the distinct states for these properties (all, if none is named), and the smallest fault sets."""
    prepared = prepare(build(deployment))
    asked = [prop for prop in properties_of(prepared.model.pipeline) if not names or prop.name in names]
    groups = group(prepared, asked, cone=Reduction.CONE in reductions)
    run = Run(deployment, prepared, groups, Budget(), reductions=reductions)
    run.explore(None)
    found = {name: sets for one in run.explorations for name, sets in one.named_cut_sets().items()}
    return sum(one.states for one in run.explorations), found


def factor(deployment: Deployment, reduction: Reduction) -> float:
    """Return the number of states without the reduction for each state with it."""
    names = (ALONE,) if reduction is Reduction.CONE else ()
    base = frozenset() if reduction is Reduction.CONE else frozenset({Reduction.CONE})
    without, expected = states(deployment, base, *names)
    having, found = states(deployment, base | {reduction}, *names)
    if found != expected:
        raise SystemExit(f"{deployment.name}: {reduction} changes a verdict: {expected} becomes {found}")
    return without / having


def main(examples: Sequence[str]) -> None:
    """Print a row for each example."""
    print(f"| example | {' | '.join(Reduction)} |")
    print("|---|" + "---|" * len(Reduction))
    for name in examples or sorted(path.stem for path in EXAMPLES.glob("*.yaml")):
        deployment = read_deployment(EXAMPLES / f"{name}.yaml")
        deployment = replace(deployment, faults=deployment.faults.up_to(FAULTS))
        factors = (factor(deployment, reduction) for reduction in Reduction)
        print(f"| {name} | {' | '.join(f'{value:.2f}' for value in factors)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
