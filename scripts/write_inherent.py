"""Write ``reports/tables/inherent.csv`` and ``eras.csv``: violations by the best deployments with one fault.

The script checks several deployments for each client and release. They are the strongest deployments that the format
can express; none is the best in every respect (``scripts/best/``; its ``clients.csv`` has the values of the parts in
braces for each client, best first). Deployments that a release refuses, or that are not modelled, are left out. A row
has the knowledge about a property and a fault:

- ``application``: every deployment with the best settings violates the property; a deployment with the best
  application does not;
- ``nothing``: every deployment violates the property, for every application;
- ``undecided``: every deployment with the best settings violates the property; with the best application, no
  deployment is known to hold, and some are undecided;
- ``unknown``: some deployments with the best settings are undecided, and none is known to hold. The same word is used
  for a property that not all deployments have, such as those of transactions, and for a fault without effect in all
  deployments (``any`` stands for every other fault or property).

A pair without a row: a deployment with the best settings is known to hold the property with this fault. A vacuous or
undecided verdict counts neither as held nor as violated.

**Eras.** Releases with equal systems for all these deployments form one era, which is computed once: a model depends
only on the deployment without its names and notes. ``eras.csv`` has the first and the last release of each era;
neighbouring eras with equal rows are merged. Releases outside of all eras were not computed: ``scripts/best/asked.csv``
names the computed clients, and the oldest brokers of each.

The script runs for an hour; ``tests/reports/test_inherent.py`` repeats a part.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path

from proofka.checker.budget import Budget
from proofka.checker.check import check, prepare_groups, question_ids
from proofka.model.deployment import yaml_tree
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.era import FIRST_KRAFT, LAST_ZOOKEEPER, ZOOKEEPER
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.libraries import LIBRARIES
from proofka.model.deployment.patch_levels import releases_of
from proofka.model.deployment.release import lines
from proofka.model.deployment.required_properties import KNOWN_PROPERTIES
from proofka.model.deployment.yaml_reader import deployment_by
from proofka.properties.verdict import CutSet, Result, Status, Verdict
from proofka.reports.inherent import ANY, NO_FAULT, ZOOKEEPER_MODE, Known

ROOT = Path(__file__).parent.parent
BEST = ROOT / "scripts" / "best"
TABLES = ROOT / "reports" / "tables"
COLUMNS = ("era", "property", "fault", "behind")
ERA_COLUMNS = ("era", "client", "since", "until", "mode", "kafka_since", "kafka_until")
PART = re.compile(r"\{([A-Z|-]+)\}")
"""A part of a file that depends on the client; of several parts between bars the first accepted one is used."""

SETTINGS, APPLICATION = "settings", "application"
"""Prefixes of files: deployments with the best settings, and deployments with the best application as well."""


@dataclass(frozen=True)
class Asked:
    """A client in a range of versions (Java: the release of the brokers), with brokers of a release in a mode."""

    client: str
    since: str
    until: str
    mode: str
    kafka: str

    @property
    def version(self) -> str:
        """The version of the client in the computation: of the newest line, the newest patch that is known."""
        library = LIBRARIES.get(self.client)
        newest = "" if library is None else ".".join(map(str, library.newest))
        return newest if newest.startswith(f"{self.until}.") else self.until or self.kafka

    @property
    def name(self) -> str:
        """The name of the era that begins here: ``librdkafka 2.15 kraft 3.3.0``."""
        return " ".join(word for word in (self.client, self.until, self.mode, self.kafka) if word)


@dataclass(frozen=True)
class Era:
    """Neighbouring releases with equal systems of the best deployments."""

    first: Asked
    kafka_until: str
    systems: frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Decided:
    """Pairs (property, fault) that are violated with one fault, and pairs that are known to hold."""

    asked: frozenset[str]
    violated: frozenset[tuple[str, str]]
    prevented: frozenset[tuple[str, str]]


def eras() -> Iterator[Era]:
    """Yield the eras of each client of ``asked.csv``, newest releases last."""
    for one in asked():
        yield from eras_of(one)


def asked() -> Iterator[Asked]:
    """Yield the clients of ``asked.csv``, each with a mode of the brokers and their first release."""
    with (BEST / "asked.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield Asked(row["client"], row["since"], row["until"], row["mode"], row["kafka_since"])


def eras_of(first: Asked) -> Iterator[Era]:
    """Yield the eras of a client from a release of the brokers on; an era accepts deployments of each kind."""
    era: Era | None = None
    order = releases(first.mode)
    for kafka in order[order.index(first.kafka) :]:
        here = replace(first, kafka=kafka)
        systems = frozenset((kind, system) for kind in (SETTINGS, APPLICATION) for system in systems_of(here, kind))
        if era is not None and era.systems == systems:
            era = replace(era, kafka_until=kafka)
            continue
        if era is not None:
            yield era
        complete = {kind for kind, _ in systems} == {SETTINGS, APPLICATION}
        era = Era(here, kafka, systems) if complete else None
    if era is not None:
        yield era


def releases(mode: str) -> tuple[str, ...]:
    """Return every release of brokers that is accepted in a mode, oldest first."""
    first, last = ((0, 0), LAST_ZOOKEEPER) if mode == ZOOKEEPER_MODE else (FIRST_KRAFT, (99, 0))
    found = (line for line in lines() if first <= line <= last)
    return tuple(".".join(map(str, release)) for line in found for release in releases_of(*line))


def systems_of(of: Asked, kind: str) -> Mapping[str, Deployment]:
    """Return the deployments of a kind, by the content from which a model is built."""
    return {
        repr(
            replace(
                one,
                name="",
                cluster=replace(one.cluster, kafka=(0, 0, 0)),
                client="",
                settings=(),
                ignored=(),
                notes=(),
            )
        ): one
        for one in deployments(of, kind)
    }


def deployments(of: Asked, kind: str) -> Iterator[Deployment]:
    """Yield the deployments of a kind that the client and the brokers accept."""
    for file in sorted(BEST.glob(f"{kind}-*.yaml")):
        for text in _texts(file.read_text(encoding="utf-8"), of):
            try:
                yield deployment_by(yaml_tree.parse_yaml(text, file.name), file.name, file.stem)
            except DeploymentError:
                continue
            break


def _texts(text: str, of: Asked) -> Iterator[str]:
    """Yield a file filled in with each combination of parts for this client, best first."""
    mode = f'{ZOOKEEPER}: "z:2181"' if of.mode == ZOOKEEPER_MODE else ""
    for name, value in (("MODE", mode), ("RELEASE", of.kafka), ("CLIENT", of.client), ("VERSION", of.version)):
        text = text.replace(name, value)
    words = list(dict.fromkeys(PART.findall(text)))
    ways = [[way for part in word.split("|") for way in _ways(of.client, part)] for word in words]
    for chosen in product(*ways):
        filled = text
        for word, way in zip(words, chosen, strict=True):
            filled = filled.replace(f"{{{word}}}", f"{{{way}}}")
        yield filled


def _ways(client: str, part: str) -> list[str]:
    return [row["settings"] for row in _clients() if (row["client"], row["part"]) == (client, part)]


@cache
def _clients() -> tuple[dict[str, str], ...]:
    with (BEST / "clients.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def rows(of: Asked) -> Iterator[tuple[str, str, str]]:
    """Check the deployments, and yield the knowledge about each property and fault (see the module docstring)."""
    by_settings, by_application = (
        [decided(system, one) for system, one in sorted(systems_of(of, kind).items())]
        for kind in (SETTINGS, APPLICATION)
    )
    tried = frozenset(fault for one in by_settings for _, fault in one.violated | one.prevented)
    for fault in sorted(_kinds(systems_of(of, SETTINGS)) - tried):
        yield ANY, fault, Known.UNKNOWN
    for name in KNOWN_PROPERTIES:
        if not all(name in one.asked for one in (*by_settings, *by_application)):
            yield name, ANY, Known.UNKNOWN
            continue
        for fault in sorted(tried):
            pair = (name, fault)
            if all(pair in one.violated for one in by_settings):
                prevented = any(pair in one.prevented for one in by_application)
                left = all(pair in one.violated for one in by_application)
                yield name, fault, Known.APPLICATION if prevented else Known.NOTHING if left else Known.UNDECIDED
            elif not any(pair in one.prevented for one in by_settings):
                yield name, fault, Known.UNKNOWN


def _kinds(systems: Mapping[str, Deployment]) -> frozenset[str]:
    return frozenset(kind for one in systems.values() for kind, _ in one.faults.at_most)


_IDS: dict[str, frozenset[str]] = {}
_DECIDED: dict[frozenset[str], Decided] = {}
"""Outcomes of checked systems, by the ids of their questions: many systems are in several eras."""


def decided(system: str, deployment: Deployment) -> Decided:
    """Check a deployment with one fault of any kind, once."""
    one_fault = replace(deployment, faults=deployment.faults.up_to(1))
    if system not in _IDS:
        _IDS[system] = frozenset(question_ids(one_fault, *prepare_groups(one_fault)).values())
    ids = _IDS[system]
    if ids not in _DECIDED:
        _DECIDED[ids] = decided_by(check(one_fault, budget=Budget(threads=1)))
    return _DECIDED[ids]


def decided_by(result: Result) -> Decided:
    """Return the violated pairs and the pairs that hold of a result with one fault."""
    violated, prevented = set(), set()
    for verdict in result.verdicts:
        kinds = {NO_FAULT, *(kind for kind, _ in verdict.coverage.kinds)}
        found = kinds if () in verdict.cut_sets else {_fault(one) for one in verdict.cut_sets}
        violated |= {(verdict.property, fault) for fault in found}
        if _is_decided(verdict):
            prevented |= {(verdict.property, fault) for fault in kinds - found}
    asked = frozenset(verdict.property for verdict in result.verdicts)
    return Decided(asked, frozenset(violated), frozenset(prevented))


def _is_decided(verdict: Verdict) -> bool:
    """Tell whether the verdict is decided for every single fault, with a reached witness."""
    whole = verdict.coverage.complete_to >= 1 and verdict.coverage.stopped is None
    is_open = any(note.startswith("it was not decided") for note in verdict.notes)
    return verdict.status in (Status.HOLDS, Status.VIOLATED) and verdict.witness_reached and whole and not is_open


def _fault(cut_set: CutSet) -> str:
    return cut_set[0][0] if cut_set else NO_FAULT


@dataclass(frozen=True)
class Computed:
    """Consecutive eras with equal rows: one row of ``eras.csv``, and the rows of ``inherent.csv``."""

    era: Era
    rows: tuple[tuple[str, str, str], ...]

    @property
    def row(self) -> dict[str, str]:
        """The row of ``eras.csv``."""
        first = self.era.first
        values = (first.name, first.client, first.since, first.until, first.mode, first.kafka, self.era.kafka_until)
        return dict(zip(ERA_COLUMNS, values, strict=True))

    def is_followed_by(self, era: Era) -> bool:
        """Tell whether ``era`` is of the same client and begins where this era ends."""
        order = releases(self.era.first.mode)
        same = replace(self.era.first, kafka="") == replace(era.first, kafka="")
        return same and order.index(self.era.kafka_until) + 1 == order.index(era.first.kafka)


def merged(those: Iterable[Era]) -> list[Computed]:
    """Compute the rows of eras, and merge neighbours with equal rows."""
    found: list[Computed] = []
    for era in those:
        print(era.first.name, era.kafka_until, file=sys.stderr, flush=True)
        computed = tuple(rows(era.first))
        if found and found[-1].is_followed_by(era) and found[-1].rows == computed:
            found[-1] = replace(found[-1], era=replace(found[-1].era, kafka_until=era.kafka_until))
        else:
            found.append(Computed(era, computed))
    return found


def main() -> None:
    """Write both tables."""
    found = merged(eras())
    with (
        (TABLES / "eras.csv").open("w", encoding="utf-8", newline="") as eras_file,
        (TABLES / "inherent.csv").open("w", encoding="utf-8", newline="") as rows_file,
    ):
        era_table = csv.DictWriter(eras_file, ERA_COLUMNS, lineterminator="\n")
        row_table = csv.writer(rows_file, lineterminator="\n")
        era_table.writeheader()
        row_table.writerow(COLUMNS)
        for one in found:
            era_table.writerow(one.row)
            row_table.writerows((one.row["era"], *row) for row in one.rows)


if __name__ == "__main__":
    main()
