"""The answer of a check on one screen: possible failures by fault and a row for each property."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from proofka.model.deployment.deployment import Deployment
from proofka.properties.verdict import Result, Status, Verdict
from proofka.reports import known_defects, lines, wording
from proofka.reports.by_fault import POSSIBLE, Behind, Group, Happening, by_fault, grouped
from proofka.reports.story import Story, Telling
from proofka.reports.table import STYLE, remarks

MOST_HAPPENINGS = 3
"""Number of sentences under a heading that are printed; the other sentences are only counted."""

MOST_SETS = 3
"""Number of smallest fault sets in a row of the table."""

MOST_OTHER_SETS = 4
"""Number of fault sets of further failures under a heading that are named; the others are counted."""

MOST_REMARKS = 8
"""Number of lines under the table."""

SCREEN = 60
"""Number of lines that a check prints without ``--details``."""

AROUND_A_TRACE = 14
"""Number of lines for the title, lanes and failure of a trace, and for the lines after the trace."""

FEWEST_LINES, FEWEST_BELOW_A_FULL_SCREEN = 6, 2
"""Smallest numbers of lines for the steps of a trace: below up to :data:`FULL_SCREEN` lines, and below more."""

FULL_SCREEN = 44
"""Number of lines before a trace up to which the trace has room for the fewest lines on one screen."""

MAY_BE_PREVENTED = (Behind.CONFIGURATION, Behind.UNKNOWN)
"""Causes that settings are known to prevent or possibly prevent."""

MOST_ANSWER, LEAST_ANSWER = 12, 5
"""Largest number of lines of the answer by fault: without lines before the answer, and at least."""


def ignored_line(deployment: Deployment) -> str:
    """Return the numbers of given settings with and without influence; ``""`` if no setting is ignored."""
    if not deployment.ignored:
        return ""
    used = sum(setting.origin.kind in ("file", "option") for setting in deployment.settings)
    return (
        f"settings: {wording.number(used)} used, {wording.number(len(deployment.ignored))} ignored; more: proofka show"
    )


class Answer:
    """Possible failures, under headings that name the part that could prevent them.

    ``repair``: the command that searches for changes. ``above``: number of lines of the screen that are already used,
    or None to print everything. ``search_follows``: a search for changes follows this answer.
    """

    def __init__(
        self,
        deployment: Deployment,
        result: Result,
        repair: str,
        above: int | None = 0,
        *,
        search_follows: bool = False,
    ) -> None:
        self.most = None if above is None else max(MOST_ANSWER - above, LEAST_ANSWER)
        self.happenings = [one for one in by_fault(deployment, result) if one.consequences]
        self.repair = repair
        self.search_follows = search_follows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        told = [list(text) for text in self._texts(options.max_width)]
        if self.most is None:
            yield from (line for text in told for line in text)
            return
        shown = lines.first_of(told, self.most, options.max_width)
        headings = {f"{self._heading(group)}:" for group in grouped(self.happenings)}
        yield from shown[:-1] if shown and shown[-1].plain in headings else shown
        if sum(map(len, told)) > self.most:
            yield Text("  more: --details", style="dim")

    def _texts(self, width: int) -> Iterator[Iterable[Text]]:
        for group in grouped(self.happenings):
            yield [Text(f"{self._heading(group)}:", style="bold" if group.required else "")]
            yield from self._told(group.happenings, width, required=group.required)

    def _heading(self, group: Group) -> str:
        """Return the heading of a group.

        If it is unknown whether settings prevent the failures, the line below or the end of the answer says more.
        """
        if group.behind is not Behind.UNKNOWN:
            return group.heading
        if self.search_follows:
            return f"{POSSIBLE[group.required]}; not known yet whether settings prevent this"
        return POSSIBLE[True] if group.required else group.heading

    def _told(self, those: Sequence[Happening], width: int, *, required: bool) -> Iterator[Iterable[Text]]:
        shown = those if self.most is None else those[: MOST_HAPPENINGS if required else 1]
        style = "red" if required else "dim"
        for one in shown:
            whole = required or self.most is None
            said = one.sentence if whole else one.sentence_of(2)
            yield lines.wrapped(said, width, first="  ", rest="    ", style=style)
            if required and one.behind in MAY_BE_PREVENTED and one is shown[0]:
                yield lines.wrapped(self._change(one), width, first="    ", rest="      ")
        others = list(dict.fromkeys(wording.fault_set(one.faults) for one in those[len(shown) :]))
        if others:
            named, more = others[:MOST_OTHER_SETS], len(others) - MOST_OTHER_SETS
            named += [wording.counted(more, "other fault set")] if more > 0 else []
            said = f"other failures with {wording.listed(named)}"
            yield lines.wrapped(said, width, first="  ", rest="    ", style="dim")

    def _change(self, one: Happening) -> str:
        if one.prevented_by is None and self.search_follows:
            return "changes that prevent this are searched for: see the end of this answer"
        if one.prevented_by:
            return f"prevented by {one.prevented_by[0]}"
        if one.prevented_by is None:
            return f"find changes that prevent this: {self.repair}"
        return outcome_of_search(one, self.repair)


def searches_announced(deployment: Deployment, result: Result) -> list[Happening]:
    """Return the failures below which an answer announces a search for changes: the first under each heading."""
    groups = grouped(by_fault(deployment, replace(result, preventions=None)))
    return [group.happenings[0] for group in groups if group.required and group.behind in MAY_BE_PREVENTED]


def outcome_of_search(one: Happening, repair: str) -> str:
    """Return what a search found that named no change, with the command that searches further."""
    if one.prevented_by is None:
        none = "no change that prevents this was found before the search ended (--more SECONDS sets its time)"
        return f"{none}; search further: {repair}"
    return f"no single change is known to prevent this; search for several changes: {repair}"


class BriefTable:
    """A line for each property, required properties first, and the bounds below.

    ``deletes_for_size``: as in :func:`reports.table.remarks`.
    """

    def __init__(self, verdicts: Sequence[Verdict], *, deletes_for_size: bool = False) -> None:
        self.verdicts = sorted(verdicts, key=lambda verdict: not verdict.required)
        self.deletes_for_size = deletes_for_size

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
        table.add_column("property", no_wrap=True)
        table.add_column("verdict", no_wrap=True)
        table.add_column("smallest fault sets", no_wrap=True, overflow="ellipsis")
        table.add_column("bounds", no_wrap=True)
        names = max((len(verdict.property) for verdict in self.verdicts), default=0) + 1
        bounds = max((len(wording.any_faults(verdict)) for verdict in self.verdicts), default=0)
        statuses = max((len(known_defects.status(verdict)) for verdict in self.verdicts), default=0) + 2
        room = options.max_width - names - bounds - statuses - 3 * 2
        for verdict in self.verdicts:
            quiet = "" if verdict.required else "dim"
            said = f"{wording.SYMBOL[verdict.status]} {known_defects.status(verdict)}"
            table.add_row(
                Text(wording.plain(verdict.property) + "*" * verdict.required, style=quiet or "bold"),
                Text(said, style=quiet or STYLE[verdict.status]),
                Text(_sets(verdict, room), style=quiet),
                Text(wording.any_faults(verdict), style=quiet),
            )
        yield table
        yield Text()
        told = remarks(self.verdicts, footnotes=False, deletes_for_size=self.deletes_for_size)
        below = [_remark(one, options.max_width) for one in told]
        yield from lines.first_of(below, MOST_REMARKS, options.max_width)
        if sum(map(len, below)) > MOST_REMARKS:
            yield Text("  more on the bounds: --details", style="dim")


class BriefStory:
    """A trace without the changes of each step; a long trace is cut to its first steps, faults and last steps.

    ``above``: number of lines of the screen that are already used.
    """

    def __init__(self, telling: Telling, command: str, above: int) -> None:
        fewest = FEWEST_LINES if above <= FULL_SCREEN else FEWEST_BELOW_A_FULL_SCREEN
        self.room = max(SCREEN - above - AROUND_A_TRACE, fewest)
        self.story = Story(telling)
        self.command = command

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        yield from self.story.heading(width)
        yield from self.story.header()
        yield from self._steps(width)
        yield from self.story.failure(width)

    def _steps(self, width: int) -> Iterator[Text]:
        """Yield all steps, or as many steps from the start and the end as fit; faults are always included."""
        steps = self.story.telling.steps
        told = [list(self.story.line(number, step, width)) for number, step in enumerate(steps, start=1)]
        left_out: set[int] = set()
        for position in sorted(range(len(steps)), key=lambda one: abs(one - len(steps) * 0.5)):
            if sum(len(of_step) for one, of_step in enumerate(told) if one not in left_out) <= self.room:
                break
            if not steps[position].fault and position != len(steps) - 1:
                left_out.add(position)
        for position, of_step in enumerate(told):
            if position not in left_out:
                yield from of_step
            elif position - 1 not in left_out:
                more = f"{'...':>{self.story.digits}} more steps: {self.command}"
                yield Text(more, style="dim", no_wrap=True, overflow="ignore")


def most_telling(told: Sequence[Telling], happenings: Sequence[Happening]) -> Telling | None:
    """Return the trace of the first failure by fault, or None if no property is violated."""
    for happening in happenings:
        name = happening.broken[0].property
        for one in told:
            if one.faults == happening.faults and name in [verdict.property for verdict, _ in one.violated]:
                return Telling(one.trace, tuple(pair for pair in one.violated if pair[0].property == name))
    return None


def _remark(text: str, width: int) -> list[Text]:
    return list(lines.wrapped(text, width, first="  ", rest="    ", style="dim"))


def _sets(verdict: Verdict, room: int) -> str:
    """Return the smallest fault sets that fit into ``room`` characters, and the number of the others."""
    if verdict.status is Status.VACUOUS:
        return "witness not reached"
    if verdict.status is Status.UNKNOWN:
        why = wording.why_unknown(verdict)
        return why if len(why) <= room else "the reason is below"
    for count in range(min(MOST_SETS, len(verdict.cut_sets)), -1, -1):
        more = len(verdict.cut_sets) - count
        sets = [wording.fault_set(one) for one in verdict.cut_sets[:count]]
        said = " ".join([*sets, *([f"+{more}" if count else wording.counted(more, "fault set")] if more else [])])
        if len(said) <= room:
            return said
    return wording.number(len(verdict.cut_sets))
