"""Write the table of docs/invariants.md of the properties of the examples for which an invariant is found.

``scripts/deployment_invariants.csv`` has the outcomes. The script searches for those that the file lacks, each part of
an example for some seconds, and asks both solvers about each proof. With ``--table`` it writes only the table.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from proofka.checker.invariants.confirming import confirmed  # noqa: E402
from proofka.checker.invariants.deployments import GOAL, MOST_STATES, NO_CLAUSES, NOT_WITNESSED, VIOLATED, prove_part  # noqa: E402
from proofka.checker.invariants.open_deployment import NotOpen, open_deployments, with_any_number  # noqa: E402
from proofka.checker.source import Source  # noqa: E402
from proofka.model.pipeline import build  # noqa: E402
from proofka.properties.catalogue import properties_of  # noqa: E402
from scripts.write_invariants import PAGE, table, with_table  # noqa: E402

DATA = ROOT / "scripts" / "deployment_invariants.csv"
COLUMNS = ("example", "faults", "records", "property", "outcome", "lemmas", "obligations", "seconds")
SECTION = "Deployments: what was found"
HEAD = (
    "example",
    "faults, any number",
    "records",
    "proved",
    "violated",
    "no answer in time",
    "none inductive",
    "other",
)
SEARCHES = (("kill", "1", 45.0), ("any", "own", 40.0), ("kill", "own", 45.0))
"""The kinds of fault of the searches, the records (own: those of the example), and the seconds for each part."""
ALONE = (("no-acked-loss", "kill", "1", 180.0),)
"""Properties that are searched alone where the search for all properties had no answer, with faults, records, seconds.
"""
STATES = 300_000

PROVED = "proved"
OUTCOMES = {
    VIOLATED: "violated",
    NO_CLAUSES: "none inductive",
    NOT_WITNESSED: "not witnessed",
    GOAL: "goal",
}
"""Reason against a proof -> its word in the file; every other reason is "no answer in time"."""
NO_ANSWER = "no answer in time"

Row = Mapping[str, str]


def rows() -> list[Row]:
    """Return the outcomes that are known: of the same search, the last one."""
    if not DATA.exists():
        return []
    with DATA.open(encoding="utf-8", newline="") as file:
        found = {tuple(row[column] for column in COLUMNS[:4]): row for row in csv.DictReader(file)}
    return [found[key] for key in sorted(found)]


def searched(
    path: Path, faults: str, records: str, limit: float, alone: str | None = None
) -> Iterator[tuple[str, ...]]:
    """Search for an invariant of each property of an example, or of one alone, and yield the outcomes."""
    deployment = Source(path, None, None, None, None, None).read()
    if records != "own":
        deployment = replace(deployment, bounds=replace(deployment.bounds, records=int(records)))
    kinds = None if faults == "any" else [faults]
    known = [one for one in properties_of(build(deployment).pipeline) if alone in (None, one.name)]
    asked = (path.name, faults, records)
    yield from ((*asked, one.name, "goal", "0", "0", "0") for one in known if one.goal is not None)
    try:
        parts = list(open_deployments(with_any_number(deployment, kinds), [one.name for one in known]))
    except NotOpen as error:
        print(f"{path.name}: {error}")
        yield from ((*asked, one.name, "not possible", "0", "0", "0") for one in known if one.goal is None)
        return
    for one in parts:
        begun = time.monotonic()
        proof = prove_part(one, limit, states=STATES if alone is None else MOST_STATES)
        answers = confirmed(proof.obligations, second=True)
        refuted = [*answers.disputes(), *answers.left_open()]
        seconds = f"{time.monotonic() - begun:.0f}"
        for name in one.subject.violated:
            found = name in proof.proved and not refuted
            outcome = PROVED if found else OUTCOMES.get(proof.reasons.get(name, ""), NO_ANSWER)
            counts = (str(len(proof.lemmas)), str(len(proof.obligations))) if found else ("0", "0")
            yield (*asked, name, outcome, *counts, seconds)


def write_missing(examples: Sequence[Path], searches: Sequence[tuple[str, str, float]]) -> None:
    """Search where the file has no outcome, and add the outcomes to the file."""
    done = {(row["example"], row["faults"], row["records"]) for row in rows()}
    if not DATA.exists():
        DATA.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    for faults, records, limit in searches:
        for path in examples:
            if (path.name, faults, records) not in done:
                _add(searched(path, faults, records, limit))


def write_alone(examples: Path) -> None:
    """Search for some properties alone, where the file has no answer."""
    for name, faults, records, limit in ALONE:
        for row in rows():
            is_open = tuple(row[column] for column in COLUMNS[1:5]) == (faults, records, name, NO_ANSWER)
            if is_open and float(row["seconds"]) < limit:
                _add(searched(examples / row["example"], faults, records, limit, name))


def _add(outcomes: Iterable[tuple[str, ...]]) -> None:
    """Add outcomes to the file, and print what is proved."""
    found = list(outcomes)
    with DATA.open("a", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(found)
    proved = ", ".join(one[3] for one in found if one[4] == PROVED)
    print(f"{', '.join(found[0][:3])}: {proved or 'none'}")


def summary() -> Iterator[tuple[str, ...]]:
    """Yield a line of the table for each example and each choice of faults."""
    grouped: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows():
        grouped.setdefault((row["example"], row["faults"], row["records"]), []).append(row)
    for (example, faults, records), found in sorted(grouped.items()):
        named = ", ".join(f"`{row['property']}`" for row in found if row["outcome"] == PROVED)
        kept = [sum(row["outcome"] == word for row in found) for word in ("violated", NO_ANSWER, "none inductive")]
        others = len(found) - sum(kept) - sum(row["outcome"] == PROVED for row in found)
        kinds = "all kinds" if faults == "any" else faults
        yield (f"`{example}`", kinds, records, named or "-", *map(str, (*kept, others)))


if __name__ == "__main__":
    if "--table" not in sys.argv:
        write_missing(sorted((ROOT / "examples").glob("*.yaml")), SEARCHES)
        write_alone(ROOT / "examples")
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_table(text, SECTION, table(HEAD, summary())), encoding="utf-8")
