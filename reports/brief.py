"""The answer of a check on one screen: what can happen, who could prevent it, and a row for each property."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from model.deployment.broker_rules import ABOVE_REPLICAS, REFUSES_WRITES
from model.deployment.choices import Acks
from model.deployment.deployment import Deployment
from model.deployment.known_keys import GOES_ON, MEANT
from model.deployment.leaving_out import AS_READ, PASSED_OVER
from properties.verdict import Result, Status, Verdict
from reports import known_defects, lines, wording
from reports.by_fault import POSSIBLE, Behind, Group, Happening, by_fault, grouped
from reports.story import Story, Telling
from reports.table import STYLE, remarks

MOST_HAPPENINGS = 3
"""How many sentences of a kind are printed before the others are only counted."""

MOST_UNKNOWN = 3
"""How many notes are printed before the answer, settings that are not in force as written first; others are counted."""

_WEIGHTY = (*(f"(rule {rule})" for rule in ABOVE_REPLICAS), PASSED_OVER, GOES_ON, MEANT)
"""Words in notes that the verdict may turn on, those first that decide most."""

MOST_SETS = 3
"""How many smallest fault sets stand in a row of the table."""

MOST_REMARKS = 8
"""Lines under the table."""

SCREEN = 60
"""Lines that a check prints unless more is asked for."""

AROUND_A_TRACE = 14
"""Lines for a trace's title, lanes and failure, and for what else there is."""

FEWEST_LINES = 6
"""Lines for the steps of a trace, however many lines there are before it."""

MAY_BE_PREVENTED = (Behind.CONFIGURATION, Behind.UNKNOWN)
"""What settings are known to prevent, or may."""

MOST_ANSWER, LEAST_ANSWER = 12, 5
"""Lines of the answer by fault, and where other lines come before it."""


def weighty_notes(deployment: Deployment) -> list[str]:
    """Tell of settings that are not in force as somebody wrote them, which may be what the verdict turns on.

    The real software does not know them, misspelt as they are, another component would read them, or brokers make
    something else of them.
    """
    weights = [(words, note) for words in _WEIGHTY for note in deployment.notes if words in note]
    return list(dict.fromkeys(note for _, note in weights))


def reasons(deployment: Deployment) -> list[str]:
    """Tell of what alone explains the answer: that brokers refuse every write of this producer."""
    refused = deployment.acks is Acks.ALL and deployment.min_insync_replicas > deployment.replicas
    return [note for note in deployment.notes if refused and REFUSES_WRITES in note]


def first_notes(deployment: Deployment) -> list[str]:
    """Tell of the first of these but for reasons, which the answer tells, then of what readers of files noted.

    Last comes how many there are besides.
    """
    told = [note for note in weighty_notes(deployment) if note not in reasons(deployment)]
    told += [note for note in deployment.notes if f", {AS_READ}: " in note and note not in told]
    more = len(told) - MOST_UNKNOWN
    return [*told[:MOST_UNKNOWN], *([f"{wording.counted(more, 'more note')}: --details"] if more > 0 else [])]


