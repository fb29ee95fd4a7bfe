"""``proofka audit``: a verdict on every property of many deployments, on Spark."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from proofka.checker.cli.endings import EXIT_PARTLY_READ, EXIT_UNDECIDED, EXIT_VIOLATED, audit_status
from proofka.checker.cli.errors import complain, fail, one_line_errors
from proofka.checker.cli.exploring import acknowledge
from proofka.checker.cli.live_options import Bootstrap, CommandConfig, Groups, LiveTopics, Timeout, live_of
from proofka.checker.cli.options import (
    Assume,
    AuditKafka,
    Consumer,
    Deployments,
    Master,
    MemoryEach,
    NoFigures,
    Out,
    Outgrown,
    OutgrownAre,
    Producer,
    Profile,
    SecondsEach,
    Verbose,
)
from proofka.checker.interruption import interrupts
from proofka.properties.audited import AuditProgress, Stage

if TYPE_CHECKING:
    from proofka.checker.live.asked import Asked
    from proofka.checker.spark.exploring import Limits
    from proofka.checker.spark.influence import Values
    from proofka.checker.spark.sources import Source
    from proofka.properties.audited import AuditSummary, Influence

GOES_ON = "the same command continues from there"


def audit(
    out: Out,
    source: Deployments = None,
    kafka: AuditKafka = None,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    timeout: Timeout = None,
    topic: LiveTopics = None,
    group: Groups = None,
    producer: Producer = None,
    consumer: Consumer = None,
    profile: Profile = None,
    master: Master = None,
    assume: Assume = None,
    seconds: SecondsEach = None,
    memory: MemoryEach = None,
    outgrown: Outgrown = OutgrownAre.UNKNOWN,
    no_figures: NoFigures = False,
    verbose: Verbose = False,
) -> None:
    """Check every deployment of an inventory or of a matrix of settings, and write tables and figures into DIR.

    The audit explores each distinct system once; the same command run again explores only missing systems
    (docs/audit.md). With --bootstrap, the deployments are the topics of a live cluster (docs/live.md).

    Exit status: 0 every deployment has its required properties, 1 a required property is violated, 2 the input is wrong
    or a row was rejected, 3 a required property is undecided or the audit was interrupted, 4 a required property is
    vacuous (its situation never occurred). If several apply, the status is the first of 1, 2, 3, 4. With --bootstrap: 6
    the cluster does not answer, 7 it refuses the connection, 8 a right is missing, 9 a broker does not answer.
    """
    unread: tuple[str, ...] = ()
    live = live_of(
        bootstrap,
        command_config,
        timeout,
        topics=topic,
        groups=group,
        producer=producer,
        consumer=consumer,
        excluded={"SOURCE": source},
        only_live={"--topic": topic, "--producer": producer, "--consumer": consumer},
    )
    with one_line_errors():
        from proofka.checker.source import assumed, check_profile
        from proofka.checker.spark.exploring import Limits
        from proofka.checker.spark.session import NOT_INSTALLED
        from proofka.checker.spark.sources import DeploymentFolder, MatrixSource, Requiring, find_source

        deployments: Source
        if live is not None:
            place, deployments, unread = _read(live, kafka, assumed(assume or ()))
        elif source is not None:
            place, deployments = source, find_source(source, assumed(assume or ()), kafka)
        else:
            fail("give a SOURCE, or --bootstrap HOST:PORT for a live cluster")
        if isinstance(deployments, DeploymentFolder) and deployments.passed_over:
            complain(f"{place}: not audited: {deployments.passed_over}; proofka check {place} reads them")
        chosen = deployments.matrix.values if isinstance(deployments, MatrixSource) else {}
        if profile is not None:
            check_profile(profile)
            deployments = Requiring(deployments, profile)
        if source is not None and source.is_dir() and out.resolve().is_relative_to(source.resolve()):
            fail(f"{out}: is inside the SOURCE folder {source}; --out takes a folder outside SOURCE")
        if find_spec("pyspark") is None:
            fail(NOT_INSTALLED)
        if not no_figures and find_spec("matplotlib") is None:
            fail('matplotlib is not installed: pip install "proofka[spark]", or use --no-figures')
        summary, influence = _run(
            deployments,
            chosen,
            place,
            out,
            Limits(seconds, memory),
            master,
            spread=outgrown is OutgrownAre.SPREAD,
            figures=not no_figures,
            verbose=verbose,
        )
        if influence is not None:
            from proofka.reports.figures.audit import draw_audit

            draw_audit(influence, out / "figures")
    from proofka.reports.audit import AuditReport
    from proofka.reports.terminal import console

    console().print(AuditReport(summary))
    complain(f"tables{'' if influence is None else ' and figures'}: {out}")
    status = audit_status(summary)
    raise typer.Exit(EXIT_PARTLY_READ if unread and status != EXIT_VIOLATED else status)


def _read(live: Asked, kafka: str | None, overrides: Mapping[str, str]) -> tuple[Path, Source, tuple[str, ...]]:
    """Return the address and the deployments of a live cluster, and print what could not be read."""
    from proofka.checker.spark.session import NOT_INSTALLED
    from proofka.checker.spark.sources import ClusterFolder
    from proofka.model.deployment.options import read_options

    if find_spec("pyspark") is None:
        fail(NOT_INSTALLED)
    read_options(overrides)
    made = live.snapshot()
    for sentence in made.unread:
        complain(sentence)
    return Path(made.place), ClusterFolder(made.place, made.described(), kafka, overrides), made.unread


def _run(
    source: Source,
    settings: Values,
    place: Path,
    out: Path,
    limits: Limits,
    master: str | None,
    *,
    spread: bool,
    figures: bool,
    verbose: bool,
) -> tuple[AuditSummary, Influence | None]:
    """Run the audit, with a progress line if standard output is a terminal.

    Ctrl-C ends the audit; the folder keeps the results found before.
    """
    from proofka.checker.spark.audit import NothingToAudit, audit
    from proofka.checker.spark.folder import claimed
    from proofka.checker.spark.influence import influence
    from proofka.checker.spark.session import SparkFailed, spark_errors, spark_session
    from proofka.checker.spark.summing import summarise
    from proofka.checker.spark.watching import Interrupted, Watch
    from proofka.reports.progress import ProgressLine, ProgressLog
    from proofka.reports.terminal import console

    started = time.monotonic()
    line = ProgressLine(console(stderr=True), wanted=sys.stdout.isatty())
    watch = Watch(line if line.is_shown else ProgressLog(console(stderr=True)))
    try:
        with claimed(out) as folder, line:
            watch.tell()
            with spark_session(master, verbose=verbose) as spark, spark_errors():
                with interrupts(watch.stop, partial(acknowledge, "what is explored is kept")):
                    counts = audit(spark, source, folder, limits, watch, spread=spread)
                found = influence(spark, folder, settings) if figures and counts.deployments else None
                return summarise(spark, folder, counts, time.monotonic() - started), found
    except NothingToAudit as error:
        fail(f"{place}: {error}")
    except Interrupted as interrupted:
        complain(f"interrupted{_how_far(interrupted.progress)}; {GOES_ON}")
    except SparkFailed as error:
        complain(f"Spark failed: {error}; {GOES_ON}" + ("" if verbose else "; --verbose prints Spark's log"))
    raise typer.Exit(EXIT_UNDECIDED)


def _how_far(progress: AuditProgress) -> str:
    if progress.stage is not Stage.EXPLORING:
        return ""
    return f": {progress.done:,} of {progress.total:,} systems are explored"
