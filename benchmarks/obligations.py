"""Costs of obligations: how many a deployment has, and the seconds in which Z3 and cvc5 answer them.

    python benchmarks/obligations.py EXAMPLE:FAULTS...

Seconds are seconds of the processor; both solvers work in one thread of this process.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from proofka.checker.obligations.collecting import obligations_of
from proofka.checker.obligations.obligation import EXPECTED, Kind, Obligation
from proofka.checker.obligations.second_solver import SECONDS_FOR_ONE, Answer, asking_cvc5, z3_answer
from proofka.checker.reductions.choice import USED_UNLESS_TOLD_OTHERWISE
from proofka.model.deployment import read_deployment

EXAMPLES = Path(__file__).parent.parent / "examples"


def main() -> None:
    """Print a row for each example."""
    parser = argparse.ArgumentParser()
    parser.add_argument("asked", nargs="+", metavar="EXAMPLE:FAULTS")
    _, ask_cvc5 = asking_cvc5(SECONDS_FOR_ONE)
    print("| example | faults | " + " | ".join(Kind) + " | MB | collect s | Z3 s | slowest | cvc5 s | slowest |")
    print("|---" + "|--:" * (len(Kind) + 7) + "|")
    for asked in parser.parse_args().asked:
        name, _, faults = asked.partition(":")
        deployment = read_deployment(EXAMPLES / f"{name}.yaml")
        deployment = replace(deployment, faults=deployment.faults.up_to(int(faults)))
        began = time.process_time()
        obligations = obligations_of(deployment, USED_UNLESS_TOLD_OTHERWISE)
        collected = time.process_time() - began
        counts = Counter(one.kind for one in obligations)
        size = sum(len(one.file_text()) for one in obligations) / 1e6
        cells = [name, faults, *(str(counts[kind]) for kind in Kind), f"{size:.1f}", f"{collected:.1f}"]
        for ask in (z3_answer, ask_cvc5):
            cells += [f"{seconds:.2f}" for seconds in _seconds(obligations, ask)]
        print(f"| {' | '.join(cells)} |", flush=True)


def _seconds(obligations: Sequence[Obligation], ask: Callable[[str], Answer]) -> tuple[float, float]:
    """Return the seconds of all answers together, and of the slowest."""
    seconds = []
    for one in obligations:
        began = time.process_time()
        answer = ask(one.script)
        seconds.append(time.process_time() - began)
        assert answer.word == EXPECTED, f"{answer}: {one}"
    return sum(seconds), max(seconds)


if __name__ == "__main__":
    main()
