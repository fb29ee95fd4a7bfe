"""Rows and tables about random runs of the lab, for ``write_conformance.py``.

A row of ``runs.csv`` is one recording. ``needs``: the actions without which the model rejects the recording, known
where ``examined`` is "yes". ``rejected_by``: the mutated models that reject the recording, known where ``mutated`` is
"yes". ``run_causes.csv`` has the cause of each rejection, and
``actions.csv`` each action that a recording can have, with the reason where no recording needs the action.
"""

from __future__ import annotations

import csv
import tarfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "docs" / "conformance"
RUNS, CAUSES, ACTIONS = FOLDER / "runs.csv", FOLDER / "run_causes.csv", FOLDER / "actions.csv"
COLUMNS = (
    "deployment", "kafka", "client", "seed", "producer", "outcome", "event", "examined", "needs", "mutated",
    "rejected_by",
)  # fmt: skip
ANSWERS = ("accepted", "rejected", "undecided")

MOST_EXAMINED = 500
"""The largest number of states at once of a recording that is examined for the actions that it needs."""

MOST_MUTATED = 500
"""The largest number of states at once of a recording that mutated models check."""

KEPT = FOLDER / "recordings"
"""The folder of the archives of recordings."""

EXAMPLES = FOLDER.parent.parent / "examples"
"""The folder of the example deployments."""

Row = dict[str, str]


def read(path: Path) -> list[Row]:
    """Return the rows of a table; none of a table that does not exist."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, columns: Sequence[str], rows: Iterable[Row]) -> None:
    """Write a table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, columns, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def add(paths: Iterable[Path], most_examined: int = MOST_EXAMINED, most_mutated: int = MOST_MUTATED) -> None:
    """Check the recordings in folders and archives, and add their rows; a row of the same recording is replaced.

    ``most_examined``, ``most_mutated``: as of ``checked_together``; 0 only asks whether the model accepts each
    recording, which is fast.
    """
    from proofka.checker.conformance.archives import recordings_in
    from proofka.checker.conformance.coverage import checked_together
    from proofka.checker.conformance.tracker import Answer

    found, actions = {key_of(row): row for row in read(RUNS)}, {row["action"]: row for row in read(ACTIONS)}
    recordings = (recording for path in paths for _, recording in recordings_in(path))
    for run in checked_together(recordings, most_examined, most_mutated):
        about, outcome, events = run.recording.about, run.outcome, run.recording.events
        decided = outcome.answer in (Answer.ACCEPTED, Answer.REJECTED)
        row = {
            "deployment": run.recording.deployment.name,
            "kafka": str(about["kafka"]),
            "client": str(about["client"]),
            "seed": str(about["seed"]),
            "producer": str(about["producer"]),
            "outcome": outcome.answer.value if decided else f"undecided: {outcome.answer.value}",
            "event": "" if outcome.event is None else f"{outcome.event + 1} of {len(events)}: {events[outcome.event]}",
            "examined": "yes" if run.examined else "no",
            "needs": " ".join(sorted(run.needed)),
            "mutated": "yes" if run.mutated else "no",
            "rejected_by": " ".join(sorted(run.rejects)),
        }
        found[key_of(row)] = row
        actions |= {name: {"action": name, "reason": ""} for name in run.actions - actions.keys()}
        print(*(row[column] for column in COLUMNS[:7]), flush=True)
        write(RUNS, COLUMNS, sorted(found.values(), key=_place))
    write(ACTIONS, ("action", "reason"), (actions[name] for name in sorted(actions)))


def key_of(row: Row) -> tuple[str, ...]:
    """Return what names a recording."""
    return row["deployment"], row["kafka"], row["seed"], row["producer"]


def _place(row: Row) -> tuple[str, str, int, int]:
    return row["deployment"], row["kafka"], int(row["seed"]), int(row["producer"])


def tables() -> dict[str, list[str]]:
    """Return the tables of the page about random runs, by name."""
    rows, actions, causes = read(RUNS), read(ACTIONS), read(CAUSES)
    return {
        "runs": by_deployment(rows),
        "runs of examples": by_example(rows),
        "kept recordings": kept(),
        "actions": by_action(rows),
        "unexercised actions": unexercised(rows, actions),
        "rejections": rejections(rows, causes),
        "mutated models": by_mutation(rows),
    }


def group_of(row: Row) -> str:
    """Return release and client of a recording, in words."""
    release = ".".join(row["kafka"].split(".")[:2])
    return f"Kafka {release}, {row['client'].split()[0]}"


def settings_of(row: Row) -> str:
    """Return the part of a deployment's name that is neither client nor release; "examples" for an example."""
    if is_example(row):
        return "examples"
    return row["deployment"].partition(f"-{row['client'].split()[0]}-")[0]


def is_example(row: Row) -> bool:
    """Tell whether the recording is of an example; the name of another deployment has its client and release."""
    return f"-{row['client'].split()[0]}-" not in row["deployment"]


def by_deployment(rows: Sequence[Row]) -> list[str]:
    """Return the number of recordings with each answer, by settings, release and client."""
    lines = [
        "| producer | Kafka | client | recordings | accepted | rejected | undecided |",
        "|---|---|---|--:|--:|--:|--:|",
    ]
    keys = sorted({(settings_of(row), row["kafka"], row["client"]) for row in rows})
    for key in keys:
        lines.append(_counts(key, [row for row in rows if (settings_of(row), row["kafka"], row["client"]) == key]))
    return [*lines, _counts(("all recordings", "", ""), rows)]


def _counts(key: Sequence[str], rows: Sequence[Row]) -> str:
    answers = Counter(row["outcome"].split(":")[0] for row in rows)
    return f"| {' | '.join(key)} | {len(rows)} | {' | '.join(str(answers[answer] or '') for answer in ANSWERS)} |"


