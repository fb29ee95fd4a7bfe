"""Records whose processing fails, buffers that are full, and clients that commit what they delivered (3.1, 4, 12)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from proofka.model.deployment.choices import Commit, Group, OnProcessingError, OnSendError, Processing, Sink
from proofka.model.deployment.explored import Bounds
from proofka.model.deployment.implied.expiry import reading_in_time_is_assumed
from proofka.model.deployment.implied.processing import retries_processing
from proofka.model.faults import Fault
from proofka.model.state.pipeline import Fate
from proofka.properties.loss import skipped
from tests.checker.asking import MOST_KINDS, example
from tests.checker.plain_evaluator import holds
from tests.deployments import changed
from tests.model.scripted import Scenario

BOUNDS = Bounds(records=2, log=2, sends=1, epochs=3, producer_epochs=2)


def scenario(name: str = "auto-commit", **settings: Any) -> Scenario:
    """Return a run with two records in the log that can be read."""
    deployment = changed(example(name, MOST_KINDS, 9), bounds=BOUNDS, replicas=1, min_insync_replicas=1)
    run = Scenario(changed(deployment, **settings))
    return run.produce(0, 1).do("acknowledge", batch=0, leader=1).produce(1, 1)


def processed(run: Scenario) -> list[int]:
    return [run.value(count) for count in run.pipeline.consumer.processed]


def position(run: Scenario) -> int:
    return run.value(run.pipeline.consumer.position)


def committed(run: Scenario) -> int:
    return run.value(run.pipeline.consumer.committed)


def test_an_application_that_ends_with_a_failure_crashes() -> None:
    run = scenario()
    assert run.model.system.action("fail_and_go_on", {"leader": 1}) is None
    assert run.model.system.action("fail_and_close", {"leader": 1, "count": 1, "done": 0}) is None


def test_a_record_that_is_skipped_is_never_processed() -> None:
    run = scenario(on_processing_error=OnProcessingError.SKIP).do("fail_and_go_on", leader=1)
    assert (position(run), processed(run)) == (1, [0, 0])
    assert processed(run.do("poll", leader=1, count=1)) == [0, 1]


def test_a_record_that_is_forwarded_counts_as_processed() -> None:
    run = scenario(on_processing_error=OnProcessingError.FORWARD).do("fail_and_go_on", leader=1)
    assert (position(run), processed(run)) == (1, [1, 0])


def test_a_sink_that_keeps_the_offset_keeps_that_of_a_skipped_record() -> None:
    run = scenario(on_processing_error=OnProcessingError.SKIP, sink=Sink.TRANSACTIONAL, commit=Commit.AFTER)
    assert committed(run.do("fail_and_go_on", leader=1)) == 1


def test_closing_commits_returned_records_processed_or_not() -> None:
    run = scenario(on_processing_error=OnProcessingError.CLOSE)
    run.do("fail_and_close", leader=1, count=2, done=1)
    assert (committed(run), processed(run)) == (2, [1, 0])
    run.do("restart_consumer", committed_all=0, finished=0)
    assert position(run) == 2


def test_closing_commits_nothing_where_the_sink_keeps_offsets() -> None:
    run = scenario(on_processing_error=OnProcessingError.CLOSE, sink=Sink.TRANSACTIONAL, commit=Commit.AFTER)
    run.do("fail_and_close", leader=1, count=2, done=1)
    assert (committed(run), processed(run)) == (1, [1, 0])


def test_close_commits_nothing_without_commits() -> None:
    run = scenario(on_processing_error=OnProcessingError.CLOSE, commit=Commit.NEVER, group=Group.NEW)
    run.do("fail_and_close", leader=1, count=2, done=1)
    assert (committed(run), processed(run)) == (-1, [1, 0])


@pytest.mark.parametrize("commit", [Commit.AUTO, Commit.AFTER])
def test_a_worker_that_fails_closes_the_consumer_with_the_records_of_other_workers(commit: Commit) -> None:
    run = scenario(on_processing_error=OnProcessingError.CLOSE, processing=Processing.HANDED_OFF, commit=commit)
    assert not run.can("fail_and_close"), "no worker has anything"
    run.do("hand_off", leader=1).do("hand_off", leader=1).do("fail_and_close")
    assert committed(run) == 2
    run.do("restart_consumer", committed_all=0, finished=1)
    assert (position(run), processed(run)) == (2, [1, 0])
    assert holds(skipped(run.pipeline, 1), run.state)


@pytest.mark.parametrize(("commit", "may"), [(Commit.AUTO, False), (Commit.DELIVERED, True)])
def test_client_can_commit_delivered_records_before_processing(commit: Commit, may: bool) -> None:
    """Java commits what earlier polls returned; other clients commit what they handed over (semantics 4, 12)."""
    run = scenario(commit=commit).do("crash_while_processing", leader=1, count=1, done=0)
    assert processed(run) == [0, 0]
    assert run.can("restart_consumer", committed_all=1, finished=0) is may
    assert run.can("restart_consumer", committed_all=0, finished=0)


def test_a_full_buffer_fails_a_send_that_is_never_transmitted() -> None:
    deployment = changed(example("acks-1", (Fault.FULL_BUFFER,), 1), bounds=BOUNDS, replicas=1, min_insync_replicas=1)
    run = Scenario(changed(deployment, on_send_error=OnSendError.DROP)).do("refuse_send", batch=0)
    assert run.fate(0) is Fate.FAILED
    assert not run.can("transmit", batch=0, leader=1)
    assert run.can("send", batch=1)


def test_a_full_buffer_happens_only_where_it_is_named() -> None:
    run = Scenario(replace(example("acks-1", (Fault.KILL,), 1), bounds=BOUNDS))
    assert run.model.system.action("refuse_send", {"batch": 0}) is None


def refusals(name: str = "acks-all-min-isr-2", **settings: Any) -> Scenario:
    deployment = changed(example(name, MOST_KINDS, 9), bounds=BOUNDS, replicas=1, min_insync_replicas=1)
    return Scenario(changed(deployment, on_send_error=OnSendError.DROP, **settings)).do("send", batch=0)


def sent(run: Scenario, batch: int) -> tuple[int, int]:
    """Return the sequence numbers in a request on its way."""
    numbers = run.pipeline.producer.batches[batch]
    assert numbers.sent_epoch is not None and numbers.sent_sequence is not None
    return run.value(numbers.sent_epoch), run.value(numbers.sent_sequence)


def test_a_record_that_is_refused_for_good_fails_and_the_next_one_goes_on() -> None:
    run = refusals("acks-1").do("transmit", batch=0, leader=1).do("refuse_for_good", batch=0, leader=1)
    assert run.fate(0) is Fate.FAILED
    run = run.do("send", batch=1).do("transmit", batch=1, leader=1)
    assert run.can("append", batch=1, leader=1)


def test_a_producer_with_acks_0_learns_of_no_refusal() -> None:
    run = refusals("acks-0")
    assert run.model.system.action("refuse_for_good", {"batch": 0, "leader": 1}) is None


def test_a_refusal_does_not_overtake_the_answer_to_the_request_before() -> None:
    run = refusals().do("send", batch=1)
    run = run.do("transmit", batch=0, leader=1).do("transmit", batch=1, leader=1).do("append", batch=0, leader=1)
    assert not run.can("refuse_for_good", batch=1, leader=1)
    assert run.do("acknowledge", batch=0, leader=1).can("refuse_for_good", batch=1, leader=1)


def test_after_a_refusal_a_record_that_waits_for_its_retry_is_new_to_the_broker() -> None:
    """KAFKA-14034: the epoch is bumped, and what was appended already is renumbered (semantics 3.4)."""
    run = refusals(replicas=2).do("send", batch=1)
    run = run.do("transmit", batch=0, leader=1).do("transmit", batch=1, leader=1).do("append", batch=0, leader=1)
    run = run.do("become_slow", broker=2).do("time_out_at_broker", batch=0, leader=1)
    run = run.do("refuse_for_good", batch=1, leader=1).do("transmit", batch=0, leader=1)
    assert run.can("append", batch=0, leader=1)
    assert not run.can("recognise_duplicate", batch=0, leader=1)


def test_a_request_on_its_way_keeps_the_numbers_that_it_was_sent_with() -> None:
    """The request follows the refused record and so is out of order; its retry has the new numbers (3.4)."""
    bounds = replace(BOUNDS, records=3, log=3)
    run = refusals(bounds=bounds).do("send", batch=1).do("send", batch=2)
    run = run.do("transmit", batch=0, leader=1).do("append", batch=0, leader=1).do("acknowledge", batch=0, leader=1)
    run = run.do("transmit", batch=1, leader=1).do("transmit", batch=2, leader=1)
    run = run.do("refuse_for_good", batch=1, leader=1)
    assert sent(run, 2) == (0, 2)
    run = run.do("reject_out_of_order", batch=2, leader=1)
    assert run.value(run.pipeline.producer.epoch) == 1, "a batch with new numbers is retried without another bump"
    run = run.do("transmit", batch=2, leader=1)
    assert sent(run, 2) == (1, 0)
    assert run.can("append", batch=2, leader=1)


def test_an_application_that_tries_again_stays_where_it_is() -> None:
    """Failing takes time and nothing else: nothing is skipped, and nothing committed (12.1)."""
    run = scenario(on_processing_error=OnProcessingError.RETRY)
    for name in ("fail_and_go_on", "fail_and_close"):
        assert all(action.name != name for action in run.model.system.actions)
    assert retries_processing(run.model.pipeline.deployment)
    run = scenario(on_processing_error=OnProcessingError.RETRY, commit=Commit.AFTER)
    assert run.can("poll", leader=1, count=1)


def test_retries_may_take_longer_than_records_are_kept() -> None:
    asked = changed(example("auto-commit", (Fault.FAILED_PROCESSING,), 1), on_processing_error=OnProcessingError.RETRY)
    assert reading_in_time_is_assumed(asked)
    assert not reading_in_time_is_assumed(changed(asked, on_processing_error=OnProcessingError.SKIP))