class Answer:
    """What can happen, under a heading for who could prevent it. ``repair``: the command that looks for changes.

    ``above``: how many lines of the screen are used already, None where nothing is to be left out;
    ``search_follows``: what prevents it is looked for next.
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
        yield from lines.first_of(told, self.most, options.max_width)
        if sum(map(len, told)) > self.most:
            yield Text("  more of this: --details", style="dim")

    def _texts(self, width: int) -> Iterator[Iterable[Text]]:
        for group in grouped(self.happenings):
            yield [Text(f"{self._heading(group)}:", style="bold" if group.required else "")]
            yield from self._told(group.happenings, width, required=group.required)

    def _heading(self, group: Group) -> str:
        """The heading; where nobody knows who could prevent it, the line below or the end of the answer says more."""
        if group.behind is not Behind.UNKNOWN:
            return group.heading
        if self.search_follows:
            return f"{POSSIBLE[group.required]}; whether settings prevent it is not known yet"
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
        if more := len(those) - len(shown):
            names = wording.listed(
                list(dict.fromkeys(wording.fault_set(one.faults) for one in those[len(shown) :]))[:4]
            )
            others = f"and with {wording.counted(more, 'other fault set')}, such as {names}"
            yield lines.wrapped(others, width, first="  ", rest="    ", style="dim")

    def _change(self, one: Happening) -> str:
        if one.prevented_by is None and self.search_follows:
            return "what prevents it is looked for: see the end of this answer"
        return changes_to(one, self.repair)


def changes_to(one: Happening, repair: str) -> str:
    """Say what prevents what can happen, or which command looks for that."""
    if one.prevented_by:
        return f"prevented by {one.prevented_by[0]}"
    if one.prevented_by is not None:
        return f"no single change is known to prevent it; several may: {repair}"
    return f"what prevents it: {repair}"


class BriefTable:
    """A line for each property, required ones first, and the bounds below."""

    def __init__(self, verdicts: Sequence[Verdict]) -> None:
        self.verdicts = sorted(verdicts, key=lambda verdict: not verdict.required)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
        table.add_column("property", no_wrap=True)
        table.add_column("verdict", no_wrap=True)
        table.add_column("smallest fault sets", no_wrap=True, overflow="ellipsis")
        table.add_column("bounds", no_wrap=True)
        names = max((len(verdict.property) for verdict in self.verdicts), default=0) + 1
        bounds = max((len(wording.any_faults(verdict.coverage)) for verdict in self.verdicts), default=0)
        statuses = max((len(known_defects.status(verdict)) for verdict in self.verdicts), default=0) + 2
        room = options.max_width - names - bounds - statuses - 3 * 2
        for verdict in self.verdicts:
            quiet = "" if verdict.required else "dim"
            said = f"{wording.SYMBOL[verdict.status]} {known_defects.status(verdict)}"
            table.add_row(
                Text(wording.plain(verdict.property) + "*" * verdict.required, style=quiet or "bold"),
                Text(said, style=quiet or STYLE[verdict.status]),
                Text(_sets(verdict, room), style=quiet),
                Text(wording.any_faults(verdict.coverage), style=quiet),
            )
        yield table
        yield Text()
        below = [_remark(one, options.max_width) for one in remarks(self.verdicts, footnotes=False)]
        yield from lines.first_of(below, MOST_REMARKS, options.max_width)
        if sum(map(len, below)) > MOST_REMARKS:
            yield Text("  more on the bounds: --details", style="dim")


class BriefStory:
    """A trace without what each step changed; of a long one the first steps, the faults and the last steps.

    ``above``: how many lines of the screen are used already.
    """

    def __init__(self, telling: Telling, command: str, above: int) -> None:
        self.room = max(SCREEN - above - AROUND_A_TRACE, FEWEST_LINES)
        self.story = Story(telling)
        self.command = command

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        yield from self.story.heading(width)
        yield from self.story.header()
        yield from self._steps(width)
        yield from self.story.failure(width)

    def _steps(self, width: int) -> Iterator[Text]:
        """All steps, or as many from the start and the end as there are lines for; faults are told in any case."""
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
                more = Text(f"{'...':>{self.story.digits}} more steps: {self.command}", style="dim", no_wrap=True)
                yield more if more.cell_len <= width else lines.cut(more, width)


def most_telling(told: Sequence[Telling], happenings: Sequence[Happening]) -> Telling | None:
    """The trace of what comes first by fault; None where nothing is violated."""
    for happening in happenings:
        name = happening.broken[0].property
        for one in told:
            if one.faults == happening.faults and name in [verdict.property for verdict, _ in one.violated]:
                return Telling(one.trace, tuple(pair for pair in one.violated if pair[0].property == name))
    return None


def _remark(text: str, width: int) -> list[Text]:
    return list(lines.wrapped(text, width, first="  ", rest="    ", style="dim"))


def _sets(verdict: Verdict, room: int) -> str:
    """As many smallest fault sets as there is room for, and how many there are besides."""
    if verdict.status is Status.VACUOUS:
        return "witness not reached"
    for count in range(min(MOST_SETS, len(verdict.cut_sets)), -1, -1):
        more = len(verdict.cut_sets) - count
        sets = [wording.fault_set(one) for one in verdict.cut_sets[:count]]
        said = " ".join([*sets, *([f"+{more}" if count else wording.counted(more, "fault set")] if more else [])])
        if len(said) <= room:
            return said
    return wording.number(len(verdict.cut_sets))
