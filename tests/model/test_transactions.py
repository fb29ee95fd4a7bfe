"""Transactions step by step: what the client, the coordinator and the brokers do (semantics 11)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofka.model.deployment.choices import OnRestart, OnSendError
from proofka.model.deployment.explored import Bounds
from proofka.model.deployment.transactional import Transactional
from proofka.model.log.visibility import can_be_read, end_of_reading, last_stable_offset
from proofka.model.state.pipeline import Fate
from proofka.model.state.transactions import Outcome, Status
from proofka.properties.catalogue import properties_of
from proofka.properties.situations import value
from tests.checker.plain_evaluator import holds
from tests.model.scripted import Scenario, scenario

BOUNDS = Bounds(records=3, log=6, sends=1, epochs=6, producer_epochs=6)
VERSION_1 = Transactional(2, verified=False, epoch_each=False, first_is_zero=False, read_committed=True)
VERIFIED = replace(VERSION_1, verified=True)
VERSION_2 = replace(VERIFIED, epoch_each=True)

COMMIT, ABORT = {"commits": 1}, {"commits": 0}
ANEW, KEPT = {"anew": 1}, {"anew": 0}
"""The client asks for a new epoch after an abort."""


def begun(rules: Transactional = VERSION_1, **settings: object) -> Scenario:
    """Begin a run of a producer with transactions: record 1 in the first, records 2 and 3 in the second."""
    asked = ("atomicity", "no-aborted-read", "no-hanging-transaction", "no-log-duplicate", "no-silent-loss")
    settings = {"replicas": 1, "min_insync_replicas": 1, "bounds": BOUNDS, "require": asked} | settings
    return scenario("idempotent", transactional=rules, **settings)


def sent(run: Scenario, *batches: int) -> Scenario:
    for batch in batches:
        run.do("send", batch=batch)
    for batch in batches:
        run.do("transmit", batch=batch, leader=1)
    return run


def write(run: Scenario, *batches: int) -> Scenario:
    for batch in batches:
        run.do("send", batch=batch).do("transmit", batch=batch, leader=1).do("append", batch=batch, leader=1)
        run.do("acknowledge", batch=batch, leader=1)
    return run


def end(run: Scenario, transaction: int, *, commits: bool) -> Scenario:
    """Write and replicate the marker."""
    run.do("write_marker", leader=1, transaction=transaction, commits=int(commits))
    return run.do("complete_transaction", leader=1)


def outcome(run: Scenario, transaction: int) -> Outcome:
    return Outcome(run.value(run.pipeline.transactions.each[transaction].outcome))


def status(run: Scenario) -> Status:
    return Status(run.value(run.pipeline.transactions.status))


def violates(run: Scenario, name: str) -> bool:
    prop = next(one for one in properties_of(run.pipeline) if one.name == name)
    return holds(prop.violated, run.state)


def readable(run: Scenario) -> list[int]:
    """Return the offsets that the consumer can be given."""
    leader = run.pipeline.replica(1)
    return [o for o in range(leader.log.capacity) if holds(can_be_read(run.pipeline, leader, o), run.state)]


def give_up(run: Scenario, batch: int) -> Scenario:
    """Hold the request up at the broker until the send fails."""
    run.do("send", batch=batch).do("transmit", batch=batch, leader=1).do("delay_request", batch=batch)
    return run.do("give_up", batch=batch).do("begin_abort", transaction=0)


def test_nothing_is_read_before_the_commit_marker() -> None:
    run = write(begun(), 0)
    assert (outcome(run, 0), status(run), readable(run)) == (Outcome.OPEN, Status.ONGOING, [])
    run.do("prepare_commit", transaction=0)
    assert (outcome(run, 0), status(run), readable(run)) == (Outcome.COMMITTED, Status.PREPARE_COMMIT, [])
    assert not run.can("poll", leader=1, count=1)
    end(run, 0, commits=True)
    assert (status(run), readable(run)) == (Status.COMPLETE_COMMIT, [0])
    run.do("poll", leader=1, count=1)
    assert run.value(run.pipeline.consumer.processed[0]) == 1
    assert not run.can("poll", leader=1, count=1), "a marker is no record"
    run.do("pass_over", leader=1)
    assert run.value(run.pipeline.consumer.position) == 2


def test_read_uncommitted_reads_open_and_aborted_records() -> None:
    run = write(begun(replace(VERSION_1, read_committed=False)), 0)
    assert readable(run) == [0]
    assert not violates(run, "no-aborted-read")
    aborted = give_up(begun(replace(VERSION_1, read_committed=False)), 0)
    aborted.do("execute_delayed", batch=0, leader=1).do("prepare_abort", transaction=0, **ANEW)
    end(aborted, 0, commits=False)
    assert readable(aborted) == [0]
    assert violates(aborted, "no-aborted-read")


def test_an_aborted_record_is_passed_over() -> None:
    run = give_up(begun(), 0).do("execute_delayed", batch=0, leader=1).do("prepare_abort", transaction=0, **ANEW)
    end(run, 0, commits=False)
    assert (outcome(run, 0), readable(run)) == (Outcome.ABORTED, [])
    assert not run.can("poll", leader=1, count=1)
    run.do("pass_over", leader=1).do("pass_over", leader=1)
    assert run.value(run.pipeline.consumer.position) == 2
    assert not violates(run, "no-aborted-read")


def test_the_last_stable_offset_is_where_the_open_transaction_begins() -> None:
    run = write(begun(), 0).do("prepare_commit", transaction=0)
    write(end(run, 0, commits=True), 1)
    leader = run.pipeline.replica(1)
    offsets = [
        value(term(run.pipeline, leader) == 2, run.pipeline, run.state) for term in (last_stable_offset, end_of_reading)
    ]
    assert offsets == [True, True]
    assert run.high_watermark(1) == 3


def test_the_next_transaction_waits_for_the_markers_of_the_one_before() -> None:
    run = write(begun(), 0).do("prepare_commit", transaction=0).do("send", batch=1)
    assert not run.can("transmit", batch=1, leader=1), "CONCURRENT_TRANSACTIONS"
    assert end(run, 0, commits=True).can("transmit", batch=1, leader=1)


@pytest.mark.parametrize("rules", [VERSION_1, VERIFIED])
def test_record_is_given_up_only_after_its_partition_was_added(rules: Transactional) -> None:
    """Java's client looks for records that are too old only while no request to the coordinator is unanswered."""
    run = write(begun(rules), 0).do("prepare_commit", transaction=0).do("send", batch=1)
    assert not run.can("give_up", batch=1), "CONCURRENT_TRANSACTIONS"
    end(run, 0, commits=True).do("kill", broker=1).do("give_up", batch=1)
    assert run.value(run.pipeline.transactions.status) == Status.ONGOING
    run.do("begin_abort", transaction=1)
    assert not run.can("learn_aborted", transaction=1)
    assert run.can("prepare_abort", transaction=1, **ANEW)


