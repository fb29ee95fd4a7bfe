"""The verdicts of a result as rows and as an HTML table, for notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from proofka.properties.verdict import CutSet, Result, Verdict

COLUMNS = ("property", "status", "required", "smallest_fault_sets", "complete_to", "states", "known_defects", "id")
"""The columns of a row: ``complete_to`` is the largest number of faults of which every combination was explored."""


def rows_of(result: Result) -> Iterator[dict[str, object]]:
    """Yield a row for each verdict, with the names of ``COLUMNS``."""
    for verdict in result.verdicts:
        values = (
            verdict.property,
            verdict.status.value,
            verdict.required,
            "; ".join(map(faults_of, verdict.cut_sets)),
            verdict.coverage.complete_to,
            verdict.states,
            ", ".join(defect.id for defect in verdict.known_defects),
            verdict.id,
        )
        yield dict(zip(COLUMNS, values, strict=True))


def faults_of(cut_set: CutSet) -> str:
    """Return a fault set in words: "2 kill and 1 power-loss"; "no fault" for the empty set."""
    return " and ".join(f"{count} {kind}" for kind, count in cut_set) or "no fault"


def html_table(result: Result) -> str:
    """Return the verdicts as an HTML table without style: the property, the status, and what the status rests on."""
    head = "".join(f"<th>{name}</th>" for name in ("property", "status", "why"))
    body = "".join(
        f"<tr><td>{escape(one.property)}</td><td>{escape(one.status.value)}</td><td>{escape(_why(one))}</td></tr>"
        for one in result.verdicts
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _why(verdict: Verdict) -> str:
    """Return the fault sets of a violation, or the faults within which a verdict was reached."""
    if verdict.cut_sets:
        return "by " + ", or by ".join(map(faults_of, verdict.cut_sets))
    covered = verdict.coverage
    count = covered.complete_to
    within = "any number of faults" if covered.any_number else f"at most {count} fault{'' if count == 1 else 's'}"
    defects = ", ".join(defect.id for defect in verdict.known_defects)
    return f"within {within}" + (f"; known defects of these releases: {defects}" if defects else "")
