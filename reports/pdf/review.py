"""The pages of a review. The first page of a deployment is complete in itself; the others add details.

The first page has the answer, verdicts with their ids, bounds, assumptions, the command, and the shortest trace of the
first required property that is violated; the trace continues on the next page if the page is too short. The other
pages have further traces, the statements of properties that are not required, effective settings with their origins,
notes, and a citation.

The bytes depend on the results alone: the file has no date and no random identifier.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any
from xml.sax.saxutils import escape

from proofka.properties.modelling_assumption import AssumptionKind
from proofka.properties.verdict import Result, Status, Verdict
from proofka.reports import assumptions, certified, citation, known_defects, reproduced, summary, wording
from proofka.reports.bounds import bound_lines
from proofka.reports.formats import Answer
from proofka.reports.pdf.fonts import BOLD, ITALIC, MONO, TEXT, drawable, register
from proofka.reports.pdf.settings import settings_table
from proofka.reports.story import Telling, tellings
from proofka.reports.table import engine_line

MARGIN = 42
"""Margin around the text of an A4 page, in points."""

ROOM_FOR_A_TRACE = 120
"""Smallest height in points for the start of a trace; with less height the trace begins on the next page."""

MOST_OF_TITLE = 90
"""Number of letters of the names of deployments at the foot of a page."""

PADDING = 6
"""Padding of reportlab's frame inside the margin, in points."""

SMALLEST = 0.85
"""Smallest scale of the first page."""

MOST_FAULT_SETS = 8
"""Number of smallest fault sets of a property in the table."""

BEYOND = "A pass holds within these bounds and says nothing beyond them."
ASSUMED = "No file states these; another value can change a verdict."

MODELLING = {
    "Modelling assumptions, which can be false in this deployment": AssumptionKind.OF_DEPLOYMENT,
    "Modelling assumptions of the model": AssumptionKind.OF_MODEL,
}
"""The sections of modelling assumptions."""

_COLOURS = {
    Status.VIOLATED: "#b3261e",
    Status.HOLDS: "#1b6e3c",
    Status.VACUOUS: "#8a5a00",
    Status.UNKNOWN: "#8a5a00",
}


def to_pdf(answers: Sequence[Answer]) -> bytes:
    """Return the document; each deployment begins on a new page."""
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
        flow += _Pages(answer, pages.width - 2 * PADDING, pages.height - 2 * PADDING).flow()
    pages.build(flow, onFirstPage=_foot(title), onLaterPages=_foot(title))
    return content.getvalue()


def _foot(title: str) -> Any:
    def draw(canvas: Any, pages: Any) -> None:
        canvas.setFont(TEXT, 7)
        canvas.drawString(MARGIN + PADDING, MARGIN / 2, title[:MOST_OF_TITLE])
        canvas.drawRightString(MARGIN + pages.width - PADDING, MARGIN / 2, f"page {pages.page}")

    return draw


