"""``proofka snapshot``: a live cluster in a folder of files, to check later without the cluster."""

from __future__ import annotations

import typer

from proofka.checker.cli.endings import EXIT_PARTLY_READ
from proofka.checker.cli.errors import complain, one_line_errors, plain
from proofka.checker.cli.live_options import Address, CommandConfig, Groups, LiveTopics, Timeout, live_of
from proofka.checker.cli.options import Clients, Consumer, Folder, Kafka, Producer


def snapshot(
    bootstrap: Address,
    folder: Folder,
    command_config: CommandConfig = None,
    timeout: Timeout = None,
    topic: LiveTopics = None,
    group: Groups = None,
    producer: Producer = None,
    consumer: Consumer = None,
    kafka: Kafka = None,
    clients: Clients = None,
) -> None:
    """Read a live cluster into a folder, which proofka check and proofka audit read later (docs/live.md).

    The command only reads. Secrets are neither printed nor written.

    Exit status: 0 everything was read, 2 the input is wrong, 6 the cluster does not answer, 7 the cluster refuses the
    connection, 8 a right is missing, 9 a broker does not answer (the rest is written).
    """
    with one_line_errors():
        from proofka.checker.live.snapshot import check_folder, write

        check_folder(folder)
        asked = live_of(
            bootstrap,
            command_config,
            timeout,
            topics=topic,
            groups=group,
            producer=producer,
            consumer=consumer,
            kafka=kafka,
            clients=clients,
        )
        assert asked is not None
        made = asked.snapshot()
        described = made.described()
        write(made, folder)
    for sentence in made.unread:
        complain(sentence)
    counts = ((len(described.cluster.topics), "topic"), (len(described.pipelines), "pipeline"))
    told = ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts)
    typer.echo(plain(f"{folder}: {told} of {made.place}; proofka check {folder} reads them"))
    if made.unread:
        raise typer.Exit(EXIT_PARTLY_READ)
