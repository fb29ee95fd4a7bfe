"""The whole state after one step of a trace, with the changes of the step: ``proofka trace FILE N --step K``."""

from __future__ import annotations

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from proofka.properties.verdict import states_of
from proofka.reports import lines, wording
from proofka.reports.story import FAULT_MARK, STEP_MARK, TRACK, Story, Telling

NOBODYS = "all together"
"""The heading of the parts of the state without a single owner."""


class StepReport:
    """The state after step ``step``, by owner. Step 0 is the start. The changes of the step are marked."""

    def __init__(self, telling: Telling, step: int) -> None:
        self.telling = telling
        self.step = step

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        of = wording.counted(len(self.telling.steps), "step")
        step = self.telling.steps[self.step - 1] if self.step else None
        yield from lines.title(f"at the start of {of}" if step is None else f"after step {self.step} of {of}", width)
        if step is not None:
            said = f"{FAULT_MARK if step.fault else STEP_MARK} {wording.announced(step)}"
            when = "" if step.at is None else f", at {step.at:,} ms"
            yield from lines.wrapped(
                f"{said} ({step.actor}{when})", width, rest="  ", style="bold red" * bool(step.fault)
            )
        yield Text()
        before = {change.what: change.before for change in step.changes} if step is not None else {}
        state = tuple(states_of(self.telling.trace))[self.step]
        for owner in dict.fromkeys(shown.owner for shown in state):
            yield Text(wording.plain(owner or NOBODYS), style="bold", no_wrap=True)
            for shown in state:
                if shown.owner != owner:
                    continue
                changed = shown.what in before
                was = f" (before: {before[shown.what]})" if changed else ""
                first = f"  {STEP_MARK if changed else TRACK} "
                text = f"{shown.what}: {shown.value}{was}"
                yield from lines.wrapped(text, width, first=first, rest=f"  {TRACK}   ", style="bold" * changed)
        if step is not None and not before:
            yield from lines.wrapped("This step changed nothing that is shown here.", width)
        if not self.telling.trace.start:
            yield from lines.wrapped("The result has no initial state: only parts that have changed are shown.", width)
        if self.step == len(self.telling.steps):
            yield Text()
            yield from Story(self.telling).failures(width)
