"""The whole result on a terminal: the deployment, the answer, the table, the traces, what was assumed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from rich.console import Console
from rich.text import Text

from model.deployment.deployment import Deployment
from properties.verdict import Result, Status
from reports import assumptions, lines, summary, wording
from reports.explained import explained
from reports.story import Story, tellings, untold
from reports.table import VerdictTable, engine_line

MAX_WIDTH = 120
"""Lines longer than this are hard to read, however wide the terminal."""


def console(file: TextIO | None = None, *, stderr: bool = False) -> Console:
    """A console that reads no markup out of what it prints. Rich itself honours ``NO_COLOR`` and pipes."""
    made = Console(file=file, stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=False)
    if made.width > MAX_WIDTH:
        made.width = MAX_WIDTH
    return made


def print_answer(out: Console, result: Result) -> None:
    """The answer alone, in one sentence."""
    out.print(Text(wording.plain(wording.answer(result.verdicts)), style=_answer_style(result)))


def print_result(
    out: Console, deployment: Deployment, result: Result, *, command: str, all_traces: bool = False
) -> None:
    """Everything a check says. ``command`` reproduces it."""
    print_findings(out, deployment, result, all_traces=all_traces)
    print_background(out, deployment, result, command=command)


def print_findings(out: Console, deployment: Deployment, result: Result, *, all_traces: bool = False) -> None:
    """The deployment, the answer, the table and the traces."""
    _print_wrapped(out, f"{deployment.name}: {summary.cluster(deployment)}", style="bold")
    _print_wrapped(out, summary.clients(deployment))
    out.print()
    print_answer(out, result)
    out.print()
    out.print(VerdictTable(result.verdicts, all_sets=all_traces))
    for telling in tellings(result.verdicts, all_traces=all_traces):
        out.print()
        out.print(Story(telling))
    if not all_traces and (more := untold(result.verdicts)):
        out.print()
        _print_wrapped(out, f"{wording.counted(more, 'more trace')}: --all-traces", style="dim")


def print_background(out: Console, deployment: Deployment, result: Result, *, command: str) -> None:
    """Why it breaks where that was asked, what was assumed, changed or ignored, and how to get all this again."""
    if result.preventions is not None:
        _print_section(out, "Why", _reasons(result))
    _print_section(
        out,
        "Assumed, because no file says so (--assume KEY=VALUE says otherwise)",
        assumptions.assumption_summary(deployment, result),
    )
    _print_section(out, "Notes", assumptions.note_lines(deployment, result))
    out.print()
    _print_wrapped(out, engine_line(result), style="dim")
    versions = ", ".join(f"{name} {version}" for name, version in sorted(result.versions.items()))
    _print_wrapped(out, f"versions: {versions}", style="dim")
    out.print(Text(wording.plain(f"again: {command}"), style="dim"), soft_wrap=True)


def print_why(out: Console, result: Result) -> None:
    """Why it breaks, and what would have prevented that, where it was asked."""
    for line in _reasons(result):
        _print_wrapped(out, line)


def _reasons(result: Result) -> Iterator[str]:
    for why, prevented in explained(result):
        yield why
        yield f"  {prevented}"


def print_overview(out: Console, answers: Sequence[tuple[str, Result]]) -> None:
    """The answer for each of several pipelines, a line each."""
    out.print()
    out.print(Text(wording.counted(len(answers), "pipeline"), style="bold"))
    for name, result in answers:
        said = f"{name}: {wording.answer(result.verdicts)}"
        for line in lines.wrapped(said, out.width, first="  ", rest="    ", style=_answer_style(result)):
            out.print(line)


def _print_section(out: Console, heading: str, texts: Iterable[str]) -> None:
    said = list(texts)
    if not said:
        return
    out.print()
    out.print(Text(heading, style="bold"))
    for text in said:
        _print_wrapped(out, text, indent=2)


def _print_wrapped(out: Console, text: str, *, style: str = "", indent: int = 0) -> None:
    for line in lines.wrapped(text, out.width, first=" " * indent, rest=" " * (indent + 2), style=style):
        out.print(line)


def _answer_style(result: Result) -> str:
    required = {v.status for v in result.verdicts if v.required}
    if Status.VIOLATED in required:
        return "bold red"
    return "bold yellow" if required - {Status.HOLDS} else "bold green" if required else "bold"
