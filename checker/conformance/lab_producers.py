"""The producers of the lab: their programs, and the record that each sends before a run."""

from __future__ import annotations

from dataclasses import replace

from proofka.checker.cluster.client import ClientProcess, event_is
from proofka.checker.cluster.cluster import Cluster
from proofka.checker.cluster.coordination import transaction_of
from proofka.checker.cluster.errors import NotSeen
from proofka.checker.cluster.plan import CONTROLLER
from proofka.checker.cluster.waiting import until
from proofka.checker.conformance.lab_clients import LabClients
from proofka.checker.conformance.lab_settings import lab_settings
from proofka.checker.conformance.producer_controls import RunProducer
from proofka.checker.real_settings import effective_of
from proofka.model.deployment.deployment import Deployment

WARM = 90
"""The number of the record before a run; the records of a run have smaller numbers."""

START_SECONDS = 90.0
"""Seconds within which a client starts and sends its first record."""


class LabProducers:
    """The producers of a deployment on a cluster. ``records``: the number of records of each in a run."""

    def __init__(self, deployment: Deployment, cluster: Cluster, clients: LabClients, *, records: int) -> None:
        self._deployment, self._cluster, self._clients, self._records = deployment, cluster, clients, records
        self._effective = effective_of(deployment)

    def client(self, process: ClientProcess) -> str:
        """Return the client that ran: the library, and the release that the program told, which can be newer.

        A client of Java has the release that the deployment names, whose newest patch runs.
        """
        if self._clients.library == "java":
            return self._effective["producer.client"]
        return f"{self._clients.library} {process.events[0]['version']}"

    def new(self, name: str, number: int) -> RunProducer:
        """Start a producer, and let it send a record into a new topic."""
        brokers = self._cluster.plan.brokers
        first = (number - 1) % len(brokers)
        order = brokers[first:] + brokers[:first]
        topic, client_id = f"lab-{name}", f"lab-producer-{name}"
        self._cluster.create_topic(topic, (order,), lab_settings(self._deployment, "topic"))
        program = self._program(topic, client_id)
        program.ask("prepare", seconds=START_SECONDS)
        if self._transacts:
            program.ask("init", seconds=START_SECONDS)
        new = RunProducer(number, topic, order, client_id, program, 0, self._records, 0)
        return self.warm(new, START_SECONDS)

    def start_again(self, producer: RunProducer) -> ClientProcess:
        """Start another process of a producer in a run, and do not wait for what it asks of the cluster."""
        program = self._program(producer.topic, producer.client_id)
        program.send("prepare", seconds=START_SECONDS)
        if self._transacts:
            program.send("init")
        return program

    @property
    def _transacts(self) -> bool:
        return self._deployment.producer.transactional is not None

    def _program(self, topic: str, client_id: str) -> ClientProcess:
        named = {"transactional.id": client_id} if self._transacts else {}
        return self._clients.start(topic, client_id, named)

    def warm(self, producer: RunProducer, seconds: float) -> RunProducer:
        """Let a producer send a record; wait until each broker has the record. Return the producer as the run begins.

        The sequence numbers of the run count from this record. Raises NotSeen.
        """
        process, topic, leader = producer.process, producer.topic, producer.order[0]
        if self._effective.get("application.producer_id") != "new":
            after, end = len(process.events), self._cluster.log_end(leader, topic)
            if self._transacts:
                process.ask("begin", seconds=seconds)
            process.ask("send", record=WARM, seconds=seconds)
            if self._transacts:
                self._commit(producer, seconds)
            reported = event_is("report", record=WARM, error=None)
            process.wait_event(reported, what="the first report", seconds=seconds, after=after)
            # With acks=0 the report comes before the record is in a log.
            until(lambda: self._cluster.log_end(leader, topic) > end, what="the first record", seconds=seconds)
        self._cluster.wait_copied(topic, seconds=seconds)
        base = self._cluster.log_end(leader, topic)
        return replace(producer, base=base, first_event=len(process.events), earlier=())

    def _commit(self, producer: RunProducer, seconds: float) -> None:
        """Commit the transaction before a run; wait until its marker is in the log, and the coordinator knows this.

        Raises NotSeen.
        """
        told, port = producer.process.ask("commit", seconds=seconds), self._cluster.harness_port(CONTROLLER)
        if told.get("error"):
            raise NotSeen(f"a transaction before the run ({told['error']})", seconds)
        until(
            lambda: transaction_of(port, producer.client_id).state == "CompleteCommit",
            what="the end of the transaction before the run",
            seconds=seconds,
        )
        until(
            lambda: any(batch.marker for batch in self._cluster.batches(producer.order[0], producer.topic)[-1:]),
            what="the marker of the transaction before the run",
            seconds=seconds,
        )
