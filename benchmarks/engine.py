"""The embedded engine on the examples: states, transitions, seconds, and two threads compared with one.

Run ``python benchmarks/engine.py [EXAMPLE ...]``. Figures are medians of interleaved runs on one machine; only ratios
within one run of this script are comparable with other machines.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from proofka.checker.budget import Budget
from proofka.checker.check import Run, prepare_groups
from proofka.model.deployment import read_deployment

EXAMPLES = Path(__file__).parent.parent / "examples"
DEFAULT = ("orders", "acks-all-min-isr-2", "retries-in-flight-5")
FAULTS = 2
RUNS = 3


@dataclass(frozen=True)
class Timing:
    """One exploration: ``prepare`` (terms, proofs, slices), ``compile`` and ``explore`` in seconds."""

    prepare: float
    compile: float
    explore: float
    states: int
    transitions: int
    bytes_per_state: float


def measure(example: str, threads: int) -> Timing:
    """Explore one example with up to two faults of every kind."""
    deployment = read_deployment(EXAMPLES / f"{example}.yaml")
    deployment = replace(deployment, faults=replace(deployment.faults, total=FAULTS))
    started = time.perf_counter()
    prepared, groups = prepare_groups(deployment)
    made = time.perf_counter()
    run = Run(deployment, prepared, groups, Budget(threads=threads))
    compiled = time.perf_counter()
    run.explore(None)
    explored = time.perf_counter()
    engine = run.engine()
    memory = run.explorations[0].meter.memory / max(engine.states, 1)
    return Timing(
        made - started, compiled - made, explored - compiled, engine.states, engine.transitions, round(memory, 1)
    )


def main(examples: Sequence[str]) -> None:
    """Print a table of medians and the ratio of one thread to two."""
    print("| example | states | transitions | prepare s | compile s | 1 thread s | 2 threads s | ratio | bytes/state |")
    print("|---|---|---|---|---|---|---|---|---|")
    for example in examples:
        ones, twos = [], []
        for _ in range(RUNS):
            ones.append(measure(example, 1))
            twos.append(measure(example, 2))
        one = statistics.median(timing.explore for timing in ones)
        two = statistics.median(timing.explore for timing in twos)
        prepare = statistics.median(timing.prepare for timing in ones + twos)
        compiling = statistics.median(timing.compile for timing in ones + twos)
        first = ones[0]
        print(
            f"| {example} | {first.states:,} | {first.transitions:,} | {prepare:.2f} | {compiling:.2f} | {one:.2f} "
            f"| {two:.2f} | {one / two:.2f} | {first.bytes_per_state} |"
        )


if __name__ == "__main__":
    main(sys.argv[1:] or DEFAULT)