def test_record_is_given_up_without_its_partition_with_version_2() -> None:
    """The leader adds the partition with version 2, and no leader has the record."""
    run = begun(VERSION_2).do("kill", broker=1).do("send", batch=0).do("give_up", batch=0)
    assert run.value(run.pipeline.transactions.status) != Status.ONGOING
    assert run.do("begin_abort", transaction=0).can("learn_aborted", transaction=0)


def test_a_commit_needs_every_acknowledgement() -> None:
    run = write(begun(), 0).do("prepare_commit", transaction=0)
    run = write(end(run, 0, commits=True), 1)
    assert not run.can("prepare_commit", transaction=1), "record 3 is not sent yet"
    run.do("send", batch=2).do("transmit", batch=2, leader=1).do("append", batch=2, leader=1)
    assert not run.can("prepare_commit", transaction=1), "nor acknowledged"
    assert run.do("acknowledge", batch=2, leader=1).can("prepare_commit", transaction=1)


def test_a_late_record_after_the_abort_hangs_and_then_joins_the_next_transaction() -> None:
    """KIP-890: the epoch is the same still, so that the leader takes it for the beginning of another transaction."""
    run = give_up(begun(), 0).do("prepare_abort", transaction=0, **ANEW)
    run.do("write_marker", leader=1, transaction=0, **ABORT).do("execute_delayed", batch=0, leader=1)
    run.do("complete_transaction", leader=1)
    assert violates(run, "no-hanging-transaction")
    run.do("initialise")
    write(run, 1, 2).do("prepare_commit", transaction=1)
    assert not violates(run, "no-aborted-read")
    end(run, 1, commits=True)
    assert violates(run, "no-aborted-read")


