"""The stability of verdicts in lines: the verdict on each required property at other sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proofka.properties.stability import AtSize, by_size, falls, unchanged_from
from proofka.properties.verdict import Status
from proofka.reports import wording


def section(rows: Sequence[AtSize] | None) -> list[str]:
    """Return the lines of a document: the warnings, then all values; no line if other sizes were not asked for."""
    return [] if rows is None else [*warnings(rows), *stability_lines(rows)]


def warnings(rows: Sequence[AtSize]) -> Iterator[str]:
    """Yield a line for each property that holds at the deployment's size and is violated at a larger size."""
    for own, worse in falls(rows):
        yield (
            f"{own.property} holds only at small sizes: with {_at(own)} it {_outcome(own)}, "
            f"with {_at(worse)} it {_outcome(worse)}"
        )


def stability_lines(rows: Sequence[AtSize]) -> Iterator[str]:
    """Yield for each property and size the verdict at each value, and the value from which nothing changes."""
    for group in by_size(rows):
        first = group[0]
        yield f"{first.property}, {first.size}: {_summary(group)} (up to {wording.counted(first.faults, 'fault')})"
        for row in group:
            yield f"    {_at(row)}{' (this deployment)' if row.is_own else ''}: {_cell(row)}"


def _summary(group: Sequence[AtSize]) -> str:
    """Return the change over the values of one size, with the values that were not decided."""
    decided = [row for row in group if row.is_decided()]
    start = unchanged_from(group)
    if start is not None and start.status is Status.VACUOUS:
        said = f"vacuous from {start.value} on, tried to {decided[-1].value}, which is no evidence"
    elif start is not None:
        said = f"unchanged from {start.value} on, tried to {decided[-1].value}"
    elif len(decided) < 2:
        said = "nothing to compare"
    elif all(row.is_the_same_as(decided[0]) for row in decided):
        said = f"the same with {wording.listed([str(row.value) for row in decided])}"
    else:
        said = "still changes"
    left = [str(row.value) for row in group if not row.is_decided() and not row.refused]
    return said + (f"; {wording.listed(left)} not decided" if left else "")


def _at(row: AtSize) -> str:
    return f"{row.size} {row.value}" + ("" if row.with_log is None else f", log {row.with_log}")


def _cell(row: AtSize) -> str:
    if row.refused:
        return f"not possible: {row.refused}"
    return "not reached in time" if row.status is None else _outcome(row)


def _outcome(row: AtSize) -> str:
    assert row.status is not None
    return wording.outcome(Status(row.status), row.cut_sets)
