"""The table of verdicts, and the remarks below the table: bounds, kinds of fault, vacuous passes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from proofka.properties.open_notes import open_for_any_number
from proofka.properties.verdict import EngineRun, Result, Status, Verdict
from proofka.reports import known_defects, lines, wording

MOST_EXCEPTIONS = 3
"""Largest number of properties that a remark names as exceptions (``all but ...``)."""

STYLE: dict[Status, str] = {
    Status.VIOLATED: "bold red",
    Status.HOLDS: "green",
    Status.VACUOUS: "yellow",
    Status.UNKNOWN: "yellow",
}

WIDE = 110
"""Width in characters from which each row has the complete bounds of its property."""

MOST_FAULT_SETS = 6
"""Number of smallest fault sets of a property in the table, unless all fault sets are wanted."""

NARROW = 76
"""Width in characters below which a property has its own lines instead of five columns."""


class VerdictTable:
    """The table of verdicts in five columns, or in two columns below the width :data:`NARROW`.

    ``all_sets``: the table has every smallest fault set, and not only the first :data:`MOST_FAULT_SETS`.
    ``deletes_for_size``: as in :func:`remarks`.
    """

    def __init__(self, verdicts: Sequence[Verdict], *, all_sets: bool = False, deletes_for_size: bool = False) -> None:
        self.verdicts = verdicts
        self.all_sets = all_sets
        self.deletes_for_size = deletes_for_size

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self._stacked() if options.max_width < NARROW else self._columns(wide=options.max_width >= WIDE)
        yield Text()
        footnotes = options.max_width < WIDE
        for line in remarks(self.verdicts, footnotes=footnotes, deletes_for_size=self.deletes_for_size):
            yield from lines.wrapped(line, options.max_width, first="  ", rest="    ", style="dim")

    def _columns(self, *, wide: bool) -> Table:
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
        table.add_column("property", no_wrap=True)
        table.add_column("verdict", no_wrap=True)
        table.add_column("smallest fault sets")
        table.add_column("states", justify="right", no_wrap=True)
        table.add_column("bounds", no_wrap=not wide)
        for verdict in self.verdicts:
            table.add_row(
                _name(verdict),
                Text(f"{wording.SYMBOL[verdict.status]} {known_defects.status(verdict)}", style=STYLE[verdict.status]),
                Text("\n".join(self._fault_sets(verdict))),
                Text(wording.number(verdict.states)),
                Text(wording.bounds(verdict) if wide else _short_bounds(verdict)),
            )
        return table

    def _stacked(self) -> Table:
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)
        table.add_column(no_wrap=True)
        table.add_column()
        for verdict in self.verdicts:
            style = STYLE[verdict.status]
            said = Text(known_defects.status(verdict), style=style)
            if sets := self._fault_sets(verdict):
                said.append(" by " if verdict.status is Status.VIOLATED else ": ", style="default")
                said.append("\n   ".join(sets), style="default")
            said.append(f"\n{wording.number(verdict.states)} states, {_short_bounds(verdict)}", style="dim")
            table.add_row(Text.assemble((f"{wording.SYMBOL[verdict.status]} ", style), _name(verdict)), said)
        return table

    def _fault_sets(self, verdict: Verdict) -> list[str]:
        match verdict.status:
            case Status.VIOLATED:
                shown = verdict.cut_sets if self.all_sets else verdict.cut_sets[:MOST_FAULT_SETS]
                sets = [wording.fault_set(c) + ("" if c else " (no fault needed)") for c in shown]
                more = len(verdict.cut_sets) - len(shown)
                return [*sets, f"+{wording.number(more)} more"] if more else sets
            case Status.VACUOUS:
                return ["witness not reached"]
            case Status.UNKNOWN:
                return [wording.why_unknown(verdict)]
            case Status.HOLDS:
                return []


def remarks(verdicts: Sequence[Verdict], *, footnotes: bool, deletes_for_size: bool) -> Iterator[str]:
    """Yield the remarks below the table.

    ``footnotes``: the cells of the table abbreviate their bounds. ``deletes_for_size``: the topic deletes records also
    when its log exceeds ``retention.bytes``.
    """
    if any(v.required for v in verdicts):
        yield "* required"
    yield from _said(verdicts, _open_for_another_reason)
    if said := known_defects.remark(verdicts):
        yield said
    if any(v.lemmas for v in verdicts):
        yield "holds in time: the verdict depends on durations, which the notes name"
        or_size = " and before retention.bytes deletes the record" if deletes_for_size else ""
        yield f"holds: for all durations, if consumers read each record before retention.ms expires{or_size}"
    yield from _said(verdicts, lambda v: wording.stopped_at(v) and f"stopped: {wording.stopped_at(v)}")
    yield from _said(verdicts, lambda v: wording.not_sought(v.coverage))
    if footnotes:
        yield from _said(verdicts, lambda v: wording.beyond(v.coverage) and f"+ {wording.beyond(v.coverage)} as well")
    holding = [v for v in verdicts if v.status is Status.HOLDS]
    yield from _said(holding, lambda v: wording.unlimited(v) and f"holds for {wording.unlimited(v)}", everyone=False)
    yield from _said(verdicts, lambda v: f"faults: {wording.fault_kinds(v.coverage)}")
    yield from _said(verdicts, lambda v: f"sizes: {wording.sizes(v.coverage)}" if v.coverage.bounds else "")
    yield from _said(verdicts, lambda v: wording.would_explore_more(v.coverage))
    for verdict in verdicts:
        if verdict.status is Status.VACUOUS:
            symbol = wording.SYMBOL[verdict.status]
            yield f"{symbol} {verdict.property} is vacuous: witness not reached: {verdict.witness}"


def _open_for_another_reason(verdict: Verdict) -> str:
    """Return why a property is undecided where no limit was reached, or the part that is decided, or ``""``."""
    if verdict.status is Status.UNKNOWN and (note := open_for_any_number(verdict)):
        return f"{wording.SYMBOL[Status.UNKNOWN]} {note}"
    is_open = verdict.status is Status.UNKNOWN and not verdict.coverage.stopped
    return f"{wording.SYMBOL[Status.UNKNOWN]} unknown: {wording.why_unknown(verdict)}" if is_open else ""


def engine_line(result: Result) -> str:
    """Return the cost of the exploration in one line."""
    run = result.engine
    return (
        f"{run.engine}: {wording.number(run.states)} states, {wording.number(run.transitions)} transitions, "
        f"depth {run.depth}, {run.seconds:.1f} s (compiling {run.compile_seconds:.1f} s), "
        f"{run.bytes_per_state} bytes per state{_again(run)}"
    )


def _again(run: EngineRun) -> str:
    if not run.looks_again:
        return ""
    looks = wording.counted(run.looks_again, "exploration")
    return f"; timed re-exploration: {wording.number(run.states_again)} states in {looks}"


def _name(verdict: Verdict) -> Text:
    name = Text(wording.plain(verdict.property), style="bold" if verdict.required else "")
    return name.append("*") if verdict.required else name


def _short_bounds(verdict: Verdict) -> str:
    return wording.any_faults(verdict) + ("+" if verdict.coverage.combinations else "")


def _said(verdicts: Sequence[Verdict], words: wording.Words, *, everyone: bool = True) -> Iterator[str]:
    names = [verdict.property for verdict in verdicts]
    for properties, text in wording.grouped(verdicts, words):
        rest = [name for name in names if name not in properties]
        if everyone and not rest:
            yield text
        elif everyone and len(rest) <= MOST_EXCEPTIONS < len(properties):
            yield f"{text} [all but {', '.join(rest)}]"
        else:
            yield f"{text} [{', '.join(properties)}]"