@pytest.mark.parametrize("rules", [VERIFIED, VERSION_2])
def test_a_leader_that_asks_the_coordinator_does_not_take_it(rules: Transactional) -> None:
    run = give_up(begun(rules), 0).do("prepare_abort", transaction=0, **(KEPT if rules is VERSION_2 else ANEW))
    run.do("write_marker", leader=1, transaction=0, **ABORT)
    assert not run.can("execute_delayed", batch=0, leader=1)
    run.do("complete_transaction", leader=1)
    run = run if rules is VERSION_2 else run.do("initialise")
    write(run, 1)
    assert not run.can("execute_delayed", batch=0, leader=1), "the epoch is an old one"


def test_a_late_request_to_commit_ends_the_next_transaction() -> None:
    """KAFKA-17754: before TV2 nothing tells it from a request of the next transaction, which has the same epoch."""
    run = write(begun(VERIFIED), 0).do("delay_end", transaction=0, **COMMIT).do("prepare_commit", transaction=0)
    write(end(run, 0, commits=True), 1).do("execute_late_end")
    end(run, 1, commits=True).do("send", batch=2)
    assert violates(run, "atomicity")


def test_version_2_tells_a_late_request_to_commit() -> None:
    run = write(begun(VERSION_2), 0).do("delay_end", transaction=0, **COMMIT).do("prepare_commit", transaction=0)
    write(end(run, 0, commits=True), 1)
    assert not run.can("execute_late_end")


def test_a_late_request_may_be_the_first_to_be_executed() -> None:
    """The client asks again, and hears that it is done."""
    for rules in (VERSION_1, VERSION_2):
        run = write(begun(rules), 0).do("delay_end", transaction=0, **COMMIT).do("execute_late_end")
        assert not run.can("prepare_commit", transaction=0)
        assert outcome(run.do("learn_committed", transaction=0), 0) is Outcome.COMMITTED
        write(end(run, 0, commits=True), 1)


def test_a_late_request_to_abort_comes_too_late_for_the_next_transaction() -> None:
    run = give_up(begun(), 0).do("discard_delayed", batch=0)
    run.do("delay_end", transaction=0, **ABORT).do("prepare_abort", transaction=0, **ANEW)
    end(run, 0, commits=False).do("initialise")
    write(run, 1, 2)
    assert not run.can("execute_late_end"), "the client has raised its epoch since"


def test_a_transaction_that_takes_too_long_is_aborted_and_its_producer_fenced() -> None:
    run = write(begun(), 0).do("time_out_transaction")
    assert not run.can("prepare_commit", transaction=0)
    run.do("write_marker", leader=1, transaction=0, **ABORT)
    assert outcome(run.do("learn_fenced", transaction=0), 0) is Outcome.ABORTED
    run.do("complete_transaction", leader=1)
    assert readable(run) == []
    assert not run.can("send", batch=1), "the producer starts anew first"
    write(run.do("initialise"), 1)


def test_records_of_a_fenced_producer_are_refused() -> None:
    run = begun().do("send", batch=0).do("transmit", batch=0, leader=1).do("time_out_transaction")
    run.do("write_marker", leader=1, transaction=0, **ABORT)
    assert not run.can("append", batch=0, leader=1)
    assert run.do("reject_old_epoch", batch=0, leader=1).fate(0) is Fate.FAILED


