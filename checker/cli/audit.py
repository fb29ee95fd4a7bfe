"""``proofka audit``: a verdict on every property of many deployments, on Spark."""

from __future__ import annotations

import sys
import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from checker.cli.endings import EXIT_UNDECIDED, audit_status
from checker.cli.errors import complain, fail, one_line_errors
from checker.cli.exploring import acknowledge
from checker.cli.options import (
    Assume,
    AuditKafka,
    Deployments,
    Master,
    MemoryEach,
    NoFigures,
    Out,
    Outgrown,
    OutgrownAre,
    Profile,
    SecondsEach,
    Verbose,
)
from checker.interruption import interrupts
from properties.audited import AuditProgress, Stage

if TYPE_CHECKING:
    from checker.spark.exploring import Limits
    from checker.spark.influence import Values
    from checker.spark.sources import Source
    from properties.audited import AuditSummary, Influence

GOES_ON = "the same command continues from there"


def audit(
    source: Deployments,
    out: Out,
    kafka: AuditKafka = None,
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
    (docs/audit.md).

    Exit status: 0 every deployment has its required properties, 1 a required property is violated, 2 the input is wrong
    or a row was rejected, 3 a required property is undecided or the audit was interrupted, 4 a required property is
    vacuous (its situation never occurred). If several apply, the status is the first of 1, 2, 3, 4.
    """
    with one_line_errors():
        from checker.source import assumed, check_profile
        from checker.spark.exploring import Limits
        from checker.spark.session import NOT_INSTALLED
        from checker.spark.sources import DeploymentFolder, MatrixSource, Requiring, find_source

        deployments = find_source(source, assumed(assume or ()), kafka)
        if isinstance(deployments, DeploymentFolder) and deployments.passed_over:
            complain(f"{source}: not audited: {deployments.passed_over}; proofka check {source} reads them")
        chosen = deployments.matrix.values if isinstance(deployments, MatrixSource) else {}
        if profile is not None:
            check_profile(profile)
            deployments = Requiring(deployments, profile)
        if source.is_dir() and out.resolve().is_relative_to(source.resolve()):
            fail(f"{out}: is inside the SOURCE folder {source}; --out takes a folder outside SOURCE")
        if find_spec("pyspark") is None:
            fail(NOT_INSTALLED)
        if not no_figures and find_spec("matplotlib") is None:
            fail('matplotlib is not installed: pip install "proofka[spark]", or use --no-figures')
        summary, influence = _run(
            deployments,
            chosen,
            source,
            out,
            Limits(seconds, memory),
            master,
            spread=outgrown is OutgrownAre.SPREAD,
            figures=not no_figures,
            verbose=verbose,
        )
        if influence is not None:
            from reports.figures.audit import draw_audit

            draw_audit(influence, out / "figures")
    from reports.audit import AuditReport
    from reports.terminal import console

    console().print(AuditReport(summary))
    complain(f"tables{'' if influence is None else ' and figures'}: {out}")
    raise typer.Exit(audit_status(summary))


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
    from checker.spark.audit import NothingToAudit, audit
    from checker.spark.folder import claimed
    from checker.spark.influence import influence
    from checker.spark.session import SparkFailed, spark_errors, spark_session
    from checker.spark.summing import summarise
    from checker.spark.watching import Interrupted, Watch
    from reports.progress import ProgressLine, ProgressLog
    from reports.terminal import console

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
