"""``proofka trace``: print the traces of a result, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proofka.checker.cli.endings import EXIT_BAD_INPUT, EXIT_UNDECIDED, is_interrupted
from proofka.checker.cli.errors import complain, fail, one_line_errors
from proofka.checker.cli.options import (
    Assume,
    Clients,
    Environment,
    Faults,
    Fill,
    Kafka,
    Partly,
    PipelineNumber,
    ResultOrPath,
    Seconds,
    Topic,
)
from proofka.checker.cli.source_options import source_of
from proofka.checker.cli.written import attempt, check_file
from proofka.model.input.whole_file import write_whole

if TYPE_CHECKING:
    from proofka.properties.verdict import Result
    from proofka.reports.story import Telling

NO_MATPLOTLIB = 'matplotlib is not installed: pip install "proofka[figures]"'


def trace(
    file: ResultOrPath,
    number: Annotated[
        int | None, typer.Argument(metavar="[N]", min=1, help="Number of the trace (default: list all traces).")
    ] = None,
    step: Annotated[
        int | None,
        typer.Option(
            "--step",
            metavar="K",
            min=0,
            help="Print the whole state after step K; 0 is the initial state (default: all steps).",
        ),
    ] = None,
    itf: Annotated[
        Path | None,
        typer.Option("--itf", metavar="FILE", help="Write the trace as ITF, for Apalache's viewers (default: none)."),
    ] = None,
    png: Annotated[
        Path | None,
        typer.Option("--png", metavar="FILE", help="Draw the trace as a space-time diagram (default: none)."),
    ] = None,
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Draw the space-time diagram as SVG (default: none).")
    ] = None,
    layers: Annotated[
        Path | None,
        typer.Option(
            "--layers", metavar="FILE", help="Draw the number of states in each layer, as .png or .svg (default: none)."
        ),
    ] = None,
    kafka: Kafka = None,
    topic: Topic = None,
    assume: Assume = None,
    fill: Fill = None,
    environment: Environment = False,
    partly: Partly = False,
    clients: Clients = None,
    pipeline: PipelineNumber = None,
    faults: Faults = None,
    seconds: Seconds = None,
) -> None:
    """Print a trace step by step, with the state beside it on a wide terminal; or list the traces.

    Exit status: 0 the trace was printed, 2 the input is wrong or the trace does not exist, 3 interrupted before the
    trace was found.
    """
    from proofka.checker.cli.checked import checked

    written = {"--itf": itf, "--png": png, "--svg": svg, "--layers": layers}
    with one_line_errors():
        _refuse_what_cannot_be(number, step, written)
        source = source_of(
            file,
            kafka,
            topic,
            assume=assume,
            fill=fill,
            environment=environment,
            partly=partly,
            clients=clients,
            pipeline=pipeline,
        )
        look = checked(source, file, faults=faults, seconds=seconds)
        name, result = look.deployment.name, look.result
        from proofka.reports.story import tellings

        told = tellings(result.verdicts, all_traces=True, reproductions=result.reproductions)
        if number is not None and number > len(told) and is_interrupted(result.verdicts):
            fail(f"{file}: interrupted before trace {number} was found; {len(told)} were", EXIT_UNDECIDED)
        telling = None if number is None else _chosen(told, number, step, file)
    ways = _ways_to_write(telling, result, name, file)
    done = {path: attempt(path, partial(ways[option], path)) for option, path in written.items() if path is not None}
    with one_line_errors():
        if telling is None:
            _list(told, result)
        elif step is not None or not done:
            _tell(telling, step)
    for path in (path for path, is_written in done.items() if is_written):
        complain(f"written: {path}")
    if not all(done.values()):
        raise typer.Exit(EXIT_BAD_INPUT)


def _refuse_what_cannot_be(number: int | None, step: int | None, written: dict[str, Path | None]) -> None:
    """Refuse, before anything is checked, options that could not be answered after the check."""
    for option, path in written.items():
        if path is None:
            continue
        if number is None and option != "--layers":
            fail(f"{option}: needs the number N of a trace")
        check_file(option, path)
        endings = {"--png": (".png",), "--svg": (".svg",), "--layers": (".png", ".svg")}.get(option)
        if endings is not None:
            if path.suffix.lower() not in endings:
                fail(f"{path}: {option} writes a file whose name ends in {' or '.join(endings)}")
            if find_spec("matplotlib") is None:
                fail(NO_MATPLOTLIB)
    if step is not None and number is None:
        fail("--step: needs the number N of a trace")


def _list(told: list[Telling], result: Result) -> None:
    from proofka.reports.pager import print_paged
    from proofka.reports.terminal import console, print_answer
    from proofka.reports.trace_list import TraceList

    out = console()
    print_answer(out, result)
    if told:
        print_paged(out, "", TraceList(told))
    else:
        out.print("\nno trace: no violation was found")


def _chosen(told: list[Telling], number: int, step: int | None, file: Path) -> Telling:
    """Return the trace with this number. End the command if the trace or the step does not exist."""
    if number > len(told):
        there = f"the result has {len(told)}" if told else "no violation was found"
        fail(f"{file}: has no trace {number}; {there}")
    telling = told[number - 1]
    if step is not None and step > len(telling.steps):
        fail(f"{file}: trace {number} has no step {step}; it has {len(telling.steps)}")
    return telling


def _ways_to_write(
    telling: Telling | None, result: Result, name: str, file: Path
) -> Mapping[str, Callable[[Path], None]]:
    """Return, for each option that writes a file, the function that writes the file."""

    def draw_states(path: Path) -> None:
        from proofka.reports.figures.layers import draw_layers

        draw_layers(result.engine, name, path)

    if telling is None:
        return {"--layers": draw_states}

    def write_itf(path: Path) -> None:
        from proofka.reports.itf import to_itf

        write_whole(path, to_itf(telling, source=file.name))

    def draw(path: Path) -> None:
        from proofka.reports.figures.space_time import draw_trace

        draw_trace(telling, name, path)

    return {"--itf": write_itf, "--png": draw, "--svg": draw, "--layers": draw_states}


def _tell(telling: Telling, step: int | None) -> None:
    from proofka.reports.beside import StoryBeside
    from proofka.reports.one_step import StepReport
    from proofka.reports.pager import print_paged
    from proofka.reports.terminal import console

    print_paged(console(), StoryBeside(telling) if step is None else StepReport(telling, step))
