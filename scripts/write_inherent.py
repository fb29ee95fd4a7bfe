"""Write ``reports/tables/inherent.csv``: what the best deployments still suffer with one fault.

Of each release and client several deployments are checked, which are the strongest that the format can say: none is
the best in every respect (``scripts/best/``). A row says that a fault violates a property in all of those with the
best settings, whatever else these do. What lies behind that is

- ``application``, where one in which the application does its best has the property with this fault;
- ``nothing``, where all of them violate it;
- ``undecided``, where none is known to have it, and some are not known to violate it.

What is vacuous or undecided is neither had nor violated. Takes minutes; ``tests/reports/test_by_fault.py`` computes
some rows again.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from checker.budget import Budget
from checker.check import check
from model.deployment import yaml_tree
from model.deployment.deployment import Deployment
from model.deployment.yaml_reader import deployment_by
from properties.verdict import CutSet, Status, Verdict

ROOT = Path(__file__).parent.parent
BEST = ROOT / "scripts" / "best"
TABLE = ROOT / "reports" / "tables" / "inherent.csv"
COLUMNS = ("client", "kafka", "property", "fault", "behind")

NO_FAULT = ""
"""What stands in the table for ordinary operation."""


@dataclass(frozen=True)
class Decided:
    """What one fault of a kind violates, and what it is known not to violate; pairs of a property and a fault."""

    violated: frozenset[tuple[str, str]]
    prevented: frozenset[tuple[str, str]]


def rows(client: str, kafka: str) -> Iterator[dict[str, str]]:
    """Check the deployments of a client and a release, and say of each violation that is left what lies behind it."""
    by_settings, by_application = ([decided(one) for one in of(client, kafka, kind)] for kind in KINDS)
    for name, fault in sorted(frozenset.intersection(*(one.violated for one in by_settings))):
        prevented = any((name, fault) in one.prevented for one in by_application)
        left = all((name, fault) in one.violated for one in by_application)
        behind = "application" if prevented else "nothing" if left else "undecided"
        yield dict(zip(COLUMNS, (client, kafka, name, fault, behind), strict=True))


KINDS = ("settings", "application")


def of(client: str, kafka: str, kind: str) -> Iterator[Deployment]:
    """Build the deployments of a client and a release that are the best by their settings, or as a whole."""
    for file in sorted((BEST / client).glob(f"{kind}-*.yaml")):
        text = file.read_text(encoding="utf-8").replace("RELEASE", kafka)
        yield deployment_by(yaml_tree.parse_yaml(text, str(file)), str(file), file.stem)


def decided(deployment: Deployment) -> Decided:
    """Check a deployment with one fault of any kind."""
    result = check(deployment_with_one_fault(deployment), budget=Budget(threads=1))
    violated, prevented = set(), set()
    for verdict in result.verdicts:
        kinds = {NO_FAULT, *(kind for kind, _ in verdict.coverage.kinds)}
        found = kinds if () in verdict.cut_sets else {_fault(one) for one in verdict.cut_sets}
        violated |= {(verdict.property, fault) for fault in found}
        if _is_decided(verdict):
            prevented |= {(verdict.property, fault) for fault in kinds - found}
    return Decided(frozenset(violated), frozenset(prevented))


def deployment_with_one_fault(deployment: Deployment) -> Deployment:
    """Allow one fault of any kind."""
    return replace(deployment, faults=deployment.faults.up_to(1))


def _is_decided(verdict: Verdict) -> bool:
    """Whether what does not violate the property with one fault is known not to, and its situation happened."""
    whole = verdict.coverage.complete_to >= 1 and verdict.coverage.stopped is None
    is_open = any(note.startswith("it was not decided") for note in verdict.notes)
    return verdict.status in (Status.HOLDS, Status.VIOLATED) and verdict.witness_reached and whole and not is_open


def _fault(cut_set: CutSet) -> str:
    return cut_set[0][0] if cut_set else NO_FAULT


def main() -> None:
    """Write the table."""
    with (BEST / "releases.csv").open(encoding="utf-8", newline="") as file:
        asked = [(row["client"], row["kafka"]) for row in csv.DictReader(file)]
    with TABLE.open("w", encoding="utf-8", newline="") as written:
        table = csv.DictWriter(written, COLUMNS, lineterminator="\n")
        table.writeheader()
        for client, kafka in asked:
            print(client, kafka, file=sys.stderr, flush=True)
            table.writerows(rows(client, kafka))
            written.flush()


if __name__ == "__main__":
    main()
