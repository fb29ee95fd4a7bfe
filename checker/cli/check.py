"""``proofka check``: a verdict on every property of one or several deployments."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import typer

from checker.cli.asked import Asked, options_of
from checker.cli.certificate_options import CertificateToo
from checker.cli.certifying import refuse_any_number
from checker.cli.endings import (
    EXIT_BAD_INPUT,
    EXIT_UNDECIDED,
    EXIT_VIOLATED,
    counts,
    ending,
    exit_status,
    is_interrupted,
    worst_of,
)
from checker.cli.engines import engine_of
from checker.cli.errors import complain, fail, one_line_errors, plain
from checker.cli.exploring import run_check
from checker.cli.fail_on import refuse_what_is_not_asked
from checker.cli.live_options import Bootstrap, CommandConfig, Groups, Timeout, live_of
from checker.cli.more import (
    DEFAULT_MORE,
    DEFAULT_STABILITY,
    refuse_stability,
    with_more,
    with_preventions,
    with_stability,
)
from checker.cli.options import (
    AllFaultSets,
    AllProperties,
    AllTraces,
    Assume,
    Broker,
    BundleFile,
    CheckpointEvery,
    CheckpointFolder,
    Clients,
    Consumer,
    Details,
    Engine,
    EngineName,
    Environment,
    Explain,
    FailOn,
    FailOnKnownDefects,
    Faults,
    File,
    Fill,
    JsonFile,
    Kafka,
    Master,
    Memory,
    More,
    NoSensitivity,
    Partly,
    PipelineNumber,
    Producer,
    Profile,
    Quiet,
    ReportFiles,
    Require,
    Seconds,
    Stability,
    StabilityTime,
    States,
    Stats,
    SwitchOff,
    SwitchOn,
    Threads,
    Topics,
)
from checker.cli.pipelines import of_project, of_source, project_file
from checker.cli.screen import Screen
from checker.cli.source_options import source_of
from checker.cli.written import STANDARD_OUTPUT, Written
from checker.reductions.choice import chosen

if TYPE_CHECKING:
    from checker.source import Source
    from model.deployment.deployment import Deployment
    from properties.verdict import Result


def check(
    file: File = None,
    kafka: Kafka = None,
    topic: Topics = None,
    broker: Broker = None,
    producer: Producer = None,
    consumer: Consumer = None,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    timeout: Timeout = None,
    group: Groups = None,
    assume: Assume = None,
    fill: Fill = None,
    environment: Environment = False,
    clients: Clients = None,
    pipeline: PipelineNumber = None,
    partly: Partly = False,
    faults: Faults = None,
    seconds: Seconds = None,
    states: States = None,
    memory: Memory = None,
    threads: Threads = None,
    engine: Engine = EngineName.EMBEDDED,
    master: Master = None,
    stats: Stats = False,
    checkpoint: CheckpointFolder = None,
    checkpoint_every: CheckpointEvery = 20,
    switch_on: SwitchOn = None,
    switch_off: SwitchOff = None,
    require: Require = None,
    profile: Profile = None,
    fail_on: FailOn = None,
    fail_on_known_defects: FailOnKnownDefects = False,
    json_file: JsonFile = None,
    report: ReportFiles = None,
    bundle: BundleFile = None,
    certificate: CertificateToo = None,
    all_traces: AllTraces = False,
    details: Details = False,
    all_properties: AllProperties = False,
    all_fault_sets: AllFaultSets = False,
    more: More = DEFAULT_MORE,
    no_sensitivity: NoSensitivity = False,
    stability: Stability = False,
    stability_time: StabilityTime = DEFAULT_STABILITY,
    explain: Explain = False,
    quiet: Quiet = False,
) -> None:
    """Check a deployment: a verdict for each property, and the shortest trace of each violation.

    In a folder, or in another program's configuration file, the command checks each pipeline (docs/dialects.md). With
    --bootstrap, the command reads a live cluster and checks its topics (docs/live.md). Without a source, the command
    checks all pipelines of proofka.yaml in this folder (docs/project-file.md).

    Exit status: 0 every required property holds, 1 a required property is violated, 2 the input is wrong, 3 a required
    property is undecided, 4 one is vacuous (its situation never occurred), 5 no memory, 70 an internal error, 130
    interrupted before the exploration began. An interrupted exploration ends with 1 if a required property is
    violated, otherwise with 3. --fail-on names other properties to decide the status. With --fail-on-known-defects, a
    known defect gives 3. With --bootstrap: 6 the cluster does not answer, 7 it refuses the connection, 8 a right is
    missing, 9 a broker does not answer.
    """
    from model.deployment.question import question

    more = 0.0 if no_sensitivity else more
    live = live_of(
        bootstrap,
        command_config,
        timeout,
        topics=topic,
        groups=group,
        producer=producer,
        consumer=consumer,
        kafka=kafka,
        clients=clients,
        excluded={"PATH": file, "--broker": broker, "--set": fill, "--env": environment, "--partial": partly},
    )
    if live is None and topic and len(topic) > 1:
        fail("--topic: is given twice; one topic, or a live cluster with --bootstrap")
    written = Written(json_file, tuple(report or ()), bundle, certificate)
    is_whole = details or all_traces or explain
    of_one_source = {
        "--kafka": kafka,
        "--topic": topic,
        "--broker": broker,
        "--producer": producer,
        "--consumer": consumer,
        "--bootstrap": bootstrap,
        "--assume": assume,
        "--set": fill,
        "--env": environment,
        "--client": clients,
        "--pipeline": pipeline,
        "--partial": partly,
    }
    with one_line_errors():
        project = project_file(file, of_one_source)
        written.refuse_what_cannot_be()
        if project is not None:
            found = of_project(project, faults, require or (), profile)
        else:
            source = source_of(
                file,
                kafka,
                topic[0] if topic else None,
                broker,
                producer,
                consumer,
                assume=assume,
                fill=fill,
                environment=environment,
                pipeline=pipeline,
                partly=partly,
                clients=clients,
                live=live,
            )
            found = of_source(source, faults, require or (), profile)
        deployments = found.deployments
        refuse_what_is_not_asked(fail_on or (), deployments)
        for one in deployments if certificate is not None else ():
            refuse_any_number(one)
        if explain and (fixed := next((one for one in deployments if one.given is None), None)):
            fail(f"{fixed.name}: --explain changes single settings, so it needs the original configuration files")
        written.note_sources(deployments, found.source)
        reductions = chosen(switch_on or (), switch_off or ())
        if len(deployments) > 1:
            written.refuse_several(len(deployments))
        if stability:
            refuse_stability(quiet=quiet, pipelines=len(deployments))
    if found.sought is None and quiet:
        _complain_of_left_out(deployments)
    with one_line_errors():
        above = found.tell(quiet=quiet, details=is_whole)

    asked = Asked(
        faults=faults,
        seconds=seconds,
        limits={"states": states, "memory": memory, "threads": threads},
        require=tuple(require or ()),
        profile=profile,
        fail_on=tuple(fail_on or ()),
        fails_on_known_defects=fail_on_known_defects,
        switches=(("--with", tuple(switch_on or ())), ("--without", tuple(switch_off or ()))),
        reductions=reductions,
        engine=engine,
        explorer=partial(
            engine_of, engine, master, checkpoint, checkpoint_every, memory, stats=stats, certified=bool(certificate)
        ),
        written=written,
        all_traces=all_traces,
        details=is_whole,
        more=0.0 if quiet or len(deployments) > 1 else more,
        options=options_of(more, all_properties=all_properties, all_fault_sets=all_fault_sets),
        all_properties=all_properties,
        all_fault_sets=all_fault_sets,
        stability=stability_time if stability else 0.0,
        explain=explain,
        quiet=quiet,
        checkpoint=checkpoint,
    )
    statuses = found.statuses
    screen = Screen(above, found.skipped, len(deployments), brief=not is_whole and not quiet)
    checked: dict[tuple[Deployment, tuple[str, ...]], str] = {}
    done = 0
    for chosen_one in found.those:
        deployment = chosen_one.deployment
        done += 1
        same = checked.setdefault((question(deployment), deployment.require), deployment.name)
        if same != deployment.name:
            screen.tell_same(deployment.name, same)
            continue
        if len(deployments) > 1 and (quiet or is_whole):
            typer.echo(plain(f"{deployment.name}: ") if quiet else "", nl=not quiet)
        of_one = replace(asked, require=chosen_one.require, profile=chosen_one.profile)
        status, interrupted = _check_one(deployment, chosen_one.source, of_one, screen)
        statuses.append(status)
        if interrupted:
            break
    if screen.is_of_several:
        screen.skipped += len(deployments) - done
        screen.tell_all()
    elif len(asked.written.answers) > 1 and not quiet:
        whole = done == len(deployments) and not (found.problems or (found.sought and found.sought.problems))
        _print_overview(asked.written, whole=whole)
    status = EXIT_BAD_INPUT if asked.written.failed else worst_of(statuses)
    if found.project is not None:
        typer.echo(plain(f"{found.project.file}: {ending(status)}"))
    raise typer.Exit(status)


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
        if screen.is_of_several:
            from reports.several import Checked

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
        from reports import terminal

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
    from reports import terminal
    from reports.resting import count_of_assumptions

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
    from model.deployment.leaving_out import PASSED_OVER
    from reports import wording
    from reports.first_notes import weighty_notes

    notes = [note for note in weighty_notes(deployment) if not note.startswith(PASSED_OVER)]
    if notes:
        rest = f"; {wording.counted(len(notes) - 1, 'more note')} without --quiet" if len(notes) > 1 else ""
        complain(f"{deployment.name}: {notes[0]}{rest}")


def _complain_of_left_out(deployments: Sequence[Deployment]) -> None:
    """Print a line on standard error about the rejected values that ``--partial`` leaves out of each deployment."""
    from model.deployment.leaving_out import PASSED_OVER

    for one in deployments:
        for note in one.notes:
            if note.startswith(PASSED_OVER):
                complain(f"{one.name}: {note}")


def _print_what_fails(result: Result, asked: Asked) -> None:
    """Print the options that make the exit status differ from the answer above, with the status."""
    from reports import terminal

    named = [f"--fail-on {', '.join(asked.fail_on)}"] if asked.fail_on else []
    if asked.status(result) != exit_status(result.verdicts, asked.fail_on):
        named.append("--fail-on-known-defects")
    if named:
        terminal.console().print(f"{' '.join(named)}: exit status {asked.status(result)}")


def _as_it_decides(result: Result, fail_on: tuple[str, ...]) -> Result:
    """Return the result in which the required properties are those that determine the exit status."""
    verdicts = tuple(replace(verdict, required=counts(verdict, fail_on)) for verdict in result.verdicts)
    return replace(result, verdicts=verdicts)


def _print_why_and_traces(deployment: Deployment, result: Result, asked: Asked, trace: str, screen: Screen) -> None:
    """Print explanations, if requested, and traces. ``--quiet`` hides the traces only."""
    from reports import terminal

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
    from reports import terminal

    answers = [(one.deployment.name, one.result) for one in written.answers]
    terminal.print_overview(terminal.console(), answers, whole=whole)


def _print_background(deployment: Deployment, result: Result, asked: Asked, command: str, repair: str | None) -> None:
    """Print notes, assumptions and further commands. ``repair``: the command that continues the search for changes."""
    from reports import terminal

    tell = terminal.print_background if asked.details else terminal.print_what_else
    tell(terminal.console(), deployment, result, command=command, searched=repair)
