"""``proofka check``: a verdict on every property of one or several deployments."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import typer

from proofka.checker.cli.answering import check_all
from proofka.checker.cli.asked import Asked, options_of
from proofka.checker.cli.certificate_options import CertificateToo
from proofka.checker.cli.comparing import (
    BaselineFile,
    ChangedSince,
    CommentFile,
    FormatOption,
    OutputFormat,
    comparing,
    print_for,
    refuse_other_sources,
    text_of,
)
from proofka.checker.cli.endings import EXIT_UNDECIDED, is_interrupted
from proofka.checker.cli.engines import engine_of
from proofka.checker.cli.errors import fail, one_line_errors
from proofka.checker.cli.exploring import run_check
from proofka.checker.cli.fail_on import refuse_what_is_not_asked
from proofka.checker.cli.live_options import Bootstrap, CommandConfig, Groups, Timeout, live_of
from proofka.checker.cli.more import (
    DEFAULT_MORE,
    DEFAULT_STABILITY,
    refuse_stability,
)
from proofka.checker.cli.options import (
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
from proofka.checker.cli.pipelines import of_project, of_source, project_file
from proofka.checker.cli.source_options import source_of
from proofka.checker.cli.written import STANDARD_OUTPUT, Written
from proofka.checker.reductions.choice import chosen

if TYPE_CHECKING:
    from proofka.checker.cli.pipelines import Pipelines
    from proofka.model.deployment.deployment import Deployment
    from proofka.properties.verdict import Result


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
    form: FormatOption = OutputFormat.TEXT,
    report: ReportFiles = None,
    comment: CommentFile = None,
    changed_since: ChangedSince = None,
    baseline: BaselineFile = None,
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
    checks all pipelines of proofka.yaml in this folder (docs/project-file.md). With --changed-since and --baseline,
    only what is worse than before fails (docs/pull-requests.md).

    Exit status: 0 every required property holds, 1 a required property is violated, 2 the input is wrong, 3 a required
    property is undecided, 4 one is vacuous (its situation never occurred), 5 no memory, 70 an internal error, 130
    interrupted before the exploration began. An interrupted exploration ends with 1 if a required property is
    violated, otherwise with 3. --fail-on names other properties to decide the status. With --fail-on-known-defects, a
    known defect gives 3. With --bootstrap: 6 the cluster does not answer, 7 it refuses the connection, 8 a right is
    missing, 9 a broker does not answer.
    """

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
    written = Written(json_file, tuple(report or ()), bundle, certificate, comment)
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
        refuse_other_sources(changed_since, file, of_one_source)
        if form is OutputFormat.GITLAB and json_file == STANDARD_OUTPUT:
            fail("--json - and --format gitlab both write to standard output; give --json a file")

        def gather() -> Pipelines:
            if project is not None:
                return of_project(project, faults, require or (), profile)
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
            return of_source(source, faults, require or (), profile)

        def explore(deployment: Deployment) -> Result:
            from proofka.checker.engine import EmbeddedEngine

            depth = asked.depth(deployment)
            _, result = run_check(deployment, asked.budget(), EmbeddedEngine(None), asked.reductions, depth)
            if is_interrupted(result.verdicts):
                fail(f"interrupted: {deployment.name} is not compared with {changed_since}", EXIT_UNDECIDED)
            return result

        found = gather()
        compared = comparing(changed_since, baseline, found, gather, explore)
        deployments = found.deployments
        refuse_what_is_not_asked(fail_on or (), deployments)
        if explain and (fixed := next((one for one in deployments if one.given is None), None)):
            fail(f"{fixed.name}: --explain changes single settings, so it needs the original configuration files")
        written.note_sources(deployments, found.source)
        reductions = chosen(switch_on or (), switch_off or ())
        if len(deployments) > 1:
            written.refuse_several(len(deployments))
        if stability:
            refuse_stability(quiet=quiet, pipelines=len(deployments))
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
        more=0.0 if quiet or len(deployments) > 1 or compared is not None else more,
        options=options_of(more, all_properties=all_properties, all_fault_sets=all_fault_sets),
        all_properties=all_properties,
        all_fault_sets=all_fault_sets,
        stability=stability_time if stability else 0.0,
        explain=explain,
        quiet=quiet,
        checkpoint=checkpoint,
        is_of_changes=changed_since is not None,
    )
    with text_of(form):
        status = check_all(found, asked, compared)
    if form is not OutputFormat.TEXT:
        with one_line_errors():
            print_for(form, written.answers, None if compared is None else compared.compared)
    raise typer.Exit(status)
