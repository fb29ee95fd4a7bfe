"""``proofka published``: the whole state space of a published replication protocol."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from proofka.checker.cli.endings import EXIT_HOLDS, EXIT_UNDECIDED
from proofka.checker.cli.engines import engine_of
from proofka.checker.cli.errors import one_line_errors
from proofka.checker.cli.limits import budget_of
from proofka.checker.cli.options import (
    CheckpointEvery,
    CheckpointFolder,
    Engine,
    EngineName,
    Epochs,
    Json,
    LogSize,
    Master,
    Memory,
    Records,
    Replicas,
    States,
    Stats,
    Threads,
    WholeSeconds,
)
from proofka.checker.interruption import interrupts


def published(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The protocol, such as kip-320.")],
    replicas: Replicas = 3,
    log_size: LogSize = 2,
    records: Records = 2,
    epochs: Epochs = 1,
    engine: Engine = EngineName.EMBEDDED,
    master: Master = None,
    stats: Stats = False,
    states: States = None,
    memory: Memory = None,
    seconds: WholeSeconds = None,
    threads: Threads = None,
    checkpoint: CheckpointFolder = None,
    checkpoint_every: CheckpointEvery = 20,
    json_output: Json = False,
) -> None:
    """Explore the whole state space of a published replication protocol, and count its states.

    Exit status: 0 everything was explored, 2 the input is wrong, 3 a limit was reached.
    """
    from proofka.model.published.protocols import protocol

    with one_line_errors():
        explored = protocol(name, replicas=replicas, log_size=log_size, records=records, epochs=epochs)
    from proofka.checker.published import explore_whole
    from proofka.reports.terminal import console
    from proofka.reports.whole_space import print_space, to_json

    budget = budget_of(seconds, {"states": states, "memory": memory, "threads": threads})
    with (
        one_line_errors(),
        engine_of(engine, master, checkpoint, checkpoint_every, memory, stats=stats, certified=False) as chosen,
        interrupts(budget.stop),
    ):
        space = explore_whole(explored.system, explored.violated, budget, chosen)
    if json_output:
        typer.echo(json.dumps(to_json(space)))
    else:
        constants = f"{replicas} replicas, {log_size} slots, {records} records, epochs 0..{epochs}"
        print_space(console(), f"{name}: {constants}", space)
    raise typer.Exit(EXIT_UNDECIDED if space.stopped else EXIT_HOLDS)
