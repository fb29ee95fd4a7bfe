"""A result as one HTML page, which is self-contained and loads nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from proofka.model.deployment.deployment import Deployment
from proofka.properties.modelling_assumption import AssumptionKind
from proofka.properties.verdict import CutSet, Result, Shown, Status, Verdict
from proofka.reports import assumptions, certified, citation, known_defects, reproduced, stability, summary, wording
from proofka.reports.bounds import bound_lines, layers
from proofka.reports.by_fault import Happening, by_fault, grouped
from proofka.reports.explained import prevented
from proofka.reports.html import svg
from proofka.reports.near_misses import near_misses
from proofka.reports.space_time import space_time
from proofka.reports.story import Telling, tellings
from proofka.reports.table import engine_line

TEMPLATES = "templates"
"""The folder with the template, the style sheet and the script of the page."""

SENTENCES = 480
"""Width of the steps beside a diagram, in px."""

SHEET, TALLEST = 700, 860
"""Width and height inside the margins of a sheet of A4 or Letter, below a heading, in px."""


MOST_UNFOLDED = 4
"""Number of traces up to which no part of the page is folded.

With more traces, all traces but the worst and the long tables are folded.
"""


def to_html(deployment: Deployment, result: Result, *, command: str) -> str:
    """Return the page as text. ``command`` reproduces the result."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("proofka.reports"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["text"] = lambda text: wording.plain(str(text))
    told = tellings(result.verdicts, all_traces=True, reproductions=result.reproductions)
    verdicts = {verdict.property: verdict for verdict in result.verdicts}
    groups = grouped(by_fault(deployment, result))

    def trace_of(one: Happening) -> int:
        return _number_of(told, verdicts[one.broken[0].property], one.broken[0].number)

    asked = [verdict for verdict in result.verdicts if verdict.required] or result.verdicts
    printed = {_number_of(told, verdict, 0) for verdict in asked if verdict.traces}
    drawn = [_Drawn(number, telling, on_paper=number in printed) for number, telling in enumerate(told, 1)]
    return environment.get_template("report.html.j2").render(
        deployment=deployment,
        result=result,
        command=wording.plain(command),
        summary=summary,
        wording=wording,
        known_defects=known_defects,
        reproduced=reproduced,
        holding=[verdict for verdict in result.verdicts if verdict.status is not Status.VIOLATED],
        groups=groups,
        trace_of=trace_of,
        unfolded=trace_of(groups[0].happenings[0]) if groups else 1,
        folds=len(drawn) > MOST_UNFOLDED,
        violated=[verdict for verdict in result.verdicts if verdict.status is Status.VIOLATED],
        answers=_answers(result.verdicts),
        near_misses=lambda verdict: near_misses(verdict, result),
        bounds=[*bound_lines(result), engine_line(result), layers(result.engine)],
        events=events,
        trace_number=lambda verdict, at: _number_of(told, verdict, at),
        tellings=drawn,
        further=[one for one in drawn if not one.on_paper],
        assumptions=[
            *assumptions.assumption_lines(deployment, result),
            *assumptions.modelling_lines(result, AssumptionKind.OF_DEPLOYMENT),
        ],
        of_the_model=list(assumptions.modelling_lines(result, AssumptionKind.OF_MODEL)),
        own_notes=assumptions.own_notes,
        notes=list(assumptions.note_lines(deployment, result)),
        stability=stability.section(result.stability),
        engine=engine_line(result),
        prevented=lambda verdict, faults: prevented(result, verdict.property, faults),
        is_explained=result.preventions is not None,
        certificate=list(certified.lines(result)),
        citation=citation.paragraph(deployment, result, command=command),
        bibtex=citation.bibtex(deployment, result, command=command),
        policy=content_security_policy(_asset("report.js")),
        style=_asset("report.css") + (_asset("replays.css") if result.reproductions else ""),
        script=_asset("report.js"),
    )


def content_security_policy(script: str) -> str:
    """Return the policy of a page that loads nothing, sends nothing, and runs this script alone (by its hash)."""
    digest = base64.b64encode(hashlib.sha256(f"\n{script}".encode()).digest()).decode()
    own = f"script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


class _Drawn:
    """A trace with its diagram and the data for the script. ``on_paper``: the trace is printed with the page.

    ``scale`` makes the diagram and the steps fit on a sheet. ``time`` is the number of letters of the longest time.
    """

    def __init__(self, number: int, telling: Telling, *, on_paper: bool) -> None:
        self.name = f"t{number}"
        self.number = number
        self.telling = telling
        self.replays = telling.reproductions
        self.facts = [
            [wording.plain(fact) for fact in reproduced.observed_at(self.replays, number)]
            for number in range(len(telling.steps) + 1)
        ]
        self.on_paper = on_paper
        times = [len(wording.number(step.at)) for step in telling.steps if step.at is not None]
        self.timed = bool(times)
        self.time = max(times) + len(" ms") if times else 0
        beside = self.time + 2 if times else 0
        heights = [
            svg.row_height(wording.happens(step), beside, bold=bool(step.fault), facts=facts)
            for step, facts in zip(telling.steps, self.facts[1:], strict=True)
        ]
        diagram = space_time(telling.trace)
        self.scale = round(min(1, SHEET / (len(diagram.lanes) * svg.LANE + SENTENCES)), 2)
        self.drawing = svg.drawing(diagram, heights, int(TALLEST / self.scale))
        self.changing = [number for number, step in enumerate(telling.steps, 1) if step.changes]

    @property
    def data(self) -> str:
        """The states of the trace as JSON, escaped for an HTML page."""
        trace = self.telling.trace
        data = {
            "start": [_shown(shown) for shown in trace.start],
            "steps": [
                [
                    [c.what, wording.plain(c.after), *([list(c.entries)] if c.entries is not None else [])]
                    for c in s.changes
                ]
                for s in trace.steps
            ],
        }
        return json.dumps(data, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")


def _shown(shown: Shown) -> list[Any]:
    entries = [] if shown.entries is None else [list(shown.entries)]
    return [shown.what, shown.owner, wording.plain(shown.value), *entries]


def _answers(verdicts: Sequence[Verdict]) -> Mapping[str, int]:
    """Return the number of properties by status, worst first."""
    found = {status: sum(verdict.status is status for verdict in verdicts) for status in Status}
    return {status.value: count for status, count in found.items() if count}


def events(faults: CutSet) -> list[str]:
    """Return the faults of a set by kind, as the leaves of a fault tree: ``2 slow-follower``."""
    return [kind if count == 1 else f"{count} {kind}" for kind, count in faults]


def _number_of(told: Sequence[Telling], verdict: Verdict, at: int) -> int:
    """Return the number, from 1, of the trace of a verdict at position ``at``."""
    trace = verdict.traces[at]
    return 1 + next(
        number for number, telling in enumerate(told) if (telling.faults, telling.steps) == (trace.faults, trace.steps)
    )


def _asset(name: str) -> str:
    from markupsafe import Markup

    return Markup(files("proofka.reports").joinpath(TEMPLATES, name).read_text(encoding="utf-8"))
