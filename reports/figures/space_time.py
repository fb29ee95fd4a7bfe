"""A trace as a space-time diagram for slides: lanes, messages as arrows, marked faults, and the steps beside them.

The geometry is the same as in the diagram of the page (:mod:`reports.html.svg`); the unit is one px.
"""

from __future__ import annotations

import textwrap
from itertools import accumulate
from pathlib import Path

from proofka.properties.verdict import Step
from proofka.reports import wording
from proofka.reports.figures.drawing import DARK, GREY, Sheet, sheet, short
from proofka.reports.html import svg
from proofka.reports.space_time import DOWN, End, space_time
from proofka.reports.story import UNIT, Telling

INCH_A_PX = 1 / 96
TEXT_PX = 430
"""Width of the sentences beside the lanes, in px."""

LETTERS, BOLD_LETTERS = 66, 58
"""Letters of a sentence in a line: of an ordinary step, and of a fault, which is bold."""

LANE_LETTERS = 13
NAMED = 0.3
"""Position of the name on an arrow over several rows, as a share of its length, before arrows cross."""

FAULT, MESSAGE, LOST, OPEN = "#b2182b", "#2166ac", "#b2182b", "#8c6d00"
STYLES = {
    End.ARRIVES: (MESSAGE, "solid", "-|>"),
    End.LOST: (LOST, "dashed", "-"),
    End.OPEN: (OPEN, "dotted", "-"),
}
LEGEND = (
    "●: a step. ✗: a fault. Arrows are messages: solid: the message arrives; dashed, with ✗: the message is lost; "
    f"dotted: the message is in flight at the end. Hatched lane: {DOWN}."
)


def draw_trace(telling: Telling, name: str, file: Path) -> None:
    """Draw one trace of the deployment of this name into a file whose name ends in ``.png`` or ``.svg``."""
    said = [textwrap.wrap(_sentence(step), BOLD_LETTERS if step.fault else LETTERS) or [""] for step in telling.steps]
    heights = [svg.LINE * len(lines) + svg.PADDING for lines in said]
    drawing = svg.drawing(space_time(telling.trace), heights)
    bottoms = list(accumulate(heights, initial=svg.HEAD))
    with sheet(drawing.width + TEXT_PX, drawing.height, inch_a_column=INCH_A_PX, inch_a_row=INCH_A_PX) as made:
        _faults(made, telling, bottoms, drawing.width)
        _lanes(made, drawing)
        for message in drawing.messages:
            _message(made, message)
        for dot in drawing.dots:
            mark, size = ("x", 7) if dot.fault else ("o", 5)
            colour = FAULT if dot.fault else DARK
            made.axes.plot([dot.x], [dot.y], mark, color=colour, markersize=size, markeredgewidth=2, zorder=4)
        timed = any(step.at is not None for step in telling.steps)
        if timed:
            made.text(-8, svg.HEAD / 2, UNIT, ha="right", color=GREY)
        for row, (step, words) in enumerate(zip(telling.steps, said, strict=True), start=1):
            middle = (bottoms[row - 1] + bottoms[row]) / 2
            when = "" if step.at is None else f"{step.at:,}"
            made.text(-8, middle, when if timed else str(row), ha="right", color=GREY)
            style = {"color": FAULT, "fontweight": "bold"} if step.fault else {}
            for line, text in enumerate(words):
                made.text(drawing.width + 10, middle + (line - (len(words) - 1) / 2) * svg.LINE * 0.8, text, **style)
        _words(made, telling, name, drawing.height, drawing.width + TEXT_PX)
        made.save(file)


def _sentence(step: Step) -> str:
    return wording.plain(wording.happens(step))


def _faults(made: Sheet, telling: Telling, bottoms: list[int], width: int) -> None:
    """Draw a band behind each step that is a fault."""
    from matplotlib.patches import Rectangle

    for row, step in enumerate(telling.steps):
        if step.fault:
            size = (width + TEXT_PX, bottoms[row + 1] - bottoms[row])
            made.axes.add_patch(Rectangle((0, bottoms[row]), *size, facecolor="#fbe9e7", edgecolor="none", zorder=0))


def _lanes(made: Sheet, drawing: svg.Drawing) -> None:
    from matplotlib.patches import Rectangle

    for name in drawing.names:
        made.text(name.x, svg.HEAD / 2, short(wording.plain(name.words), LANE_LETTERS), ha="center", fontweight="bold")
    for track in drawing.tracks:
        made.axes.plot([track.x1, track.x2], [track.y1, track.y2], color="#bbbbbb", lw=1, zorder=1)
    for gap in drawing.gaps:
        place, size = (gap.x1 - 4, gap.y1), (8, gap.y2 - gap.y1)
        hatched = Rectangle(place, *size, facecolor="white", edgecolor=GREY, hatch="////", lw=0.5, zorder=2)
        made.axes.add_patch(hatched)


def _message(made: Sheet, message: svg.Message) -> None:
    colour, line, arrow = STYLES[End(message.end)]
    at = message.line
    how = {"arrowstyle": arrow, "color": colour, "linestyle": line, "lw": 1.3, "shrinkA": 0, "shrinkB": 0}
    made.axes.annotate("", xy=(at.x2, at.y2), xytext=(at.x1, at.y1), arrowprops=how, zorder=3)
    if message.end == End.LOST:
        made.axes.plot([at.x2], [at.y2], "x", color=colour, markersize=6, markeredgewidth=1.5, zorder=4)
    along = 0.5 if at.y1 == at.y2 else NAMED
    x, y = at.x1 + along * (at.x2 - at.x1), at.y1 + along * (at.y2 - at.y1)
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85}
    made.text(x, y - 7, message.what, ha="center", fontsize=6.5, color=colour, bbox=box, zorder=3)


def _words(made: Sheet, telling: Telling, name: str, bottom: int, width: int) -> None:
    names = wording.listed([verdict.property for verdict, _ in telling.violated])
    title = f"{names} violated by {wording.fault_set(telling.faults)}"
    letters = width * 0.16
    above = textwrap.wrap(wording.plain(title), int(letters * 0.7))
    for line, text in enumerate(reversed(above)):
        made.text(-8, -14 - 22 * line, text, fontsize=11, fontweight="bold")
    failures = dict.fromkeys(failure for _, failure in telling.violated)
    ids = "; ".join(f"{verdict.property}, id {verdict.id}" for verdict, _ in telling.violated)
    below = [*(f"Fails: {failure}" for failure in failures), LEGEND, f"Proofka on {name}: {ids}"]
    made.paragraphs(-8, bottom + 8, below, int(letters))
