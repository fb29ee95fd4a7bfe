"""A deployment in two lines: the cluster and the clients."""

from __future__ import annotations

from proofka.model.deployment.choices import (
    Commit,
    OnProcessingError,
    OnRestart,
    OnSendError,
    OnStop,
    Processing,
    Sends,
)
from proofka.model.deployment.deployment import Deployment
from proofka.model.faults import Fault

_COMMIT = {
    Commit.AUTO: "auto-commit",
    Commit.EARLIER: "auto-commit of records of earlier polls",
    Commit.DELIVERED: "auto-commit of delivered records",
    Commit.BEFORE: "commit before processing",
    Commit.AFTER: "commit after processing",
    Commit.FINISHED: "commit after each record that a worker finishes",
    Commit.ASYNC: "commit after processing without waiting for the answer",
    Commit.NEVER: "no commits",
}

_ON_RESTART = {
    OnRestart.RESEND: "resend on restart",
    OnRestart.FROM_ACKNOWLEDGED: "position committed past acknowledged records",
    OnRestart.FROM_FLUSHED: "position committed after flush()",
    OnRestart.FROM_SENT: "position committed past sent records",
}

_ON_STOP = {
    OnStop.CLOSE: "closed when stopped",
    OnStop.COMMIT_FIRST: "position committed and closed when stopped",
    OnStop.FORCE: "closed within some time when stopped",
    OnStop.EXIT: "not closed when stopped",
}


def release(deployment: Deployment) -> str:
    """Return the release: ``4.0`` or ``3.7.1``."""
    major, minor, patch = deployment.cluster.kafka
    return f"{major}.{minor}.{patch}" if patch else f"{major}.{minor}"


def cluster(deployment: Deployment) -> str:
    """Return the first line: release, client, replication, and unusual settings of elections and flushes."""
    parts = [
        f"Kafka {release(deployment)}",
        f"client {deployment.client}",
        f"{deployment.cluster.replicas} replicas" if deployment.cluster.replicas != 1 else "1 replica",
        f"min.insync.replicas={deployment.cluster.min_insync_replicas}",
    ]
    if deployment.cluster.unclean_leader_election:
        parts.append("unclean election on")
    if deployment.cluster.flush_messages is not None:
        parts.append(f"flush.messages={deployment.cluster.flush_messages}")
    return ", ".join(parts)


def clients(deployment: Deployment) -> str:
    """Return the second line: sends of the producer, commits of the consumer, and unusual settings of both."""
    producer = [
        f"producer acks={deployment.producer.acks}",
        f"idempotence {'on' if deployment.producer.idempotence else 'off'}",
        f"{deployment.producer.max_in_flight} in flight",
    ]
    if deployment.producer.transactional is not None:
        producer.append("transactions")
    if not deployment.producer.retries:
        producer.append("no retries")
    if deployment.application.sends is Sends.SYNC:
        producer.append("one send at a time")
    if deployment.application.on_send_error is not OnSendError.DROP:
        ignores = deployment.application.on_send_error is OnSendError.IGNORE
        producer.append("errors ignored" if ignores else f"{deployment.application.on_send_error} on error")
    if deployment.application.on_restart is not OnRestart.FORGET:
        producer.append(_ON_RESTART[deployment.application.on_restart])
    if Fault.PRODUCER_STOP in deployment.faults.possible:
        producer.append(_ON_STOP[deployment.application.on_stop])
    consumer = [f"consumer {_COMMIT[deployment.application.commit]}"]
    if deployment.application.processing is Processing.HANDED_OFF:
        consumer.append("processing handed off")
    if deployment.application.on_processing_error is not OnProcessingError.STOP:
        consumer.append(f"{deployment.application.on_processing_error} on a processing error")
    if deployment.producer.transactional is not None:
        consumer.append("read_committed" if deployment.producer.transactional.read_committed else "read_uncommitted")
    consumer.append(f"{deployment.application.sink} sink")
    return f"{', '.join(producer)}; {', '.join(consumer)}"
