"""A trace as text: one numbered line for each step, a lane for each actor, and then the changes of each step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from proofka.properties.open_durations import of_run
from proofka.properties.reproduced import Outcome
from proofka.properties.reproductions import outcomes_of
from proofka.properties.verdict import CutSet, Step, Trace, Verdict
from proofka.reports import lines, reproduced, wording

LANES = ("producer", "brokers", "controller", "consumer")
"""The lanes, from left to right."""

STEP_MARK = "●"
FAULT_MARK = "✗"
TRACK = "│"
UNIT = "ms"
"""The unit of the times of steps, as a heading."""


@dataclass(frozen=True)
class Telling:
    """One trace and all properties that its run violates.

    ``violated`` has each verdict with the part of its property that failed. ``reproductions``: the outcomes of its
    replays on real clusters.
    """

    trace: Trace
    violated: tuple[tuple[Verdict, str], ...]
    reproductions: tuple[Outcome, ...] = ()

    @property
    def faults(self) -> CutSet:
        return self.trace.faults

    @property
    def steps(self) -> tuple[Step, ...]:
        return self.trace.steps

    def also(self, verdict: Verdict, failure: str) -> Telling:
        """Return the same trace with one more violated property."""
        return Telling(self.trace, (*self.violated, (verdict, failure)))


def tellings(verdicts: Sequence[Verdict], *, all_traces: bool, reproductions: Sequence[Outcome] = ()) -> list[Telling]:
    """Return the traces in the order of the table, each run once.

    ``all_traces``: every trace of each property, and not only the first. ``reproductions``: the outcomes of replays.
    """
    told: list[Telling] = []
    for verdict in verdicts:
        for trace in verdict.traces if all_traces else verdict.traces[:1]:
            for position, telling in enumerate(told):
                if (telling.faults, telling.steps) == (trace.faults, trace.steps):
                    told[position] = telling.also(verdict, trace.failure)
                    break
            else:
                told.append(Telling(trace, ((verdict, trace.failure),)))
    return [replace(one, reproductions=_outcomes(one, reproductions)) for one in told]


def _outcomes(telling: Telling, reproductions: Sequence[Outcome]) -> tuple[Outcome, ...]:
    return outcomes_of(telling.steps, [verdict.property for verdict, _ in telling.violated], reproductions)


def untold(verdicts: Sequence[Verdict]) -> int:
    """Return the number of further traces that ``--all-traces`` would print."""
    return len(tellings(verdicts, all_traces=True)) - len(tellings(verdicts, all_traces=False))


class Story:
    """One trace, in the width of the console."""

    def __init__(self, telling: Telling) -> None:
        self.telling = telling
        used = {step.lane for step in telling.steps}
        self.lanes = [lane for lane in LANES if lane in used]
        self.lanes += sorted(used.difference(LANES))
        self.digits = max(2, len(str(len(telling.steps))))
        times = [f"{step.at:,}" for step in telling.steps if step.at is not None]
        self.time_digits = max([len(UNIT), *map(len, times)]) if times else 0

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        yield from self.opening(width)
        yield from self.header()
        for position, step in enumerate(self.telling.steps, start=1):
            yield from self.line(position, step, width)
        yield Text()
        yield from self._changes(width)
        yield from self.failures(width)

    def opening(self, width: int) -> Iterator[Text]:
        """Yield the title, the outcomes of replays, and the statement of each violated property."""
        yield from lines.title(self._title(), width)
        for outcome in self.telling.reproductions:
            yield from lines.wrapped(
                reproduced.said(outcome), width, first="   ", rest="     ", style=reproduced.STYLE[outcome.kind]
            )
        for verdict, _ in self.telling.violated:
            yield from lines.wrapped(f"{verdict.property}: {verdict.statement}", width, rest="  ", style="italic")
        yield Text()

    def heading(self, width: int) -> Iterator[Text]:
        """Yield the title."""
        yield from lines.title(self._title(), width)

    def failure(self, width: int) -> Iterator[Text]:
        """Yield the failure of the first property."""
        _, failure = self.telling.violated[0]
        yield from lines.wrapped(f"Fails: {failure}", width, rest="  ", style="bold red")
        yield from self._open_durations(width)

    def failures(self, width: int) -> Iterator[Text]:
        """Yield the failure of each property."""
        for verdict, failure in self.telling.violated:
            label = "Fails: " if len(self.telling.violated) == 1 else f"Fails {verdict.property}: "
            yield from lines.wrapped(label + failure, width, rest="  ", style="bold red")
        yield from self._open_durations(width)

    def _open_durations(self, width: int) -> Iterator[Text]:
        """Yield a note for each duration that the model leaves open in this run."""
        verdict, _ = self.telling.violated[0]
        for note in of_run(self.telling.trace, verdict.notes):
            yield from lines.wrapped(f"Note: {note}", width, rest="  ")

    def _title(self) -> str:
        names = wording.listed([verdict.property for verdict, _ in self.telling.violated])
        steps = wording.counted(len(self.telling.steps), "step")
        return f"{names} violated by {wording.fault_set(self.telling.faults)}, {steps}"

    @property
    def _margin(self) -> int:
        """Width in characters of the text before the lanes: the number of a step, and its time if steps have times."""
        return self.digits + 1 + (self.time_digits + 1 if self.time_digits else 0)

    def header(self) -> Iterator[Text]:
        """Yield the names of the lanes."""
        for position, lane in enumerate(self.lanes):
            unit = f"{UNIT:>{self.time_digits}} " if self.time_digits and position == len(self.lanes) - 1 else ""
            yield Text(f"{unit:>{self._margin}}" + f"{TRACK} " * position + wording.plain(lane), style="dim")

    def line(self, position: int, step: Step, width: int) -> Iterator[Text]:
        """Yield a numbered step with a mark on its lane."""
        mark = FAULT_MARK if step.fault else STEP_MARK
        tracks = [mark if lane == step.lane else TRACK for lane in self.lanes]
        time = "" if not self.time_digits else f"{'' if step.at is None else f'{step.at:,}':>{self.time_digits}} "
        first = f"{position:>{self.digits}} {time}" + " ".join(tracks) + "  "
        rest = self.tracks() + "  "
        yield from lines.wrapped(
            wording.announced(step), width, first=first, rest=rest, style="bold red" if step.fault else ""
        )

    def tracks(self) -> str:
        """Return the lanes of a line without a step."""
        return " " * self._margin + " ".join(TRACK for _ in self.lanes)

    def _changes(self, width: int) -> Iterator[Text]:
        if not any(step.changes for step in self.telling.steps):
            return
        yield Text("What changed", style="bold")
        for position, step in enumerate(self.telling.steps, start=1):
            if step.changes:
                text = "; ".join(f"{c.what}: {c.before} → {c.after}" for c in step.changes)
                yield from lines.wrapped(text, width, first=f"{position:>{self.digits}} ", rest=" " * (self.digits + 3))
        yield Text()
