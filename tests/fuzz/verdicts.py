"""Random deployments whose verdicts do not depend on reductions, threads or the other properties.

``python -m tests.fuzz.verdicts SECONDS [SEED]`` compares verdicts for a while, and prints each difference.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from proofka.checker.budget import Budget
from proofka.checker.check import check, verdict_on
from proofka.checker.reductions.choice import Reduction, words
from proofka.model.deployment import Deployment, read_deployment
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.explored import FaultBudget
from proofka.model.faults import ONCE, Fault
from proofka.properties.verdict import CutSet, Status, Verdict
from tests.fuzz.checks import in_yaml, of_deployment, of_libraries

KINDS = tuple(kind for kind in Fault if kind not in ONCE)
FEW = Budget(states=150_000, threads=2)
"""The limit of the exploration with reductions."""

MANY = Budget(states=3_000_000, threads=1)
"""The limit of the exploration without reductions."""


@dataclass(frozen=True)
class Answer:
    """The part of a verdict that does not depend on the way of exploring: the status and the smallest fault sets."""

    status: Status
    fault_sets: frozenset[CutSet]

    @classmethod
    def of(cls, verdict: Verdict) -> Answer | None:
        """Return the answer of a verdict; None if the exploration or its timing was stopped."""
        if verdict.status is Status.UNKNOWN or verdict.coverage.stopped is not None:
            return None
        return cls(verdict.status, frozenset(verdict.cut_sets))


def deployment(seed: int, folder: Path) -> Deployment | None:
    """Return the deployment of a seed with one record and one or two faults of a few kinds; None if it is rejected."""
    chance = random.Random(seed)
    text = in_yaml(chance.choice((of_deployment, of_libraries))(chance))
    path = folder / "deployment.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        read = read_deployment(path)
    except DeploymentError:
        return None
    total, kinds = chance.choice(((1, KINDS), (2, chance.sample(KINDS, 3))))
    return replace(
        read,
        bounds=replace(read.bounds, records=1, sends=1),
        faults=FaultBudget(total, tuple((kind.value, total) for kind in kinds)),
    )


def differences(asked: Deployment, chance: random.Random) -> list[str]:
    """Return the properties on which two ways of exploring disagree, with both answers."""
    usual = check(asked, budget=FEW).verdicts
    if all(Answer.of(verdict) is None for verdict in usual):
        return []
    reductions = frozenset(chance.sample(list(Reduction), chance.randint(0, 2)))
    otherwise = check(asked, budget=MANY, reductions=reductions).verdicts
    alone = verdict_on(chance.choice(usual).property, asked, FEW)
    return [*compared(usual, otherwise, words(reductions)), *compared(usual, [alone], "alone")]


def compared(usual: Sequence[Verdict], others: Sequence[Verdict], way: str) -> Iterator[str]:
    """Yield the properties that are decided in both ways, with different answers."""
    known = {verdict.property: Answer.of(verdict) for verdict in usual}
    for verdict in others:
        one, other = known[verdict.property], Answer.of(verdict)
        if one is not None and other is not None and one != other:
            yield f"{verdict.property}: {one}, but {other} with reductions: {way}"


def main() -> None:
    """Compare verdicts for a number of seconds, from a seed on, and print those that differ."""
    seconds, seed = float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    end = time.monotonic() + seconds
    compared = 0
    while time.monotonic() < end:
        with tempfile.TemporaryDirectory() as folder:
            asked = deployment(seed, Path(folder))
            if asked is not None:
                compared += 1
                for line in differences(asked, random.Random(seed)):
                    print(f"seed {seed}: {line}\n{(Path(folder) / 'deployment.yaml').read_text(encoding='utf-8')}")
        seed += 1
    print(f"{compared} deployments compared; next seed {seed}")


if __name__ == "__main__":
    main()
