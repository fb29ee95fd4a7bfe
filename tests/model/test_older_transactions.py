"""Transactions of clients or brokers before 2.5, step by step: one epoch for good, and numbers in doubt (11.7)."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from proofka.model.deployment.choices import ProducerId
from proofka.model.deployment.explored import FaultBudget
from proofka.model.deployment.older_transactions import InDoubt, OlderTransactions, older_transactions_of
from proofka.model.deployment.release import parse_release
from proofka.model.deployment.sequencing import Unknown
from proofka.model.deployment.transactional import Transactional
from proofka.model.faults import Fault
from proofka.model.state.pipeline import Fate
from proofka.model.state.transactions import Outcome, Status
from tests.model.scripted import Scenario
from tests.model.test_transactions import (
    ANEW,
    BOUNDS,
    KEPT,
    VERSION_1,
    begun,
    end,
    outcome,
    readable,
    sent,
    status,
    write,
)
from tests.model.test_transactions import violates as is_violated

KINDS = (
    Fault.TRANSACTION_TIMEOUT,
    Fault.LOST_RESPONSE,
    Fault.DELAYED_REQUEST,
    Fault.LOST_REQUEST,
    Fault.REFUSED_RECORD,
)
FAULTS = FaultBudget(9, tuple((kind.value, 9) for kind in KINDS))
ASKED = ("atomicity", "no-aborted-read", "no-acked-loss", "no-hanging-transaction", "no-silent-loss")


def older(client: str, brokers: str) -> OlderTransactions:
    found = older_transactions_of(parse_release(client), parse_release(brokers))
    assert found is not None
    return found


@cache
def _start(rules: Transactional, **settings: Any) -> Scenario:
    return begun(rules, require=ASKED, faults=FAULTS, **settings)


def started(client: str, brokers: str = "", *, in_one: int = 0, **settings: Any) -> Scenario:
    """Record 1 in the first transaction, records 2 and 3 in the second; or so many in one."""
    rules = replace(VERSION_1, older=older(client, brokers or client))
    if in_one:
        rules, settings["bounds"] = replace(rules, records=in_one), replace(BOUNDS, records=in_one)
    start = _start(rules, max_in_flight=1 if client.startswith("0.11") else 5, **settings)
    run = copy(start)
    run.state = dict(start.state)
    return run


def aborted(run: Scenario, transaction: int) -> Scenario:
    """Abort the transaction in the application, and write the marker."""
    return end(
        run.do("begin_abort", transaction=transaction).do("prepare_abort", transaction=transaction, **KEPT),
        0,
        commits=False,
    )


def numbers(run: Scenario) -> list[tuple[int, int, int]]:
    """Return batch, producer epoch and sequence number of the records in the log."""
    entries = run.pipeline.replica(1).log.entries(run.state)
    return [(e["batch"], e["producer_epoch"], e["sequence"]) for e in entries if e["sequence"] >= 0]


def stored_and_given_up(client: str, **settings: Any) -> Scenario:
    """Record 1 is stored, its answer lost, and its time over before it is sent again."""
    run = sent(started(client, **settings), 0).do("append", batch=0, leader=1).do("lose_response", batch=0)
    return run.do("notice", broker=1).do("give_up", batch=0)


@pytest.mark.parametrize(
    ("client", "brokers", "in_doubt", "unknown", "fences"),
    [
        ("0.11.0.1", "0.11.0.1", InDoubt.NEXT_RECORD, Unknown.OUT_OF_ORDER, False),
        ("0.11", "0.11.0.2", InDoubt.NEXT_RECORD, Unknown.OUT_OF_ORDER, True),
        ("0.11", "0.11", InDoubt.NEXT_RECORD, Unknown.OUT_OF_ORDER, False),
        ("1.0", "2.4", InDoubt.STOPS, Unknown.UNKNOWN_PRODUCER_ID, True),
        ("2.4", "3.9", InDoubt.STOPS, Unknown.APPENDED, True),
        ("3.9", "2.4", InDoubt.STOPS_WHEN_DRAINED, Unknown.UNKNOWN_PRODUCER_ID, True),
    ],
)
def test_rules_of_older_transactions_by_release(
    client: str, brokers: str, in_doubt: InDoubt, unknown: Unknown, fences: bool
) -> None:
    found = older(client, brokers)
    assert (found.in_doubt, found.unknown, found.timeout_fences) == (in_doubt, unknown, fences)
    assert found.errors_free_numbers is (client in ("2.4", "3.9"))
    assert found.remembers_one is brokers.startswith("0.11")
    assert found.knows_by_marker is (brokers != "2.4")
    assert found.forgets_fenced is (brokers == "2.4")


def test_releases_from_2_5_on_have_no_older_transactions() -> None:
    assert older_transactions_of(parse_release("2.5"), parse_release("2.5")) is None
    run = sent(begun(faults=FAULTS), 0).do("delay_request", batch=0).do("give_up", batch=0)
    assert run.do("begin_abort", transaction=0).can("prepare_abort", transaction=0, **ANEW)
    names = {action.name for action in run.model.system.actions}
    assert not names & {"resolve_in_transaction", "refuse_unknown", "give_up_on_error", "add_elsewhere"}


@pytest.mark.slow
def test_producer_of_0_11_0_1_commits_the_rest_of_an_aborted_transaction() -> None:
    """KAFKA-6119: the commit succeeds, and what was written before the timeout is gone."""
    run = write(started("0.11.0.1"), 0).do("time_out_transaction")
    assert status(run) is Status.PREPARE_ABORT
    assert run.value(run.pipeline.transactions.epoch) == run.value(run.pipeline.producer.epoch)
    assert not run.can("learn_fenced", transaction=0)
    assert not run.can("add_elsewhere", transaction=0), "CONCURRENT_TRANSACTIONS until the markers are written"
    end(run, 0, commits=False)
    assert not run.can("prepare_commit", transaction=0), "INVALID_TXN_STATE, if nothing else is in the transaction"
    assert run.can("refuse_end", transaction=0)
    run.do("add_elsewhere", transaction=0).do("prepare_commit", transaction=0)
    assert not run.can("write_marker", leader=1, transaction=0, commits=1), "this partition is not in it"
    run.do("complete_elsewhere")
    assert (outcome(run, 0), readable(run)) == (Outcome.COMMITTED, [])
    assert is_violated(run, "no-acked-loss")


@pytest.mark.slow
def test_later_records_stay_open_and_are_committed_with_the_next_transaction() -> None:
    run = write(started("0.11.0.1", in_one=2), 0).do("time_out_transaction")
    write(end(run, 0, commits=False), 1)
    assert is_violated(run, "no-hanging-transaction")
    run.do("refuse_end", transaction=0).do("initialise").do("begin_later", transaction=1)
    end(run.do("prepare_commit", transaction=1), 1, commits=True)
    assert readable(run) == [2]
    assert is_violated(run, "atomicity")


def test_producer_from_0_11_0_2_on_is_fenced() -> None:
    run = write(started("0.11.0.2"), 0).do("time_out_transaction")
    end(run, 0, commits=False)
    assert not run.can("prepare_commit", transaction=0)
    assert run.do("learn_fenced", transaction=0).can("initialise")
    assert run.pipeline.transactions.elsewhere is None


@pytest.mark.parametrize("client", ["0.11.0.2", "1.0", "2.4"])
def test_after_an_abort_the_epoch_stays_and_a_refused_record_gives_its_number_back(client: str) -> None:
    run = sent(started(client), 0).do("refuse_for_good", batch=0, leader=1)
    assert not any(a.name == "prepare_abort" and a.arguments["anew"] for a in run.model.system.actions)
    aborted(run, 0)
    write(run, 1)
    assert numbers(run) == [(1, 0, 0)]


def test_record_of_0_11_with_the_number_of_a_stored_record_is_never_stored() -> None:
    """``incrementSequenceNumber`` is called for what is acknowledged; the broker knows the number of the last batch."""
    run = aborted(stored_and_given_up("0.11.0.2"), 0)
    sent(run, 1)
    assert not run.can("append", batch=1, leader=1)
    run.do("take_for_another", batch=1, leader=1)
    assert run.fate(1) is Fate.ACKNOWLEDGED
    write(run, 2).do("prepare_commit", transaction=1)
    end(run, 1, commits=True)
    assert numbers(run) == [(0, 0, 0), (2, 0, 1)]
    assert is_violated(run, "no-acked-loss")
    assert is_violated(run, "atomicity")


@pytest.mark.slow
def test_producer_from_1_0_on_stops_permanently_after_an_abandoned_retry() -> None:
    run = stored_and_given_up("1.0")
    assert outcome(run, 0) is Outcome.REFUSED
    assert not any(run.can(name, transaction=0) for name in ("begin_abort", "learn_aborted"))
    assert not run.can("initialise"), "the transaction is to be ended first"
    end(run.do("fence_former"), 0, commits=False).do("initialise")
    write(run, 1, 2).do("prepare_commit", transaction=1)
    assert readable(end(run, 1, commits=True)) == [2, 3]
    assert not any(is_violated(run, name) for name in ASKED)


def both_in_flight(client: str) -> Scenario:
    """Record 2 is on its way once more, and record 3 behind it."""
    run = end(write(started(client, "2.4"), 0).do("prepare_commit", transaction=0), 0, commits=True)
    sent(run, 1).do("lose_request", batch=1).do("notice", broker=1).do("transmit", batch=1, leader=1)
    return sent(run, 2)


def test_other_requests_in_flight_fail_and_can_be_executed() -> None:
    run = both_in_flight("2.4").do("give_up", batch=1)
    assert (run.fate(1), run.fate(2), outcome(run, 1)) == (Fate.FAILED, Fate.FAILED, Outcome.REFUSED)
    assert run.value(run.pipeline.producer.unresolved) == 0
    run.do("execute_delayed", batch=1, leader=1).do("execute_delayed", batch=2, leader=1)
    assert numbers(run) == [(0, 0, 0), (1, 0, 1), (2, 0, 2)]


def test_a_first_attempt_that_is_given_up_on_is_no_doubt_and_its_number_is_used() -> None:
    """The attempt never waited for a retry (``ProducerBatch.inRetry``), so its error is like others."""
    run = sent(started("2.4"), 0).do("delay_request", batch=0).do("give_up", batch=0)
    assert outcome(aborted(run, 0), 0) is Outcome.ABORTED
    sent(run, 1)
    assert not run.can("append", batch=1, leader=1), "number 0 is missing"
    assert run.do("refuse_in_transaction", batch=1, leader=1).fate(1) is Fate.BUFFERED


def test_an_error_at_the_end_of_a_delivery_gives_a_number_that_is_used_to_the_next_record() -> None:
    """KAFKA-14397 in a transaction: clients from 2.1 on retry nothing then, and take the record for unwritten."""
    run = sent(started("2.4"), 0).do("append", batch=0, leader=1).do("lose_response", batch=0)
    aborted(run.do("give_up_on_error", batch=0), 0)
    sent(run, 1).do("take_for_another", batch=1, leader=1)
    write(run, 2).do("prepare_commit", transaction=1)
    end(run, 1, commits=True)
    assert is_violated(run, "no-acked-loss")
    assert not any(action.name == "give_up_on_error" for action in started("2.0").model.system.actions)


@pytest.mark.parametrize("stored", [True, False])
def test_client_from_2_5_on_waits_for_requests_in_flight_and_stops_at_a_missing_number(stored: bool) -> None:
    run = both_in_flight("3.0").do("give_up", batch=1).do("begin_abort", transaction=1)
    assert run.fate(2) is Fate.SENT
    assert not any(run.can(name) for name in ("resolve_in_transaction", "fence_former"))
    if stored:
        run.do("execute_delayed", batch=1, leader=1).do("append", batch=2, leader=1)
        run.do("acknowledge", batch=2, leader=1)
    else:
        run.do("discard_delayed", batch=1).do("refuse_in_transaction", batch=2, leader=1)
    assert run.fate(2) is (Fate.ACKNOWLEDGED if stored else Fate.FAILED), "no gap is waited for while one is in doubt"
    assert not run.can("prepare_abort", transaction=1, **KEPT), "the doubt comes first"
    run.do("resolve_in_transaction")
    assert outcome(run, 1) is (Outcome.ABORTING if stored else Outcome.REFUSED)
    assert run.can("prepare_abort", transaction=1, **KEPT) is stored


def test_a_record_that_is_out_of_order_and_next_due_fails_and_gives_its_number_back() -> None:
    """The broker has lost what it acknowledged (``adjustSequencesDueToFailedBatch``)."""
    run = write(started("2.4", "3.0", in_one=3), 0, 1)
    leader = run.pipeline.replica(1)
    run.state |= {leader.log.end.name: 1, leader.high_watermark.name: 1}  # as after an unclean election
    sent(run, 2).do("refuse_in_transaction", batch=2, leader=1)
    assert run.fate(2) is Fate.FAILED
    assert run.value(run.pipeline.producer.next_sequence) == 2


def test_abort_already_made_by_the_coordinator_keeps_the_epoch_in_0_11_0_1() -> None:
    for brokers, goes_on in (("0.11.0.1", True), ("0.11.0.2", False)):
        run = sent(started(brokers), 0).do("refuse_for_good", batch=0, leader=1).do("time_out_transaction")
        end(run, 0, commits=False).do("begin_abort", transaction=0).do("learn_aborted", transaction=0)
        assert run.can("send", batch=1) is goes_on
        assert run.can("initialise") is not goes_on


def refused_first(client: str, brokers: str) -> Scenario:
    """Record 1 is refused for want of replicas, record 2 reaches a leader that knows nothing of the producer."""
    settings = {"replicas": 2, "min_insync_replicas": 2, "high_watermark_needs_min_isr": False}
    run = started(client, brokers, in_one=2, producer_id=ProducerId.NEW, **settings)
    follower = run.pipeline.replica(1).isr[2].name
    sent(run, 0, 1).state |= {follower: 0}
    run.do("reject_not_enough_replicas", batch=0, leader=1)
    run.state |= {follower: 1}
    return run


@pytest.mark.slow
def test_producer_without_an_answer_begins_again_at_a_broker_that_does_not_know_it() -> None:
    run = refused_first("2.4", "2.4")
    assert not any(run.can(name, batch=1, leader=1) for name in ("append", "refuse_in_transaction"))
    run.do("refuse_unknown", batch=1, leader=1)
    assert (run.fate(0), run.fate(1)) == (Fate.BUFFERED, Fate.BUFFERED)
    assert not run.can("transmit", batch=1, leader=1), "record 1 goes first"
    for batch in (0, 1):
        run.do("transmit", batch=batch, leader=1).do("append", batch=batch, leader=1)
        run.replicate(2, 1).do("acknowledge", batch=batch, leader=1)
    assert numbers(run) == [(0, 0, 0), (1, 0, 1)]


def test_producer_with_an_answer_fails_at_a_broker_that_does_not_know_it() -> None:
    run = refused_first("2.4", "2.4")
    run.state |= {run.pipeline.producer.heard.name: 1}
    run.do("refuse_unknown", batch=1, leader=1)
    assert run.fate(1) is Fate.FAILED
    assert run.can("begin_abort", transaction=0)


@pytest.mark.slow
def test_brokers_of_0_11_refuse_a_record_out_of_order_that_newer_brokers_append() -> None:
    run = refused_first("2.4", "0.11")
    assert run.can("refuse_in_transaction", batch=1, leader=1)
    assert not run.can("append", batch=1, leader=1)
    assert refused_first("2.4", "3.0").can("append", batch=1, leader=1)


@pytest.mark.parametrize(("brokers", "answer"), [("2.2", "refuse_in_transaction"), ("2.3", "refuse_unknown")])
def test_brokers_of_2_3_do_not_know_a_producer_with_only_a_marker(brokers: str, answer: str) -> None:
    """The client then numbers from 0, and what is late of the transaction before has that number as well."""
    run = sent(started("2.4", brokers, producer_id=ProducerId.NEW), 0).do("delay_request", batch=0)
    aborted(run.do("give_up", batch=0), 0)
    sent(run, 1)
    assert not run.can("append", batch=1, leader=1), "number 0 is missing"
    run.do(answer, batch=1, leader=1)
    assert run.fate(1) is Fate.BUFFERED
    assert not run.can("initialise")
    run.do("execute_delayed", batch=0, leader=1).do("transmit", batch=1, leader=1)
    assert run.can("take_for_another", batch=1, leader=1) is (brokers == "2.3")
    assert run.can("append", batch=1, leader=1) is (brokers == "2.2")


def fenced(brokers: str, **settings: Any) -> Scenario:
    """Return a run in which the transaction times out before its first record arrives."""
    run = sent(started("2.3", brokers, **settings), 0).do("time_out_transaction")
    return run.do("write_marker", leader=1, transaction=0, commits=0)


@pytest.mark.slow
def test_broker_until_2_4_0_forgets_the_epoch_that_a_marker_fenced() -> None:
    """KAFKA-9144: of the new epoch it has no batch, and takes the time of that for long ago."""
    run = fenced("2.4.0", producer_id=ProducerId.NEW)
    assert run.can("reject_old_epoch", batch=0, leader=1)
    run.do("forget_fenced", broker=1)
    assert not run.can("forget_fenced", broker=1)
    assert not run.can("reject_old_epoch", batch=0, leader=1)
    run.do("append", batch=0, leader=1).do("complete_transaction", leader=1)
    assert is_violated(run, "no-hanging-transaction")
    for later in ("0.11.0.2", "2.4.1"):
        names = {action.name for action in fenced(later, producer_id=ProducerId.NEW).model.system.actions}
        assert "forget_fenced" not in names


def test_a_number_that_goes_on_is_not_taken_from_a_producer_that_is_forgotten() -> None:
    """Nor is the first one of this run, where the partition knew the producer before."""
    for settings in ({}, {"producer_id": ProducerId.NEW}):
        run = end(write(started("2.3", "2.3", **settings), 0).do("prepare_commit", transaction=0), 0, commits=True)
        sent(run, 1).do("time_out_transaction").do("write_marker", leader=1, transaction=1, commits=0)
        run.do("forget_fenced", broker=1)
        assert not run.can("append", batch=1, leader=1)
        assert run.do("refuse_unknown", batch=1, leader=1).fate(1) is Fate.FAILED
    known = fenced("2.3").do("forget_fenced", broker=1)
    assert not known.can("append", batch=0, leader=1)


@pytest.mark.parametrize("producer_id", [ProducerId.NEW, ProducerId.KNOWN])
def test_an_epoch_with_a_record_is_not_forgotten(producer_id: ProducerId) -> None:
    """Of this run, or from before: with neither, a marker of the same epoch is as good as a newer one."""
    run = write(started("2.3", producer_id=producer_id), 0).do("prepare_commit", transaction=0)
    assert not sent(end(run, 0, commits=True), 1).can("forget_fenced", broker=1)
    run = sent(started("2.3", producer_id=producer_id), 0).do("delay_request", batch=0).do("give_up", batch=0)
    assert aborted(run, 0).can("forget_fenced", broker=1) is (producer_id is ProducerId.NEW)


def test_a_new_producer_has_heard_nothing() -> None:
    run = write(started("2.4", producer_id=ProducerId.NEW), 0)
    heard = run.pipeline.producer.heard
    assert run.value(heard) == 1
    run.do("time_out_transaction")
    end(run, 0, commits=False).do("learn_fenced", transaction=0).do("initialise")
    assert run.value(heard) == 0
    assert started("2.4").value(heard) == 1, "of a producer that the partition knows something was acknowledged"


@pytest.mark.slow
def test_brokers_of_0_11_recognise_the_last_batch_only() -> None:
    for brokers, recognised in (("0.11", False), ("2.4", True)):
        run = end(write(started("2.4", brokers), 0).do("prepare_commit", transaction=0), 0, commits=True)
        sent(run, 1, 2).do("append", batch=1, leader=1).do("append", batch=2, leader=1)
        run.do("lose_response", batch=1).do("notice", broker=1).do("transmit", batch=1, leader=1)
        assert run.can("recognise_duplicate", batch=1, leader=1) is recognised
