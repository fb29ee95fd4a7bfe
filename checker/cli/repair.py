"""``proofka repair``: which changes make the required properties hold, cheapest first."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from checker.cli.endings import EXIT_VIOLATED
from checker.cli.errors import fail, one_line_errors
from checker.cli.limits import budget_of
from checker.cli.options import (
    Assume,
    Broker,
    Consumer,
    Environment,
    Faults,
    File,
    Fill,
    Kafka,
    Memory,
    Partly,
    PipelineNumber,
    Producer,
    Require,
    Threads,
    Topic,
    WholeSeconds,
)

if TYPE_CHECKING:
    from model.deployment.changing import Change

Most = Annotated[int, typer.Option("--most", metavar="N", min=1, help="Show at most so many repairs.")]


def repair(
    file: File = None,
    kafka: Kafka = None,
    topic: Topic = None,
    broker: Broker = None,
    producer: Producer = None,
    consumer: Consumer = None,
    assume: Assume = None,
    fill: Fill = None,
    environment: Environment = False,
    pipeline: PipelineNumber = None,
    partly: Partly = False,
    faults: Faults = None,
    memory: Memory = None,
    threads: Threads = None,
    require: Require = None,
    seconds: WholeSeconds = 600,
    most: Most = 3,
) -> None:
    """Find the smallest changes of settings, and of what the application does, that make required properties hold.

    Each repair is checked as the deployment itself is, and shown with what it costs. Where no changes make all of them
    hold, those are shown that make as many hold together as can be.

    Exit status: 0 nothing is violated, or a repair makes all required properties hold; 1 none does; 2 the input is
    wrong.
    """
    from checker.check import check
    from checker.repair import Search
    from checker.source import Source, narrowed
    from properties.verdict import Status
    from reports.repairs import RepairReport
    from reports.terminal import console

    said = (tuple(assume or ()), tuple(fill or ()), environment, pipeline, partly)
    with one_line_errors():
        deployment = narrowed(Source(file, kafka, topic, broker, producer, consumer, *said).read(), faults, require)
        if deployment.faults.any_number:
            fail("--faults any: a repair is looked for within a number of faults; say one")
    budget = budget_of(None, {"memory": memory, "threads": threads})
    checks = partial(check, budget=budget)
    progress = console(stderr=True)

    def tried(changes: Sequence[Change], wrong: Collection[str]) -> None:
        if progress.is_terminal and changes:
            left = f"leaves {', '.join(wrong)}" if wrong else "holds so far"
            progress.print(f"{' + '.join(map(str, changes))}: {left}", style="dim")

    with one_line_errors(), progress.status("exploring"):
        result = checks(deployment)
        required = [verdict for verdict in result.verdicts if verdict.required]
        violated = [verdict.property for verdict in required if verdict.status is Status.VIOLATED]
        wanted = [v.property for v in required if v.status in (Status.VIOLATED, Status.HOLDS)]
        search = Search(deployment, result, checks, seconds=seconds, on_tried=tried)
        found = search.repairs(wanted, most) if violated else search.nothing(wanted)
    console().print(RepairReport(deployment, violated, found))
    whole = any(set(one.holds) >= set(wanted) for one in found.found)
    raise typer.Exit(0 if whole or not violated else EXIT_VIOLATED)
