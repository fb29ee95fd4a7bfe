"""A deployment in two lines: what runs, and how it is used."""

from __future__ import annotations

from model.deployment.choices import Commit, OnProcessingError, OnRestart, OnSendError, Processing, Sends
from model.deployment.deployment import Deployment

_COMMIT = {
    Commit.AUTO: "auto-commit",
    Commit.EARLIER: "auto-commit of what earlier polls returned",
    Commit.DELIVERED: "auto-commit of what was delivered",
    Commit.BEFORE: "commit before processing",
    Commit.AFTER: "commit after processing",
    Commit.ASYNC: "commit after processing without waiting for the answer",
    Commit.NEVER: "no commits",
}


def release(deployment: Deployment) -> str:
    """``4.0`` or ``3.7.1``."""
    major, minor, patch = deployment.kafka
    return f"{major}.{minor}.{patch}" if patch else f"{major}.{minor}"


def cluster(deployment: Deployment) -> str:
    """The first line: release, client, replication, and what is unusual about elections and flushes."""
    parts = [
        f"Kafka {release(deployment)}",
        f"client {deployment.client}",
        f"{deployment.replicas} replicas" if deployment.replicas != 1 else "1 replica",
        f"min.insync.replicas={deployment.min_insync_replicas}",
    ]
    if deployment.unclean_leader_election:
        parts.append("unclean election on")
    if deployment.flush_messages is not None:
        parts.append(f"flush.messages={deployment.flush_messages}")
    return ", ".join(parts)


def clients(deployment: Deployment) -> str:
    """The second line: how the producer sends and how the consumer commits, with what is unusual about either."""
    producer = [
        f"producer acks={deployment.acks}",
        f"idempotence {'on' if deployment.idempotence else 'off'}",
        f"{deployment.max_in_flight} in flight",
    ]
    if deployment.transactional is not None:
        producer.append("transactions")
    if not deployment.retries:
        producer.append("no retries")
    if deployment.sends is Sends.SYNC:
        producer.append("one send at a time")
    if deployment.on_send_error is not OnSendError.DROP:
        producer.append(f"{deployment.on_send_error} on error")
    if deployment.on_restart is OnRestart.RESEND:
        producer.append("resend on restart")
    consumer = [f"consumer {_COMMIT[deployment.commit]}"]
    if deployment.processing is Processing.HANDED_OFF:
        consumer.append("processing handed off")
    if deployment.on_processing_error is not OnProcessingError.STOP:
        consumer.append(f"{deployment.on_processing_error} on a processing error")
    if deployment.transactional is not None:
        consumer.append("read_committed" if deployment.transactional.read_committed else "read_uncommitted")
    consumer.append(f"{deployment.sink} sink")
    return f"{', '.join(producer)}; {', '.join(consumer)}"
