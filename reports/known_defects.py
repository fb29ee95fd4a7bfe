"""Known defects beside what holds: a mark in the table, a line under the table, and each defect in the notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from proofka.properties.verdict import KnownDefect, Result, Verdict
from proofka.reports import wording

MARK = "!"
"""The mark of a verdict beside which known defects stand, before their number."""

MOST_NAMED = 4
"""The number of defects that the line under the table names."""


def status(verdict: Verdict) -> str:
    """Return the words for a status, marked where known defects could violate what holds: ``holds !3``."""
    count = len(verdict.known_defects)
    return wording.status(verdict) + (f" {MARK}{count}" if count else "")


def all_defects(verdicts: Iterable[Verdict]) -> list[KnownDefect]:
    """Return the defects beside these verdicts, each once."""
    return list(dict.fromkeys(defect for verdict in verdicts for defect in verdict.known_defects))


def remark(verdicts: Sequence[Verdict]) -> str:
    """Return the line that explains the mark and names defects, those of required properties first; or nothing."""
    found = all_defects(sorted(verdicts, key=lambda verdict: not verdict.required))
    if not found:
        return ""
    named = [defect.id for defect in found[:MOST_NAMED]]
    more = len(found) - len(named)
    others = f" and {more} more (--details)" if more else ""
    return (
        f"{MARK} known defects of these releases, which the model does not have, could violate what holds: "
        f"{', '.join(named)}{others}; proofka defects {named[0]} explains"
    )


def defect_lines(result: Result) -> Iterator[str]:
    """Yield a line for each defect: whose it is, what goes wrong, which releases have the fix, and what it violates."""
    for defect in all_defects(result.verdicts):
        properties = [verdict.property for verdict in result.verdicts if defect in verdict.known_defects]
        yield f"{line(defect)} It could violate {wording.listed(properties)}."


def line(defect: KnownDefect) -> str:
    """Return one defect in a line."""
    return f"{defect.id} ({defect.product}; {defect.fix}), not modelled: {defect.sentence}"