class _Pages:
    """The content of the pages of one deployment, in order."""

    def __init__(self, answer: Answer, width: float, height: float) -> None:
        from reportlab.lib.styles import ParagraphStyle

        self.answer, self.width, self.height = answer, width, height
        text = ParagraphStyle("text", fontName=TEXT, fontSize=8, leading=10.5, spaceAfter=2, splitLongWords=1)
        small = ParagraphStyle("small", text, fontSize=7, leading=8.8, spaceAfter=0)
        self.styles = {
            "text": text,
            "title": ParagraphStyle("title", text, fontName=BOLD, fontSize=14, leading=17),
            "answer": ParagraphStyle("answer", text, fontName=BOLD, fontSize=10, leading=13, spaceBefore=2),
            "heading": ParagraphStyle(
                "heading", text, fontName=BOLD, fontSize=9.5, leading=12, spaceBefore=6, keepWithNext=1
            ),
            "failure": ParagraphStyle("failure", small, textColor=_COLOURS[Status.VIOLATED], spaceAfter=2),
            "quiet": ParagraphStyle("quiet", small, fontName=ITALIC, fontSize=6.8),
            "small": small,
            "mono": ParagraphStyle("mono", small, fontName=MONO, fontSize=6.8),
        }

    def flow(self) -> Iterator[Any]:
        from reportlab.platypus import CondPageBreak

        deployment, result = self.answer.deployment, self.answer.result
        required = [verdict for verdict in result.verdicts if verdict.required]
        told = tellings(required, all_traces=False, reproductions=result.reproductions)
        yield from self._on_one_page([*self._front(), *(self._trace(told[0]) if told else ())])
        for telling in told[1:]:
            yield CondPageBreak(ROOM_FOR_A_TRACE)
            yield from self._trace(telling)
        yield from self._section("Replays of further traces", list(_further_replays(result, told)))
        others = [f"{one.property}: {one.statement}" for one in result.verdicts if not one.required]
        yield from self._section("Not required", others)
        yield self._says("heading", "Configuration")
        yield from settings_table(deployment, self.width)
        for title, kind in MODELLING.items():
            yield from self._section(title, list(assumptions.modelling_lines(result, kind)))
        yield from self._section("Notes", list(assumptions.note_lines(deployment, result)))
        yield from self._section("Certificate", list(certified.lines(result)))
        cited = citation.paragraph(deployment, result, command=self.answer.command)
        yield from self._section("Cite", [cited])

    def _on_one_page(self, flow: Sequence[Any]) -> Iterator[Any]:
        """Yield the content in one frame if a scale from :data:`SMALLEST` fits it on a page, or else unchanged."""
        from reportlab.platypus import KeepInFrame

        gaps = [max(one.getSpaceAfter(), other.getSpaceBefore()) for one, other in pairwise(flow)]
        needed = sum(one.wrap(self.width, self.height)[1] for one in flow) + sum(gaps)
        if self.height < needed <= self.height / SMALLEST:
            yield KeepInFrame(self.width, self.height, list(flow), mode="shrink")
        else:
            yield from flow

    def _front(self) -> Iterator[Any]:
        """Yield the answer, the verdicts, the bounds, the assumptions and the command."""
        deployment, result = self.answer.deployment, self.answer.result
        yield self._says("title", deployment.name)
        yield self._says("text", summary.cluster(deployment))
        yield self._says("text", summary.clients(deployment))
        yield self._says("answer", wording.answer(result.verdicts))
        yield from self._verdicts(result)
        yield from self._section("Bounds", [BEYOND, *bound_lines(result)])
        assumed = list(assumptions.assumption_summary(deployment, result))
        yield from self._section("Assumptions", [ASSUMED, *assumed] if assumed else [])
        yield from self._again(result)

    def _says(self, style: str, text: str) -> Any:
        from reportlab.platypus import Paragraph

        return Paragraph(escape(drawable(wording.plain(text))), self.styles[style])

    def _section(self, title: str, lines: Sequence[str]) -> Iterator[Any]:
        """Yield a heading and its lines, or nothing without lines."""
        if lines:
            yield self._says("heading", title)
        for line in lines:
            yield self._says("quiet" if line in (BEYOND, ASSUMED) else "small", line)

    def _again(self, result: Result) -> Iterator[Any]:
        yield self._says("heading", "Again")
        yield self._says("mono", self.answer.command)
        versions = ", ".join(f"{name} {version}" for name, version in sorted(result.versions.items()))
        yield self._says("small", f"{versions}; {engine_line(result)}")

    def _verdicts(self, result: Result) -> Iterator[Any]:
        from reportlab.lib.colors import HexColor
        from reportlab.platypus import Table

        yield self._says("heading", "Verdicts")
        rows = [[self._says("quiet", name) for name in ("property", "verdict", "smallest fault sets", "id")]]
        rows += [self._row(verdict) for verdict in result.verdicts]
        shares = (0.42, 0.11, 0.3, 0.17)
        rule = ("LINEBELOW", (0, 0), (-1, -1), 0.3, HexColor("#d5dae0"))
        tight = [
            ("LEFTPADDING", (0, 0), (0, -1), 0),
            ("TOPPADDING", (0, 0), (-1, -1), 1),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 1.5),
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ]
        yield Table(rows, [share * self.width for share in shares], repeatRows=1, hAlign="LEFT", style=[rule, *tight])
        required = sum(verdict.required for verdict in result.verdicts)
        if required:
            others = "" if required == len(result.verdicts) else "; the statements of the others follow the traces"
            yield self._says("quiet", f"* required{others}")

    def _row(self, verdict: Verdict) -> list[Any]:
        from reportlab.platypus import Paragraph

        colour = _COLOURS[verdict.status]
        said = drawable(f"{wording.SYMBOL[verdict.status]} {known_defects.status(verdict)}")
        sets = [wording.fault_set(one) for one in verdict.cut_sets[:MOST_FAULT_SETS]]
        more = len(verdict.cut_sets) - len(sets)
        sets += [f"and {wording.number(more)} more"] if more else []
        if verdict.status is Status.VACUOUS:
            sets.append(f"never reached: {verdict.witness}")
        claim = [self._says("quiet", verdict.statement)] if verdict.required else []
        return [
            [self._says("small", verdict.property + ("*" if verdict.required else "")), *claim],
            Paragraph(f'<font name="{BOLD}" color="{colour}">{escape(said)}</font>', self.styles["small"]),
            self._says("small", ", ".join(sets)),
            self._says("mono", verdict.id),
        ]

    def _trace(self, telling: Telling) -> Iterator[Any]:
        """Yield the violated properties with their failures, and the diagram of their common run."""
        from proofka.reports.pdf.diagram import TraceOnPaper

        yield self._says("heading", _title(telling))
        for verdict, failure in telling.violated:
            yield self._says("failure", f"{verdict.property} fails: {failure}")
        for outcome in telling.reproductions:
            yield self._says("small", reproduced.in_short(outcome))
        yield TraceOnPaper(telling.trace, self.width)


def _title(telling: Telling) -> str:
    names = wording.listed([verdict.property for verdict, _ in telling.violated])
    return f"{names} violated by {wording.fault_set(telling.faults)}"


def _further_replays(result: Result, told: Sequence[Telling]) -> Iterator[str]:
    """Yield the outcomes of replays of traces that are not on the pages, a line each."""
    shown = [outcome for telling in told for outcome in telling.reproductions]
    for telling in tellings(result.verdicts, all_traces=True, reproductions=result.reproductions):
        for outcome in telling.reproductions:
            if outcome not in shown:
                yield f"{_title(telling)}: {reproduced.with_reasons(outcome)}"