def test_a_new_instance_aborts_the_open_transaction_of_the_instance_before() -> None:
    run = write(begun(on_restart=OnRestart.FORGET), 0).do("crash_producer")
    assert outcome(run, 0) is Outcome.LOST
    assert not run.can("initialise"), "the transaction of the one before is to be ended first"
    run.do("fence_former")
    end(run, 0, commits=False).do("initialise")
    assert violates(run, "no-silent-loss"), "the application has forgotten what it had sent"
    write(run, 1)
    assert run.value(run.pipeline.producer.epoch) == 2


def test_a_crash_may_come_between_the_decision_and_the_answer() -> None:
    """The transaction is committed, and an application that sends again what it does not know of duplicates it."""
    bounds = replace(BOUNDS, records=1, sends=2)
    run = write(begun(on_restart=OnRestart.RESEND, bounds=bounds), 0).do("crash_at_commit", transaction=0)
    assert (outcome(run, 0), status(run)) == (Outcome.LOST, Status.PREPARE_COMMIT)
    write(end(run, 0, commits=True).do("initialise"), 1).do("prepare_commit", transaction=1)
    end(run, 1, commits=True)
    assert readable(run) == [0, 2]
    assert violates(run, "no-log-duplicate")


@pytest.mark.slow
def test_application_resends_aborted_records_in_another_transaction() -> None:
    bounds = replace(BOUNDS, records=1, sends=2)
    run = give_up(begun(on_send_error=OnSendError.RESEND, bounds=bounds), 0).do("execute_delayed", batch=0, leader=1)
    end(run.do("prepare_abort", transaction=0, **ANEW), 0, commits=False).do("initialise")
    write(run, 1).do("prepare_commit", transaction=1)
    end(run, 1, commits=True)
    assert readable(run) == [2]
    assert not any(violates(run, name) for name in ("no-log-duplicate", "no-aborted-read", "no-silent-loss"))


def test_sequence_numbers_go_on_over_a_marker_and_start_again_in_a_new_epoch() -> None:
    for rules, first in ((VERSION_1, 1), (VERSION_2, 0)):
        run = write(begun(rules), 0).do("prepare_commit", transaction=0)
        write(end(run, 0, commits=True), 1)
        log = run.pipeline.replica(1).log.entries(run.state)
        assert [entry["sequence"] for entry in log] == [0, -1, first]


def test_a_retry_is_recognised_behind_a_marker() -> None:
    run = begun().do("send", batch=0).do("transmit", batch=0, leader=1).do("delay_request", batch=0)
    run.do("notice", broker=1).do("transmit", batch=0, leader=1).do("append", batch=0, leader=1)
    run.do("acknowledge", batch=0, leader=1).do("prepare_commit", transaction=0)
    end(run, 0, commits=True)
    assert not run.can("execute_delayed", batch=0, leader=1)


@pytest.mark.slow
def test_a_marker_needs_enough_replicas() -> None:
    run = begun(replicas=2, min_insync_replicas=2)
    run.do("send", batch=0).do("transmit", batch=0, leader=1).do("append", batch=0, leader=1)
    run.do("fetch", leader=1, follower=2).do("fetch", leader=1, follower=2).do("acknowledge", batch=0, leader=1)
    run.do("prepare_commit", transaction=0)
    run.do("write_marker", leader=1, transaction=0, **COMMIT)
    assert not run.can("complete_transaction", leader=1), "the follower does not have it"
    run.do("fetch", leader=1, follower=2).do("fetch", leader=1, follower=2)
    assert run.can("complete_transaction", leader=1)


def test_a_later_transaction_commits_records_that_were_left_open() -> None:
    """Its own records are not followed: what it does to others is that they become part of it."""
    bounds = replace(BOUNDS, records=1)
    run = give_up(begun(bounds=bounds), 0).do("prepare_abort", transaction=0, **ANEW)
    run.do("write_marker", leader=1, transaction=0, **ABORT).do("complete_transaction", leader=1)
    run.do("execute_delayed", batch=0, leader=1).do("initialise").do("begin_later", transaction=1)
    assert not violates(run, "no-hanging-transaction")
    end(run.do("prepare_commit", transaction=1), 1, commits=True)
    assert readable(run) == [1]
    assert violates(run, "no-aborted-read")


