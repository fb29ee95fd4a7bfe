"""A real cluster, and clients of every library on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count

import pytest

from proofka.checker.cluster.client import ClientProcess
from proofka.checker.cluster.cluster import Cluster
from proofka.checker.cluster.errors import JarsUnavailable, MissingLibrary, MissingProgram
from proofka.checker.cluster.jars import newest_patch
from proofka.checker.cluster.plan import ClusterPlan
from proofka.checker.cluster.proxy import Proxy
from proofka.checker.cluster.supervisor import Supervisor
from proofka.checker.cluster.waiting import until

LINES = ("3.9", "4.1")
SECONDS = 90.0


@dataclass
class Kafka:
    """A cluster with one broker, its proxy, and names that no other test uses."""

    cluster: Cluster
    proxy: Proxy
    supervisor: Supervisor
    numbers: Iterator[int] = field(default_factory=count)

    def topic(self) -> str:
        """Return a new topic with one partition."""
        name = f"topic-{next(self.numbers)}"
        self.cluster.create_topic(name, [(1,)])
        return name

    def client(self, library: str, role: str, topic: str, settings: Mapping[str, str]) -> ClientProcess:
        """Start a client; skip the test where its library is not installed."""
        try:
            return ClientProcess.start(
                self.supervisor,
                library,
                role,
                bootstrap=self.cluster.bootstrap,
                topic=topic,
                client_id=f"client-{next(self.numbers)}",
                settings=settings,
                classpath=self.cluster.classpath,
                seconds=SECONDS,
            )
        except (MissingProgram, MissingLibrary) as missing:
            pytest.skip(f"NOT RUN: {missing}")

    def values(self, topic: str) -> list[str]:
        """Return the values on the broker's disk, in order."""
        batches = self.cluster.batches(1, topic)
        return [str(one.value, "utf-8") for each in batches if not each.is_control for one in each.records if one.value]

    def wait_values(self, topic: str, expected: list[str]) -> None:
        """Wait until the broker's disk holds these values."""
        until(lambda: self.values(topic) == expected, what=f"{expected} on disk", seconds=SECONDS)


@pytest.fixture(scope="session", params=LINES)
def kafka(request: pytest.FixtureRequest) -> Iterator[Kafka]:
    """Start a cluster of each line of releases, for all tests of client programs."""
    try:
        plan = ClusterPlan(newest_patch(request.param), brokers=(1,))
        with Supervisor() as supervisor, Proxy() as proxy, Cluster(plan, supervisor, proxy) as cluster:
            cluster.start()
            yield Kafka(cluster, proxy, supervisor)
    except (MissingProgram, JarsUnavailable) as missing:
        pytest.skip(f"NOT RUN: {missing}")


Making = Callable[[str, str, str, Mapping[str, str]], ClientProcess]


@pytest.fixture
def make(kafka: Kafka) -> Iterator[Making]:
    """Return what starts a client that ends with the test."""
    made: list[ClientProcess] = []

    def start(library: str, role: str, topic: str, settings: Mapping[str, str]) -> ClientProcess:
        made.append(kafka.client(library, role, topic, settings))
        return made[-1]

    yield start
    for client in made:
        client.kill()
