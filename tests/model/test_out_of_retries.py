"""Idempotent producers from 2.5 on that run out of retries: the number counts as used (semantics 3.4)."""

from __future__ import annotations

from dataclasses import replace

from proofka.model.deployment.choices import OnSendError
from proofka.model.state.pipeline import Fate
from tests.checker.asking import MOST_KINDS, example
from tests.deployments import changed
from tests.model.scripted import BOUNDS, Scenario


def lost_for_good(retries: int) -> Scenario:
    """Lose every attempt of the first record before it reaches a broker."""
    deployment = replace(example("idempotent", MOST_KINDS, 9), bounds=replace(BOUNDS, records=3, log=4))
    run = Scenario(changed(deployment, replicas=2, retries=retries, on_send_error=OnSendError.DROP))
    for batch in (0, 1, 2):
        run.do("send", batch=batch)
    for _ in range(retries + 1):
        run.do("transmit", batch=0, leader=1).do("lose_request", batch=0).do("notice", broker=1)
    assert run.fate(0) is Fate.FAILED
    return run


def test_no_record_is_in_doubt_and_later_records_are_out_of_order_until_their_retries_end() -> None:
    run = lost_for_good(retries=1)
    producer = run.pipeline.producer
    assert not run.value(producer.unresolved)
    run.do("transmit", batch=1, leader=1).do("reject_out_of_order", batch=1, leader=1)
    assert (run.fate(1), run.value(producer.epoch)) == (Fate.BUFFERED, 0)
    run.do("transmit", batch=1, leader=1).do("reject_out_of_order", batch=1, leader=1)
    assert (run.fate(1), run.value(producer.epoch)) == (Fate.FAILED, 1)
    assert run.value(producer.next_sequence) == 0
    assert run.do("transmit", batch=2, leader=1).do("append", batch=2, leader=1).log(1) == [2]


def test_batches_in_flight_are_renumbered_without_a_batch_that_is_out_of_retries() -> None:
    run = lost_for_good(retries=1)
    run.do("transmit", batch=1, leader=1).do("transmit", batch=2, leader=1)
    run.do("reject_out_of_order", batch=1, leader=1).do("transmit", batch=1, leader=1)
    run.do("reject_out_of_order", batch=2, leader=1).do("reject_out_of_order", batch=1, leader=1)
    assert run.value(run.pipeline.producer.next_sequence) == 1
    assert run.do("transmit", batch=2, leader=1).do("append", batch=2, leader=1).log(1) == [2]
