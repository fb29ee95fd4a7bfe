"""``proofka reproduce``: replay a trace on a real cluster, and add the outcome to the result."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proofka.checker.cli.checked_options import check_home, known_property
from proofka.checker.cli.endings import EXIT_BAD_INPUT, EXIT_UNDECIDED, is_interrupted
from proofka.checker.cli.errors import complain, fail, one_line_errors
from proofka.checker.cli.options import (
    Assume,
    BundleFile,
    Clients,
    Environment,
    Faults,
    Fill,
    JsonFile,
    Kafka,
    KafkaHome,
    Partly,
    PipelineNumber,
    ReportFiles,
    ResultOrPath,
    Seconds,
    Topic,
)
from proofka.checker.cli.source_options import source_of
from proofka.checker.cli.written import STANDARD_OUTPUT, Written, attempt, check_file

if TYPE_CHECKING:
    from proofka.checker.cli.checked import Checked
    from proofka.checker.reproduction.plan import Plan
    from proofka.properties.reproduced import Outcome
    from proofka.reports.story import Telling


def reproduce(
    file: ResultOrPath,
    number: Annotated[
        int | None, typer.Argument(metavar="[N]", min=1, help="Number of the trace, as proofka trace lists it.")
    ] = None,
    of_property: Annotated[
        str | None,
        typer.Option("--property", metavar="P", help="Replay the first trace of property P (default: none)."),
    ] = None,
    all_traces: Annotated[
        bool, typer.Option("--all", help="Replay every trace, one after the other (default: off).")
    ] = False,
    kafka_home: KafkaHome = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Let the cluster run at the end, until Ctrl-C (default: off).")
    ] = False,
    script: Annotated[
        Path | None,
        typer.Option(
            "--script",
            metavar="FILE.zip",
            help="Write a folder that replays the trace without Proofka, and start no cluster (default: none).",
        ),
    ] = None,
    json_file: JsonFile = None,
    report: ReportFiles = None,
    bundle: BundleFile = None,
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
    """Replay a trace on a throw-away cluster of real brokers and a real client, on this machine.

    Brokers of Kafka 2.5 and later run, with ZooKeeper before 3.3 and where a broker names zookeeper.connect. Needs
    Java; clients other than Java's need their library. --json, --report and --bundle write the result with the outcome
    beside its trace, and with the outcomes that the result had before: a newer outcome of the same trace on the same
    release replaces the older one.

    Exit status: 0 reproduced, 2 the input is wrong or the cluster did not start, 3 the cluster diverged from the trace,
    the failure was not observed, or the check was interrupted, 4 a step of the trace cannot be steered, 130 Ctrl-C.
    With several traces the worst of 3, 4 and 0.
    """
    from proofka.checker.cli.checked import checked

    written = Written(json_file, tuple(report or ()), bundle)
    with one_line_errors():
        _refuse_contradictions(number, of_property, all_traces=all_traces, script=script, keep=keep)
        if of_property is not None:
            known_property(of_property, "--property")
        if kafka_home is not None:
            check_home(kafka_home)
        if script is not None:
            if written.is_wanted:
                fail("--script: starts no cluster, so there is no outcome for --json, --report and --bundle")
            if script.suffix.lower() != ".zip":
                fail(f"{script}: --script writes a zip file; name it {script}.zip")
            check_file("--script", script)
        written.refuse_what_cannot_be()
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
        if look.document is None and is_interrupted(look.result.verdicts):
            fail(f"{file}: the check was interrupted, so no cluster was started", EXIT_UNDECIDED)
        _refuse_what_the_model_contradicts(look, file)
        bounds = {"--faults": faults, "--time": None if seconds is None else f"{seconds:g}"}
        given = [word for option, value in bounds.items() if value is not None for word in (option, value)]
        listing = shlex.join(["proofka", "trace", *source.arguments(()), *given])
        plans = _plans(look, number, of_property, file=file, listing=listing)
    if script is not None:
        _write_script(plans[0], script)
        return
    written.sources, written.proof = look.sources, look.certificate

    def write(outcomes: list[Outcome]) -> None:
        if outcomes and not written.answers:
            _write(look, outcomes, written)

    outcomes, problem = _replay(plans, kafka_home, keep=keep, write=write, on_error=json_file == STANDARD_OUTPUT)
    write(outcomes)
    if problem is not None:
        fail(problem)
    if written.failed:
        raise typer.Exit(EXIT_BAD_INPUT)
    raise typer.Exit(max((outcome.exit_status for outcome in outcomes), key=(0, 4, 3).index))


def _refuse_contradictions(
    number: int | None, of_property: str | None, *, all_traces: bool, script: Path | None, keep: bool
) -> None:
    """Refuse options that contradict each other, before anything is checked."""
    chosen = [number is not None, of_property is not None, all_traces]
    if not any(chosen):
        fail("name one trace: its number N, --property P, or --all for every trace; proofka trace lists them")
    if sum(chosen) > 1:
        fail("the number N, --property and --all exclude each other; give one of them")
    if script is not None and all_traces:
        fail("--script: writes one trace; name the trace in place of --all")
    if script is not None and keep:
        fail("--script: starts no cluster that --keep could keep; leave one of them out")
    if keep and all_traces:
        fail("--keep: keeps the cluster of one trace; name the trace")


def _refuse_what_the_model_contradicts(look: Checked, file: Path) -> None:
    """Refuse a result with a false step or setting: its replay would say "reproduced" beside false words."""
    from proofka.checker.bundle_check import is_of_this_model
    from proofka.checker.tampered import TamperedDocument
    from proofka.checker.verify import verify
    from proofka.model.pipeline import VERSION

    if look.document is None:
        return
    if not is_of_this_model(look.document):
        model = look.result.versions.get("model")
        fail(f"{file}: is a result of model {model}, and this is model {VERSION}; check the deployment again")
    try:
        verify(look.document)
    except TamperedDocument as error:
        fail(f"{file}: the model contradicts the result: {error}; check the deployment again")


def _plans(look: Checked, number: int | None, of_property: str | None, *, file: Path, listing: str) -> list[Plan]:
    """Return the plans of the chosen traces. End the command if there is no such trace.

    ``listing``: the command that lists the traces.
    """
    from proofka.checker.reproduction.of_trace import plan_of
    from proofka.reports.story import tellings

    told = tellings(look.result.verdicts, all_traces=True)
    if not told:
        fail(f"{file}: no violation was found, so there is no trace to replay")
    if number is not None:
        if number > len(told):
            fail(f"{file}: has no trace {number}; the result has {len(told)}")
        told = [told[number - 1]]
    elif of_property is not None:
        told = [
            next((one for one in told if _violates(one, of_property)), None)
            or _no_trace(look, file, of_property, listing)
        ]
    return [
        plan_of(look.deployment, one.trace, [(verdict.property, failure) for verdict, failure in one.violated])
        for one in told
    ]


def _violates(telling: Telling, name: str) -> bool:
    return any(verdict.property == name for verdict, _ in telling.violated)


def _no_trace(look: Checked, file: Path, name: str, listing: str) -> Telling:
    """End the command: no trace violates this property. The message has the verdict."""
    from proofka.reports import wording

    verdict = next((one for one in look.result.verdicts if one.property == name), None)
    if verdict is None:
        names = ", ".join(one.property for one in look.result.verdicts)
        fail(f"{file}: has no verdict on {name}; choose from {names}")
    fail(
        f"{file}: has no trace of {name}, which {wording.outcome(verdict.status, verdict.cut_sets[:1])} "
        f"({wording.bounds(verdict)}); {listing} lists the traces"
    )


def _replay(
    plans: list[Plan],
    kafka_home: Path | None,
    *,
    keep: bool,
    write: Callable[[list[Outcome]], None],
    on_error: bool,
) -> tuple[list[Outcome], str | None]:
    """Replay the traces, print each outcome, and return the outcomes.

    If a cluster fails, return the outcomes until then and the reason. ``write``: called with the outcomes before a kept
    cluster waits for its end. ``on_error``: print to standard error.
    """
    from proofka.checker.cluster.errors import ClusterError
    from proofka.checker.reproduction.errors import ReproductionError
    from proofka.checker.reproduction.keeping import wait_for_an_end
    from proofka.checker.reproduction.session import replay_all
    from proofka.reports.reproduced import print_outcome
    from proofka.reports.terminal import console

    def kept(lines: list[str]) -> None:
        write(outcomes)
        wait_for_an_end(lines, complain)

    outcomes: list[Outcome] = []
    out = console(stderr=on_error)
    try:
        for plan, outcome in replay_all(plans, kafka_home=kafka_home, tell=_tell, keep=keep, kept=kept):
            texts = {step.number: step.text for step in plan.steps}
            print_outcome(out, plan.name, outcome, texts=texts, told=outcomes[-1].changed if outcomes else ())
            outcomes.append(outcome)
    except (ClusterError, ReproductionError) as error:
        return outcomes, str(error)
    except KeyboardInterrupt:
        write(outcomes)  # Ctrl-C ends the replay that runs; the outcomes before it are no less true
        raise
    return outcomes, None


def _write(look: Checked, outcomes: list[Outcome], written: Written) -> None:
    """Write the result with the outcomes into the named files."""
    from proofka.properties.reproductions import with_outcomes

    result = replace(look.result, reproductions=with_outcomes(look.result.reproductions, outcomes))
    with one_line_errors():
        written.add(look.deployment, result, look.command)


def _tell(line: str) -> None:
    """Print a line of progress to standard error."""
    print(line, file=sys.stderr, flush=True)


def _write_script(plan: Plan, path: Path) -> None:
    from proofka.checker.reproduction.errors import ReproductionError
    from proofka.checker.reproduction.script import write_script

    try:
        is_written = attempt(path, lambda: write_script(plan, path))
    except ReproductionError as error:
        fail(str(error))
    if not is_written:
        raise typer.Exit(EXIT_BAD_INPUT)
    complain(f"written: {path}")
