"""The geometry of diagrams for SVG; words and colours are in the template and its style sheet."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence, Set
from dataclasses import dataclass
from math import hypot

from proofka.reports.space_time import Arrow, End, SpaceTime

LANE = 78
"""Width of a lane, in px."""

HEAD = 28
"""Height of the row with the names of the lanes, in px."""

LINE, PADDING = 20, 12
"""Height of a line of text, and padding of a row, in px; the rows of the list of steps have the same values."""

LETTERS, FEWER_IN_BOLD = 62, 5
"""Letters of a step, with its time, that always fit into a line; and how many fewer fit in bold, for faults."""

FACT_LINE, FACT_LETTERS = 17, 62
"""Height of a line of an observation below a step, in px, and letters that always fit into the line."""

BROKEN = 0.55
"""Share of the length of an arrow for a message that does not arrive."""

TIP = 7
"""Distance between the tip of an arrow and the mark at its end, in px."""


@dataclass(frozen=True)
class Line:
    """A line from one point to another, in px."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True)
class Message:
    """An arrow of a message; the arrow of a lost message is shorter."""

    line: Line
    end: str
    what: str
    row: int


@dataclass(frozen=True)
class Dot:
    """The mark of a step."""

    x: float
    y: float
    row: int
    fault: str | None


@dataclass(frozen=True)
class Name:
    """The name of a lane."""

    x: float
    words: str


@dataclass(frozen=True)
class Part:
    """Rows ``first`` to ``last`` of a diagram, which stay together on paper; ``top`` is in px of the whole diagram."""

    first: int
    last: int
    top: int
    height: int

    def shows(self, one: float, other: float) -> bool:
        """Tell whether a part of the range between these heights (px) is in this part."""
        low, high = sorted((one, other))
        return low <= self.top + self.height and high >= self.top


@dataclass(frozen=True)
class Drawing:
    """All elements of a diagram, and the heights of its rows. Each part has the names of the lanes above its rows."""

    width: int
    height: int
    parts: tuple[Part, ...]
    heights: tuple[int, ...]
    names: tuple[Name, ...]
    tracks: tuple[Line, ...]
    gaps: tuple[Line, ...]
    messages: tuple[Message, ...]
    dots: tuple[Dot, ...]


def row_height(sentence: str, time: int, *, bold: bool, facts: Sequence[str] = ()) -> int:
    """Return the height of the row of a step in px, by the number of lines of its sentence beside ``time`` letters.

    ``facts``: the observations below the sentence.
    """
    lines = textwrap.wrap(sentence, LETTERS - time - (FEWER_IN_BOLD if bold else 0))
    below = sum(max(1, len(textwrap.wrap(fact, FACT_LETTERS))) for fact in facts)
    return LINE * max(1, len(lines)) + FACT_LINE * below + PADDING


def drawing(diagram: SpaceTime, heights: Sequence[int], most: int | None = None) -> Drawing:
    """Return the diagram with rows of these heights, in parts of at most ``most`` px (None: one part)."""
    crossed = {
        row for arrow in diagram.arrows for row in range(min(arrow.row, arrow.to_row), max(arrow.row, arrow.to_row))
    }
    parts = _parts(heights, most, crossed)
    height = parts[-1].top + parts[-1].height
    middles = [HEAD / 2]
    for part in parts:
        y = part.top + HEAD
        for row in heights[part.first - 1 : part.last]:
            middles.append(y + row / 2)
            y += row
    middles.append(height)

    def x(lane: int) -> float:
        return (lane + 0.5) * LANE

    lanes = range(len(diagram.lanes))
    return Drawing(
        width=LANE * len(diagram.lanes),
        height=height,
        parts=parts,
        heights=tuple(heights),
        names=tuple(Name(x(lane), diagram.lanes[lane]) for lane in lanes),
        tracks=tuple(Line(x(lane), HEAD, x(lane), height) for lane in lanes),
        gaps=tuple(
            Line(
                x(gap.lane),
                middles[gap.row],
                x(gap.lane),
                height if gap.to_row == diagram.rows else middles[gap.to_row],
            )
            for gap in diagram.gaps
        ),
        messages=tuple(_message(arrow, x(arrow.lane), x(arrow.to_lane), middles) for arrow in diagram.arrows),
        dots=tuple(Dot(x(mark.lane), middles[mark.row], mark.row, mark.fault) for mark in diagram.marks),
    )


def _parts(heights: Sequence[int], most: int | None, crossed: Set[int]) -> tuple[Part, ...]:
    """Divide the rows into parts, one below the other, with padding below the last part.

    A part ends after a row that no arrow crosses (``crossed``: rows from which an arrow leads to a later row), if the
    second half of the part has such a row. Otherwise the end of the part cuts an arrow.
    """
    parts: list[Part] = []
    first, top = 1, 0
    while most is not None and HEAD + sum(heights[first - 1 :]) > most:
        last, whole = first, None
        while HEAD + sum(heights[first - 1 : last + 1]) <= most:
            last += 1
            if last not in crossed and HEAD + sum(heights[first - 1 : last]) >= most / 2:
                whole = last
        last = last if whole is None else whole
        height = HEAD + sum(heights[first - 1 : last])
        parts.append(Part(first, last, top, height))
        first, top = last + 1, top + height
        if first > len(heights):
            return tuple(parts)
    return (*parts, Part(first, len(heights), top, HEAD + sum(heights[first - 1 :]) + PADDING))


def _message(arrow: Arrow, start: float, end: float, middles: Sequence[float]) -> Message:
    top, bottom = middles[arrow.row], middles[arrow.to_row]
    length = hypot(end - start, bottom - top) or 1
    share = {End.ARRIVES: 1 - TIP / length, End.LOST: BROKEN, End.OPEN: BROKEN}[arrow.end]
    line = Line(start, top, round(start + share * (end - start), 1), round(top + share * (bottom - top), 1))
    return Message(line, arrow.end.value, arrow.what, arrow.row)
