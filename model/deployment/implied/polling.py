"""The durations of a consumer: between polls, until a commit, and until its replacement (semantics 12)."""

from __future__ import annotations

from proofka.model.deployment.choices import Processing
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.outages import brokers_may_be_away, outages_of_consumer
from proofka.model.durations import CLIENT_LOOKS, JITTER, Duration, Quantity, longest
from proofka.model.faults import DELAYS_READING, FALLS_SILENT

REQUESTS_TO_START = 14
"""Messages, both ways, until a consumer fetches: metadata, coordinator, join (twice), sync, committed offset, fetch."""

REQUESTS_TO_FIND = 5
"""Messages until a consumer knows the new leader or coordinator: the answer with the news, a request for metadata, and
the request."""

JOINING = Quantity("the client's allowance for joining a group", 5_000, 5_000)
"""The time, in ms, for which a consumer waits beyond max.poll.interval.ms for the answer to a request to join its
group."""


def between_polls(deployment: Deployment) -> Duration:
    """Return the time between two polls in a group. A group whose only member takes longer gets another member (12)."""
    times = deployment.durations
    return Duration.of(min(times.poll_interval, times.max_poll, key=longest))


def until_next_poll(
    deployment: Deployment, *, consumer_was_out: bool = True, brokers_were_out: bool = True
) -> Duration:
    """Return the time until a running consumer polls the available records, after the possible outages.

    A restarted consumer connects to a broker, its coordinator and the leader, and joins. It can wait until the session
    of the consumer before it expires, for other members that never come, and for the answer of a coordinator that falls
    silent. A consumer whose leader changes waits until it knows the new leader and has connected to it.
    """
    times = deployment.durations
    until = between_polls(deployment) + Duration.of(times.metadata) + Duration.of(times.network, 2)
    if deployment.consumer.waits_for_bytes:
        until = until + Duration.of(times.consumer_fetch_wait)
    replaced = consumer_was_out and outages_of_consumer(deployment)
    if replaced:
        until = until + Duration.of(times.consumer_session) + Duration.of(times.rebalance_delay)
        until = until + Duration.of(times.network, 3 * deployment.consumer.connects + REQUESTS_TO_START)
        until = until + times.until_assigned if deployment.consumer.rebalancing.by_brokers else until
    if brokers_were_out and deployment.faults.possible & DELAYS_READING:
        until = until + Duration.of(times.consumer_request) + _connects_again(deployment)
    if brokers_were_out and FALLS_SILENT & deployment.faults.possible and replaced:
        until = until + Duration.of(times.max_poll) + Duration.of(JOINING)
    return until


def until_committed(deployment: Deployment) -> Duration:
    """Return the time from the poll that returned a record until the commit of its offset, if the consumer keeps
    running (semantics 12).

    No broker may be away during this time. The group's coordinator may have been away before, and may have moved.
    """
    times = deployment.durations
    until = between_polls(deployment) + Duration.of(times.network, 2)
    if brokers_may_be_away(deployment):
        until = until + Duration.of(times.consumer_request, CLIENT_LOOKS) + Duration.of(times.metadata)
        until = until + _connects_again(deployment)
    if deployment.application.commit.is_by_client or deployment.consumer.commits_on_timer:
        until = until + Duration.of(times.auto_commit)
    if not deployment.application.commit.is_by_client and deployment.application.processing is Processing.HANDED_OFF:
        until = until + Duration.of(times.processing_time)
    return until


def _connects_again(deployment: Deployment) -> Duration:
    """Return the time in which a consumer that noticed a broker's end finds the new broker and connects to it."""
    times = deployment.durations
    until = Duration.of(times.network, 2 * deployment.consumer.connects + REQUESTS_TO_FIND)
    for pause in (times.consumer_connection, times.consumer_reconnect, times.consumer_backoff):
        until = until + Duration.of(pause, 1 + JITTER)
    return until


def until_replaced(deployment: Deployment) -> Duration:
    """Return the time until another member gets the partition of a member that polls too late (semantics 12, C10)."""
    times = deployment.durations
    until = Duration.of(times.max_poll) + Duration.of(times.consumer_session) + Duration.of(times.rebalance_delay)
    return until + times.until_assigned if deployment.consumer.rebalancing.by_brokers else until


def until_discovered(deployment: Deployment) -> Duration:
    """Return the time until a group reads a new partition: one member discovers it, and all members rejoin."""
    return Duration.of(deployment.durations.consumer_metadata) + until_replaced(deployment)
