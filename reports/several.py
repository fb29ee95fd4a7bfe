"""Several pipelines on one screen: one or two lines for each, a row for each property, and one trace."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.required_properties import KNOWN_PROPERTIES
from proofka.properties.verdict import Result, Status, Verdict
from proofka.reports import wording
from proofka.reports.brief import BriefStory, most_telling
from proofka.reports.by_fault import by_fault
from proofka.reports.console import console
from proofka.reports.first_notes import first_notes_of_several
from proofka.reports.lines import print_wrapped, wrapped
from proofka.reports.story import tellings
from proofka.reports.table import STYLE
from proofka.reports.terminal import answer_style

MOST_FOUND = 6
"""Number of lines for the files of a folder."""

MOST_PIPELINES = 10
"""Number of lines for the outcomes of pipelines during the check."""


@dataclass(frozen=True)
class Checked:
    """The answer for a pipeline. ``trace``: the command that prints its traces."""

    deployment: Deployment
    result: Result
    trace: str


class Lines:
    """The outcome of each pipeline, up to :data:`MOST_PIPELINES` lines. ``pipelines``: number of pipelines."""

    def __init__(self, pipelines: int) -> None:
        self.pipelines = pipelines
        self.used = 0
        self.left_out = 0

    def of(self, text: str, style: str, width: int) -> Iterator[Text]:
        """Yield the lines of a pipeline, or no line if no room is left; :meth:`rest` counts these pipelines."""
        most = max(1, min(2, MOST_PIPELINES // self.pipelines))
        if self.used + most > MOST_PIPELINES - (self.pipelines > MOST_PIPELINES):
            self.left_out += 1
            return
        told = list(wrapped(text, width, rest="  ", style=style))
        if len(told) > most:
            told = told[:most]
            told[-1] = Text.assemble(told[-1].plain[: width - 4].rstrip() + " ...", style=style, no_wrap=True)
        self.used += len(told)
        yield from told

    def rest(self) -> Iterator[Text]:
        """Yield a line with the number of pipelines without a line."""
        if self.left_out:
            yield Text(f"and {wording.counted(self.left_out, 'more pipeline')}: --details", style="dim")


class Properties:
    """A row for each property: the number of pipelines by verdict, and the first pipeline that violates it."""

    def __init__(self, those: Sequence[Checked]) -> None:
        self.those = those

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
        table.add_column("property", no_wrap=True)
        table.add_column("pipelines", no_wrap=True)
        table.add_column("violated first in", no_wrap=True, overflow="ellipsis")
        for name in KNOWN_PROPERTIES:
            verdicts = [
                (one, verdict) for one in self.those for verdict in one.result.verdicts if verdict.property == name
            ]
            if verdicts:
                table.add_row(*self._row(name, verdicts))
        yield table
        yield Text("\n  * required of a pipeline", style="dim")

    def _row(self, name: str, verdicts: Sequence[tuple[Checked, Verdict]]) -> Iterator[Text]:
        required = [verdict for _, verdict in verdicts if verdict.required]
        quiet = "" if required else "dim"
        counts = [(status, sum(one.status is status for _, one in verdicts)) for status in Status]
        worst = next((status for status, count in counts if count), Status.HOLDS)
        yield Text(wording.plain(name) + "*" * bool(required), style=quiet or "bold")
        told = [f"{wording.SYMBOL[status]} {count}" for status, count in counts if count]
        yield Text(" ".join(told), style=quiet or STYLE[worst])
        first = next((one.deployment.name for one, verdict in verdicts if verdict.status is Status.VIOLATED), "")
        yield Text(wording.plain(first), style=quiet)


def print_checked(out: Console, lines: Lines, number: str, checked: Checked) -> None:
    """Print the line of a pipeline. ``number``: its number for ``--pipeline``, or ``""``."""
    result = checked.result
    violated = any(verdict.required and verdict.status is Status.VIOLATED for verdict in result.verdicts)
    said = wording.brief_answer(result.verdicts) if violated else wording.answer(result.verdicts, bounds_below=False)
    said = f"{number}{checked.deployment.name}: {said}"
    for line in lines.of(said, answer_style(result.verdicts), out.width):
        out.print(line)


def print_same(out: Console, lines: Lines, name: str, same: str) -> None:
    """Print that a pipeline asks the same question as another pipeline."""
    for line in lines.of(f"{name}: same question as {same}, not checked again", "", out.width):
        out.print(line)


def print_together(
    out: Console, those: Sequence[tuple[Checked, str]], lines: Lines, *, above: int, skipped: int
) -> None:
    """Print the result of several pipelines: the answer, the table, a trace, and options that show more.

    Each pipeline comes with the command that checks it alone. ``above``: number of lines of the screen that were used
    before ``lines``. ``skipped``: number of pipelines that were not checked.
    """
    for line in lines.rest():
        out.print(line)
    checked = [one for one, _ in those]
    used = above + lines.used + 1 + _height(out.width, checked, skipped)
    _print_answer(out, checked, skipped)
    first = _first(checked)
    if first is not None:
        told = tellings(first.result.verdicts, all_traces=True)
        telling = most_telling(told, by_fault(first.deployment, first.result))
        if telling is not None:
            out.print()
            print_wrapped(out, f"{first.deployment.name}:", rest="  ", style="bold")
            out.print(BriefStory(telling, first.trace, used + 2))
    out.print()
    print_wrapped(
        out, "--details: all of this, with the bounds, of each pipeline; proofka show: every setting", style="dim"
    )
    again = next(command for one, command in those if one is (first or checked[0]))
    out.print(Text(wording.plain(f"one pipeline alone: {again}"), style="dim"), soft_wrap=True)


def _print_answer(out: Console, those: Sequence[Checked], skipped: int) -> None:
    out.print()
    said = wording.answer_of_all([one.result.verdicts for one in those]).replace("bounds above", "bounds of each")
    rest = f" {wording.not_checked(skipped)}" if skipped else ""
    style = answer_style(verdict for one in those for verdict in one.result.verdicts)
    print_wrapped(out, said + rest, rest="  ", style=style)
    for note in first_notes_of_several([one.deployment for one in those]):
        print_wrapped(out, note, rest="  ", style="yellow")
    out.print()
    out.print(Properties(those))


def _height(width: int, those: Sequence[Checked], skipped: int) -> int:
    """Return the number of lines of the answer and the table."""
    sheet = console(io.StringIO())
    sheet.width = width
    with sheet.capture() as captured:
        _print_answer(sheet, those, skipped)
    return len(captured.get().splitlines())


def _first(those: Sequence[Checked]) -> Checked | None:
    """Return the pipeline whose trace is printed: the first that violates a required property, else any property."""
    for required in (True, False):
        for one in those:
            for verdict in one.result.verdicts:
                if verdict.status is Status.VIOLATED and (verdict.required or not required):
                    return one
    return None
