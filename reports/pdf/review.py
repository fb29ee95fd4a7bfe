"""The pages of a review: the claim and its answer, verdicts, bounds, assumptions, traces, how to repeat and to cite it.

The bytes depend on the results alone: no date and no random identifier is in them.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any
from xml.sax.saxutils import escape

from model.deployment.deployment import Deployment
from properties.verdict import Result, Status, Verdict
from reports import assumptions, citation, summary, wording
from reports.formats import Answer
from reports.pdf.fonts import BOLD, ITALIC, MONO, TEXT, drawable, register
from reports.story import tellings
from reports.table import engine_line

MARGIN = 42
"""Around the text of an A4 page, in points."""

ROOM_FOR_A_TRACE = 150
"""With less than that left on a page, in points, a trace begins on the next one."""

MOST_OF_TITLE = 90
"""So many letters of the names of deployments stand at the foot of a page."""

PADDING = 6
"""Of reportlab's frame inside the margin, in points."""

MOST_FAULT_SETS = 8
"""How many smallest fault sets of a property the table shows."""

_COLOURS = {
    Status.VIOLATED: "#b3261e",
    Status.HOLDS: "#1b6e3c",
    Status.VACUOUS: "#8a5a00",
    Status.UNKNOWN: "#8a5a00",
}


def to_pdf(answers: Sequence[Answer]) -> bytes:
    """The document: each deployment begins on a page of its own."""
    from reportlab.lib.pagesizes import A4
    from reportlab.platypus import PageBreak, SimpleDocTemplate

    register()
    content = io.BytesIO()
    title = ", ".join(drawable(wording.plain(answer.deployment.name)) for answer in answers)
    pages = SimpleDocTemplate(
        content,
        pagesize=A4,
        leftMargin=MARGIN,
        rightMargin=MARGIN,
        topMargin=MARGIN,
        bottomMargin=MARGIN,
        title=f"{title}: Proofka",
        author="Proofka",
        invariant=1,
    )
    flow: list[Any] = []
    for answer in answers:
        flow += [PageBreak()] if flow else []
        flow += _Pages(answer, pages.width - 2 * PADDING).flow()
    pages.build(flow, onFirstPage=_foot(title), onLaterPages=_foot(title))
    return content.getvalue()


def _foot(title: str) -> Any:
    def draw(canvas: Any, pages: Any) -> None:
        canvas.setFont(TEXT, 7)
        canvas.drawString(MARGIN + PADDING, MARGIN / 2, title[:MOST_OF_TITLE])
        canvas.drawRightString(MARGIN + pages.width - PADDING, MARGIN / 2, f"page {pages.page}")

    return draw


