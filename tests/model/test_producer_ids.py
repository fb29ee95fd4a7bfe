"""Idempotent producers before 2.5, step by step: new producer ids, numbers that move, late answers (3.4, 3.5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from proofka.model.deployment.choices import OnSendError, ProducerId
from proofka.model.deployment.release import parse_release
from proofka.model.deployment.sequencing import Sequencing, sequencing_of
from proofka.model.state.pipeline import Fate
from tests.checker.asking import MOST_KINDS, example
from tests.deployments import changed
from tests.model.scripted import BOUNDS, Scenario

THREE = replace(BOUNDS, records=3, log=4)


def sequencing(client: str, brokers: str) -> Sequencing:
    found = sequencing_of(parse_release(client), parse_release(brokers))
    assert found is not None
    return found


def started(client: str, brokers: str, replicas: int = 2, **settings: Any) -> Scenario:
    """Return a run that sends every record; a failure of a send is permanent."""
    deployment = changed(example("idempotent", MOST_KINDS, 9), bounds=BOUNDS, replicas=replicas, min_insync_replicas=1)
    deployment = changed(deployment, sequencing=sequencing(client, brokers), on_send_error=OnSendError.DROP)
    late = parse_release(client).line >= (2, 1)
    deployment = changed(deployment, sender=replace(deployment.producer.sender, late_errors_count=late))
    run = Scenario(changed(deployment, **settings))
    for batch in run.pipeline.producer.batches:
        run.do("send", batch=batch.number)
    return run


def numbers(run: Scenario, batch: int) -> tuple[int, int]:
    """Return the producer id, counted from 0, and the sequence number that the client holds for a batch."""
    found = run.pipeline.producer.batches[batch]
    assert found.numbering is not None and found.sequence is not None
    return run.value(found.numbering.producer_id), run.value(found.sequence)


def transmitted(run: Scenario, *batches: int, leader: int = 1) -> Scenario:
    for batch in batches:
        run.do("transmit", batch=batch, leader=leader)
    return run


def test_releases_from_2_5_on_need_no_numbering_of_producer_ids() -> None:
    assert sequencing_of(parse_release("2.5"), parse_release("4.0")) is None
    run = Scenario(example("idempotent"))
    assert all(batch.numbering is None for batch in run.pipeline.producer.batches)


@pytest.mark.slow
def test_numbered_batches_keep_their_number_and_others_get_one_of_the_new_id() -> None:
    """The broker lost record 1, which it had acknowledged: record 2 is the next one due, and its send fails."""
    run = transmitted(started("2.4", "2.4", bounds=THREE), 0).do("append", batch=0, leader=1)
    run = run.replicate(2, 1).do("acknowledge", batch=0, leader=1)
    broker = run.pipeline.replica(1)
    run.state |= {broker.log.end.name: 0, broker.high_watermark.name: 0}  # as after an unclean election
    run = transmitted(run, 1).do("refuse_out_of_order", batch=1, leader=1)
    assert run.fate(1) is Fate.FAILED, "the application hears of the loss"
    assert run.value(run.pipeline.producer.epoch) == 1
    run = transmitted(run, 2)
    assert numbers(run, 2) == (1, 0)
    assert run.can("append", batch=2, leader=1)


@pytest.mark.slow
def test_a_retry_of_an_earlier_producer_id_gets_one_more_attempt() -> None:
    run = transmitted(started("2.4", "2.6", bounds=THREE), 0, 1, 2).do("lose_request", batch=0).do("notice", broker=1)
    run = transmitted(run, 0).do("lose_request", batch=0).do("give_up", batch=0)
    run = transmitted(run, 1).do("refuse_out_of_order", batch=1, leader=1)
    assert run.fate(1) is Fate.FAILED, "while a sequence is unresolved the client takes a gap for lost data"
    run = transmitted(run, 2)
    assert numbers(run, 2) == (0, 2), "it has its number of the id before"
    run = run.do("lose_request", batch=2).do("notice", broker=1)
    assert run.fate(2) is Fate.FAILED


def test_a_record_that_is_refused_for_good_leaves_those_before_it_their_numbers() -> None:
    """KAFKA-14034 came with 2.5: before, what waits for its retry is recognised."""
    run = transmitted(started("2.4", "2.4"), 0, 1).do("append", batch=0, leader=1).do("become_slow", broker=2)
    run = run.do("time_out_at_broker", batch=0, leader=1).do("refuse_for_good", batch=1, leader=1)
    run = transmitted(run, 0)
    assert run.can("recognise_duplicate", batch=0, leader=1)


def test_a_record_that_is_refused_for_good_moves_those_after_it_up() -> None:
    """The request of record 2 is out with its old number, is refused, and goes again with the new one."""
    run = transmitted(started("2.4", "2.4"), 0, 1).do("refuse_for_good", batch=0, leader=1)
    assert numbers(run, 1) == (0, 0)
    run = run.do("refuse_out_of_order", batch=1, leader=1)
    assert run.fate(1) is Fate.BUFFERED
    assert transmitted(run, 1).can("append", batch=1, leader=1)


def test_producer_of_0_11_uses_a_number_up_with_the_acknowledgement() -> None:
    run = transmitted(started("0.11", "0.11", retries=1, max_in_flight=1), 0).do("append", batch=0, leader=1)
    run = run.do("lose_response", batch=0).do("notice", broker=1)
    assert not run.can("transmit", batch=1, leader=1), "one at a time"
    run = transmitted(run, 0).do("recognise_duplicate", batch=0, leader=1).do("lose_response", batch=0)
    run = run.do("notice", broker=1)
    assert run.fate(0) is Fate.FAILED
    run = transmitted(run, 1)
    assert run.can("recognise_duplicate", batch=1, leader=1), "it has the number of record 1"
    run = run.do("recognise_duplicate", batch=1, leader=1).replicate(2, 1).do("acknowledge", batch=1, leader=1)
    assert (run.log(1), run.fate(1)) == ([0], Fate.ACKNOWLEDGED)


def test_abandoned_retry_of_0_11_ends_the_producer_id() -> None:
    run = transmitted(started("0.11", "0.11", max_in_flight=1, expires_in_accumulator=True), 0)
    run = run.do("lose_request", batch=0).do("notice", broker=1).do("give_up", batch=0)
    assert run.value(run.pipeline.producer.epoch) == 1
    assert numbers(transmitted(run, 1), 1) == (1, 0)


@pytest.mark.slow
def test_brokers_of_0_11_remember_the_last_batch_only() -> None:
    for brokers, recognised in (("0.11", False), ("1.0", True)):
        run = transmitted(started("2.4", brokers), 0, 1).do("append", batch=0, leader=1).replicate(2, 1)
        run = run.do("append", batch=1, leader=1).do("lose_response", batch=0).do("notice", broker=1)
        run = transmitted(run, 0)
        assert run.can("recognise_duplicate", batch=0, leader=1) is recognised
        assert run.can("refuse_out_of_order", batch=0, leader=1) is not recognised


def second_first(client: str, brokers: str, producer_id: ProducerId) -> Scenario:
    """Record 1 is out to a leader of before, record 2 reaches the one of now, which has nothing of the producer."""
    run = transmitted(started(client, brokers, producer_id=producer_id), 0).do("move_leader", broker=2)
    return transmitted(run.do("apply_metadata", broker=2), 1, leader=2)


@pytest.mark.slow
def test_broker_before_2_5_takes_only_number_0_of_an_unknown_producer() -> None:
    run = second_first("2.4", "2.4", ProducerId.NEW)
    assert not run.can("append", batch=1, leader=2)
    run.do("refuse_unknown", batch=1, leader=2)
    assert run.fate(1) is Fate.BUFFERED, "nothing was acknowledged yet: the client starts again at 0"
    assert (numbers(run, 0), numbers(run, 1)) == ((0, 0), (0, 1))
    assert second_first("2.4", "2.6", ProducerId.NEW).can("append", batch=1, leader=2)
    run = second_first("2.6", "2.4", ProducerId.NEW).do("reject_unknown", batch=1, leader=2)
    assert run.value(run.pipeline.producer.epoch) == 1, "a client from 2.5 on bumps its epoch"
    run = second_first("2.4", "0.11", ProducerId.NEW).do("refuse_out_of_order", batch=1, leader=2)
    assert run.fate(1) is Fate.BUFFERED, "in 0.11 it is out of order, and not the next one due"


def test_broker_reports_lost_records_of_a_known_producer() -> None:
    """The first number of the run goes on from those before it: it is not 0 (semantics 3.5)."""
    run = started("2.4", "2.4", producer_id=ProducerId.KNOWN)
    knows = run.pipeline.replica(1).knows_producer
    assert knows is not None
    run.state[knows.name] = 0  # as with an empty disk
    run = transmitted(run, 0).do("refuse_unknown", batch=0, leader=1)
    assert (run.fate(0), run.value(run.pipeline.producer.epoch)) == (Fate.FAILED, 1)


def given_up_in_flight(client: str = "2.4", **settings: Any) -> Scenario:
    """Record 1 is written, its answer lost, and its first and only attempt is given up on."""
    run = transmitted(started(client, "2.4", **settings), 0).do("append", batch=0, leader=1).replicate(2, 1)
    return run.do("lose_response", batch=0).do("give_up", batch=0)


def test_an_error_that_comes_late_frees_a_number_that_is_used() -> None:
    run = given_up_in_flight().do("hear_late_error", batch=0)
    assert run.value(run.pipeline.producer.next_sequence) == 0
    run = transmitted(run, 1).do("recognise_duplicate", batch=1, leader=1).do("acknowledge", batch=1, leader=1)
    assert (run.log(1), run.fate(1)) == ([0], Fate.ACKNOWLEDGED)


@pytest.mark.slow
def test_unanswered_request_counts_as_in_flight_until_its_late_answer() -> None:
    assert given_up_in_flight().can("transmit", batch=1, leader=1)
    run = given_up_in_flight(max_in_flight=1)
    assert not run.can("transmit", batch=1, leader=1)
    assert run.do("hear_late_error", batch=0).can("transmit", batch=1, leader=1)


def test_a_request_that_was_given_up_on_is_still_answered_in_its_turn() -> None:
    run = transmitted(started("2.4", "2.4"), 0).do("lose_request", batch=0).do("notice", broker=1)
    run = transmitted(run, 0).do("give_up", batch=0)
    assert not run.can("discard_delayed", batch=0), "its connection works"
    run = run.do("execute_delayed", batch=0, leader=1)
    assert not run.can("hear_late_success", batch=0, leader=1)
    assert not run.can("hear_late_error", batch=0), "nothing keeps the followers"
    run = run.replicate(2, 1).do("hear_late_success", batch=0, leader=1).do("resolve_with_new_id")
    assert run.value(run.pipeline.producer.epoch) == 0, "no sequence is missing"
    assert numbers(transmitted(run, 1), 1) == (0, 1)
