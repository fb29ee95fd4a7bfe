"""Commits of the consumer that can fail, be missed, expire or be lost (semantics 11.4, 12)."""

from __future__ import annotations

from math import inf

from proofka.model.deployment.choices import Commit, Sink
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.outages import outages_of_consumer
from proofka.model.durations import longest
from proofka.model.faults import Fault


def loses_commits(deployment: Deployment) -> bool:
    """Tell whether a commit of the consumer can fail without a retry (semantics 12, C3 C7)."""
    commit = deployment.application.commit
    return commit is Commit.ASYNC or (commit is Commit.AUTO and deployment.consumer.rebalancing.sent_once)


def commits_may_be_missed(deployment: Deployment) -> bool:
    """Tell whether the consumer can end before the records of a poll are committed."""
    application = deployment.application
    later = not application.commits_at_once and application.commit is not Commit.NEVER
    return outages_of_consumer(deployment) > 0 and later


def brokers_keep_offsets(deployment: Deployment) -> bool:
    """Tell whether a starting consumer asks the brokers for its offset: neither the sink nor nobody keeps the
    offset."""
    application = deployment.application
    asks = application.sink is not Sink.TRANSACTIONAL and application.commit is not Commit.NEVER
    return outages_of_consumer(deployment) > 0 and asks


def offsets_of_transactions_overlap(deployment: Deployment) -> bool:
    """Tell whether a transaction's offsets can still be pending when the next transaction's come (to 3.9.0; semantics
    11.3)."""
    return deployment.cluster.offsets_applied_late and deployment.application.sink is Sink.KAFKA


def offsets_may_be_lost(deployment: Deployment) -> bool:
    """Tell whether the brokers can lose the group's committed offsets (semantics 11.4)."""
    return brokers_keep_offsets(deployment) and Fault.LOST_OFFSETS in deployment.faults.possible


def offsets_may_be_gone(deployment: Deployment) -> bool:
    """Tell whether a group that has committed can find no committed offset: expired, or lost."""
    return offsets_expire(deployment) or offsets_may_be_lost(deployment)


def offsets_expire(deployment: Deployment) -> bool:
    """Tell whether the committed offsets can expire before the consumer is back (semantics 12).

    Before 2.1 they age while the group runs too (KIP-211): a client that commits by itself renews them, an application
    renews them only with new records.
    """
    if not brokers_keep_offsets(deployment):
        return False
    times, commit = deployment.durations, deployment.application.commit
    away = inf if deployment.cluster.loaded_offsets_expire else longest(times.application_restart)
    if deployment.cluster.offsets_age_in_use:
        away += longest(times.auto_commit) + longest(times.max_poll) if commit.is_by_client else inf
    return away >= times.offsets_kept_at_least.at_least()
