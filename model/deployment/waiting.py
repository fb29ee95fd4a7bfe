"""How long what is to be read may have to wait: for clients, and for brokers.

What may take any time, as polls do without max.poll.interval.ms, is not counted unless somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isfinite
from typing import TYPE_CHECKING

from model.deployment.polling import until_committed, until_discovered, until_next_poll, until_replaced
from model.durations import JITTER, STOPS_WITHIN, Quantity, longest
from model.faults import BREAKS_CONNECTIONS, Fault

if TYPE_CHECKING:
    from model.deployment.deployment import Deployment


def gets_too_old(deployment: Deployment, kept: Quantity) -> bool:
    """Whether what is kept for so long may be gone before it is read, as far as waiting has an end."""
    # What may take any time is taken to be in time: a pass then says so.
    waits = (*_for_clients(deployment), sum(_for_brokers(deployment)))
    return _is_over_after(sum(filter(isfinite, waits)), kept, _limited(_sending(deployment)))


def clients_may_miss(deployment: Deployment, kept: Quantity) -> bool:
    """The same where outages of brokers without an end are looked at by themselves, but for noticing them."""
    waits = (*_for_clients(deployment), *_for_brokers(deployment))
    return _is_over_after(sum(filter(isfinite, waits)), kept, _limited(_sending(deployment)))


def may_get_too_old(deployment: Deployment, kept: Quantity) -> bool:
    """The same, with more outages than are counted, and where nothing limits how long something takes."""
    waited = sum((*_for_clients(deployment), *_for_brokers(deployment)))
    if kept.most is None:
        return False
    return bool(deployment.faults.any_number) or _is_over_after(waited, kept, _sending(deployment))


def outlasts_brokers(deployment: Deployment, kept: Quantity) -> bool:
    """Whether a broker may be without what is kept for so long until it is gone."""
    return deployment.replicas > 1 and _is_over_after(sum(_for_brokers(deployment)), kept, _sending(deployment))


def retries_outlast(deployment: Deployment, kept: Quantity) -> bool:
    """Whether a record may be retried, or a request of it late, once what is kept for so long is gone.

    A delivery without an end is taken to be over before that.
    """
    times = deployment.durations
    until = (times.delivery_timeout.most, times.network.most, times.late_request.most)
    takes = sum(most for most in until if most is not None) if until[0] is not None else 0
    return bool(deployment.possible_faults) and takes >= longest(kept)


def _sending(deployment: Deployment) -> float:
    return longest(deployment.durations.delivery_timeout)


def _limited(time: float) -> float:
    """What may take any time, as a delivery does without delivery.timeout.ms, is taken to be in time."""
    return time if isfinite(time) else 0


def _is_over_after(waited: float, kept: Quantity, sending: float) -> bool:
    """Whether waiting so long (ms) brings a record near its end; its age counts from send() (semantics 10)."""
    return kept.most is not None and 2 * waited >= kept.least - sending


def _for_clients(deployment: Deployment) -> Iterator[float]:
    yield _for_consumer(deployment)
    yield _for_workers(deployment)
    yield _for_commits(deployment)


def _for_consumer(deployment: Deployment) -> float:
    outages, replaced = deployment.outages_of_consumer, deployment.replacements_of_consumer
    crashes = outages - replaced
    away = crashes * longest(deployment.durations.application_restart) if crashes else 0
    if deployment.group == "unaware":
        away += until_discovered(deployment).at_most() or inf
    if replaced:
        away += replaced * (until_replaced(deployment).at_most() or inf)
    polls = (until_next_poll(deployment) * (deployment.bounds.log + 1)).at_most()
    return away + (outages + 1) * (inf if polls is None else polls)


def _for_commits(deployment: Deployment) -> float:
    """A consumer that restarts reads again what was returned to it and not committed yet."""
    if not deployment.commits_may_be_missed:
        return 0
    most = until_committed(deployment).at_most()
    return deployment.outages_of_consumer * (inf if most is None else most)


def _for_workers(deployment: Deployment) -> float:
    """A crash makes the group read again what a worker has not finished, if that commits it; retries never end."""
    if deployment.retries_processing:
        return inf
    crashes = deployment.at_most(Fault.CONSUMER_CRASH) + deployment.replacements_of_consumer
    by_workers = deployment.processing == "handed-off" and deployment.commit.follows_processing
    return crashes * longest(deployment.durations.processing_time) if by_workers and crashes else 0


def _for_brokers(deployment: Deployment) -> Iterator[float]:
    """For each kind of outage how long all of them take, and how long until it is known that they began and ended."""
    times = deployment.durations
    most = {Fault.CUT_OFF: times.cut_off, Fault.SLOW_FOLLOWER: times.slowness}
    most |= dict.fromkeys(BREAKS_CONNECTIONS, times.broker_restart)
    # How long clients may wait before they try a broker again that they could not reach.
    reached = (1 + float(JITTER)) * max(longest(times.consumer_reconnect), longest(times.metadata))
    found = longest(times.broker_session) * 2 + longest(times.election) + reached
    for kind, away in most.items():
        if count := deployment.at_most(kind):
            yield count * longest(away)
            yield count * longest(STOPS_WITHIN) if kind is Fault.SHUTDOWN else 0
            yield count * found
