"""The command line: ``proofka check``, ``show``, ``verify`` and ``properties``.

The only file that sees every package. What is heavy (solver, kernel, readers) is imported inside the commands, so that
``--help`` and a wrong option answer at once.
"""

from __future__ import annotations

import json
import shlex
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from checker.interruption import interrupts
from checker.options import (
    AllTraces,
    Assume,
    Broker,
    CheckpointEvery,
    CheckpointFolder,
    Consumer,
    Engine,
    Epochs,
    Faults,
    File,
    Folder,
    Form,
    Json,
    JsonFile,
    Kafka,
    LogSize,
    Memory,
    MostStates,
    NoSensitivity,
    Producer,
    Quiet,
    Records,
    Replicas,
    ReportFolder,
    Require,
    Seconds,
    States,
    SwitchOff,
    SwitchOn,
    Threads,
    Topic,
    WholeSeconds,
)
from checker.reductions.choice import chosen
from checker.source import Source, narrowed
from properties.verdict import Status, Verdict

if TYPE_CHECKING:
    from checker.budget import Budget
    from model.deployment.deployment import Deployment
    from properties.verdict import Result

EXIT_HOLDS = 0
EXIT_VIOLATED = 1
EXIT_BAD_INPUT = 2
EXIT_UNDECIDED = 3
EXIT_VACUOUS = 4

MAX_RESULT_BYTES = 64 << 20
"""A result file larger than this is not one of ours."""

_UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""Every wrong option or argument (typer has no public name for it)."""


class OneLineErrors(TyperGroup):
    """The commands; a wrong option is one line on standard error, like any other wrong input."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Parse what stands before the command."""
        with _one_line_usage_errors():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        """Parse what stands behind the command, and run it."""
        with _one_line_usage_errors():
            return super().invoke(ctx)


