"""The outcome of an audit on a terminal: numbers of deployments by property, verdict and smallest fault set."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from proofka.properties.audited import AuditSummary, PropertyCount
from proofka.properties.verdict import Status
from proofka.reports import lines, wording
from proofka.reports.table import STYLE

COLUMNS = (Status.VIOLATED, Status.HOLDS, Status.VACUOUS, Status.UNKNOWN)


class AuditReport:
    """The figures of an audit: the answer, a row for each property, and the rejected rows."""

    def __init__(self, summary: AuditSummary) -> None:
        self.summary = summary

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        summary = self.summary
        yield from lines.wrapped(what_was_audited(summary), width, rest="  ")
        yield from lines.wrapped(answer(summary), width, rest="  ", style=_answer_style(summary))
        if summary.with_known_defects:
            yield from lines.wrapped(known_defects(summary), width, rest="  ")
        if summary.properties:
            yield Text()
            yield self._table()
            yield Text()
            remark = "Each smallest fault set, most common first, with the number of deployments that the set violates."
            requiring = {count.required for count in summary.properties} - {0}
            by = "" if requiring <= {summary.deployments} else " by some deployments"
            required = f"* required{by}. " if requiring else ""
            yield from lines.wrapped(required + remark, width, first="  ", rest="  ", style="dim")
        if summary.rejected:
            yield Text()
            yield Text("Rejected rows, most common reasons first", style="bold")
            for reason, rows in summary.reasons:
                yield from lines.wrapped(f"{wording.number(rows)}: {reason}", width, first="  ", rest="    ")
            if summary.more_reasons:
                yield Text(f"  and {wording.counted(summary.more_reasons, 'other reason')}: see the table rejected")

    def _table(self) -> Table:
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
        table.add_column("property", no_wrap=True)
        columns = [s for s in COLUMNS if any(count.statuses.get(s) for count in self.summary.properties)]
        for status in columns:
            table.add_column(str(status), justify="right", no_wrap=True)
        table.add_column("smallest fault sets")
        for count in self.summary.properties:
            name = Text(count.property, style="bold" if count.required else "")
            numbers = [_number(count, status) for status in columns]
            table.add_row(name.append("*") if count.required else name, *numbers, Text("\n".join(_cut_sets(count))))
        return table


def what_was_audited(summary: AuditSummary) -> str:
    """Return ``2,304 deployments, 96 distinct systems (90 explored now, 6 already known), 4 min 12 s``."""
    known = summary.systems - summary.explored
    explored = f"{wording.number(summary.explored)} explored now"
    parts = [wording.counted(summary.deployments, "deployment")]
    if summary.deployments:
        before = f", {wording.number(known)} already known" if known else ""
        parts.append(f"{wording.counted(summary.systems, 'distinct system')} ({explored}{before})")
    if summary.rejected:
        parts.append(f"{wording.counted(summary.rejected, 'row')} rejected")
    return ", ".join([*parts, wording.duration(summary.seconds)])


OUTCOME: dict[Status, str] = {
    Status.VIOLATED: "can violate a required property",
    Status.UNKNOWN: "could not be decided",
    Status.VACUOUS: "can pass only because a witness was not reached",
    Status.HOLDS: "cannot violate any required property within the bounds",
}
"""Predicate for the deployments whose worst status is the key."""


def answer(summary: AuditSummary) -> str:
    """Return the outcome for the required properties in one sentence."""
    said = [f"{wording.number(n)} {words}" for status, words in OUTCOME.items() if (n := summary.worst.get(status, 0))]
    if not summary.deployments:
        return "No row could be read as a deployment."
    return (
        f"Of {wording.counted(summary.deployments, 'deployment')}, {wording.listed(said) or 'none requires anything'}."
    )


def known_defects(summary: AuditSummary) -> str:
    """Return the sentence about passes beside which known defects stand."""
    passes = wording.counted(summary.with_known_defects, "deployment")
    return (
        f"Of {passes}, a required property holds that known defects of their releases, which the model does not have, "
        "could violate: column known_defects of the table verdicts"
    )


def _number(count: PropertyCount, status: Status) -> Text:
    deployments = count.statuses.get(status, 0)
    return Text(wording.number(deployments), style=STYLE[status]) if deployments else Text("-", style="dim")


def _cut_sets(count: PropertyCount) -> Iterator[str]:
    for cut_set, deployments in count.cut_sets:
        yield f"{wording.number(deployments)}: {wording.fault_set(cut_set)}"
    if count.more:
        yield f"and {wording.number(count.more)} more"


def _answer_style(summary: AuditSummary) -> str:
    if summary.worst.get(Status.VIOLATED):
        return "bold red"
    clean = summary.worst.keys() <= {Status.HOLDS} and summary.deployments and not summary.rejected
    return "bold green" if clean else "bold yellow"
