"""``proofka repair``: changes that make the required properties hold, cheapest first."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from proofka.checker.budget import ANSWERED_TO
from proofka.checker.cli.endings import EXIT_UNDECIDED, EXIT_VIOLATED, exit_status
from proofka.checker.cli.errors import complain, fail, one_line_errors
from proofka.checker.cli.exploring import acknowledge
from proofka.checker.cli.limits import budget_of
from proofka.checker.cli.options import (
    Assume,
    Broker,
    Clients,
    Consumer,
    Environment,
    FaultsToRepair,
    File,
    Fill,
    Kafka,
    Memory,
    Partly,
    PipelineNumber,
    Producer,
    Profile,
    RepairSeconds,
    Require,
    Threads,
    Topic,
)
from proofka.checker.cli.source_options import source_of
from proofka.checker.interruption import interrupts

if TYPE_CHECKING:
    from proofka.checker.budget import Budget
    from proofka.checker.repair import Repairs
    from proofka.model.deployment.deployment import Deployment

Most = Annotated[int, typer.Option("--most", metavar="N", min=1, help="Show at most N repairs.")]


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
    faults: FaultsToRepair = None,
    memory: Memory = None,
    threads: Threads = None,
    require: Require = None,
    profile: Profile = None,
    seconds: RepairSeconds = 600,
    most: Most = 3,
) -> None:
    """Find the smallest changes of settings, and of the application's behaviour, that make the required properties
    hold.

    Each repair is checked like the deployment itself, for all required properties, and shown with its cost. Without
    --faults, and without a total in the file, the command repairs single faults; it explores larger fault sets only if
    single faults violate nothing. If no changes make all properties hold, the command shows changes that make as many
    as possible hold together. Upgrades of brokers and clients, to modelled releases, come after all settings.

    A terminal shows each repair as soon as it is found. When the time is over, or after Ctrl-C, the command shows the
    repairs found before. For a property without a repair, the command names who could prevent the violation, and the
    next command to try.

    Exit status: 0 every required property holds, at first or with the first repair; 1 a required property is violated
    and no repair mends all; 2 the input is wrong; 3 a required property is undecided, at first or with the first
    repair, or the search was stopped before it found a repair; 4 a required property is vacuous (its situation never
    occurs).
    """
    from proofka.checker.source import narrowed
    from proofka.reports.repairs import RepairReport
    from proofka.reports.terminal import console

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
        partly=partly,
        clients=clients,
    )
    with one_line_errors():
        deployment = narrowed(source.read(), faults, require, profile)
        if deployment.faults.any_number:
            fail("--faults any: a repair needs a number of faults")
        found, ended = searched(deployment, budget_of(None, {"memory": memory, "threads": threads}), seconds, most)
    console().print(RepairReport(deployment, found, ended))
    raise typer.Exit(_status(found))


def searched(deployment: Deployment, budget: Budget, seconds: float | None, most: int) -> tuple[Repairs, str]:
    """Search for repairs until the time is over or the user interrupts, and return the repairs and the reason of the
    end.

    If no total of faults is given, single faults come first. A property that one fault violates needs no larger fault
    set to be mended, and the answer names this bound. The search explores larger fault sets only if single faults
    violate nothing.
    """
    from proofka.checker.repair import Search
    from proofka.checker.solver import SolverUndecided
    from proofka.checker.traces import ReplayMismatch
    from proofka.reports.repair_progress import RepairProgress
    from proofka.reports.terminal import console

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
        fail(f"no verdict: {error}", EXIT_UNDECIDED)
    timer.cancel()
    ended = f"time limit of {seconds:g} s reached (--time)" if seconds and out_of_time.is_set() else "interrupted"
    if found.stopped:
        complain(ended)
    return found, ended if found.stopped else ""


def _status(found: Repairs) -> int:
    """Return the exit status: as for a check with the first repair that mends all properties, if a repair is needed and
    exists.
    """
    if not found.violated:
        return exit_status(found.before.verdicts)
    if found.whole:
        return exit_status(found.whole[0].result.verdicts)
    return EXIT_UNDECIDED if found.stopped and not found.found else EXIT_VIOLATED
