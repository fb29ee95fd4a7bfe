"""Brokers forget an idempotent producer, while a record of it is retried (semantics 3.5; KIP-854).

``ProducerStateManager.isProducerExpired`` asks for the timestamp of the last batch, whoever retries that one.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from proofka.model.deployment import Deployment
from proofka.model.deployment.implied.forgetting import producer_ids_expire
from proofka.model.state.kept_numbers import FORGOTTEN
from proofka.properties.verdict import Status
from tests.checker.records import decide, recorded
from tests.model.scripted import Scenario

DAY = 86_400_000
PIPELINE = {
    "kafka": "4.0",
    "topic.replicas": 2,
    "topic.min.insync.replicas": 2,
    "topic.retention.ms": -1,
    "consumer.group.id": "orders",
    "consumer.enable.auto.commit": False,
    "bounds.records": 1,
    "bounds.log": 2,
    "bounds.epochs": 3,
}
FOREVER = {"producer.delivery.timeout.ms": 2**31 - 1}
KILL, LATE = {"kill": 1}, {"delayed-request": 1}


def deployment(faults: Mapping[str, int], *more: Mapping[str, object]) -> Deployment:
    return recorded("no-log-duplicate", faults, PIPELINE, *more)


@pytest.mark.parametrize(
    ("more", "status"),
    [
        # While a broker is away for more than a day nothing is written, and the other one forgets the producer.
        (FOREVER, Status.VIOLATED),
        pytest.param({**FOREVER, "assume.broker_restart": "1s..12h"}, Status.HOLDS, marks=pytest.mark.slow),
        pytest.param({}, Status.HOLDS, marks=pytest.mark.slow),
    ],
)
def test_a_record_is_stored_again_where_a_broker_may_be_away_for_so_long(
    more: dict[str, object], status: Status
) -> None:
    assert decide("no-log-duplicate", KILL, PIPELINE, more).status is status


@pytest.mark.parametrize(
    ("more", "expires"),
    [
        ({}, False),
        (FOREVER, True),
        ({**FOREVER, "broker.producer.id.expiration.ms": 2**31 - 1}, True),
        # A request may be late for ten minutes more, and on its way for 100 ms.
        ({"producer.delivery.timeout.ms": DAY - 600_101}, False),
        ({"producer.delivery.timeout.ms": DAY - 600_100}, True),
        # Before 3.4 it is the setting of transactions, by default a week.
        ({"kafka": "3.3", "producer.delivery.timeout.ms": 2 * DAY}, False),
        ({"kafka": "3.3", "producer.delivery.timeout.ms": 8 * DAY}, True),
        ({**FOREVER, "producer.enable.idempotence": False}, False),
        ({**FOREVER, "producer.transactional.id": "t"}, False),
        ({"producer.client": "franz-go"}, False),
    ],
)
def test_deployments_whose_producer_ids_expire(more: dict[str, object], expires: bool) -> None:
    assert producer_ids_expire(deployment(KILL, more)) is expires


def test_nothing_is_forgotten_where_no_fault_is_possible() -> None:
    assert not producer_ids_expire(deployment({"kill": 0}, FOREVER))


def run() -> Scenario:
    """Return a run in which both logs have the record, and a retry of the record is due."""
    one = Scenario(deployment({"lost-response": 1}, FOREVER, {"topic.min.insync.replicas": 1}))
    one = one.produce(0, 1).replicate(2, 1)
    return one.do("lose_response", batch=0).do("notice", broker=1).do("transmit", batch=0, leader=1)


def test_a_broker_that_has_forgotten_the_producer_takes_any_number_of_it() -> None:
    one = run()
    assert one.can("recognise_duplicate", batch=0, leader=1) and not one.can("append", batch=0, leader=1)
    one = one.do("forget_producer", broker=1, batch=0)
    assert one.can("append", batch=0, leader=1) and not one.can("recognise_duplicate", batch=0, leader=1)


def test_each_broker_forgets_by_itself_and_knows_a_producer_again_after_a_write() -> None:
    one = run().do("forget_producer", broker=1, batch=0).do("append", batch=0, leader=1)
    first, second = one.pipeline.replica(1).log.slots
    assert [one.value(slot[FORGOTTEN]) for slot in (first, second)] == [1, 0]
    assert one.value(one.pipeline.replica(2).log.slots[0][FORGOTTEN]) == 0
    assert one.can("forget_producer", broker=1, batch=0) and one.can("forget_producer", broker=2, batch=0)


def test_broker_forgets_earlier_batches_with_the_producer() -> None:
    knows = run().pipeline.replica(1).knows_producer
    one = run().do("forget_producer", broker=1, batch=0)
    assert knows is not None and one.value(knows) == 0
