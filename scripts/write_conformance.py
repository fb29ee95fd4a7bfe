"""Write the tables of docs/conformance.md, from the outcomes of replays and of random runs in docs/conformance/.

    python scripts/write_conformance.py                       # the tables
    python scripts/write_conformance.py --add RESULT.json...  # first add the outcomes in results of proofka reproduce
    python scripts/write_conformance.py --runs PATH...        # first check the recordings of proofka conform --keep
    python scripts/write_conformance.py --mutants PATH...     # the same, but do not look for the actions that they need
    python scripts/write_conformance.py --answers PATH...     # the same, and without the mutated models

A row of ``replays.csv`` is one replay: a newer outcome of a trace on the same release, with the same client libraries,
replaces the older. ``example`` names a file in examples/, or one in docs/conformance/deployments/, which are small
deployments for each client library. A table of the page stands between two comments with its name.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from scripts import conformance_runs
from scripts.conformance_runs import read, replaced

FOLDER = Path(__file__).parent.parent / "docs" / "conformance"
REPLAYS = FOLDER / "replays.csv"
CAUSES = FOLDER / "causes.csv"
DEPLOYMENTS = FOLDER / "deployments"
PAGE = FOLDER.parent / "conformance.md"
COLUMNS = (
    "example", "number", "trace", "faults", "properties", "kafka", "client", "outcome", "step", "action", "why", "on",
)  # fmt: skip
OUTCOMES = ("reproduced", "diverged", "not reproduced", "not steerable")

Row = dict[str, str]


def row_of(example: str, number: int, faults: dict[str, int], outcome: dict[str, object]) -> Row:
    """Return the row of one outcome."""
    why = outcome["reason"] or (f"{outcome['observed']}" if outcome["kind"] != "reproduced" else "")
    clients = outcome["clients"]
    assert isinstance(clients, list | tuple)
    return {
        "example": example,
        "number": str(number),
        "trace": str(outcome["trace"]),
        "faults": " ".join(kind if count == 1 else f"{count}x{kind}" for kind, count in faults.items()) or "none",
        "properties": " ".join(map(str, outcome["properties"])),  # type: ignore[call-overload]
        "kafka": str(outcome["kafka"]),
        "client": "; ".join(map(str, clients)),
        "outcome": str(outcome["kind"]),
        "step": "" if outcome["step"] is None else str(outcome["step"]),
        "action": "" if outcome["action"] is None else str(outcome["action"]),
        "why": str(why),
        "on": str(outcome["on"]),
    }


def add(rows: Iterable[Row]) -> None:
    """Add rows to the table; a row of the same trace, release and client libraries is replaced."""
    kept = {key_of(row): row for row in (read(REPLAYS) if REPLAYS.exists() else ())}
    kept |= {key_of(row): row for row in rows}
    with REPLAYS.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(sorted(kept.values(), key=lambda row: (row["example"], row["kafka"], int(row["number"]))))


def key_of(row: Row) -> tuple[str, ...]:
    """Return the key of a row: example, trace, release and client libraries. Versions of libraries do not count."""
    libraries = " ".join(client.split()[0] for client in row["client"].split("; ") if client)
    return row["example"], row["trace"], row["kafka"], libraries


def keys_of(row: Row, table: str) -> list[str]:
    """Return the keys of a replay in one of the tables that count outcomes."""
    if table == "property":
        return row["properties"].split()
    if table == "fault set":
        return [row["faults"]]
    if table == "release and client":
        return [f"Kafka {row['kafka']}, {row['client'] or 'no client'}"]
    return [] if row["example"] in small_deployments() else [row["example"]]


@cache
def small_deployments() -> frozenset[str]:
    """Return the names of the small deployments."""
    return frozenset(path.stem for path in DEPLOYMENTS.glob("*.yaml"))


def by_release(rows: Sequence[Row]) -> list[str]:
    """Return the table of the small deployments: by release, how many of the replayed traces were reproduced."""
    small = [row for row in rows if row["example"] in small_deployments()]
    releases = sorted({row["kafka"] for row in small})
    lines = [f"| deployment | {' | '.join(releases)} |", "|---|" + "--:|" * len(releases)]
    for example in sorted({row["example"] for row in small}):
        cells = []
        for release in releases:
            found = [row for row in small if (row["example"], row["kafka"]) == (example, release)]
            reproduced = sum(row["outcome"] == "reproduced" for row in found)
            cells.append(f"{reproduced} of {len(found)}" if found else "")
        lines.append(f"| {example} | {' | '.join(cells)} |")
    return lines


def counted(rows: Sequence[Row], table: str) -> list[str]:
    """Return a table in Markdown: for each key, how many replays ended with each outcome."""
    lines = [f"| {table} | {' | '.join(OUTCOMES)} |", "|---|" + "--:|" * len(OUTCOMES)]
    total = "all replays"
    counted_rows = [row for row in rows if keys_of(row, table)]
    for key in [*sorted({key for row in rows for key in keys_of(row, table)}), total]:
        found = Counter(row["outcome"] for row in counted_rows if key in (*keys_of(row, table), total))
        lines.append(f"| {key} | {' | '.join(str(found[outcome] or '') for outcome in OUTCOMES)} |")
    return lines


def gaps(rows: Sequence[Row]) -> list[str]:
    """Return the table of the traces without a replay, by deployment and release, up to the last trace with one."""
    lines = ["| deployment | release | replayed | not replayed: traces |", "|---|---|--:|---|"]
    for key in sorted({(row["example"], row["kafka"]) for row in rows}):
        found = {int(row["number"]) for row in rows if (row["example"], row["kafka"]) == key}
        missing = [str(number) for number in range(1, max(found)) if number not in found]
        if missing:
            lines.append(f"| {key[0]} | {key[1]} | {len(found)} | {', '.join(missing)} |")
    return lines


def page(text: str) -> str:
    """Return the page with its tables replaced."""
    rows = read(REPLAYS)
    tables = {table: counted(rows, table) for table in ("example", "property", "fault set", "release and client")}
    tables["small deployment and release"] = by_release(rows)
    tables["ended early"] = early(rows)
    tables["not replayed"] = gaps(rows)
    return replaced(text, {**tables, **conformance_runs.tables()})


def early(rows: Sequence[Row]) -> list[str]:
    """Return the table of the replays that were not reproduced, grouped by what was observed, with its cause."""
    causes = read(CAUSES)
    lines = ["| replays | observed | whose | cause |", "|---|---|---|---|"]
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row["outcome"] != "reproduced":
            groups.setdefault(cause_of(row, causes), []).append(row)
    for (why, whose, cause), found in sorted(groups.items(), key=lambda group: -len(group[1])):
        names = ", ".join(f"{named(row)} (step {row['step'] or 'end'})" for row in found)
        lines.append(f"| {names} | {why} | {whose} | {cause} |")
    return lines


def named(row: Row) -> str:
    """Return the name of a replay, with the release if its deployment was replayed on several."""
    release = f" on {row['kafka']}" if row["example"] in small_deployments() else ""
    return f"{row['example']} {row['number']}{release}"


def cause_of(row: Row, causes: Sequence[Row]) -> tuple[str, str, str]:
    """Return the observation, whose it is, and the cause, from the first row of the table that fits; else "not known".

    A row fits an observation that contains its text, of its example if it names one.
    """
    for cause in causes:
        if cause["why"] in row["why"] and cause["example"] in ("", row["example"]):
            return cause["why"], cause["whose"], cause["cause"]
    return row["why"], "not known", ""


def outcomes_of(path: Path) -> Iterable[Row]:
    """Yield the rows of the outcomes in a result of ``proofka reproduce --json``."""
    from proofka.properties.reproduced import digest, to_document
    from proofka.reports.document import result_from_document
    from proofka.reports.story import tellings

    document = json.loads(path.read_text(encoding="utf-8"))
    result = result_from_document(document)
    outcomes = {outcome.trace: outcome for outcome in result.reproductions}
    for number, telling in enumerate(tellings(result.verdicts, all_traces=True), 1):
        outcome = outcomes.get(digest((step.action, step.arguments) for step in telling.steps))
        if outcome is not None:
            yield row_of(document["deployment"]["name"], number, dict(telling.faults), to_document(outcome))


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    if sys.argv[1:2] == ["--add"]:
        add(row for path in sys.argv[2:] for row in outcomes_of(Path(path)))
    if sys.argv[1:2] == ["--runs"]:
        conformance_runs.add(map(Path, sys.argv[2:]))
    if sys.argv[1:2] == ["--answers"]:
        conformance_runs.add(map(Path, sys.argv[2:]), 0, 0)
    if sys.argv[1:2] == ["--mutants"]:
        conformance_runs.add(map(Path, sys.argv[2:]), 0)
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