app = typer.Typer(
    name="proofka",
    cls=OneLineErrors,
    help="A formal checker for Apache Kafka pipeline configurations.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main() -> None:
    """Run the command line; a reader that closes the pipe early ends it quietly."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    app()


def exit_status(verdicts: Sequence[Verdict]) -> int:
    """0: every required property holds; 1: one is violated; 3: one is undecided; 4: one passes only vacuously."""
    required = {verdict.status for verdict in verdicts if verdict.required}
    if Status.VIOLATED in required:
        return EXIT_VIOLATED
    if Status.UNKNOWN in required:
        return EXIT_UNDECIDED
    return EXIT_VACUOUS if Status.VACUOUS in required else EXIT_HOLDS


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"proofka {version('proofka')}")
        except PackageNotFoundError:
            typer.echo("proofka (not installed)")
        raise typer.Exit


@app.callback()
def proofka(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Answers, for the configuration of a Kafka pipeline, what can be lost, repeated or reordered, and how."""


@app.command(short_help="Check a deployment.")
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
    with _one_line_errors():
        _check_writable(json_file, report)
        deployment = narrowed(source.read(), faults, require)
        how = {
            "checkpoint": None if checkpoint is None else (checkpoint, checkpoint_every),
            "reductions": chosen(switch_on or (), switch_off or ()),
        }

    limits = {"states": states, "memory": memory, "threads": threads}
    result = _run(deployment, seconds, limits, how)

    command = ["proofka", "check", *source.arguments()]
    for name, value in {"faults": faults, "time": seconds, **limits}.items():
        command += [] if value is None else [f"--{name}", str(value)]
    for name in require or ():
        command += ["--require", name]
    for option, names in (("--with", switch_on), ("--without", switch_off)):
        command += [word for name in names or () for word in (option, name)]
    command += ["--no-sensitivity"] if no_sensitivity else []
    again = shlex.join(command)
    interrupted = any(verdict.coverage.stopped == "interrupted" for verdict in result.verdicts)
    shown = json_file != Path("-")
    if shown:
        with _one_line_errors():
            _print_findings(deployment, result, all_traces=all_traces, quiet=quiet)
    if not (no_sensitivity or quiet or interrupted):
        result = _with_sensitivities(deployment, result)
    with _one_line_errors():
        _write(deployment, result, again, json_file, report)
    if shown and not quiet:
        with _one_line_errors():
            _print_background(deployment, result, again)

    status = exit_status(result.verdicts)
    raise typer.Exit(EXIT_UNDECIDED if interrupted and status != EXIT_VIOLATED else status)


@app.command(short_help="Show every effective setting.")
def show(
    file: File = None,
    kafka: Kafka = None,
    topic: Topic = None,
    broker: Broker = None,
    producer: Producer = None,
    consumer: Consumer = None,
    assume: Assume = None,
) -> None:
    """Show every effective setting of a deployment and where it came from."""
    source = Source(file, kafka, topic, broker, producer, consumer, tuple(assume or ()))
    with _one_line_errors():
        deployment = source.read()
    from reports.settings import SettingsReport
    from reports.terminal import console

    console().print(SettingsReport(deployment))


@app.command(short_help="Replay the traces of a result.")
def verify(file: Annotated[Path, typer.Argument(metavar="FILE.json", help="A result that --json wrote.")]) -> None:
    """Replay the traces of an earlier result against the model.

    Exit status: 0 every trace is a run of the model that violates its property, 1 one is not, 2 the file is no result.
    """
    with _one_line_errors():
        document = _load_result(file)
        import checker.verify

        try:
            verification = checker.verify.verify(document)
        except checker.verify.TamperedDocument as error:
            _complain(f"{file}: {error}")
            raise typer.Exit(EXIT_VIOLATED) from None
    for line in verification.lines:
        typer.echo(_plain(line))
    raise typer.Exit(EXIT_HOLDS if verification.ok else EXIT_VIOLATED)


@app.command(short_help="Explore a published protocol.")
def published(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The protocol, such as kip-320.")],
    replicas: Replicas = 3,
    log_size: LogSize = 2,
    records: Records = 2,
    epochs: Epochs = 1,
    engine: Engine = "embedded",
    states: States = None,
    memory: Memory = None,
    seconds: WholeSeconds = None,
    threads: Threads = None,
    checkpoint: CheckpointFolder = None,
    checkpoint_every: CheckpointEvery = 20,
    json_output: Json = False,
) -> None:
    """Explore the whole state space of a published replication protocol, and count.

    Exit status: 0 everything was explored, 2 the input is wrong, 3 the budget ran out.
    """
    if engine != "embedded":
        _fail(f"--engine {engine}: there is no such engine; there is: embedded")
    from model.published.catalogue import protocol

    with _one_line_errors():
        explored = protocol(name, replicas=replicas, log_size=log_size, records=records, epochs=epochs)
    from checker.published import explore_whole
    from reports.terminal import console
    from reports.whole_space import print_space, to_json

    budget = _budget(seconds, {"states": states, "memory": memory, "threads": threads})
    kept = None if checkpoint is None else (checkpoint, checkpoint_every)
    with _one_line_errors(), interrupts(budget.stop):
        space = explore_whole(explored.system, explored.violated, budget, kept)
    if json_output:
        typer.echo(json.dumps(to_json(space)))
    else:
        constants = f"{replicas} replicas, {log_size} slots, {records} records, epochs 0..{epochs}"
        print_space(console(), f"{name}: {constants}", space)
    raise typer.Exit(EXIT_UNDECIDED if space.stopped else EXIT_HOLDS)


@app.command(short_help="Write a system for other tools.")
def export(
    system: Annotated[str, typer.Argument(metavar="FILE", help="A deployment in YAML, or a published protocol.")],
    form: Form,
    folder: Folder,
    require: Annotated[list[str] | None, typer.Option("--property", metavar="P", help="Only what P sees.")] = None,
    faults: Faults = None,
    most_states: MostStates = None,
    replicas: Replicas = 3,
    log_size: LogSize = 2,
    records: Records = 2,
    epochs: Epochs = 1,
) -> None:
    """Write a transition system for TLC (tla), SPIN (promela), a solver (smt2), or as a graph (dot, graphml).

    What is said of a published protocol's size is ignored for a deployment.
    """
    from model.published.catalogue import PROTOCOLS

    if folder.exists() and not folder.is_dir():
        _fail(f"{folder}: is no directory; -o takes one")
    with _one_line_errors():
        if system in PROTOCOLS and not Path(system).exists():
            from checker.export.exported import export_protocol
            from model.published.catalogue import protocol

            exported = export_protocol(
                protocol(system, replicas=replicas, log_size=log_size, records=records, epochs=epochs)
            )
        else:
            from checker.export.exported import export_deployment

            deployment = narrowed(Source(Path(system)).read(), faults, None)
            exported = export_deployment(deployment, properties=tuple(require or ()))
            if deployment.faults.any_number:
                _complain("a budget of any is not written: at most 2 faults in total are; --faults N says otherwise")
        from checker.export.writing import write

        for path in write(exported, form, folder, most_states=most_states):
            typer.echo(_plain(str(path)))


@app.command()
def properties() -> None:
    """List the properties that are checked."""
    from model.deployment import read_properties
    from model.state import declare
    from properties.catalogue import properties_of
    from reports.catalogue import print_properties
    from reports.terminal import console

    any_deployment = read_properties(kafka="4.0", assume={"replicas": "3"})
    print_properties(console(), properties_of(declare(any_deployment)))


def _run(deployment: Deployment, seconds: float | None, limits: dict[str, int | None], how: dict[str, Any]) -> Result:
    """Explore, with a progress line where somebody watches. Ctrl-C ends it with what was covered by then."""
    import checker.check
    from checker.solver import SolverUndecided
    from checker.traces import ReplayMismatch
    from reports.progress import ProgressLine
    from reports.terminal import console

    try:
        budget = _budget(seconds, limits)
        watched = ProgressLine(console(stderr=True), wanted=sys.stdout.isatty())
        with _one_line_errors(), watched as progress, interrupts(budget.stop):
            return checker.check.check(deployment, budget=budget, on_progress=progress, **how)
    except (SolverUndecided, ReplayMismatch) as error:
        _complain(f"no verdict: {error}")
        raise typer.Exit(EXIT_UNDECIDED) from None


def _budget(seconds: float | None, limits: dict[str, int | None]) -> Budget:
    """The budget that the options set; what none of them sets has its default."""
    from checker.budget import Budget

    given: dict[str, Any] = {name: value for name, value in limits.items() if value is not None}
    return Budget(seconds=seconds, **given)


def _with_sensitivities(deployment: Deployment, result: Result) -> Result:
    """The result with what other values of the assumptions would change; without, where the user does not wait."""
    from checker.sensitivity import sensitivities
    from reports.terminal import console

    stop = threading.Event()
    with console(stderr=True).status("trying other values of what was assumed"), interrupts(stop):
        found = sensitivities(deployment, result.verdicts, stop)
    if stop.is_set():
        _complain("interrupted: not every other value of the assumptions was tried")
    return replace(result, sensitivities=found)


def _check_writable(json_file: Path | None, report: Path | None) -> None:
    """Complain before the exploration about what could not be written after it."""
    if json_file is not None and json_file != Path("-"):
        if json_file.is_dir():
            _fail(f"{json_file}: is a directory; --json takes a file")
        if not json_file.parent.is_dir():
            _fail(f"{json_file.parent}: no such directory to write --json into")
    if report is not None and report.exists() and not report.is_dir():
        _fail(f"{report}: is no directory; --report takes one")


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
        typer.echo(_plain(f"report: {page}"), err=True)


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


def _load_result(file: Path) -> dict[str, Any]:
    """A result file that satisfies the schema, or one line why it is none."""
    from reports.schema import problem

    if not file.is_file():
        file.stat()  # raises where there is nothing
        what = "a directory" if file.is_dir() else "no regular file"
        _fail(f"{file}: is {what}; expected a result that --json wrote")
    if file.stat().st_size > MAX_RESULT_BYTES:
        _fail(f"{file}: is larger than {MAX_RESULT_BYTES >> 20} MB, so it is no result of proofka check")
    try:
        document: Any = json.loads(file.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        _fail(f"{file}:{error.lineno}: not JSON: {error.msg}")
    except (ValueError, RecursionError):
        _fail(f"{file}: not JSON that --json wrote")
    if reason := problem(document):
        _fail(f"{file}: {reason}")
    loaded: dict[str, Any] = document
    return loaded


@contextmanager
def _one_line_usage_errors() -> Iterator[None]:
    """A wrong option ends the command with one line on standard error and status 2; no command at all prints help."""
    try:
        yield
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            raise
        wrong: Any = error
        see = f"; see {wrong.ctx.command_path} --help" if wrong.ctx is not None else ""
        _fail(wrong.format_message().rstrip(".") + see)


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """Input that is wrong ends the command with one line on standard error and status 2."""
    from model.input_error import InputError

    try:
        yield
    except InputError as error:
        _fail(str(error))
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _fail(f"{place}{(error.strerror or str(error)).lower()}")


def _fail(message: str) -> NoReturn:
    _complain(message)
    raise typer.Exit(EXIT_BAD_INPUT)


def _complain(message: str) -> None:
    typer.echo(_plain(message), err=True)


def _plain(text: str) -> str:
    from reports.wording import plain

    return plain(text)
