"""The topics with their producers and consumers: the pairs in ``pipelines.csv``, or all pairs.

.. code-block:: text

    topic,producer,consumer,kafka,assume.commit,label.team
    orders,producers/web.properties,consumers/billing.properties,3.9,before,billing

A row adds facts that no tool prints, with the keys of an inventory. Without the file, each topic that is not Kafka's
own is combined with each producer and each consumer: those in a folder of its name, or otherwise those for any topic.
"""

from __future__ import annotations

import csv
import io
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Protocol

from proofka.model.deployment.describe.folder import ROLES, Client
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.hiding import printable
from proofka.model.deployment.matrix import MOST_COMBINATIONS
from proofka.model.deployment.source import LARGEST_OF_A_FLEET, decode_utf8, read_bytes

INTERNAL = "__"
"""The prefix of the names of Kafka's own topics."""


@dataclass(frozen=True)
class Pipeline:
    """A topic with its clients' files, and other facts about it, or the error of its row."""

    topic: str
    producer: str | None
    consumer: str | None
    file: str
    line: int
    record: Mapping[str, str] = field(default_factory=dict)
    problem: str | None = None

    @property
    def name(self) -> str:
        """The name in a report if the row has none: the topic and its clients' files."""
        return ":".join((self.topic, *(_stem(client) for client in (self.producer, self.consumer))))


class Pipelines(Protocol):
    """Pipelines by number; the numbers start at ``first``."""

    @property
    def first(self) -> int:
        """The number of the first pipeline."""

    def __len__(self) -> int:
        """Return the number of pipelines."""

    def __getitem__(self, index: int) -> Pipeline:
        """Return one pipeline, counted from 0."""


@dataclass(frozen=True)
class Listed:
    """The rows of a file. Their numbers equal the lines if no row is empty or spans two lines."""

    rows: tuple[Pipeline, ...]
    first: int = 2

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Pipeline:
        return self.rows[index]


@dataclass(frozen=True)
class EveryPair:
    """Each topic with each of its producers and consumers, made on demand because there can be millions."""

    file: str
    choices: tuple[tuple[str, Sequence[str | None], Sequence[str | None]], ...]
    ends: tuple[int, ...]
    first: int = 1

    def __len__(self) -> int:
        return self.ends[-1] if self.ends else 0

    def __getitem__(self, index: int) -> Pipeline:
        at = bisect_right(self.ends, index)
        topic, producers, consumers = self.choices[at]
        producer, consumer = divmod(index - (self.ends[at - 1] if at else 0), len(consumers))
        return Pipeline(topic, producers[producer], consumers[consumer], self.file, index + self.first)


def every_pair(file: str, topics: Iterable[str], clients: Sequence[Client]) -> EveryPair:
    """Combine each topic with its clients. A role without clients gets a client with only defaults."""
    choices = []
    for topic in topics:
        if not topic.startswith(INTERNAL):
            producers, consumers = (_choice(topic, [c for c in clients if c.role == role]) for role in ROLES)
            choices.append((topic, producers, consumers))
    ends = tuple(accumulate(len(producers) * len(consumers) for _, producers, consumers in choices))
    pairs = EveryPair(file, tuple(choices), ends)
    if len(pairs) > MOST_COMBINATIONS:
        message = (
            f"makes {len(pairs):,} pipelines, more than {MOST_COMBINATIONS:,}; list the real ones in pipelines.csv"
        )
        raise DeploymentError(message, file=file)
    return pairs


def _choice(topic: str, clients: Sequence[Client]) -> Sequence[str | None]:
    own = [client.name for client in clients if client.topic == topic]
    shared = [client.name for client in clients if client.topic is None]
    return own or shared or [None]


def read_pipelines(path: Path) -> Listed:
    """Read the list. Raises DeploymentError for errors of the file; errors of a row come when it is read."""
    return pipelines_in(decode_utf8(read_bytes(path, LARGEST_OF_A_FLEET), path), str(path))


def pipelines_in(text: str, file: str) -> Listed:
    """Read the text of a list; raises the same errors."""
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    found = []
    try:
        header = [name.strip() for name in next(rows)]
        _check_header(header, file)
        found = [_row(header, cells, file, rows.line_num) for cells in rows if any(cell.strip() for cell in cells)]
    except csv.Error as error:
        raise DeploymentError(f"is no CSV: {printable(str(error))}", file=file, line=rows.line_num) from None
    return Listed(tuple(found))


def _check_header(header: Sequence[str], file: str) -> None:
    if "topic" not in header:
        raise DeploymentError("has no column topic; the first line must name the columns", file=file, line=1)
    twice = next((name for name in header if header.count(name) > 1), None)
    if twice is not None:
        raise DeploymentError(f"has two columns {printable(twice)!r}; keep one", file=file, line=1)


def _row(header: Sequence[str], cells: Sequence[str], file: str, line: int) -> Pipeline:
    record = {name: cell.strip() for name, cell in zip(header, cells, strict=False)}
    topic, producer, consumer = (record.pop(name, "") for name in ("topic", *ROLES))
    problem = None
    if len(cells) != len(header):
        problem = "has more or fewer cells than the header; add or remove cells"
    elif not topic:
        problem = "names no topic; fill in the column topic"
    return Pipeline(topic, producer or None, consumer or None, file, line, record, problem)


def _stem(client: str | None) -> str:
    return "defaults" if client is None else client.removesuffix(".properties")
