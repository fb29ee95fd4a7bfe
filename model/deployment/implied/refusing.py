"""Refusals by brokers that have not heard of their election, and the records that are stored behind them."""

from __future__ import annotations

from model.deployment.choices import ProducerId
from model.deployment.deployment import Deployment


def skips_refused(deployment: Deployment) -> bool:
    """Tell whether a new leader can refuse a record and store the next one with a gap before its number (3.5).

    The producer is idempotent and has several requests in flight. The new leader knows no number of the producer, or
    not all of them. That takes a producer id that is new to the partition, or another fault besides the election.
    """
    producer, total = deployment.producer, deployment.faults.total
    may_lack_numbers = deployment.application.producer_id is ProducerId.NEW or total is None or total > 1
    several = producer.max_in_flight > 1 and deployment.bounds.records * deployment.bounds.sends > 1
    return producer.idempotence and several and may_lack_numbers
