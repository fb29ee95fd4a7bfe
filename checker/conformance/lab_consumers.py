"""The consumers of the lab: one for the topic of each producer of a run, with a group of its own."""

from __future__ import annotations

import time

from proofka.checker.cluster.batches import Batch
from proofka.checker.cluster.client import ClientProcess
from proofka.checker.cluster.cluster import Cluster
from proofka.checker.cluster.launching import libraries
from proofka.checker.cluster.waiting import until
from proofka.checker.conformance.consumer_controls import (
    ANSWER_SECONDS,
    JOIN_SECONDS,
    MOST_RECORDS,
    POLL_MILLISECONDS,
    ConsumerControls,
    ConsumerStart,
)
from proofka.checker.conformance.lab_clients import LabClients
from proofka.checker.conformance.lab_settings import changed_settings
from proofka.checker.conformance.producer_controls import RunProducer
from proofka.checker.real_settings import client_of
from proofka.model.deployment.choices import Commit, Group, Sink
from proofka.model.deployment.deployment import Deployment

_COMMITS = frozenset({Commit.AUTO, Commit.BEFORE, Commit.AFTER, Commit.ASYNC})
"""The times of commits that the application of the lab has."""

_SINKS = frozenset({Sink.PLAIN, Sink.IDEMPOTENT})
"""The sinks that keep no offset, as the application of the lab has none."""


def is_read(deployment: Deployment) -> bool:
    """Tell whether the lab has a consumer for the deployment.

    The group exists before the run. Its application commits offsets, and its library is one whose settings are in the
    table of the lab.
    """
    application = deployment.application
    library, _ = client_of(deployment, "consumer")
    return (
        application.group is Group.ESTABLISHED
        and application.commit in _COMMITS
        and application.sink in _SINKS
        and bool(changed_settings("consumer", library))
    )


class LabConsumers:
    """The consumers of a deployment on a cluster."""

    def __init__(self, deployment: Deployment, cluster: Cluster, clients: LabClients) -> None:
        self._deployment, self._cluster, self._clients = deployment, cluster, clients

    def join(self, name: str, producer: RunProducer) -> ConsumerControls:
        """Start the consumer of a producer's topic at the first offset of the run, and commit this offset.

        Raises NotSeen and CommandFailed. ``name``: of the run and the producer; the group gets this name.
        """
        group, base = f"lab-group-{name}", producer.base
        begin, process = time.time(), self._program(name, producer.topic, commits=True)
        told = process.ask("join", seconds=JOIN_SECONDS)
        if told["position"] < base:
            last = max(batch.last_offset for batch in self._records_before(producer))
            until(lambda: _reaches(process, last), what=f"the record at offset {last}", seconds=JOIN_SECONDS)
        process.ask("commit", offset=base, seconds=ANSWER_SECONDS)
        return ConsumerControls(
            producer.number,
            base,
            commit=self._deployment.application.commit,
            first=ConsumerStart(process, begin, True),
            start=lambda commits: self._program(name, producer.topic, commits=commits),
            committed=lambda: self._cluster.admin.committed_offset(group, producer.topic),
        )

    def _records_before(self, producer: RunProducer) -> list[Batch]:
        batches = self._cluster.batches(producer.order[0], producer.topic)
        return [batch for batch in batches if batch.base_offset < producer.base and not batch.is_control]

    def _program(self, name: str, topic: str, *, commits: bool) -> ClientProcess:
        library = self._clients.library
        more = changed_settings(_BY_ITSELF[commits], library)
        more[libraries()[library].group_id] = f"lab-group-{name}"
        return self._clients.start(topic, f"lab-consumer-{name}", more)


_BY_ITSELF = {True: "consumer that commits", False: "consumer that never commits"}
"""The role in the table of a client that commits by itself, and of one that could and does not."""


def _reaches(process: ClientProcess, offset: int) -> bool:
    """Poll once, and tell whether the consumer was given the record at an offset by now."""
    process.ask("poll", count=MOST_RECORDS, milliseconds=POLL_MILLISECONDS, seconds=ANSWER_SECONDS)
    return any(
        record["offset"] >= offset
        for event in process.events
        if event["event"] == "polled"
        for record in event["records"]
    )
