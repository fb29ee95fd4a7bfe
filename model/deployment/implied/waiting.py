"""The longest time for which records wait to be read by clients and by brokers.

Times without a limit, such as polls without max.poll.interval.ms, do not count unless the user requests it.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isfinite

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.commits import commits_may_be_missed
from proofka.model.deployment.implied.outages import outages_of_consumer, replacements_of_consumer
from proofka.model.deployment.implied.polling import until_committed, until_discovered, until_next_poll, until_replaced
from proofka.model.deployment.implied.processing import retries_processing
from proofka.model.durations import JITTER, STOPS_WITHIN, Quantity, longest
from proofka.model.faults import BREAKS_CONNECTIONS, Fault


def gets_too_old(deployment: Deployment, kept: Quantity) -> bool:
    """Tell whether records that are kept for ``kept`` can be deleted before they are read, counting waits with a limit
    only."""
    # Waits without a limit are assumed to be in time; a pass states this.
    waits = (*_for_clients(deployment), sum(_for_brokers(deployment)))
    return _is_over_after(sum(filter(isfinite, waits)), kept, _limited(_sending(deployment)))


def clients_may_miss(deployment: Deployment, kept: Quantity) -> bool:
    """Tell the same, but count the limited parts of brokers' outages even if another part has no limit."""
    waits = (*_for_clients(deployment), *_for_brokers(deployment))
    return _is_over_after(sum(filter(isfinite, waits)), kept, _limited(_sending(deployment)))


def may_get_too_old(deployment: Deployment, kept: Quantity) -> bool:
    """Tell the same with more outages than the budget counts, and with waits without a limit."""
    waited = sum((*_for_clients(deployment), *_for_brokers(deployment)))
    if kept.most is None:
        return False
    return bool(deployment.faults.any_number) or _is_over_after(waited, kept, _sending(deployment))


def outlasts_brokers(deployment: Deployment, kept: Quantity) -> bool:
    """Tell whether a broker can lack records until their time ``kept`` is over."""
    return deployment.cluster.replicas > 1 and _is_over_after(sum(_for_brokers(deployment)), kept, _sending(deployment))


def retries_outlast(deployment: Deployment, kept: Quantity) -> bool:
    """Tell whether a record can be retried, or its request be late, after the time ``kept`` is over.

    A delivery without a limit is assumed to end before that.
    """
    times = deployment.durations
    until = (times.delivery_timeout.most, times.network.most, times.late_request.most)
    takes = sum(most for most in until if most is not None) if until[0] is not None else 0
    return bool(deployment.faults.possible) and takes >= longest(kept)


def _sending(deployment: Deployment) -> float:
    return longest(deployment.durations.delivery_timeout)


def _limited(time: float) -> float:
    """Return the time, or 0 for no limit: a delivery without delivery.timeout.ms is assumed to be in time."""
    return time if isfinite(time) else 0


def _is_over_after(waited: float, kept: Quantity, sending: float) -> bool:
    """Tell whether waiting this long (ms) brings a record near its end; its age counts from send() (semantics 10)."""
    return kept.most is not None and 2 * waited >= kept.least - sending


def _for_clients(deployment: Deployment) -> Iterator[float]:
    yield _for_consumer(deployment)
    yield _for_workers(deployment)
    yield _for_commits(deployment)


def _for_consumer(deployment: Deployment) -> float:
    outages, replaced = outages_of_consumer(deployment), replacements_of_consumer(deployment)
    crashes = outages - replaced
    away = crashes * longest(deployment.durations.application_restart) if crashes else 0
    if deployment.application.group == "unaware":
        away += until_discovered(deployment).at_most() or inf
    if replaced:
        away += replaced * (until_replaced(deployment).at_most() or inf)
    polls = (until_next_poll(deployment) * (deployment.bounds.log + 1)).at_most()
    return away + (outages + 1) * (inf if polls is None else polls)


def _for_commits(deployment: Deployment) -> float:
    """Return the time for records that a restarted consumer reads again because they were returned but not
    committed."""
    if not commits_may_be_missed(deployment):
        return 0
    most = until_committed(deployment).at_most()
    return outages_of_consumer(deployment) * (inf if most is None else most)


def _for_workers(deployment: Deployment) -> float:
    """Return the time for records that a group reads again after a crash because workers commit; endless retries give
    inf."""
    if retries_processing(deployment):
        return inf
    crashes = deployment.faults.limit_of(Fault.CONSUMER_CRASH) + replacements_of_consumer(deployment)
    by_workers = deployment.application.processing == "handed-off" and deployment.application.commit.follows_processing
    return crashes * longest(deployment.durations.processing_time) if by_workers and crashes else 0


def _for_brokers(deployment: Deployment) -> Iterator[float]:
    """Yield, for each kind of outage, the duration of all outages and the time until their beginning and end are
    noticed."""
    times = deployment.durations
    most = {Fault.CUT_OFF: times.cut_off, Fault.SLOW_FOLLOWER: times.slowness}
    most |= dict.fromkeys(BREAKS_CONNECTIONS, times.broker_restart)
    # Clients can wait this long before they try an unreachable broker again.
    reached = (1 + float(JITTER)) * max(longest(times.consumer_reconnect), longest(times.metadata))
    found = longest(times.broker_session) * 2 + longest(times.election) + reached
    for kind, away in most.items():
        if count := deployment.faults.limit_of(kind):
            yield count * longest(away)
            yield count * longest(STOPS_WITHIN) if kind is Fault.SHUTDOWN else 0
            yield count * found
