"""The checks of all pipelines of ``proofka check``, one after another, and what is printed of each."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import typer

from proofka.checker.cli.asked import Asked
from proofka.checker.cli.endings import (
    EXIT_BAD_INPUT,
    EXIT_UNDECIDED,
    EXIT_VIOLATED,
    counts,
    ending,
    exit_status,
    is_interrupted,
    worst_of,
)
from proofka.checker.cli.errors import complain, one_line_errors, plain
from proofka.checker.cli.exploring import run_check
from proofka.checker.cli.more import with_more, with_preventions, with_stability
from proofka.checker.cli.screen import Screen
from proofka.checker.cli.written import STANDARD_OUTPUT, Written

if TYPE_CHECKING:
    from proofka.checker.cli.comparing import Comparing
    from proofka.checker.cli.pipelines import Pipelines
    from proofka.checker.source import Source
    from proofka.model.deployment.deployment import Deployment
    from proofka.properties.verdict import Result


def check_all(found: Pipelines, asked: Asked, compared: Comparing | None) -> int:
    """Check the pipelines, print what is found, and write the files. Return the exit status."""
    from proofka.model.deployment.question import question

    deployments, written = found.deployments, asked.written
    if found.sought is None and asked.quiet:
        _complain_of_left_out(deployments)
    with one_line_errors():
        above = found.tell(quiet=asked.quiet, details=asked.details)
    statuses = found.statuses
    brief = not asked.details and not asked.quiet
    screen = Screen(above, found.skipped, len(deployments), brief=brief)
    checked: dict[tuple[Deployment, tuple[str, ...]], tuple[str, Result]] = {}
    done = 0
    for one in found.those:
        deployment = one.deployment
        done += 1
        of_one = replace(asked, require=one.require, profile=one.profile)
        if compared is not None:
            of_one = replace(of_one, compare=partial(compared.news, one))
        key = (question(deployment), deployment.require)
        if key in checked:
            name, result = checked[key]
            screen.tell_same(deployment.name, name)
            if found.project is not None or compared is not None:
                statuses.append(_answer_again(deployment, one.source, of_one, result))
            continue
        if len(deployments) > 1 and not brief:
            typer.echo(plain(f"{deployment.name}: ") if asked.quiet else "", nl=not asked.quiet)
        status, interrupted = _check_one(deployment, one.source, of_one, screen)
        statuses.append(status)
        checked[key] = (deployment.name, written.answers[-1].result)
        if interrupted:
            break
    if screen.is_of_several:
        screen.skipped += len(deployments) - done
        screen.tell_all()
    elif len(written.answers) > 1 and not asked.quiet:
        whole = done == len(deployments) and not (found.problems or (found.sought and found.sought.problems))
        _print_overview(written, whole=whole)
    if compared is not None:
        compared.tell(written.answers)
    with one_line_errors():
        written.finish(None if compared is None else compared.compared)
    status = EXIT_BAD_INPUT if written.failed else worst_of(statuses)
    if found.project is not None:
        typer.echo(plain(f"{found.project.file}: {ending(status, compared=compared is not None)}"))
    return status


def _answer_again(deployment: Deployment, source: Source, asked: Asked, result: Result) -> int:
    """Write the answer of a pipeline that asks the same question as an earlier one. Return the exit status."""
    if asked.compare is not None:
        asked.written.news = asked.compare(result)
    asked.written.add(deployment, result, asked.command(source, deployment))
    return asked.status(result)


def _check_one(deployment: Deployment, source: Source, asked: Asked, screen: Screen) -> tuple[int, bool]:
    """Check a deployment and print the outcome. Return the exit status, and whether the user interrupted the check."""
    again = asked.command(source, deployment)
    repair = asked.about("repair", source)
    shown = asked.written.json_file != STANDARD_OUTPUT
    with one_line_errors(), ExitStack() as kept:
        explorer = kept.enter_context(asked.explorer())
        run, result = run_check(deployment, asked.budget(), explorer, asked.reductions, asked.depth(deployment))
        if asked.written.certificate is None:  # otherwise the engine's states go into the certificate
            kept.close()
        interrupted = is_interrupted(result.verdicts)
        if asked.compare is not None:
            asked.written.news = asked.compare(result)
        if screen.is_of_several:
            from proofka.reports.several import Checked

            asked.written.add(deployment, result, again)
            screen.tell(Checked(deployment, result, asked.about("trace", source)), again, source.pipeline)
            status = asked.status(result)
            return EXIT_UNDECIDED if interrupted and status != EXIT_VIOLATED else status, interrupted
        searches = bool(asked.more) and not interrupted
        if shown:
            _print_verdicts(deployment, result, asked, repair, screen, search_follows=searches)
        result = asked.written.certify(run, result)
    if asked.explain and not interrupted:
        with one_line_errors():
            result = with_preventions(run, result)
    if shown:
        with one_line_errors():
            _print_why_and_traces(deployment, result, asked, asked.about("trace", source), screen)
    if searches:
        result = with_more(run, result, asked.budget(), asked.more)
    if asked.stability and not interrupted:
        result = with_stability(run, result, asked.stability)
    asked.written.add(deployment, result, again)
    if shown and not asked.quiet:
        from proofka.reports import terminal

        with one_line_errors():
            terminal.print_stability(terminal.console(), result)
            _print_background(deployment, result, asked, again, repair if searches else None)
            _print_what_fails(result, asked)
    if interrupted and asked.checkpoint is not None:
        complain(f"the same command with --checkpoint {asked.checkpoint} continues from this snapshot")
    status = asked.status(result)
    return EXIT_UNDECIDED if interrupted and status != EXIT_VIOLATED else status, interrupted


def _print_verdicts(
    deployment: Deployment, result: Result, asked: Asked, repair: str, screen: Screen, *, search_follows: bool
) -> None:
    from proofka.reports import terminal
    from proofka.reports.resting import count_of_assumptions

    out = terminal.console()
    above, skipped = screen.above, screen.skipped
    if asked.quiet:
        called = "named" if asked.fail_on else "required"
        decides = _as_it_decides(result, asked.fail_on)
        assumptions = count_of_assumptions(deployment, decides)
        terminal.print_answer(out, decides, called=called, assumptions=assumptions)
        _complain_of_notes(deployment)
    elif asked.details:
        alone = skipped if screen.pipelines == 1 else 0
        terminal.print_verdicts(
            out,
            deployment,
            result,
            repair=repair,
            all_traces=asked.all_traces,
            skipped=alone,
            search_follows=search_follows,
        )
    else:
        terminal.print_brief_verdicts(
            out,
            deployment,
            result,
            repair=repair,
            above=above,
            skipped=skipped,
            search_follows=search_follows,
        )
    sys.stdout.flush()


def _complain_of_notes(deployment: Deployment) -> None:
    """Print a line on standard error about notes that can affect the verdict, except about values left out."""
    from proofka.model.deployment.leaving_out import PASSED_OVER
    from proofka.reports import wording
    from proofka.reports.first_notes import weighty_notes

    notes = [note for note in weighty_notes(deployment) if not note.startswith(PASSED_OVER)]
    if notes:
        rest = f"; {wording.counted(len(notes) - 1, 'more note')} without --quiet" if len(notes) > 1 else ""
        complain(f"{deployment.name}: {notes[0]}{rest}")


def _complain_of_left_out(deployments: Sequence[Deployment]) -> None:
    """Print a line on standard error about the rejected values that ``--partial`` leaves out of each deployment."""
    from proofka.model.deployment.leaving_out import PASSED_OVER

    for one in deployments:
        for note in one.notes:
            if note.startswith(PASSED_OVER):
                complain(f"{one.name}: {note}")


def _print_what_fails(result: Result, asked: Asked) -> None:
    """Print the options that make the exit status differ from the answer above, with the status."""
    from proofka.reports import terminal

    named = [f"--fail-on {', '.join(asked.fail_on)}"] if asked.fail_on else []
    if asked.compare is None and asked.status(result) != exit_status(result.verdicts, asked.fail_on):
        named.append("--fail-on-known-defects")
    if named:
        terminal.console().print(f"{' '.join(named)}: exit status {asked.status(result)}")


def _as_it_decides(result: Result, fail_on: tuple[str, ...]) -> Result:
    """Return the result in which the required properties are those that determine the exit status."""
    verdicts = tuple(replace(verdict, required=counts(verdict, fail_on)) for verdict in result.verdicts)
    return replace(result, verdicts=verdicts)


def _print_why_and_traces(deployment: Deployment, result: Result, asked: Asked, trace: str, screen: Screen) -> None:
    """Print explanations, if requested, and traces. ``--quiet`` hides the traces only."""
    from proofka.reports import terminal

    out = terminal.console()
    terminal.print_why(out, result)
    if asked.quiet:
        pass
    elif asked.details:
        terminal.print_traces(out, result, all_traces=asked.all_traces)
    else:
        above, skipped = screen.above, screen.skipped
        terminal.print_brief_trace(out, deployment, result, trace=trace, above=above, skipped=skipped)
    sys.stdout.flush()


def _print_overview(written: Written, *, whole: bool) -> None:
    from proofka.reports import terminal

    answers = [(one.deployment.name, one.result) for one in written.answers]
    terminal.print_overview(terminal.console(), answers, whole=whole)


def _print_background(deployment: Deployment, result: Result, asked: Asked, command: str, repair: str | None) -> None:
    """Print notes, assumptions and further commands. ``repair``: the command that continues the search for changes."""
    from proofka.reports import terminal

    tell = terminal.print_background if asked.details else terminal.print_what_else
    tell(terminal.console(), deployment, result, command=command, searched=repair)
