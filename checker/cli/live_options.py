"""The options about a live cluster, the same for every command that reads one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proofka.checker.cli.errors import fail
from proofka.checker.cli.options import seconds_of

if TYPE_CHECKING:
    from proofka.checker.live.asked import Asked

Bootstrap = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="Read a live cluster instead of files; several addresses with commas (default: none; docs/live.md).",
    ),
]
CommandConfig = Annotated[
    Path | None,
    typer.Option(
        "--command-config",
        metavar="FILE",
        help="With --bootstrap: properties of the connection (TLS, SASL), as Kafka's own tools take them "
        "(default: none).",
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        parser=seconds_of,
        help="With --bootstrap: wait at most SECONDS for each answer of the cluster (default: request.timeout.ms in "
        "--command-config, else 10).",
    ),
]
Groups = Annotated[
    list[str] | None,
    typer.Option(
        "--group",
        metavar="G",
        help="With --bootstrap: check the topics with this consumer group; repeat for more (default: none).",
    ),
]
LiveTopics = Annotated[
    list[str] | None,
    typer.Option(
        "--topic",
        metavar="NAME",
        help="A topic; repeat for more (default: the topics of --group, else every topic but Kafka's own).",
    ),
]
Address = Annotated[
    str,
    typer.Option("--bootstrap", metavar="HOST:PORT", help="The brokers of the cluster; several addresses with commas."),
]


def live_of(
    bootstrap: str | None,
    command_config: Path | None = None,
    timeout: float | None = None,
    *,
    topics: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    producer: Path | None = None,
    consumer: Path | None = None,
    kafka: str | None = None,
    clients: Sequence[str] | None = None,
    excluded: Mapping[str, object] | None = None,
    only_live: Mapping[str, object] | None = None,
) -> Asked | None:
    """Return what the options ask of a live cluster, or None without ``--bootstrap``.

    ``excluded``: options and arguments that have no meaning with a live cluster, by name. ``only_live``: further
    options of the command that have no meaning without one.
    """
    needing = {"--command-config": command_config, "--timeout": timeout, "--group": groups, **(only_live or {})}
    if bootstrap is None:
        named = next((name for name, value in needing.items() if value), None)
        if named is not None:
            fail(f"{named}: is about a live cluster, which --bootstrap HOST:PORT names")
        return None
    for name, value in (excluded or {}).items():
        if value:
            fail(f"{name}: has no meaning with --bootstrap; leave one of them out")
    from proofka.checker.live.asked import Asked

    return Asked(
        bootstrap,
        command_config,
        timeout,
        tuple(topics or ()),
        tuple(groups or ()),
        producer,
        consumer,
        kafka,
        _java_clients(clients or ()),
    )


def _java_clients(clients: Sequence[str]) -> str | None:
    """Return the release of Java's clients; others have files that the cluster's pipelines cannot name here."""
    if not clients:
        return None
    library, equals, version = clients[0].rpartition("=")
    if len(clients) > 1 or (equals and library.strip().lower() != "java"):
        fail(
            "--client: with --bootstrap names the release of Java's clients alone; for other clients write a snapshot, "
            "and name them in its pipelines.csv (docs/audit.md)"
        )
    return version.strip()
