"""A trace on paper: the space-time diagram, with the step beside each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reportlab.lib.colors import HexColor
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.platypus import Flowable

from proofka.properties.verdict import Step, Trace
from proofka.reports import wording
from proofka.reports.html import svg
from proofka.reports.pdf.fonts import BOLD, TEXT, drawable
from proofka.reports.space_time import End, space_time

SCALE = 0.47
"""Points on paper for one px of the drawing."""

SIZE, LEADING = 7.5, svg.LINE * SCALE
"""Height of the letters and of the lines of a step, in points."""

PADDING = 7
"""Padding of a row, in px of the drawing; smaller than on a screen."""

MOST_LINES = 20
"""Largest number of lines of a step: a row must not be higher than a page."""

NUMBER, TIME, GAP = 16, 42, 8
"""Widths of the number and the time of a step, and of the gap between columns, in points."""

INK, QUIET, FAULT, ARROW = (HexColor(colour) for colour in ("#1c2024", "#9aa3ad", "#b3261e", "#0b57b0"))


class TraceOnPaper(Flowable):  # type: ignore[misc]
    """Rows ``first`` to ``last`` of a trace. A long trace is split between rows over several pages."""

    def __init__(self, trace: Trace, width: float, first: int = 1, last: int | None = None) -> None:
        super().__init__()
        self.trace, self.first = trace, first
        self.last = len(trace.steps) if last is None else last
        self.space_time = space_time(trace)
        self.timed = any(step.at is not None for step in trace.steps)
        self.width = width
        self.left = svg.LANE * SCALE * len(self.space_time.lanes)
        self.room = width - self.left - NUMBER - (TIME if self.timed else 0) - GAP
        self.lines = [_broken(_sentence(step), self.room, BOLD if step.fault else TEXT) for step in trace.steps]
        self.rows = [len(lines) * svg.LINE + PADDING for lines in self.lines]
        self.heights = [row * SCALE for row in self.rows]
        self.height = self._height(self.first, self.last)

    def _height(self, first: int, last: int) -> float:
        return svg.HEAD * SCALE + sum(self.heights[first - 1 : last]) + svg.PADDING * SCALE

    def wrap(self, _width: float, _height: float) -> tuple[float, float]:
        return self.width, self.height

    def split(self, _width: float, height: float) -> list[Flowable]:
        last = self.last
        while last >= self.first and self._height(self.first, last) > height:
            last -= 1
        if last < self.first + 1 or last == self.last:
            return []
        return [
            TraceOnPaper(self.trace, self.width, self.first, last),
            TraceOnPaper(self.trace, self.width, last + 1, self.last),
        ]

    def draw(self) -> None:
        drawing = svg.drawing(self.space_time, self.rows)
        above = sum(self.heights[: self.first - 1])
        self._shapes(drawing, above)
        self._steps()

    def _y(self, y: float, above: float) -> float:
        """Convert px below the top of the whole drawing to points above the foot of this part."""
        return self.height - (y * SCALE - above)

    def _shapes(self, drawing: svg.Drawing, above: float) -> None:
        canvas = self.canv
        canvas.saveState()
        canvas.setFont(TEXT, 5.5)
        canvas.setFillColor(INK)
        for name in drawing.names:
            canvas.drawCentredString(name.x * SCALE, self.height - svg.HEAD * SCALE * 0.6, drawable(name.words))
        clip = canvas.beginPath()
        clip.rect(0, 0, self.width, self.height - svg.HEAD * SCALE)
        canvas.clipPath(clip, stroke=0, fill=0)
        canvas.setLineWidth(0.8)
        canvas.setStrokeColor(QUIET)
        gone = {(gap.x1, gap.y1, gap.y2) for gap in drawing.gaps}
        for track in drawing.tracks:
            down = sorted((y1, y2) for x, y1, y2 in gone if x == track.x1)
            top = track.y1
            for start, end in [*down, (track.y2, track.y2)]:
                self._line(svg.Line(track.x1, top, track.x1, start), above)
                top = end
        canvas.setDash(1, 2)
        for line in drawing.gaps:
            self._line(line, above)
        for message in drawing.messages:
            self._message(message, above)
        canvas.setDash()
        for dot in drawing.dots:
            x, y = dot.x * SCALE, self._y(dot.y, above)
            canvas.setFillColor(FAULT if dot.fault else INK)
            canvas.setStrokeColor(FAULT if dot.fault else INK)
            if dot.fault:
                canvas.setLineWidth(1.4)
                canvas.line(x - 2.6, y - 2.6, x + 2.6, y + 2.6)
                canvas.line(x - 2.6, y + 2.6, x + 2.6, y - 2.6)
            else:
                canvas.circle(x, y, 2, stroke=0, fill=1)
        canvas.restoreState()

    def _line(self, line: svg.Line, above: float) -> None:
        self.canv.line(line.x1 * SCALE, self._y(line.y1, above), line.x2 * SCALE, self._y(line.y2, above))

    def _message(self, message: svg.Message, above: float) -> None:
        canvas, line = self.canv, message.line
        lost = message.end == End.LOST.value
        canvas.setStrokeColor(FAULT if lost else ARROW)
        canvas.setFillColor(FAULT if lost else ARROW)
        canvas.setLineWidth(0.7)
        canvas.setDash(*((2, 1.5) if message.end == End.OPEN.value else ()))
        self._line(line, above)
        canvas.setDash()
        x, y = line.x2 * SCALE, self._y(line.y2, above)
        if lost:
            canvas.line(x - 2, y - 2, x + 2, y + 2)
            canvas.line(x - 2, y + 2, x + 2, y - 2)
        else:
            self._tip(line, x, y)

    def _tip(self, line: svg.Line, x: float, y: float) -> None:
        across, down = line.x2 - line.x1, line.y1 - line.y2  # points count upwards
        length = (across**2 + down**2) ** 0.5 or 1
        along_x, along_y = across / length * 3.5, down / length * 3.5
        path: Any = self.canv.beginPath()
        path.moveTo(x, y)
        path.lineTo(x - along_x - along_y * 0.45, y - along_y + along_x * 0.45)
        path.lineTo(x - along_x + along_y * 0.45, y - along_y - along_x * 0.45)
        path.close()
        self.canv.drawPath(path, stroke=0, fill=1)

    def _steps(self) -> None:
        canvas = self.canv
        top = svg.HEAD * SCALE
        for number in range(self.first, self.last + 1):
            step, lines = self.trace.steps[number - 1], self.lines[number - 1]
            middle = self.height - top - self.heights[number - 1] / 2
            y = middle + (len(lines) - 1) * LEADING / 2 - SIZE * 0.35
            x = self.left + NUMBER
            canvas.setFillColor(QUIET)
            canvas.setFont(TEXT, SIZE)
            canvas.drawRightString(x - 3, y, str(number))
            if self.timed:
                x += TIME
                at = "" if step.at is None else f"{wording.number(step.at)} ms"
                canvas.drawRightString(x - 3, y, at)
            canvas.setFillColor(FAULT if step.fault else INK)
            canvas.setFont(BOLD if step.fault else TEXT, SIZE)
            for line in lines:
                canvas.drawString(x + GAP / 2, y, line)
                y -= LEADING
            top += self.heights[number - 1]


def _sentence(step: Step) -> str:
    return drawable(wording.plain(wording.happens(step)))


def _broken(text: str, room: float, font: str) -> Sequence[str]:
    """Return the text in lines of at most ``room`` points, broken at blanks, or inside a word that is too long."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if stringWidth(longer, font, SIZE) <= room:
            lines[-1] = longer
            continue
        if lines[-1]:
            lines.append("")
        for letter in word:
            if stringWidth(lines[-1] + letter, font, SIZE) > room:
                lines.append("")
            lines[-1] += letter
    return lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], "\u2026"]
