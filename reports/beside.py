"""A trace with the state beside it, for wide terminals: the steps on the left, the states on the right."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from proofka.properties.verdict import Shown, Step, states_of
from proofka.reports import lines
from proofka.reports.story import Story

WIDE = 100
"""Width in characters from which the state is printed beside the steps."""

SHARE = 0.55
"""Share of the width for the steps."""

BETWEEN = "  "


class StoryBeside(Story):
    """One trace in the width of the console, with the state beside the steps from the width :data:`WIDE`.

    The first row on the right is the whole state at the start. Beside each step are the new values of the parts that
    the step changed. The whole state at the end is below the last step.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        if width < WIDE:
            yield from super().__rich_console__(console, options)
            return
        left = int(width * SHARE)
        right = width - left - len(BETWEEN)
        yield from self.opening(width)
        start, *after = states_of(self.telling.trace)
        yield from _beside(self.header(), _state("at the start", start, right), left)
        for position, (step, _) in enumerate(zip(self.telling.steps, after, strict=True), start=1):
            yield from _beside(self.line(position, step, left), _changed(step, right), left, more=self.tracks())
        end = f"after step {len(self.telling.steps)}"
        yield from _beside((), _state(end, after[-1] if after else start, right), left)
        yield Text()
        yield from self.failures(width)


def _beside(story: Iterator[Text] | tuple[()], state: Iterator[Text], left: int, *, more: str = "") -> Iterator[Text]:
    """Yield lines of the steps beside lines of the state; ``more`` replaces missing lines of the steps."""
    for one, other in zip_longest(story, state):
        line = one.copy() if one is not None else Text(more, no_wrap=True)
        if other is not None:
            line.append(" " * max(0, left - line.cell_len) + BETWEEN)
            line.append_text(other)
        yield line


def _state(when: str, state: tuple[Shown, ...], width: int) -> Iterator[Text]:
    if not state:
        return
    yield Text(when, style="bold", no_wrap=True)
    for shown in state:
        yield from lines.wrapped(f"{shown.what}: {shown.value}", width, rest="  ", style="dim")


def _changed(step: Step, width: int) -> Iterator[Text]:
    for change in step.changes:
        yield from lines.wrapped(f"{change.what}: {change.after}", width, rest="  ")
