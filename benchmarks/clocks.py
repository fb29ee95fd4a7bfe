"""Costs of clocks: a check with clocks compared with the same check without clocks, on every example.

Run ``python benchmarks/clocks.py [EXAMPLE ...]`` on a quiet machine (a quarter of an hour). One
process runs both checks in turns, from the deployment to the verdicts with traces. The goal is a ratio of at most 3.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from proofka.checker.budget import Budget
from proofka.checker.check import Run
from proofka.checker.questions import group, prepare
from proofka.model.deployment import Deployment, read_deployment
from proofka.model.language import TransitionSystem
from proofka.model.pipeline import build
from proofka.properties.catalogue import properties_of
from proofka.properties.verdict import Status, Verdict

EXAMPLES = Path(__file__).parent.parent / "examples"
RUNS = 3
GOAL = 3.0


def without_clocks(system: TransitionSystem) -> TransitionSystem:
    """Return the same system without clocks: every step can happen at any time."""
    return replace(system, clocks=(), needs={})


def checked(deployment: Deployment, *, timed: bool) -> tuple[float, Sequence[Verdict], Run]:
    """Return the seconds from the deployment to the verdicts."""
    started = time.perf_counter()
    model = build(deployment)
    prepared = prepare(model if timed else replace(model, system=without_clocks(model.system)))
    run = Run(deployment, prepared, group(prepared, properties_of(model.pipeline)), Budget())
    run.explore(None)
    verdicts = run.verdicts()
    return time.perf_counter() - started, verdicts, run


def row(name: str) -> str:
    """Return a row of the table: medians, number of changed verdicts, and timed re-explorations."""
    deployment = read_deployment(EXAMPLES / f"{name}.yaml")
    turns = [(checked(deployment, timed=False), checked(deployment, timed=True)) for _ in range(RUNS)]
    untimed, timed = (statistics.median(turn[which][0] for turn in turns) for which in (0, 1))
    without, having = turns[-1][0][1], turns[-1][1][1]
    both = zip(without, having, strict=True)
    changed = sum((one.status, one.cut_sets) != (other.status, other.cut_sets) for one, other in both)
    unknown = sum(one.status is Status.UNKNOWN for one in having) - sum(one.status is Status.UNKNOWN for one in without)
    engine = turns[-1][1][2].engine()
    met = "met" if timed <= GOAL * untimed else "not met"
    figures = f"{untimed:.1f} | {timed:.1f} | {timed / untimed:.2f} | {met} | {changed} | {unknown} | {engine.states:,}"
    return f"| {name} | {figures} | {engine.states_again:,} |"


def main(examples: Sequence[str]) -> None:
    """Print a row for each example."""
    print("| example | without s | with s | ratio | at most 3 | verdicts changed | of them unknown | states | again |")
    print("|---|---|---|---|---|---|---|---|---|")
    everything = [*EXAMPLES.glob("*.yaml"), *EXAMPLES.glob("time/*.yaml")]
    for name in examples or sorted(str(path.relative_to(EXAMPLES).with_suffix("")) for path in everything):
        print(row(name), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