class _Pages:
    """What stands on the pages of one deployment, in order."""

    def __init__(self, answer: Answer, width: float) -> None:
        from reportlab.lib.styles import ParagraphStyle

        self.answer, self.width = answer, width
        text = ParagraphStyle("text", fontName=TEXT, fontSize=8.5, leading=11.5, spaceAfter=3, splitLongWords=1)
        self.styles = {
            "text": text,
            "title": ParagraphStyle("title", text, fontName=BOLD, fontSize=15, leading=19),
            "answer": ParagraphStyle("answer", text, fontName=BOLD, fontSize=10.5, leading=14, spaceBefore=4),
            "heading": ParagraphStyle("heading", text, fontName=BOLD, fontSize=10.5, leading=14, spaceBefore=8),
            "trace": ParagraphStyle("trace", text, fontName=BOLD, spaceBefore=6),
            "failure": ParagraphStyle("failure", text, textColor=_COLOURS[Status.VIOLATED]),
            "quiet": ParagraphStyle("quiet", text, fontName=ITALIC, fontSize=7.5, leading=10),
            "small": ParagraphStyle("small", text, fontSize=7.5, leading=10, spaceAfter=0),
            "mono": ParagraphStyle("mono", text, fontName=MONO, fontSize=7.5, leading=10),
        }

    def flow(self) -> Iterator[Any]:
        deployment, result = self.answer.deployment, self.answer.result
        yield self._says("title", deployment.name)
        yield self._says("text", summary.cluster(deployment))
        yield self._says("text", summary.clients(deployment))
        yield self._says("answer", wording.answer(result.verdicts))
        yield from self._verdicts(result)
        yield from self._bounds(result)
        yield from self._traces(result)
        yield from self._assumptions(deployment, result)
        yield self._says("heading", "Again")
        yield self._says("mono", self.answer.command)
        versions = ", ".join(f"{name} {version}" for name, version in sorted(result.versions.items()))
        yield self._says("small", f"{versions}; {engine_line(result)}")
        yield self._says("heading", "Cite")
        yield self._says("small", citation.paragraph(deployment, result, command=self.answer.command))

    def _says(self, style: str, text: str) -> Any:
        from reportlab.platypus import Paragraph

        return Paragraph(escape(drawable(wording.plain(text))), self.styles[style])

    def _verdicts(self, result: Result) -> Iterator[Any]:
        from reportlab.lib.colors import HexColor
        from reportlab.platypus import Table

        yield self._says("heading", "Verdicts")
        rows = [[self._says("quiet", name) for name in ("property", "verdict", "smallest fault sets", "bounds", "id")]]
        rows += [self._row(verdict) for verdict in result.verdicts]
        shares = (0.31, 0.12, 0.25, 0.15, 0.17)
        rule = ("LINEBELOW", (0, 0), (-1, -1), 0.3, HexColor("#d5dae0"))
        tight = [
            ("LEFTPADDING", (0, 0), (0, -1), 0),
            ("TOPPADDING", (0, 0), (-1, -1), 2),
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ]
        yield Table(rows, [share * self.width for share in shares], repeatRows=1, hAlign="LEFT", style=[rule, *tight])
        yield self._says("quiet", "* required")

    def _row(self, verdict: Verdict) -> list[Any]:
        from reportlab.platypus import Paragraph

        colour = _COLOURS[verdict.status]
        said = drawable(f"{wording.SYMBOL[verdict.status]} {wording.status(verdict)}")
        sets = [wording.fault_set(one) for one in verdict.cut_sets[:MOST_FAULT_SETS]]
        more = len(verdict.cut_sets) - len(sets)
        sets += [f"and {wording.number(more)} more"] if more else []
        if verdict.status is Status.VACUOUS:
            sets.append(f"never reached: {verdict.witness}")
        name = verdict.property + ("*" if verdict.required else "")
        return [
            [self._says("small", name), self._says("quiet", verdict.statement)],
            Paragraph(f'<font name="{BOLD}" color="{colour}">{escape(said)}</font>', self.styles["small"]),
            self._says("small", ", ".join(sets)),
            self._says("small", wording.bounds(verdict.coverage)),
            self._says("mono", verdict.id),
        ]

    def _bounds(self, result: Result) -> Iterator[Any]:
        yield self._says("heading", "Bounds")
        yield self._says("quiet", "A pass holds within these bounds and says nothing beyond them.")
        told: tuple[tuple[str, wording.Words], ...] = (
            ("faults", lambda verdict: wording.fault_kinds(verdict.coverage)),
            ("sizes", lambda verdict: wording.sizes(verdict.coverage)),
            ("cut short", lambda verdict: wording.would_explore_more(verdict.coverage)),
            ("stopped", wording.stopped_at),
        )
        for title, words in told:
            for names, text in wording.grouped(result.verdicts, words):
                which = "" if len(names) == len(result.verdicts) else f" ({wording.listed(names)})"
                yield self._says("small", f"{title}: {text}{which}")

    def _traces(self, result: Result) -> Iterator[Any]:
        """The shortest trace of each required property that is violated; those that share one share its diagram."""
        from reportlab.platypus import CondPageBreak

        from reports.pdf.diagram import TraceOnPaper

        required = [verdict for verdict in result.verdicts if verdict.required]
        told = tellings(required, all_traces=False)
        if told:
            yield CondPageBreak(ROOM_FOR_A_TRACE)
            yield self._says("heading", "Traces")
        for telling in told:
            names = wording.listed([verdict.property for verdict, _ in telling.violated])
            yield CondPageBreak(ROOM_FOR_A_TRACE)
            yield self._says("trace", f"{names} violated by {wording.fault_set(telling.faults)}")
            yield TraceOnPaper(telling.trace, self.width)
            for verdict, failure in telling.violated:
                yield self._says("failure", f"{verdict.property} fails: {failure}")

    def _assumptions(self, deployment: Deployment, result: Result) -> Iterator[Any]:
        lines = list(assumptions.assumption_summary(deployment, result))
        if lines:
            yield self._says("heading", "Assumptions")
            yield self._says("quiet", "No file says these; another value may need another verdict.")
            yield from (self._says("small", line) for line in lines)
        notes = list(assumptions.note_lines(deployment, result))
        if notes:
            yield self._says("heading", "Notes")
            yield from (self._says("small", note) for note in notes)