def test_a_request_to_commit_an_earlier_transaction_may_be_late() -> None:
    bounds = replace(BOUNDS, records=2)
    run = write(begun(VERIFIED, bounds=bounds).do("delay_earlier_end"), 0).do("execute_late_end")
    end(run, 0, commits=True).do("send", batch=1).do("transmit", batch=1, leader=1)
    assert violates(run, "atomicity")
    assert run.do("reject_unverified", batch=1, leader=1).fate(1) is Fate.FAILED


def test_late_end_of_an_earlier_transaction_is_recognised_with_version_2() -> None:
    with pytest.raises(AssertionError, match="there is no delay_earlier_end"):
        begun(VERSION_2).do("delay_earlier_end")


def test_a_send_that_fails_during_the_commit_leads_to_no_new_epoch() -> None:
    """A late request of the failed send becomes part of the next transaction, also if the leader asks (3.4, 11.1)."""
    run = give_up(begun(VERIFIED), 0).do("prepare_abort", transaction=0, **KEPT)
    end(run, 0, commits=False).do("send", batch=1).do("transmit", batch=1, leader=1)
    run.do("execute_delayed", batch=0, leader=1).do("append", batch=1, leader=1).do("acknowledge", batch=1, leader=1)
    write(run, 2).do("prepare_commit", transaction=1)
    end(run, 1, commits=True)
    assert violates(run, "no-aborted-read")


def test_send_that_fails_before_the_commit_leads_to_a_new_epoch() -> None:
    """The application has not called commitTransaction() then."""
    bounds = replace(BOUNDS, records=2)
    assert not give_up(begun(VERIFIED, bounds=bounds), 0).can("prepare_abort", transaction=0, **KEPT)


def test_a_record_that_is_refused_gives_its_number_back() -> None:
    """The next takes the same, so that a late copy of the one that was refused is taken for it."""
    run = begun(VERIFIED).do("send", batch=0).do("transmit", batch=0, leader=1)
    run.do("refuse_for_good", batch=0, leader=1).do("begin_abort", transaction=0)
    end(run.do("prepare_abort", transaction=0, **KEPT), 0, commits=False)
    write(run, 1)
    entries = run.pipeline.replica(1).log.entries(run.state)
    assert [entry["sequence"] for entry in entries] == [-1, 0]


def test_a_refused_end_is_reported() -> None:
    """The application hears of INVALID_TXN_STATE, and of the send that failed before."""
    bounds = replace(BOUNDS, records=2)
    run = write(begun(VERIFIED, bounds=bounds).do("delay_earlier_end"), 0).do("execute_late_end")
    end(run, 0, commits=True).do("send", batch=1).do("transmit", batch=1, leader=1)
    run.do("reject_unverified", batch=1, leader=1).do("begin_abort", transaction=0).do("refuse_end", transaction=0)
    assert outcome(run, 0) is Outcome.REFUSED
    assert not violates(run, "no-silent-loss")


def test_a_marker_without_room_is_where_the_bound_on_the_log_stops() -> None:
    bounds = replace(BOUNDS, records=1, log=1)
    run = write(begun(bounds=bounds), 0)
    limit = run.model.system.limits["log"]
    assert not holds(limit, run.state)
    assert holds(limit, run.do("prepare_commit", transaction=0).state)


@pytest.mark.slow
def test_a_request_that_may_have_waited_for_its_coordinator_can_run_out_of_time_in_flight() -> None:
    """The coordinator may be on the broker that died, though another leads the partition."""
    run = begun(replicas=3).do("send", batch=0).do("transmit", batch=0, leader=1)
    assert not run.can("give_up", batch=0)
    run = begun(replicas=3).do("kill", broker=3).do("send", batch=0).do("transmit", batch=0, leader=1)
    assert run.leader == 1 and run.can("give_up", batch=0)
