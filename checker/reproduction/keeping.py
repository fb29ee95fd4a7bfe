"""A cluster that is kept after the outcome, until the user ends it, and the commands to look around."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Callable

from proofka.checker.cluster.cluster import Cluster
from proofka.checker.cluster.console import write_program, write_tools
from proofka.checker.cluster.errors import JarsUnavailable
from proofka.checker.cluster.jars import tools_of
from proofka.checker.cluster.launching import Launch

TOOLS = "tools"
"""The folder with the programs, in the cluster's folder."""
LOOKS_EVERY = 0.2
"""Seconds after which Ctrl-C ends the wait at the latest."""


def ways_in(
    cluster: Cluster, folder: Path, topic: str, *, group: str | None, clients: Mapping[str, Launch]
) -> Iterator[str]:
    """Write programs for Kafka's console tools and for the clients into the folder, and yield lines on their use.

    ``group``: the consumer's group, or None. ``clients``: the commands of the client programs, by role.
    """
    up = [broker for broker in cluster.plan.brokers if broker in cluster.responsive]
    addresses = dict(zip(cluster.plan.brokers, cluster.bootstrap.split(",")))
    servers = ",".join(addresses[broker] for broker in up or cluster.plan.brokers)
    yield f"The cluster runs. Bootstrap servers: {servers}; topic {topic}"
    down = [str(broker) for broker in cluster.plan.brokers if broker not in up]
    if down:
        yield f"Down since the trace, or paused: broker {', '.join(down)}"
    yield f"Folder: {folder} (node-N/server.log, node-N/server.properties, node-N/data, and the logs of clients)"
    jars = list(cluster.classpath)
    try:
        jars += tools_of(cluster.release) if cluster.plan.kafka_home is None else ()
    except JarsUnavailable as error:
        yield f"Some of Kafka's console tools are missing: {error}"
    written = write_tools(jars, folder / TOOLS)
    yield "Kafka's console tools, each with all of its options, and the trace's clients:"
    yield f"  cd {folder}"
    at = f"--bootstrap-server {servers}"
    asked = {
        "kafka-topics": f"{at} --describe --topic {topic}",
        "kafka-console-consumer": f"{at} --topic {topic} --from-beginning --property print.offset=true",
        "kafka-console-producer": f"{at} --topic {topic}",
        "kafka-get-offsets": f"{at} --topic {topic}",
        **({"kafka-consumer-groups": f"{at} --describe --group {group}"} if group is not None else {}),
    }
    for tool, arguments in asked.items():
        if tool in written:
            yield f"  {TOOLS}/{tool}.sh {arguments}"
    for broker in cluster.plan.brokers:
        logs = sorted((cluster.node(broker).data / f"{topic}-0").glob("*.log"))
        if "kafka-dump-log" in written and logs:
            files = ",".join(str(log.relative_to(folder)) for log in logs)
            yield f"  {TOOLS}/kafka-dump-log.sh --print-data-log --files {files}"
    for role, launch in clients.items():
        write_program(folder / TOOLS / f"{role}.sh", launch.command, launch.environment)
        yield f"  {TOOLS}/{role}.sh, and then lines such as {_EXAMPLES[role]}"


_EXAMPLES = {
    "producer": '{"do":"prepare"}, {"do":"send","record":9} and {"do":"close"}',
    "consumer": '{"do":"join"}, {"do":"poll","count":10,"milliseconds":5000} and {"do":"close"}',
}
"""Lines that a client program takes, by role."""


def wait_for_an_end(lines: Iterable[str], tell: Callable[[str], None]) -> None:
    """Tell how the kept cluster is reached, and wait for Ctrl-C, or for the end of the input at a terminal."""
    with suppress(KeyboardInterrupt):
        for line in lines:
            tell(line)
        tell("Ctrl-C ends the cluster and removes its folder")
        if sys.stdin is not None and sys.stdin.isatty():
            sys.stdin.read()
            return
        while True:  # a signal just before an endless wait would not end the wait
            time.sleep(LOOKS_EVERY)
