"""``proofka diff``: the changed verdicts, the changed settings, and the settings that caused a changed verdict."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from proofka.properties.difference import Cause, Changed, Difference, VerdictChange
from proofka.properties.verdict import Status, Verdict, differ_in_size
from proofka.reports import lines, wording
from proofka.reports.table import STYLE

NOT_SET = "(not set)"
MOST_SETS = 6
"""Number of sufficient sets of changes that are printed for one verdict."""


class DifferenceReport:
    """The answer in a sentence, each changed verdict with its cause, then every changed setting."""

    def __init__(self, difference: Difference, old: str, new: str) -> None:
        self.difference = difference
        self.old, self.new = old, new

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width, found = options.max_width, self.difference
        yield from lines.wrapped(f"old: {self.old}", width, rest="     ")
        yield from lines.wrapped(f"new: {self.new}", width, rest="     ")
        yield Text()
        yield from lines.wrapped(answer(found), width, style="bold")
        for change in found.verdicts:
            yield Text()
            yield from self._verdict(change, width)
        if found.settings:
            yield Text("\nSettings that changed", style="bold")
            for changed in found.settings:
                yield from lines.wrapped(setting(changed), width, first="  ", rest="      ")
        if found.versions:
            yield Text("\nVersions that changed", style="bold")
            for name, old, new in found.versions:
                yield from lines.wrapped(
                    f"{name}: {old or NOT_SET} -> {new or NOT_SET}", width, first="  ", rest="    "
                )
        if found.remarks:
            yield Text()
            for remark in found.remarks:
                yield from lines.wrapped(remark, width, rest="  ", style="dim")

    def _verdict(self, change: VerdictChange, width: int) -> Iterator[Text]:
        if change.of == ("bounds",) and change.old is not None and change.new is not None:
            found = wording.outcome(change.new.status, change.new.cut_sets)
            bounds = _changed_bounds(change.old, change.new)
            yield from lines.wrapped(f"• {change.property} {found} as before: {bounds}", width, rest="  ")
            return
        worse = change.new is not None and change.new.status is Status.VIOLATED
        style = STYLE[change.new.status] if change.new is not None else ""
        symbol = wording.SYMBOL[Status.VIOLATED] if worse else "•"
        yield from lines.wrapped(f"{symbol} {change.property}", width, style=f"bold {style}".strip())
        sizes = change.old is not None and change.new is not None and differ_in_size(change.old, change.new)
        for when, verdict in (("old", change.old), ("new", change.new)):
            yield from lines.wrapped(f"{when}: {outcome(verdict, sizes=sizes)}", width, first="  ", rest="       ")
        if change.cause is not None:
            for text in cause(change.cause):
                yield from lines.wrapped(text, width, first="  ", rest="    ")


class CauseReport:
    """The cause of a changed verdict, printed after the change itself."""

    def __init__(self, change: VerdictChange) -> None:
        self.change = change

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from lines.wrapped(self.change.property, options.max_width, style="bold")
        for text in cause(self.change.cause) if self.change.cause is not None else ():
            yield from lines.wrapped(text, options.max_width, first="  ", rest="    ")


class Remarks:
    """Remarks about the search for causes."""

    def __init__(self, difference: Difference) -> None:
        self.difference = difference

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for remark in self.difference.remarks:
            yield Text()
            yield from lines.wrapped(remark, options.max_width, rest="  ", style="dim")


def answer(found: Difference) -> str:
    """Return the difference in one sentence."""
    if found.is_empty:
        return f"Nothing changed: {wording.counted(found.unchanged, 'verdict')}, and every setting."
    outcomes = [change for change in found.verdicts if change.of != ("bounds",)]
    of_bounds = len(found.verdicts) - len(outcomes)
    said = f"{wording.counted(len(outcomes), 'verdict') if outcomes else 'No verdict'} changed"
    bounds = f", {wording.counted(of_bounds, 'verdict')} within other bounds" if of_bounds else ""
    settings = f"{wording.counted(len(found.settings), 'setting')} changed" if found.settings else "no setting changed"
    return f"{said}{bounds}, {found.unchanged} unchanged; {settings}."


def outcome(verdict: Verdict | None, *, sizes: bool) -> str:
    """Return a verdict with its bounds."""
    if verdict is None:
        return "was not checked"
    faultless = verdict.cut_sets == ((),)
    found = "is violated without any fault" if faultless else wording.outcome(verdict.status, verdict.cut_sets)
    return f"{found} ({_bounds(verdict, sizes=sizes)})"


def _changed_bounds(old: Verdict, new: Verdict) -> str:
    """Return the first part of the coverage that differs, old and new."""
    told = zip(_tellings(old), _tellings(new), strict=True)
    return next((f"{one} -> {other}" for one, other in told if one != other), _bounds(new, sizes=True))


def _tellings(verdict: Verdict) -> tuple[str, ...]:
    """Return the parts of the coverage of a verdict, in the order in which they are compared."""
    coverage = verdict.coverage
    return (
        _bounds(verdict, sizes=True),
        f"kinds of fault: {wording.fault_kinds(coverage)}",
        f"total of faults: {'none named' if coverage.total is None else coverage.total}",
        wording.would_explore_more(coverage) or "no bound was reached",
    )


def _bounds(verdict: Verdict, *, sizes: bool) -> str:
    reached = wording.bounds(verdict)
    return f"{reached}; {wording.sizes(verdict.coverage)}" if sizes else reached


def cause(found: Cause) -> Iterator[str]:
    """Yield the cause of a changed verdict, a line for each sufficient set of changes."""
    if found.unknown:
        yield f"cause: not known: {found.unknown}"
        return
    for changes in found.sets[:MOST_SETS]:
        if len(changes) == 1:
            yield f"caused by {setting(changes[0])}, alone"
        else:
            many = "" if found.smallest else " (other changes were removed one at a time; a smaller set can exist)"
            yield f"caused by {len(changes)} changes together{many}: {'; '.join(map(setting, changes))}"
    if len(found.sets) > MOST_SETS:
        yield f"and by each of {wording.counted(len(found.sets) - MOST_SETS, 'other set')} of changes"
    if len(found.sets) > 1:
        yield "each of these suffices"
    if not found.confirmed:
        yield "compared within these fault sets only: other faults were not decided before the time limit"
    if not found.smallest and len(found.sets[0]) == 1:
        yield "some other changes were not tried"


def setting(changed: Changed) -> str:
    """Return ``topic min.insync.replicas: 1 (default of Kafka 4.0) -> 2 (orders.yaml:4)``."""
    name = f"{changed.scope} {changed.key}".strip()
    old, new = (
        _value(value, None if one is None else wording.origin(one.origin))
        for value, one in ((changed.old, changed.old_setting), (changed.new, changed.new_setting))
    )
    return f"{name}: {old} -> {new}"


def _value(value: str | None, origin: str | None) -> str:
    shown = NOT_SET if value is None else value
    return shown if origin is None else f"{shown} ({origin})"
