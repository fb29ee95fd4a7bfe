"""Records whose processing fails, buffers that are full, and clients that commit what they delivered (3.1, 4, 12)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from model.deployment.deployment import Bounds, Commit, OnProcessingError, OnSendError, Processing, Sink
from model.faults import Fault
from model.state import Fate
from tests.checker.asking import example
from tests.model.scripted import Scenario

BOUNDS = Bounds(records=2, log=2, sends=1, epochs=3, producer_epochs=2)


def scenario(name: str = "auto-commit", **settings: Any) -> Scenario:
    """Two records are in the log, and can be read."""
    deployment = replace(example(name, tuple(Fault), 9), bounds=BOUNDS, replicas=1, min_insync_replicas=1)
    run = Scenario(replace(deployment, **settings))
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


def test_closing_commits_what_was_returned_processed_or_not() -> None:
    run = scenario(on_processing_error=OnProcessingError.CLOSE)
    run.do("fail_and_close", leader=1, count=2, done=1)
    assert (committed(run), processed(run)) == (2, [1, 0])
    run.do("restart_consumer", committed_all=0, finished=0)
    assert position(run) == 2


def test_closing_commits_nothing_where_the_sink_keeps_offsets() -> None:
    run = scenario(on_processing_error=OnProcessingError.CLOSE, sink=Sink.TRANSACTIONAL, commit=Commit.AFTER)
    run.do("fail_and_close", leader=1, count=2, done=1)
    assert (committed(run), processed(run)) == (1, [1, 0])


def test_a_worker_that_fails_closes_nothing() -> None:
    run = scenario(on_processing_error=OnProcessingError.CLOSE, processing=Processing.HANDED_OFF)
    assert run.model.system.action("fail_and_close", {"leader": 1, "count": 1, "done": 0}) is None


@pytest.mark.parametrize(("commit", "may"), [(Commit.AUTO, False), (Commit.DELIVERED, True)])
def test_what_was_delivered_may_be_committed_before_it_is_processed(commit: Commit, may: bool) -> None:
    """Java commits what earlier polls returned; other clients commit what they handed over (semantics 4, 12)."""
    run = scenario(commit=commit).do("crash_while_processing", leader=1, count=1, done=0)
    assert processed(run) == [0, 0]
    assert run.can("restart_consumer", committed_all=1, finished=0) is may
    assert run.can("restart_consumer", committed_all=0, finished=0)


def test_a_full_buffer_fails_a_send_that_is_never_transmitted() -> None:
    deployment = replace(example("acks-1", (Fault.FULL_BUFFER,), 1), bounds=BOUNDS, replicas=1, min_insync_replicas=1)
    run = Scenario(replace(deployment, on_send_error=OnSendError.DROP)).do("refuse_send", batch=0)
    assert run.fate(0) is Fate.FAILED
    assert not run.can("transmit", batch=0, leader=1)
    assert run.can("send", batch=1)


def test_a_full_buffer_happens_only_where_it_is_named() -> None:
    run = Scenario(replace(example("acks-1", (Fault.KILL,), 1), bounds=BOUNDS))
    assert run.model.system.action("refuse_send", {"batch": 0}) is None
