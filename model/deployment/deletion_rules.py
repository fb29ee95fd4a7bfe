"""Refusals where brokers can delete records or tombstones before a client has read them, or while a producer needs
them."""

from __future__ import annotations

from proofka.model.deployment.choices import OffsetReset, ProducerId
from proofka.model.deployment.consumer_rules import ConsumerValues
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.given import Settings, not_modelled
from proofka.model.deployment.implied.cleaning import drops_tombstones
from proofka.model.deployment.implied.expiry import records_expire_unread
from proofka.model.deployment.implied.forgetting import brokers_forget_deleted
from proofka.model.deployment.producer_rules import IDEMPOTENCE
from proofka.model.deployment.release import IDEMPOTENT, Release
from proofka.model.deployment.section import Section


def check_out_of_range(deployment: Deployment, reading: ConsumerValues, consumer: Section) -> None:
    """Raise NotModelledError for a consumer that continues elsewhere than its reset policy says."""
    if reading.waits_beyond_end and records_expire_unread(deployment):
        _check_goes_to_start(deployment, consumer)
    if reading.goes_to_nearest:
        _check_nearest(deployment, consumer)


def _check_nearest(deployment: Deployment, section: Section) -> None:
    """Raise NotModelledError if a consumer can continue with the next record in time although its reset policy says
    otherwise."""
    if not deployment.consumer.checks_epochs:
        what = f"{section.library} with brokers or records without leader epochs, by which it checks its position"
        raise section.not_modelled("client", "N53", what)
    if records_expire_unread(deployment):
        _check_goes_to_start(deployment, section)


def _check_goes_to_start(deployment: Deployment, section: Section) -> None:
    """Raise NotModelledError if the first remaining record is not the one at which the reset policy starts."""
    if deployment.consumer.offset_reset is not OffsetReset.EARLIEST:
        what = (
            f"{section.library} where records can be deleted unread, unless the consumer resets to the earliest offset"
        )
        raise section.not_modelled("client", "N54", what)


def check_memory(deployment: Deployment, application: Settings) -> None:
    """Raise NotModelledError for results in memory that a rebuild from the log would not bring back."""
    if deployment.application.sink.is_memory and drops_tombstones(deployment):
        what = (
            "a sink in memory where tombstones can be dropped unread (keys=deleted); set a longer delete.retention.ms"
        )
        raise not_modelled(application["sink"], "N68", what)


def check_transactions(deployment: Deployment, producer: Section) -> None:
    """Raise NotModelledError for transactions whose records can be deleted unread.

    The age of a record counts from send() (semantics 10), so a record can be too old as soon as it is written.
    """
    if deployment.producer.transactional is None or not records_expire_unread(deployment):
        return
    kept, delivery = deployment.durations.retention, deployment.durations.delivery_timeout
    what = "transactions where records can be deleted unread; keep records for longer (retention.ms)"
    if delivery.most is not None and delivery.most >= kept.least:
        what = (
            f"transactions where records can be deleted unread: the producer can retry a record for {delivery.most} ms "
            f"(delivery.timeout.ms), and the topic keeps it for {kept.least} ms from send() on (retention.ms); "
            f"set a shorter delivery.timeout.ms of the producer, or retention.ms=-1 of the topic"
        )
    raise producer.not_modelled("transactional.id", "N34", what)


def check_known_producer(deployment: Deployment, producer: Section, kafka: Release) -> None:
    """Raise NotModelledError for brokers before 2.5 that can delete all records of a producer that they know.

    The model would have to distinguish sequence numbers of now from those with which a client before 2.5 starts again.
    """
    refuses_unknown = brokers_forget_deleted(deployment) and kafka.line < IDEMPOTENT
    if refuses_unknown and deployment.application.producer_id is ProducerId.KNOWN:
        what = "producer_id=known with brokers before 2.5 that can delete all records of the producer; "
        what += "set producer_id=new, or keep records for longer (retention.ms)"
        raise producer.not_modelled(IDEMPOTENCE, "N15", what)
