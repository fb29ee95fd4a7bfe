"""Outages of applications and brokers that the assumed faults can cause."""

from __future__ import annotations

from proofka.model.deployment.choices import OnProcessingError
from proofka.model.deployment.deployment import Deployment
from proofka.model.durations import longest
from proofka.model.faults import BREAKS_CONNECTIONS, ENDS_PRODUCER, REPLACES_MEMBER, Fault


def modelled_brokers(deployment: Deployment) -> int:
    """Return the number of modelled brokers: those with a replica, and one to which a replica can be moved."""
    return deployment.cluster.replicas + int(Fault.REASSIGNMENT in deployment.faults.possible)


def ends_of_producer(deployment: Deployment) -> int:
    """Return the number of times that the producer application can end and restart, whatever the total of faults."""
    return sum(dict(deployment.faults.at_most).get(kind, 0) for kind in ENDS_PRODUCER)


def outages_of_consumer(deployment: Deployment) -> int:
    """Return the number of times that the consumer's process can end."""
    closes = deployment.application.on_processing_error is OnProcessingError.CLOSE
    closed = deployment.faults.limit_of(Fault.FAILED_PROCESSING) if closes else 0
    return deployment.faults.limit_of(Fault.CONSUMER_CRASH) + replacements_of_consumer(deployment) + closed


def replacements_of_consumer(deployment: Deployment) -> int:
    """Return the number of times that the group can assign the partition to another member while the previous member
    keeps running."""
    return sum(deployment.faults.limit_of(kind) for kind in REPLACES_MEMBER)


def brokers_may_be_away(deployment: Deployment) -> bool:
    """Tell whether a broker can be unreachable for clients and other brokers, or unaware of decisions."""
    return bool(deployment.faults.possible & (BREAKS_CONNECTIONS | {Fault.CUT_OFF}))


def may_return_unfenced(deployment: Deployment) -> bool:
    """Tell whether a broker that died can register before the controller fences it, and keep its seat in the ISR (3.3
    to 3.9, 6.4)."""
    return deployment.cluster.restart_before_fenced and Fault.CONTROLLER_STALL in deployment.faults.possible


def brokers_start_early(deployment: Deployment) -> bool:
    """Tell whether it matters that a broker fetches before it is registered (3.5 and later, KRaft mode; 6.4).

    That matters only where a leader can drop a dead broker from the ISR before the controller fences the broker: the
    broker can join the ISR before it is registered then, and the fencing takes it out once more (choice 9).
    """
    cluster, times = deployment.cluster, deployment.durations
    fetches_unregistered = not cluster.zookeeper and not cluster.old_fetches_count
    dies = bool(deployment.faults.possible & {Fault.KILL, Fault.POWER_LOSS, Fault.DISK_LOSS})
    until_fenced = times.until_fenced(modelled_brokers(deployment)).at_most()
    dropped_before = until_fenced is None or until_fenced >= times.lags_at_least().at_least()
    return fetches_unregistered and dies and cluster.replicas > 1 and dropped_before


def leader_may_return_unnoticed(deployment: Deployment) -> bool:
    """Tell whether a send can wait until its end for a leader that dies and continues in the same epoch (3.3 to 3.9,
    6.4)."""
    times = deployment.durations
    noticed = 2 * longest(times.broker_session) + longest(times.election) + longest(times.network)
    breaks = bool(BREAKS_CONNECTIONS & deployment.faults.possible)
    return may_return_unfenced(deployment) and breaks and times.delivery_timeout.least <= noticed


def answers_may_be_late(deployment: Deployment) -> bool:
    """Tell whether a leader's answer to a follower can come from another log than the leader's present one (semantics
    6.1)."""
    return deployment.cluster.copies_newer_epochs and Fault.LATE_ANSWER in deployment.faults.possible


def fetches_may_mix(deployment: Deployment) -> bool:
    """Tell whether a leader can propose a replica with the offset of a fetch before the replica's restart (3.5 and 3.6,
    6.2)."""
    possible = deployment.faults.possible
    return deployment.cluster.mixes_fetches and Fault.MIXED_FETCHES in possible and bool(BREAKS_CONNECTIONS & possible)


def leader_may_miss_epoch(deployment: Deployment) -> bool:
    """Tell whether a running leader can lose its leadership and have it again without hearing of the time in between
    (semantics 6.5).

    That takes one fault to lose the leadership, and another for the election that gives it back.
    """
    several = deployment.faults.total is None or deployment.faults.total > 1
    return several and bool(deployment.faults.possible & {Fault.LEADER_MOVE, Fault.CUT_OFF})
