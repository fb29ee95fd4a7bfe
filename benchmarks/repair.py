"""Costs of repairs and explanations: their seconds divided by the seconds of the check.

Run ``python benchmarks/repair.py [EXAMPLE ...]`` on a quiet machine. Each example runs with up to one fault:
a check of the required properties, an explanation, which tries each change, and a search for at most one repair.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from proofka.checker.budget import Budget
from proofka.checker.candidate import Candidate
from proofka.checker.explanation import preventions
from proofka.checker.repair import Search
from proofka.model.deployment import read_deployment
from proofka.model.deployment.changing import changes_of

EXAMPLES = Path(__file__).parent.parent / "examples"
FAULTS = 1
ASKED = ("acks-1", "auto-commit", "orders")

Found = TypeVar("Found")


def timed(work: Callable[[], Found]) -> tuple[float, Found]:
    """Return the seconds and the outcome."""
    started = time.perf_counter()
    found = work()
    return time.perf_counter() - started, found


def row(name: str) -> str:
    """Return a row of the table."""
    deployment = read_deployment(EXAMPLES / f"{name}.yaml")
    deployment = replace(deployment, faults=deployment.faults.up_to(FAULTS))
    Candidate(deployment).explored(deployment.require, Budget())  # exclude imports and first compilation
    checking, run = timed(lambda: Candidate(deployment).explored(deployment.require, Budget()))
    verdicts = run.verdicts()
    explaining, told = timed(lambda: preventions(deployment, verdicts, seconds=None))
    repairing, repairs = timed(lambda: Search(deployment, Budget()).repairs(most=1))
    offered = len(changes_of(deployment))
    figures = f"{checking:.1f} | {explaining / checking:.1f} | {repairing / checking:.1f}"
    return f"| {name} | {offered} | {figures} | {len(told)} | {repairs.explored} | {repairs.refuted} |"


def main(examples: Sequence[str]) -> None:
    """Print a row for each example."""
    print("| example | changes | check s | explain / check | repair / check | prevent | explored | refuted |")
    print("|---|---|---|---|---|---|---|---|")
    for name in examples or ASKED:
        print(row(name), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
