"""A result as a Markdown page for a design review."""

from __future__ import annotations

import re

from jinja2 import Environment, PackageLoader, StrictUndefined

from proofka.model.deployment.deployment import Deployment
from proofka.properties.modelling_assumption import AssumptionKind
from proofka.properties.verdict import Result
from proofka.reports import assumptions, certified, citation, known_defects, reproduced, stability, summary, wording
from proofka.reports.bounds import bound_lines, layers
from proofka.reports.by_fault import by_fault, grouped
from proofka.reports.explained import explained
from proofka.reports.story import tellings
from proofka.reports.table import engine_line

MOST_FAULT_SETS = 8
"""Number of smallest fault sets of a property in the table; each one has a heading of its own among the traces."""

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~&])")


def to_markdown(deployment: Deployment, result: Result, *, command: str) -> str:
    """Return the page as text: verdicts, ids, bounds, traces, assumptions, configuration and the command."""
    environment = Environment(
        loader=PackageLoader("proofka.reports"),
        autoescape=False,  # the escapes below are Markdown's
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    environment.filters.update(text=escaped, code=code)
    return environment.get_template("deployment.md.j2").render(
        deployment=deployment,
        result=result,
        command=wording.plain(command),
        summary=summary,
        groups=grouped(by_fault(deployment, result)),
        wording=wording,
        known_defects=known_defects,
        most_fault_sets=MOST_FAULT_SETS,
        tellings=tellings(result.verdicts, all_traces=True, reproductions=result.reproductions),
        reproduced=reproduced,
        bounds=[*bound_lines(result), engine_line(result), layers(result.engine)],
        assumptions=[
            *assumptions.assumption_lines(deployment, result),
            *assumptions.modelling_lines(result, AssumptionKind.OF_DEPLOYMENT),
        ],
        of_the_model=list(assumptions.modelling_lines(result, AssumptionKind.OF_MODEL)),
        notes=list(assumptions.note_lines(deployment, result)),
        stability=stability.section(result.stability),
        explained=[] if result.preventions is None else list(explained(result)),
        certificate=list(certified.lines(result)),
        citation=citation.paragraph(deployment, result, command=command),
        bibtex=citation.bibtex(deployment, result, command=command).splitlines(),
    )


def escaped(text: object) -> str:
    """Return text that Markdown shows unchanged on one line, inside and outside of tables."""
    return _SPECIAL.sub(r"\\\1", wording.plain(str(text)))


def code(text: object) -> str:
    """Return a code span that shows the text unchanged, inside and outside of tables."""
    words = wording.plain(str(text)).replace("|", "\\|")
    if not words:
        return ""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", words)), default=0))
    pad = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{fence}{pad}{words}{pad}{fence}"
