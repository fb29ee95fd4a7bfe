"""``proofka export``: write a transition system for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from proofka.checker.cli.errors import complain, fail, one_line_errors, plain
from proofka.checker.cli.options import Epochs, FaultsExported, Folder, Form, LogSize, MostStates, Records, Replicas


def export(
    system: Annotated[
        str, typer.Argument(metavar="FILE", help="A deployment in YAML, or a published protocol, such as kip-320.")
    ],
    form: Form,
    folder: Folder,
    require: Annotated[
        list[str] | None,
        typer.Option(
            "--property",
            metavar="P",
            help="Write only the variables and actions that can affect the property P; repeat for more (default: all).",
        ),
    ] = None,
    faults: FaultsExported = None,
    most_states: MostStates = None,
    replicas: Replicas = 3,
    log_size: LogSize = 2,
    records: Records = 2,
    epochs: Epochs = 1,
) -> None:
    """Write a transition system for TLC (tla), SPIN (promela), a solver (smt2), or as a graph (dot, graphml).

    For a deployment the command ignores --replicas, --log-size, --records and --epochs: these set the size of a
    published protocol.
    """
    from proofka.model.published.protocols import PROTOCOLS

    if folder.exists() and not folder.is_dir():
        fail(f"{folder}: is no directory; -o takes a directory")
    with one_line_errors():
        if system in PROTOCOLS and not Path(system).exists():
            from proofka.checker.export.exported import export_protocol
            from proofka.model.published.protocols import protocol

            exported = export_protocol(
                protocol(system, replicas=replicas, log_size=log_size, records=records, epochs=epochs)
            )
        else:
            from proofka.checker.export.exported import export_deployment
            from proofka.checker.source import Source, narrowed

            deployment = narrowed(Source(Path(system)).read(), faults, None)
            exported = export_deployment(deployment, properties=tuple(require or ()))
            if deployment.faults.any_number:
                complain("the exported system has at most 2 faults in total; --faults N sets another number")
        from proofka.checker.export.writing import write

        for path in write(exported, form, folder, most_states=most_states):
            typer.echo(plain(str(path)))
