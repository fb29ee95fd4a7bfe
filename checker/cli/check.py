"""``proofka check``: a verdict on every property of one deployment."""

from __future__ import annotations

import json
import shlex
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from checker.cli.endings import EXIT_UNDECIDED, EXIT_VIOLATED, exit_status
from checker.cli.engines import engine_of
from checker.cli.errors import complain, fail, one_line_errors, plain
from checker.cli.limits import budget_of
from checker.cli.options import (
    AllTraces,
    Assume,
    Broker,
    CheckpointEvery,
    CheckpointFolder,
    Consumer,
    Engine,
    EngineName,
    Faults,
    File,
    JsonFile,
    Kafka,
    Master,
    Memory,
    NoSensitivity,
    Producer,
    Quiet,
    ReportFolder,
    Require,
    Seconds,
    States,
    Stats,
    SwitchOff,
    SwitchOn,
    Threads,
    Topic,
)
from checker.interruption import interrupts
from checker.reductions.choice import Reduction, chosen
from checker.source import Source, narrowed

if TYPE_CHECKING:
    from checker.budget import Budget
    from checker.check import Run
    from checker.engine import Engine as ExploringEngine
    from model.deployment.deployment import Deployment
    from properties.verdict import Result


def check(
    file: File = None,
    kafka: Kafka = None,
    topic: Topic = None,
    broker: Broker = None,
    producer: Producer = None,
    consumer: Consumer = None,
    assume: Assume = None,
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
    json_file: JsonFile = None,
    report: ReportFolder = None,
    all_traces: AllTraces = False,
    no_sensitivity: NoSensitivity = False,
    quiet: Quiet = False,
) -> None:
    """Check a deployment: a verdict per property, and the shortest trace of each violation.

    Exit status: 0 every required property holds, 1 one is violated, 2 the input is wrong, 3 one is undecided, 4 one
    passes only because what it speaks of never happened.
    """
    source = Source(file, kafka, topic, broker, producer, consumer, tuple(assume or ()))
    with one_line_errors():
        _check_writable(json_file, report)
        deployment = narrowed(source.read(), faults, require)
        reductions = chosen(switch_on or (), switch_off or ())

    limits = {"states": states, "memory": memory, "threads": threads}
    with one_line_errors(), engine_of(engine, master, checkpoint, checkpoint_every, memory, stats=stats) as explorer:
        run, result = _run(deployment, budget_of(seconds, limits), explorer, reductions)

    command = ["proofka", "check", *source.arguments()]
    for name, value in {"faults": faults, "time": seconds, **limits}.items():
        command += [] if value is None else [f"--{name}", str(value)]
    for name in require or ():
        command += ["--require", name]
    for option, names in (("--with", switch_on), ("--without", switch_off)):
        command += [word for name in names or () for word in (option, name)]
    command += [] if engine is EngineName.EMBEDDED else ["--engine", engine.value]
    command += ["--no-sensitivity"] if no_sensitivity else []
    again = shlex.join(command)
    interrupted = any(verdict.coverage.stopped == "interrupted" for verdict in result.verdicts)
    shown = json_file != Path("-")
    if shown:
        with one_line_errors():
            _print_findings(deployment, result, all_traces=all_traces, quiet=quiet)
    if not (no_sensitivity or quiet or interrupted):
        result = _with_sensitivities(run, result, budget_of(seconds, limits))
    with one_line_errors():
        _write(deployment, result, again, json_file, report)
    if shown and not quiet:
        with one_line_errors():
            _print_background(deployment, result, again)

    status = exit_status(result.verdicts)
    raise typer.Exit(EXIT_UNDECIDED if interrupted and status != EXIT_VIOLATED else status)


def _run(
    deployment: Deployment, budget: Budget, engine: ExploringEngine, reductions: frozenset[Reduction]
) -> tuple[Run, Result]:
    """Explore, with a progress line where somebody watches. Ctrl-C ends it with what was covered by then."""
    from checker.check import explore
    from checker.solver import SolverUndecided
    from checker.traces import ReplayMismatch
    from reports.progress import ProgressLine
    from reports.terminal import console

    try:
        watched = ProgressLine(console(stderr=True), wanted=sys.stdout.isatty())
        with watched as progress, interrupts(budget.stop):
            run = explore(deployment, budget, progress, engine, reductions)
            return run, run.result()
    except (SolverUndecided, ReplayMismatch) as error:
        complain(f"no verdict: {error}")
        raise typer.Exit(EXIT_UNDECIDED) from None


def _with_sensitivities(run: Run, result: Result, budget: Budget) -> Result:
    """The result with what other values of assumptions and durations would change, as far as the user waits for it."""
    from checker.sensitivity import SECONDS_EACH, sensitivities
    from checker.thresholds import SECONDS_OF_ALL, thresholds
    from reports.terminal import console

    stop, enough = threading.Event(), threading.Event()
    timer = threading.Timer(SECONDS_OF_ALL, enough.set)
    with console(stderr=True).status("trying other values of what was assumed"):
        with interrupts(stop):
            found = sensitivities(run.deployment, result.verdicts, stop, SECONDS_EACH)
        timer.start()
        with interrupts(enough):
            turning = () if stop.is_set() else tuple(thresholds(run, result.verdicts, budget, enough))
        in_time = timer.is_alive()
        timer.cancel()
    if stop.is_set() or (enough.is_set() and in_time):
        complain("interrupted: not every other value of the assumptions was tried")
    elif enough.is_set():
        complain(f"not every threshold was looked for: there are {SECONDS_OF_ALL:.0f} s for all of them")
    return replace(result, sensitivities=found, thresholds=turning)


def _check_writable(json_file: Path | None, report: Path | None) -> None:
    """Complain before the exploration about what could not be written after it."""
    if json_file is not None and json_file != Path("-"):
        if json_file.is_dir():
            fail(f"{json_file}: is a directory; --json takes a file")
        if not json_file.parent.is_dir():
            fail(f"{json_file.parent}: no such directory to write --json into")
    if report is not None and report.exists() and not report.is_dir():
        fail(f"{report}: is no directory; --report takes one")


def _write(deployment: Deployment, result: Result, command: str, json_file: Path | None, report: Path | None) -> None:
    if json_file is not None:
        from reports.document import to_document

        text = json.dumps(to_document(deployment, result, command=command), indent=2, ensure_ascii=False) + "\n"
        if json_file == Path("-"):
            sys.stdout.write(text)
        else:
            json_file.write_text(text, encoding="utf-8")
    if report is not None:
        from reports.markdown import write_markdown

        page = write_markdown(report, deployment, result, command=command)
        typer.echo(plain(f"report: {page}"), err=True)


def _print_findings(deployment: Deployment, result: Result, *, all_traces: bool, quiet: bool) -> None:
    from reports import terminal

    out = terminal.console()
    if quiet:
        terminal.print_answer(out, result)
    else:
        terminal.print_findings(out, deployment, result, all_traces=all_traces)
    sys.stdout.flush()


def _print_background(deployment: Deployment, result: Result, command: str) -> None:
    from reports import terminal

    terminal.print_background(terminal.console(), deployment, result, command=command)
