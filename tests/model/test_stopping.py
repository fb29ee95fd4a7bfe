"""The end of a producer application: close(), close(timeout), no close, and where it goes on (3.1, P9 to P12)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from proofka.model.deployment.choices import OnRestart, OnSendError, OnStop
from proofka.model.deployment.sender import OF_JAVA
from proofka.model.faults import Fault
from proofka.model.state.pipeline import Fate
from proofka.properties.situations import lost_silently, told, value
from tests.checker.asking import assuming, example
from tests.model.scripted import BOUNDS, Scenario, scenario

KINDS = (
    Fault.PRODUCER_CRASH,
    Fault.PRODUCER_STOP,
    Fault.SPLIT_BATCH,
    Fault.FULL_BUFFER,
    Fault.LOST_REQUEST,
    Fault.KILL,
)
TWICE = replace(BOUNDS, sends=2, log=3)
AGAIN = {0: 2, 1: 3}
"""By record: the batch of its second send."""


def started(name: str = "acks-1", **settings: Any) -> Scenario:
    small = {"replicas": 1, "min_insync_replicas": 1, "faults": assuming(example(name), KINDS, 9).faults}
    return scenario(name, **{**small, "bounds": TWICE, **settings})


def stopping(how: OnStop, name: str = "acks-1", **settings: Any) -> Scenario:
    return started(name, on_stop=how, **settings)


def one_sent_one_waits(run: Scenario) -> Scenario:
    return run.do("send", batch=0).do("transmit", batch=0, leader=1).do("send", batch=1)


def stop(run: Scenario, **arguments: int) -> Scenario:
    return run.do("stop_producer", **arguments)


# --- how it ends: P11 ---------------------------------------------------------------------------------------------


def test_close_waits_for_every_send() -> None:
    run = one_sent_one_waits(stopping(OnStop.CLOSE))
    assert not run.can("stop_producer")
    run.do("append", batch=0, leader=1).do("acknowledge", batch=0, leader=1)
    assert not run.can("stop_producer"), "record 2 is in the accumulator"
    run.do("transmit", batch=1, leader=1).do("append", batch=1, leader=1)
    assert not run.can("stop_producer"), "its answer is missing"
    stop(run.do("acknowledge", batch=1, leader=1))
    assert (run.fate(0), run.fate(1)) == (Fate.ACKNOWLEDGED, Fate.ACKNOWLEDGED)
    assert run.value(run.pipeline.producer.session) == 1


def test_close_does_not_wait_for_answers_with_acks_0() -> None:
    """With acks=0 a send is over when it is written (3.2)."""
    run = stopping(OnStop.CLOSE, "acks-0").do("send", batch=0)
    assert not run.can("stop_producer")
    run.do("transmit", batch=0, leader=1)
    assert stop(run).can("append", batch=0, leader=1)


def test_a_forced_close_fails_the_records_left_which_may_be_stored() -> None:
    run = stop(one_sent_one_waits(stopping(OnStop.FORCE)))
    assert (run.fate(0), run.fate(1)) == (Fate.FAILED, Fate.FAILED)
    run.do("execute_delayed", batch=0, leader=1)
    assert run.log(1) == [0]
    assert not run.can("execute_delayed", batch=1, leader=1)


def test_application_without_close_hears_of_no_failure() -> None:
    run = stop(one_sent_one_waits(stopping(OnStop.EXIT)))
    assert (run.fate(0), run.fate(1)) == (Fate.FORGOTTEN, Fate.FORGOTTEN)
    assert run.can("execute_delayed", batch=0, leader=1)


def test_application_that_knows_its_records_resends_after_a_forced_close() -> None:
    forgets, knows = (stopping(OnStop.FORCE, on_restart=one) for one in (OnRestart.FORGET, OnRestart.RESEND))
    assert not stop(one_sent_one_waits(forgets)).can("send", batch=AGAIN[0])
    assert stop(one_sent_one_waits(knows)).can("send", batch=AGAIN[0])


def test_an_application_that_ends_does_not_send_failed_records_again() -> None:
    run = stop(one_sent_one_waits(stopping(OnStop.FORCE, on_send_error=OnSendError.RESEND)))
    assert not run.can("send", batch=AGAIN[0])


def test_application_that_stopped_sending_continues_after_its_next_start() -> None:
    run = stopping(OnStop.CLOSE, on_send_error=OnSendError.HALT).do("refuse_send", batch=0)
    assert not run.can("send", batch=1)
    assert stop(run).can("send", batch=1)


def test_an_application_that_has_sent_nothing_is_not_stopped() -> None:
    run = stopping(OnStop.EXIT)
    assert not run.can("stop_producer")
    assert not stop(run.do("send", batch=0)).can("stop_producer")


# --- where it goes on: P10, P12 -----------------------------------------------------------------------------------


def reading(restart: OnRestart, **settings: Any) -> Scenario:
    return stopping(OnStop.CLOSE, on_restart=restart, **settings)


def positions(run: Scenario, name: str = "crash_producer") -> set[int]:
    return {position for position in range(3) if run.can(name, position=position)}


def test_the_position_is_past_acknowledged_records() -> None:
    run = reading(OnRestart.FROM_ACKNOWLEDGED).produce(0, 1).produce(1, 1)
    assert positions(run) == {0}
    assert positions(run.do("acknowledge", batch=0, leader=1)) == {0, 1}
    run.do("crash_producer", position=1)
    assert (run.can("send", batch=AGAIN[0]), run.can("send", batch=AGAIN[1])) == (False, True)


def test_an_earlier_record_holds_up_the_position() -> None:
    run = reading(OnRestart.FROM_ACKNOWLEDGED).do("refuse_send", batch=0).produce(1, 1)
    assert positions(run.do("acknowledge", batch=1, leader=1)) == {0}


def test_restarted_application_reads_behind_its_position_in_order() -> None:
    run = reading(OnRestart.FROM_ACKNOWLEDGED).produce(0, 1).produce(1, 1).do("acknowledge", batch=0, leader=1)
    run.do("crash_producer", position=0)
    assert (run.can("send", batch=AGAIN[0]), run.can("send", batch=AGAIN[1])) == (True, False)
    assert run.do("send", batch=AGAIN[0]).can("send", batch=AGAIN[1])
    assert positions(run) == {0}, "what was acknowledged before the crash is not known any more"


@pytest.mark.parametrize(
    ("restart", "on_error", "found"),
    [
        (OnRestart.FROM_ACKNOWLEDGED, OnSendError.DROP, {0}),
        (OnRestart.FROM_FLUSHED, OnSendError.DROP, {0, 1}),
        (OnRestart.FROM_FLUSHED, OnSendError.HALT, {0}),
        (OnRestart.FROM_SENT, OnSendError.HALT, {0, 1}),
    ],
)
def test_flush_returns_whatever_came_of_a_send(restart: OnRestart, on_error: OnSendError, found: set[int]) -> None:
    """Success is not implied (P10); who stops at a failure has heard of it by then."""
    run = reading(restart, on_send_error=on_error).do("refuse_send", batch=0)
    assert positions(run) == found
    missing = [told(run.pipeline, 0), lost_silently(run.pipeline, 0)]
    assert [value(one, run.pipeline, run.state) for one in missing] == [1 not in found, 1 in found]


def test_flush_waits_for_requests_in_flight_and_a_timer_does_not() -> None:
    waits, passes = (reading(one).produce(0, 1) for one in (OnRestart.FROM_FLUSHED, OnRestart.FROM_SENT))
    assert (positions(waits), positions(passes)) == ({0}, {0, 1})
    passes.do("crash_producer", position=1)
    assert not passes.can("send", batch=AGAIN[0])


def test_the_position_never_goes_back() -> None:
    run = reading(OnRestart.FROM_SENT).do("send", batch=0).do("crash_producer", position=1).do("send", batch=1)
    assert positions(run) == {1, 2}


def test_an_orderly_end_commits_all_that_it_may_unless_it_did_so_before_it_waited() -> None:
    for how, found in ((OnStop.CLOSE, {1}), (OnStop.COMMIT_FIRST, {0, 1})):
        run = stopping(how, on_restart=OnRestart.FROM_ACKNOWLEDGED).produce(0, 1)
        assert positions(run, "stop_producer") == set()
        assert positions(run.do("acknowledge", batch=0, leader=1), "stop_producer") == found


def test_a_record_that_was_sent_again_and_lost_is_not_on_its_way_any_more() -> None:
    """The record counts as lost although the producer forgot its first send in the crash and would send the record
    again."""
    run = stopping(OnStop.CLOSE, on_restart=OnRestart.RESEND, replicas=2).do("send", batch=0).do("crash_producer")
    assert not value(lost_silently(run.pipeline, 0), run.pipeline, run.state)
    run.produce(AGAIN[0], 1).do("acknowledge", batch=AGAIN[0], leader=1).do("kill", broker=1).do("fence", broker=1)
    run.do("apply_metadata", broker=2)
    assert run.leader == 2
    assert value(lost_silently(run.pipeline, 0), run.pipeline, run.state)


# --- split batches: P9 --------------------------------------------------------------------------------------------


def in_one_batch(name: str = "acks-1", **settings: Any) -> Scenario:
    run = started(name, **settings).do("send", batch=0).do("send", batch=1)
    return run.do("transmit", batch=0, leader=1).do("transmit", batch=1, leader=1)


def test_parts_are_sent_in_order_with_the_numbers_that_they_have() -> None:
    run = in_one_batch("idempotent").do("split_batch", batch=0, other=1, leader=1)
    batches = run.pipeline.producer.batches
    assert [run.fate(0), run.fate(1), run.log(1)] == [Fate.BUFFERED, Fate.BUFFERED, []]
    assert [run.value(b.sequence) for b in batches[:2] if b.sequence is not None] == [0, 1]
    assert (run.can("transmit", batch=0, leader=1), run.can("transmit", batch=1, leader=1)) == (True, False)
    run.do("transmit", batch=0, leader=1)
    assert not run.can("transmit", batch=1, leader=1), "one with a number goes when it is the first in flight"
    run.do("append", batch=0, leader=1).do("acknowledge", batch=0, leader=1)
    run.do("transmit", batch=1, leader=1).do("append", batch=1, leader=1)
    assert run.log(1) == [0, 1]


def test_only_records_sent_together_are_split() -> None:
    run = started().do("send", batch=0).do("transmit", batch=0, leader=1).do("send", batch=1)
    assert not run.can("split_batch", batch=0, other=1, leader=1)
    run.do("transmit", batch=1, leader=1).do("append", batch=0, leader=1)
    assert not run.can("split_batch", batch=0, other=1, leader=1)


def test_sends_of_a_restarted_application_can_be_one_batch() -> None:
    """The application sends record 1 again after its start, and record 2 for the first time."""
    run = started(on_restart=OnRestart.RESEND).do("send", batch=0).do("crash_producer").do("send", batch=AGAIN[0])
    run.do("send", batch=1).do("transmit", batch=AGAIN[0], leader=1).do("transmit", batch=1, leader=1)
    assert not run.can("split_batch", batch=1, other=AGAIN[0], leader=1), "record 1 was sent first"
    run.do("split_batch", batch=AGAIN[0], other=1, leader=1)
    assert (run.fate(AGAIN[0]), run.fate(1)) == (Fate.BUFFERED, Fate.BUFFERED)


def test_record_that_is_sent_again_can_be_in_one_batch_with_a_later_record() -> None:
    run = started(on_send_error=OnSendError.RESEND, retries=0).do("send", batch=0).do("transmit", batch=0, leader=1)
    run.do("lose_request", batch=0).do("notice", broker=1).do("send", batch=1).do("send", batch=AGAIN[0])
    run.do("transmit", batch=1, leader=1).do("transmit", batch=AGAIN[0], leader=1)
    run.do("split_batch", batch=1, other=AGAIN[0], leader=1)
    assert (run.fate(AGAIN[0]), run.fate(1)) == (Fate.BUFFERED, Fate.BUFFERED)


def test_a_split_is_no_retry() -> None:
    run = in_one_batch(retries=1).do("split_batch", batch=0, other=1, leader=1).do("transmit", batch=0, leader=1)
    assert run.do("lose_request", batch=0).do("notice", broker=1).fate(0) is Fate.BUFFERED


def test_batch_is_not_split_with_acks_0() -> None:
    assert started("acks-0").model.system.action("split_batch", {"batch": 0, "other": 1, "leader": 1}) is None


@pytest.mark.parametrize(("mended", "found"), [(True, {0}), (False, {0, 1, 2})])
def test_application_can_commit_after_an_early_return_of_flush(mended: bool, found: set[int]) -> None:
    sender = replace(OF_JAVA, flush_forgets_parts=not mended)
    run = in_one_batch(on_restart=OnRestart.FROM_FLUSHED, sender=sender)
    assert positions(run) == {0}
    assert positions(run.do("split_batch", batch=0, other=1, leader=1)) == found
    assert positions(run.do("crash_producer", position=0).do("send", batch=AGAIN[0])) == {0}
