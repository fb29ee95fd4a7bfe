"""A deployment in two lines: the cluster and the clients."""

from __future__ import annotations

from model.deployment.choices import Commit, OnProcessingError, OnRestart, OnSendError, OnStop, Processing, Sends
from model.deployment.deployment import Deployment
from model.faults import Fault

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
    major, minor, patch = deployment.kafka
    return f"{major}.{minor}.{patch}" if patch else f"{major}.{minor}"


def cluster(deployment: Deployment) -> str:
    """Return the first line: release, client, replication, and unusual settings of elections and flushes."""
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
    """Return the second line: sends of the producer, commits of the consumer, and unusual settings of both."""
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
        ignores = deployment.on_send_error is OnSendError.IGNORE
        producer.append("errors ignored" if ignores else f"{deployment.on_send_error} on error")
    if deployment.on_restart is not OnRestart.FORGET:
        producer.append(_ON_RESTART[deployment.on_restart])
    if Fault.PRODUCER_STOP in deployment.possible_faults:
        producer.append(_ON_STOP[deployment.on_stop])
    consumer = [f"consumer {_COMMIT[deployment.commit]}"]
    if deployment.processing is Processing.HANDED_OFF:
        consumer.append("processing handed off")
    if deployment.on_processing_error is not OnProcessingError.STOP:
        consumer.append(f"{deployment.on_processing_error} on a processing error")
    if deployment.transactional is not None:
        consumer.append("read_committed" if deployment.transactional.read_committed else "read_uncommitted")
    consumer.append(f"{deployment.sink} sink")
    return f"{', '.join(producer)}; {', '.join(consumer)}"
