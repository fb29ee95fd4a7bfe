"""A result as a Markdown page to attach to a design review."""

from __future__ import annotations

import re

from jinja2 import Environment, PackageLoader, StrictUndefined

from model.deployment.deployment import Deployment
from properties.verdict import Result
from reports import assumptions, citation, known_defects, summary, wording
from reports.bounds import bound_lines, layers
from reports.by_fault import by_fault, grouped
from reports.explained import explained
from reports.story import tellings
from reports.table import engine_line

MOST_FAULT_SETS = 8
"""How many smallest fault sets of a property the table shows; each has a heading of its own among the traces."""

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~&])")


def to_markdown(deployment: Deployment, result: Result, *, command: str) -> str:
    """The page as text: configuration, verdicts, traces, bounds, assumptions, ids, and how to repeat it."""
    environment = Environment(
        loader=PackageLoader("reports"),
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
        tellings=tellings(result.verdicts, all_traces=True),
        bounds=[*bound_lines(result), engine_line(result), layers(result.engine)],
        assumptions=list(assumptions.assumption_lines(deployment, result)),
        notes=list(assumptions.note_lines(deployment, result)),
        explained=[] if result.preventions is None else list(explained(result)),
        citation=citation.paragraph(deployment, result, command=command),
        bibtex=citation.bibtex(deployment, result, command=command).splitlines(),
    )


def escaped(text: object) -> str:
    """Text that Markdown shows as it is, on one line, in a table or outside."""
    return _SPECIAL.sub(r"\\\1", wording.plain(str(text)))


def code(text: object) -> str:
    """A code span that shows the text as it is, in a table or outside."""
    words = wording.plain(str(text)).replace("|", "\\|")
    if not words:
        return ""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", words)), default=0))
    pad = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{fence}{pad}{words}{pad}{fence}"
