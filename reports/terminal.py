"""The result on a terminal: the deployment, the answer, the table, the traces, the assumptions."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from proofka.model.deployment.deployment import Deployment
from proofka.properties.modelling_assumption import AssumptionKind
from proofka.properties.verdict import Result, Status, Verdict
from proofka.reports import assumptions, brief, lines, summary, wording
from proofka.reports.by_fault import by_fault, faults_in_words
from proofka.reports.console import console as console
from proofka.reports.explained import explained
from proofka.reports.first_notes import first_notes, reasons
from proofka.reports.resting import modelling_assumptions_here, resting
from proofka.reports.stability import stability_lines, warnings
from proofka.reports.story import Story, tellings, untold
from proofka.reports.table import VerdictTable, engine_line


def print_answer(
    out: Console, result: Result, *, alone: bool = True, called: str = "required", assumptions: int = 0
) -> None:
    """Print the answer in one sentence.

    ``alone``: no bounds follow, so the sentence states them. ``called``: the word for the properties of the answer.
    ``assumptions``: as in :func:`reports.wording.answer`.
    """
    said = wording.answer(result.verdicts, bounds_below=not alone, called=called, assumptions=assumptions)
    out.print(Text(wording.plain(said), style=answer_style(result.verdicts)), soft_wrap=alone and not out.is_terminal)


def print_result(
    out: Console, deployment: Deployment, result: Result, *, command: str, repair: str, all_traces: bool = False
) -> None:
    """Print the complete result.

    ``command`` reproduces the result, ``repair`` searches for changes that prevent violations.
    """
    print_verdicts(out, deployment, result, repair=repair, all_traces=all_traces)
    print_why(out, result)
    print_traces(out, result, all_traces=all_traces)
    print_background(out, deployment, result, command=command)


def print_verdicts(
    out: Console,
    deployment: Deployment,
    result: Result,
    *,
    repair: str,
    all_traces: bool = False,
    skipped: int = 0,
    search_follows: bool = False,
) -> None:
    """Print the deployment, the answer, all failures by fault and the table.

    ``skipped``, ``search_follows``: as in :func:`print_brief_verdicts`.
    """
    _print_wrapped(out, f"{deployment.name}: {summary.cluster(deployment)}", style="bold")
    _print_wrapped(out, summary.clients(deployment))
    out.print()
    print_answer(out, result, alone=False)
    _print_reasons(out, deployment, result)
    out.print(brief.Answer(deployment, result, repair, above=None, search_follows=search_follows))
    out.print()
    by_size = deployment.cluster.deletes_for_size
    out.print(VerdictTable(result.verdicts, all_sets=all_traces, deletes_for_size=by_size))
    if skipped:
        _print_wrapped(out, wording.not_checked(skipped), style="bold yellow", indent=2)


def print_brief_verdicts(
    out: Console,
    deployment: Deployment,
    result: Result,
    *,
    repair: str,
    above: int = 0,
    skipped: int = 0,
    search_follows: bool = False,
) -> None:
    """Print the deployment, the answer by fault and the table on one screen.

    ``repair``: the command that searches for changes. ``above``: number of lines of the screen that are already used
    by the settings of files; without such lines the number of ignored settings is printed here. ``skipped``: number of
    pipelines that could not be checked. ``search_follows``: a search for changes follows, and the end of the answer has
    its outcome.
    """
    _print_wrapped(out, f"{deployment.name}: {summary.cluster(deployment)}", style="bold")
    _print_wrapped(out, summary.clients(deployment))
    if not above and (ignored := brief.ignored_line(deployment)):
        _print_wrapped(out, ignored, style="dim")
    for note in first_notes(deployment):
        _print_wrapped(out, note, style="yellow")
    out.print()
    said = wording.plain(wording.brief_answer(result.verdicts))
    _print_wrapped(out, said, style=answer_style(result.verdicts))
    _print_reasons(out, deployment, result)
    for assumed in modelling_assumptions_here(result):
        _print_wrapped(out, assumed, style="yellow")
    out.print(brief.Answer(deployment, result, repair, above, search_follows=search_follows))
    out.print()
    out.print(brief.BriefTable(result.verdicts, deletes_for_size=deployment.cluster.deletes_for_size))
    if skipped:
        _print_wrapped(out, wording.not_checked(skipped), style="bold yellow", indent=2)


def print_brief_trace(
    out: Console, deployment: Deployment, result: Result, *, trace: str, above: int = 0, skipped: int = 0
) -> None:
    """Print the trace of the worst and likeliest failure, of a required property if one is violated.

    A trace of another property is left out if the screen is full without the trace.

    ``trace``: the command that prints whole traces. ``above``, ``skipped``: as in :func:`print_brief_verdicts`.
    """
    told = tellings(result.verdicts, all_traces=True)
    telling = brief.most_telling(told, by_fault(deployment, result))
    if telling is None:
        return
    used = above + _height(out.width, deployment, result, above, skipped)
    if used > brief.FULL_SCREEN and not any(verdict.required for verdict, _ in telling.violated):
        out.print(Text(wording.plain(f"  traces: {trace}"), style="dim"), soft_wrap=True)
    else:
        out.print()
        out.print(brief.BriefStory(telling, trace, used))


def _height(width: int, deployment: Deployment, result: Result, above: int, skipped: int) -> int:
    """Return the number of lines of the verdicts."""
    sheet = console(io.StringIO())
    sheet.width = width
    with sheet.capture() as captured:
        print_brief_verdicts(sheet, deployment, result, repair="", above=above, skipped=skipped)
    return len(captured.get().splitlines())


def print_what_else(
    out: Console, deployment: Deployment, result: Result, *, command: str, searched: str | None = None
) -> None:
    """Print the options that show more of the result, and the command that repeats the check.

    ``searched``: the command that continues the search for changes, if a search took place after the answer.
    """
    traces = len(tellings(result.verdicts, all_traces=True))
    words = ["--details: notes, assumptions, and what each step changed"]
    words += [f"--all-traces: {wording.counted(traces, 'trace')}"] if traces > 1 else []
    words += ["--report review.html: to step through the traces"] if traces else []
    required = {verdict.property for verdict in result.verdicts if verdict.required}
    differences = sorted(
        (one for one in result.sensitivities if one.status is not Status.UNKNOWN),
        key=lambda one: (one.property not in required, one.status is not Status.VIOLATED),
    )
    out.print()
    _print_found(out, deployment, result, searched)
    for one in differences[:1]:
        more = f"; {len(differences) - 1} more: --details" if len(differences) > 1 else ""
        _print_wrapped(out, wording.sensitivity(one) + more)
    _print_wrapped(out, "; ".join(words), style="dim")
    out.print(Text(wording.plain(f"again: {command}"), style="dim"), soft_wrap=True)


def _print_reasons(out: Console, deployment: Deployment, result: Result) -> None:
    """Print the reasons of the answer: refused writes, and assumptions."""
    for reason in reasons(deployment):
        _print_wrapped(out, reason, style=answer_style(result.verdicts))
    for assumed in resting(deployment, result):
        _print_wrapped(out, assumed, style="yellow")


def _print_found(out: Console, deployment: Deployment, result: Result, searched: str | None) -> None:
    """Print the change that prevents the first failure, and the outcome of each search that the answer announced."""
    announced = [] if searched is None else brief.searches_announced(deployment, result)
    for position, happening in enumerate(by_fault(deployment, result)):
        said = f"{faults_in_words(happening.faults)}: {happening.consequences[0]}" if happening.consequences else ""
        sought = happening.required and any(happening.is_also(one) for one in announced)
        if said and happening.prevented_by and (sought or position == 0):
            _print_wrapped(out, f"{said}, but not with {happening.prevented_by[0]}", style="bold")
        elif said and searched is not None and sought:
            _print_wrapped(out, f"{said}; {brief.outcome_of_search(happening, searched)}", style="bold")


def print_why(out: Console, result: Result) -> None:
    """Print the reason for each violation and the changes that prevent it, if ``--explain`` was given."""
    if result.preventions is not None:
        _print_section(out, "Why", (line for pair in explained(result) for line in (pair[0], f"  {pair[1]}")))


def print_stability(out: Console, result: Result) -> None:
    """Print the verdicts at other sizes, if ``--stability`` was given. Passes that end come last, in red."""
    if result.stability is not None:
        _print_section(out, "Stability: the required properties at other sizes", stability_lines(result.stability))
        for warning in warnings(result.stability):
            _print_wrapped(out, f"WARNING: {warning}", style="bold red")


def print_traces(out: Console, result: Result, *, all_traces: bool = False) -> None:
    """Print all traces, or the first trace of each property and the number of further traces."""
    for telling in tellings(result.verdicts, all_traces=all_traces, reproductions=result.reproductions):
        out.print()
        out.print(Story(telling))
    if not all_traces and (more := untold(result.verdicts)):
        out.print()
        _print_wrapped(out, f"{wording.counted(more, 'more trace')}: --all-traces", style="dim")


def print_background(
    out: Console, deployment: Deployment, result: Result, *, command: str, searched: str | None = None
) -> None:
    """Print assumptions, notes, costs and versions, and the command that repeats the check.

    ``searched``: as in :func:`print_what_else`.
    """
    _print_section(
        out,
        "Assumptions of this deployment, which no file states (--assume KEY=VALUE changes a value)",
        (
            *assumptions.assumption_summary(deployment, result),
            *assumptions.modelling_lines(result, AssumptionKind.OF_DEPLOYMENT),
        ),
    )
    of_model = assumptions.modelling_lines(result, AssumptionKind.OF_MODEL)
    _print_section(out, "Assumptions of the model", of_model)
    _print_section(out, "Notes", assumptions.note_lines(deployment, result))
    out.print()
    if searched is not None:
        _print_found(out, deployment, result, searched)
    _print_wrapped(out, engine_line(result), style="dim")
    versions = ", ".join(f"{name} {version}" for name, version in sorted(result.versions.items()))
    _print_wrapped(out, f"versions: {versions}", style="dim")
    out.print(Text(wording.plain(f"again: {command}"), style="dim"), soft_wrap=True)


def print_overview(out: Console, answers: Sequence[tuple[str, Result]], *, whole: bool = True) -> None:
    """Print the answer for several pipelines together, then a line for each.

    ``whole``: every pipeline could be checked.
    """
    out.print()
    rest = "" if whole else " Some pipelines could not be checked."
    _print_wrapped(out, wording.answer_of_all([result.verdicts for _, result in answers]) + rest, style="bold")
    for name, result in answers:
        said = f"{name}: {wording.answer(result.verdicts, bounds_below=False)}"
        lines.print_wrapped(out, said, first="  ", rest="    ", style=answer_style(result.verdicts))


def _print_section(out: Console, heading: str, texts: Iterable[str]) -> None:
    said = list(texts)
    if not said:
        return
    out.print()
    out.print(Text(heading, style="bold"))
    for text in said:
        _print_wrapped(out, text, indent=2)


def _print_wrapped(out: Console, text: str, *, style: str = "", indent: int = 0) -> None:
    lines.print_wrapped(out, text, first=" " * indent, rest=" " * (indent + 2), style=style)


def answer_style(verdicts: Iterable[Verdict]) -> str:
    """Return the style of an answer, by the worst status of a required property."""
    required = {v.status for v in verdicts if v.required}
    if Status.VIOLATED in required:
        return "bold red"
    return "bold yellow" if required - {Status.HOLDS} else "bold green" if required else "bold"
