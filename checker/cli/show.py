"""``proofka show``: every effective setting of a deployment, and its origin."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import typer

from proofka.checker.cli.endings import EXIT_BAD_INPUT
from proofka.checker.cli.errors import complain, one_line_errors
from proofka.checker.cli.options import (
    Assume,
    Broker,
    Clients,
    Consumer,
    Environment,
    File,
    Fill,
    Kafka,
    PipelineNumber,
    Producer,
    Topic,
)
from proofka.checker.cli.source_options import source_of

if TYPE_CHECKING:
    from proofka.checker.existing_files import Sought


def show(
    file: File = None,
    kafka: Kafka = None,
    topic: Topic = None,
    broker: Broker = None,
    producer: Producer = None,
    consumer: Consumer = None,
    assume: Assume = None,
    fill: Fill = None,
    environment: Environment = False,
    clients: Clients = None,
    pipeline: PipelineNumber = None,
) -> None:
    """Show every effective setting and its origin; for existing files, also how each value is interpreted.

    Exit status: 0 everything was read, 2 a problem prevents a pipeline from being checked.
    """
    source = source_of(
        file,
        kafka,
        topic,
        broker,
        producer,
        consumer,
        assume=assume,
        fill=fill,
        environment=environment,
        pipeline=pipeline,
        clients=clients,
    )
    with one_line_errors():
        sought = source.seek()
        deployments = [source.read()] if sought is None else sought.deployments
    from proofka.reports.console import console_of_lists
    from proofka.reports.settings import SettingsReport

    if sought is not None:
        print_found(sought, kafka, each_value=True)
    if len(deployments) == 1:
        console_of_lists().print(SettingsReport(deployments[0]))
    elif deployments:
        console_of_lists().print("\n--pipeline N shows every effective setting of pipeline N")
    if sought is not None and sought.problems:
        for problem in (*sought.problems, *sought.besides):
            complain(str(problem))
        raise typer.Exit(EXIT_BAD_INPUT)


def print_found(sought: Sought, kafka: str | None, *, each_value: bool, most: int | None = None) -> int:
    """Print the content of a folder and, if ``each_value`` is set, the interpretation of each value in its files.

    Return the number of printed lines, at most ``most`` if ``most`` is given. The screen of a single pipeline has notes
    of its own.
    """
    from proofka.model.deployment.dialects.accounting import accounts_of
    from proofka.reports.console import console, console_of_lists
    from proofka.reports.described import DescribedReport
    from proofka.reports.found import AccountReport, FirstFound, FoundReport

    if sought.described is not None:
        told = DescribedReport(
            sought.findings.place,
            sought.described.cluster,
            [(number, name, isinstance(one, Exception)) for number, name, one in sought.described.ones],
            most,
        )
        (console_of_lists() if each_value else console()).print(told)
        return told.lines
    accounts = accounts_of(sought.findings, sought.judged, kafka)
    out = console_of_lists() if each_value else console()
    report = FoundReport(sought.findings, sought.paired, accounts, notes=most is None or len(sought.checks) != 1)
    if most is not None:
        shown = FirstFound(report, most, f"proofka show {shlex.quote(sought.findings.place)}")
        out.print(shown)
        return shown.lines(out)
    out.print(report)
    for account in accounts if each_value else ():
        out.print()
        out.print(AccountReport(account))
    return 0


def print_sought(sought: Sought, kafka: str | None, *, quiet: bool, details: bool) -> int:
    """Print what was found, and the problems that prevent pipelines from being checked.

    Return the number of printed lines.
    """
    from proofka.reports.several import MOST_FOUND

    used = 0
    if quiet:
        _complain_of_rejected(sought, kafka)
    else:
        used = print_found(sought, kafka, each_value=False, most=None if details else MOST_FOUND)
    for problem in (*sought.problems, *sought.besides):
        for one in (problem, *problem.others):
            complain(str(one))
    if not sought.pipelines:
        complain(f"{sought.findings.place}: no pipeline to check")
    return used


def _complain_of_rejected(sought: Sought, kafka: str | None) -> None:
    """Print a line on standard error about the values that ``--partial`` ignores.

    Without ``--partial`` each rejected value is an error.
    """
    if not sought.partial:
        return
    from proofka.model.deployment.dialects.accounting import Fate, accounts_of
    from proofka.reports import wording

    rejected = sum(one.count(Fate.REJECTED) for one in accounts_of(sought.findings, sought.judged, kafka))
    if rejected or sought.findings.unread:
        files = f", and {wording.counted(len(sought.findings.unread), 'file')} cannot be read" * bool(
            sought.findings.unread
        )
        said = f"{wording.counted(rejected, 'value')} rejected{files}: ignored"
        complain(f"{sought.findings.place}: {said}; proofka show names them")
