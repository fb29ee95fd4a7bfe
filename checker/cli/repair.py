"""``proofka repair``: which changes make the required properties hold, cheapest first."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from checker.budget import ANSWERED_TO
from checker.cli.endings import EXIT_UNDECIDED, EXIT_VIOLATED, exit_status
from checker.cli.errors import complain, fail, one_line_errors
from checker.cli.exploring import acknowledge
from checker.cli.limits import budget_of
from checker.cli.options import (
    Assume,
    Broker,
    Clients,
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
    Profile,
    Require,
    Threads,
    Topic,
    WholeSeconds,
)
from checker.interruption import interrupts

if TYPE_CHECKING:
    from checker.budget import Budget
    from checker.repair import Repairs
    from model.deployment.deployment import Deployment

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
    clients: Clients = None,
    pipeline: PipelineNumber = None,
    partly: Partly = False,
    faults: Faults = None,
    memory: Memory = None,
    threads: Threads = None,
    require: Require = None,
    profile: Profile = None,
    seconds: WholeSeconds = 600,
    most: Most = 3,
) -> None:
    """Find the smallest changes of settings, and of what the application does, that make required properties hold.

    Each repair is checked as the deployment itself is, of all required properties, and shown with what it costs.
    Without --faults, and where the file names no total, single faults are repaired; larger sets are explored only where
    single faults violate nothing. Where no changes make all properties hold, those are shown that make as many hold
    together as can be. Upgrades of brokers and clients, to releases that are modelled, come after all settings. A
    terminal shows each repair once it is found. Once the time is over, or at Ctrl-C, what was found until then is
    shown. Of a property that nothing mends it is said who could prevent the violation, and what to ask next.

    Exit status: 0 every required property holds, of itself or with the first repair; 1 one is violated and no repair
    mends all; 2 the input is wrong; 3 with the first repair, or before, one is not decided, or the search was stopped
    before it found any; 4 one passes only because what it speaks of never happens.
    """
    from checker.source import Source, narrowed
    from reports.repairs import RepairReport
    from reports.terminal import console

    source = Source(
        file,
        kafka,
        topic,
        broker,
        producer,
        consumer,
        assume=tuple(assume or ()),
        fill=tuple(fill or ()),
        environment=environment,
        pipeline=pipeline,
        partial=partly,
        clients=tuple(clients or ()),
    )
    with one_line_errors():
        deployment = narrowed(source.read(), faults, require, profile)
        if deployment.faults.any_number:
            fail("--faults any: a repair is looked for within a number of faults; say one")
        found, ended = _searched(deployment, budget_of(None, {"memory": memory, "threads": threads}), seconds, most)
    console().print(RepairReport(deployment, found, ended))
    raise typer.Exit(_status(found))


def _searched(deployment: Deployment, budget: Budget, seconds: float | None, most: int) -> tuple[Repairs, str]:
    """Search for repairs until the time is over or somebody interrupts, and say what ended the search before its end.

    Where nobody says how many faults, single faults come first: what one of them violates needs no larger set of faults
    to be mended, and the answer names that bound. Only where single faults violate nothing, larger sets are explored.
    """
    from checker.repair import Search
    from checker.solver import SolverUndecided
    from checker.traces import ReplayMismatch
    from reports.repair_progress import RepairProgress
    from reports.terminal import console

    faults = deployment.faults
    bounded = [faults.up_to(ANSWERED_TO), faults] if faults.total is None else [faults]
    out_of_time = threading.Event()

    def end() -> None:
        if not budget.stop.is_set():
            out_of_time.set()
            budget.stop.set()

    timer = threading.Timer(seconds or threading.TIMEOUT_MAX, end)
    timer.daemon = True
    try:
        with (
            RepairProgress(console(stderr=True)) as progress,
            interrupts(budget.stop, partial(acknowledge, "what was found follows")),
        ):
            timer.start()
            for one in bounded:
                found = Search(replace(deployment, faults=one), budget, progress).repairs(most)
                if found.violated or found.stopped:
                    break
    except (SolverUndecided, ReplayMismatch) as error:
        complain(f"no verdict: {error}")
        raise typer.Exit(EXIT_UNDECIDED) from None
    timer.cancel()
    ended = f"the {seconds:g} s ran out (--time)" if seconds and out_of_time.is_set() else "interrupted"
    if found.stopped:
        complain(ended)
    return found, ended if found.stopped else ""


def _status(found: Repairs) -> int:
    """As of a check with the first repair that mends all, if there is one and any is needed."""
    if not found.violated:
        return exit_status(found.before.verdicts)
    if found.whole:
        return exit_status(found.whole[0].result.verdicts)
    return EXIT_UNDECIDED if found.stopped and not found.found else EXIT_VIOLATED
