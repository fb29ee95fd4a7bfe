"""Brokers that forget a producer or its numbers (semantics 3.5, 11.7)."""

from __future__ import annotations

from proofka.model.deployment.choices import Sends
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.deletion import (
    deletion_forgets_producer,
    retries_outlast_records,
    unknown_producer_is_refused,
)
from proofka.model.deployment.implied.expiry import records_expire_unread
from proofka.model.deployment.implied.waiting import retries_outlast
from proofka.model.faults import BREAKS_CONNECTIONS


def brokers_forget_producers(deployment: Deployment) -> bool:
    """Tell whether running brokers can forget a producer for any reason (semantics 3.5, 11.7)."""
    fenced = brokers_forget_fenced(deployment)
    return fenced or producer_ids_expire(deployment) or brokers_forget_deleted(deployment)


def brokers_forget_fenced(deployment: Deployment) -> bool:
    """Tell whether a broker can forget a producer as soon as a marker has fenced it (1.0 to 2.4.0; semantics 11.7)."""
    older = deployment.producer.older_transactions
    return older is not None and older.forgets_fenced


def brokers_forget_numbers(deployment: Deployment) -> bool:
    """Tell whether a restarted broker can have forgotten a number that is sent again: it knows only each producer's
    last number."""
    producer = deployment.producer
    older = producer.older_transactions or producer.sequencing
    if not producer.idempotence or (older is not None and older.remembers_one):
        return False
    is_alone = producer.max_in_flight == 1 and producer.sender.one_at_a_time_everywhere
    one_by_one = deployment.application.sends is Sends.SYNC or is_alone
    several = deployment.bounds.records * deployment.bounds.sends > 1 and (producer.numbers_repeat or not one_by_one)
    return several and bool(BREAKS_CONNECTIONS & deployment.faults.possible)


def producer_ids_expire(deployment: Deployment) -> bool:
    """Tell whether brokers can forget the producer while a record is retried or a request is late (semantics 3.5).

    A delivery without a limit is assumed to end before that.
    """
    producer = deployment.producer
    numbered = producer.idempotence and producer.sequencing is None and producer.transactional is None
    return numbered and retries_outlast(deployment, deployment.durations.producer_ids_kept)


def brokers_forget_deleted(deployment: Deployment) -> bool:
    """Tell whether brokers can forget the producer when they delete its records, with a possible effect (semantics
    3.5).

    Before 2.5, this has an effect before anybody has read the records, or while a record is retried. Later brokers
    accept any number of an unknown producer; then it has an effect while a record is retried, if a broker can restart
    or copy a log. If records are kept so briefly that they can go unread, a delivery without a limit outlasts them too.
    """
    if deployment.producer.transactional is not None:
        return False
    endless = deletion_forgets_producer(deployment) and deployment.durations.delivery_timeout.most is None
    matters = unknown_producer_is_refused(deployment) or endless or retries_outlast_records(deployment)
    return matters and records_expire_unread(deployment)


def sending_in_time_is_assumed(deployment: Deployment) -> bool:
    """Tell whether brokers could forget a producer that sends nothing for as long as records are kept.

    Brokers before 2.5 would then refuse the producer. Such a model does not include retention.
    """
    kept = deployment.durations.retention.most
    return unknown_producer_is_refused(deployment) and not brokers_forget_deleted(deployment) and kept is not None
