"""The request of a command's options to a live cluster, and the snapshot that answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from proofka.checker.live.admin import connected
from proofka.checker.live.clients import client_file, group_named
from proofka.checker.live.command_config import connection
from proofka.checker.live.reading import Wanted, read
from proofka.checker.live.snapshot import Snapshot, snapshot_of


@dataclass(frozen=True)
class Asked:
    """The cluster, the topics and groups, and the clients' files. ``seconds``: the time to wait for each answer.

    ``kafka`` and ``clients``: the releases of the brokers and of Java's clients, where the user names them.
    """

    bootstrap: str
    command_config: Path | None = None
    seconds: float | None = None
    topics: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    producer: Path | None = None
    consumer: Path | None = None
    kafka: str | None = None
    clients: str | None = None

    def snapshot(self) -> Snapshot:
        """Read the cluster. Raises LiveError, and DeploymentError for a file that cannot be read."""
        to = connection(self.bootstrap, self.command_config, self.seconds)
        producer = None if self.producer is None else client_file("producer", self.producer)
        consumer = None if self.consumer is None else client_file("consumer", self.consumer)
        named = None if self.groups else group_named(consumer)
        topics, groups = tuple(dict.fromkeys(self.topics)), tuple(dict.fromkeys(self.groups))
        with connected(to) as admin:
            facts = read(admin, Wanted(topics, groups, () if named is None else (named,)))
        return snapshot_of(
            facts,
            to.place,
            producer=producer,
            consumer=consumer,
            groups=groups,
            topics_are_named=bool(topics),
            more=self._columns(),
            about={"read": datetime.now(UTC).isoformat(timespec="seconds")},
        )

    def _columns(self) -> Mapping[str, str]:
        """Return the columns of the list of pipelines for what the user names."""
        columns = {} if self.kafka is None else {"kafka": self.kafka}
        return columns if self.clients is None else {**columns, **dict.fromkeys(_VERSIONS, self.clients)}

    def arguments(self) -> list[str]:
        """Return the options that ask the same."""
        return [word for option in self._options() for word in option]

    def _options(self) -> Iterator[tuple[str, str]]:
        yield "--bootstrap", self.bootstrap
        if self.command_config is not None:
            yield "--command-config", str(self.command_config)
        if self.seconds is not None:
            yield "--timeout", f"{self.seconds:g}"
        yield from (("--topic", topic) for topic in self.topics)
        yield from (("--group", group) for group in self.groups)
        files = {"producer": self.producer, "consumer": self.consumer}
        yield from ((f"--{role}", str(file)) for role, file in files.items() if file is not None)
        yield from () if self.kafka is None else (("--kafka", self.kafka),)
        yield from () if self.clients is None else (("--client", self.clients),)


_VERSIONS = ("producer.version", "consumer.version")