def by_example(rows: Sequence[Row]) -> list[str]:
    """Return the number of recordings of each example with each answer, or why the lab does not run the example."""
    from proofka.checker.conformance.errors import ConformanceError
    from proofka.checker.conformance.lab import expect_runnable
    from proofka.model.deployment import read_deployment

    lines = [
        "| example | Kafka | client | recordings | accepted | rejected | undecided | why not |",
        "|---|---|---|--:|--:|--:|--:|---|",
    ]
    for file in sorted(EXAMPLES.glob("*.yaml")):
        found = [row for row in rows if is_example(row) and row["deployment"] == file.stem]
        for kafka, client in sorted({(row["kafka"], row["client"]) for row in found}):
            same = [row for row in found if (row["kafka"], row["client"]) == (kafka, client)]
            lines.append(f"{_counts((file.stem, kafka, client), same)} |")
        try:
            expect_runnable(read_deployment(file))
        except ConformanceError as error:
            lines.append(f"| {file.stem} |  |  |  |  |  |  | {error} |")
    return lines


def kept() -> list[str]:
    """Return the number of kept recordings by archive, with the archive's size."""
    lines = ["| archive | recordings | bytes |", "|---|--:|--:|"]
    counts = {path: _count(path) for path in sorted(KEPT.glob("*.tar.xz"))}
    lines += [f"| {path.name} | {count} | {path.stat().st_size} |" for path, count in counts.items()]
    return [*lines, f"| all archives | {sum(counts.values())} | {sum(path.stat().st_size for path in counts)} |"]


def _count(path: Path) -> int:
    with tarfile.open(path, "r:xz") as archive:
        return sum(name.endswith(".json") for name in archive.getnames())


def by_action(rows: Sequence[Row]) -> list[str]:
    """Return, by action, the recordings that need the action, and the rejections at an event that shows the action."""
    from proofka.checker.conformance.asked_event import ACTION_ROWS

    groups = sorted({group_of(row) for row in rows})
    lines = [
        f"| action | {' | '.join(groups)} | all | rejected | pass rate |",
        "|---|" + "--:|" * (len(groups) + 3),
    ]
    needs = {row_key: set(row["needs"].split()) for row_key, row in enumerate(rows)}
    for name in sorted(set().union(*needs.values())):
        counts = Counter(group_of(row) for number, row in enumerate(rows) if name in needs[number])
        kinds = ACTION_ROWS[name]["seen_as"].split()
        rejected = sum(row["outcome"] == "rejected" and _kind(row) in kinds for row in rows)
        passed = counts.total()
        rate = f"{100 * passed / (passed + rejected):.1f} %"
        cells = " | ".join(str(counts[group] or "") for group in groups)
        lines.append(f"| `{name}` | {cells} | {passed} | {rejected or ''} | {rate} |")
    return lines


def _kind(row: Row) -> str:
    """Return the kind of the event at which a recording was rejected."""
    return row["event"].partition(": ")[2].partition("(")[0]


def unexercised(rows: Sequence[Row], actions: Sequence[Row]) -> list[str]:
    """Return the actions that no recording needs, with the reason."""
    needed = {name for row in rows for name in row["needs"].split()}
    lines = ["| action | why no recording needs it |", "|---|---|"]
    return lines + [
        f"| `{row['action']}` | {row['reason'] or 'not known'} |" for row in actions if row["action"] not in needed
    ]


def rejections(rows: Sequence[Row], causes: Sequence[Row]) -> list[str]:
    """Return the recordings that the model rejects, grouped by cause."""
    known = {key_of(row): (row["whose"], row["cause"]) for row in causes}
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["outcome"] == "rejected":
            groups.setdefault(known.get(key_of(row), ("not known", "")), []).append(row)
    lines = ["| recordings | rejected at | whose | cause |", "|---|---|---|---|"]
    for (whose, cause), found in sorted(groups.items(), key=lambda group: -len(group[1])):
        names = ", ".join(f"{row['deployment']} {row['seed']}/{row['producer']}" for row in found)
        kinds = ", ".join(sorted({_kind(row) for row in found}))
        lines.append(f"| {names} | {kinds} | {whose} | {cause} |")
    return lines


def by_mutation(rows: Sequence[Row]) -> list[str]:
    """Return, by mutated model and settings of the producer, the checked recordings that the mutated model rejects."""
    from proofka.checker.conformance.mutations import MUTATIONS

    accepted = [row for row in rows if row["mutated"] == "yes"]
    settings = sorted({settings_of(row) for row in accepted})
    lines = [f"| mutated model | {' | '.join(settings)} | all | of |", "|---|" + "--:|" * (len(settings) + 2)]
    for mutation in MUTATIONS:
        if not (mutation.only_removes or mutation.sets):
            continue
        counts = Counter(settings_of(row) for row in accepted if mutation.name in row["rejected_by"].split())
        cells = " | ".join(str(counts[one] or "") for one in settings)
        lines.append(
            f"| {mutation.name}: {mutation.meaning} | {cells} | {counts.total() or '**none**'} | {len(accepted)} |"
        )
    return lines


def replaced(text: str, found: Mapping[str, Sequence[str]]) -> str:
    """Return a page with its tables replaced. A table stands between two comments with its name.

    Raise ValueError for a table that has no place in the page.
    """
    for name, lines in found.items():
        begin, end = f"<!-- table: {name} -->", f"<!-- end of table: {name} -->"
        if begin not in text or end not in text:
            raise ValueError(f"the page has no place for the table: {name}; add the lines {begin} and {end}")
        head, _, rest = text.partition(begin)
        _, _, tail = rest.partition(end)
        text = "\n".join([head + begin, "", *lines, "", end + tail])
    return text
