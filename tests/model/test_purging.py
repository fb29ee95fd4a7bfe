"""Transactions of a client that drains, step by step: an error leaves nothing but an abort (semantics 4.1, 11.1).

Expected are the steps of librdkafka's own code (``rdkafka_txnmgr.c``, ``rdkafka_request.c``), not of this model.
"""

from __future__ import annotations

from copy import copy
from functools import cache

import pytest

from proofka.model.deployment.choices import OnSendError
from proofka.model.deployment.explored import Bounds, FaultBudget
from proofka.model.deployment.librdkafka import LIBRARY
from proofka.model.deployment.record_reader import read_record
from proofka.model.deployment.sender import OF_JAVA
from proofka.model.deployment.transactional import Transactional
from proofka.model.state.pipeline import Fate
from proofka.model.state.transactions import Outcome, Status
from tests.model.scripted import Scenario, scenario
from tests.model.test_transactions import (
    ANEW,
    KEPT,
    VERIFIED,
    VERSION_1,
    end,
    outcome,
    sent,
    status,
    violates,
    write,
)

BOUNDS = Bounds(records=2, log=8, sends=2, epochs=6, producer_epochs=8)
SENDER = read_record(
    {"kafka": "4.0", "producer.client": LIBRARY.name, "producer.transactional.id": "t"}, name="", file="test", line=1
).producer.sender


def begun(**settings: object) -> Scenario:
    """Begin a run with two records in one transaction; after an abort the application sends both in another."""
    asked = ("atomicity", "no-hanging-transaction", "no-acked-loss", "no-silent-loss", "no-log-duplicate")
    kinds = ("refused-record", "lost-request", "lost-response", "full-buffer", "transaction-timeout", "power-loss")
    faults = FaultBudget(9, tuple((kind, 9) for kind in kinds))
    own = {
        "faults": faults,
        "sender": SENDER,
        "transactional": VERSION_1,
        "on_send_error": OnSendError.RESEND,
        "bounds": BOUNDS,
    }
    alone = {"replicas": 1, "min_insync_replicas": 1, "require": asked}
    return scenario("idempotent", **(alone | own | settings))


@cache
def _usual() -> Scenario:
    return begun()


def usual() -> Scenario:
    """Return the same run from the start, without building its model again."""
    run = copy(_usual())
    run.state = run.model.system.initial
    return run


def aborted(run: Scenario, transaction: int, **how: int) -> Scenario:
    return end(run.do("prepare_abort", transaction=transaction, **how), transaction, commits=False)


def sequences(run: Scenario) -> list[tuple[int, int, int]]:
    """Return batch, producer epoch and sequence number of the records in the log."""
    entries = run.pipeline.replica(1).log.entries(run.state)
    count = len(run.pipeline.producer.batches)
    return [(e["batch"], e["producer_epoch"], e["sequence"]) for e in entries if e["batch"] < count]


@pytest.mark.slow
def test_permanent_refusal_fails_all_waiting_records() -> None:
    run = usual().do("send", batch=0).do("transmit", batch=0, leader=1).do("send", batch=1)
    run.do("refuse_for_good", batch=0, leader=1)
    assert (run.fate(0), run.fate(1)) == (Fate.FAILED, Fate.FAILED)
    assert outcome(run, 0) is Outcome.ABORTING
    assert not run.can("prepare_commit", transaction=0)
    assert run.can("prepare_abort", transaction=0, **KEPT)
    assert not run.can("prepare_abort", transaction=0, **ANEW), "no new epoch is asked for"


def test_abort_waits_for_requests_in_flight_and_does_not_resend_them() -> None:
    run = sent(usual(), 0, 1).do("refuse_for_good", batch=0, leader=1)
    assert not run.can("prepare_abort", transaction=0, **KEPT), "record 2 is in flight"
    run.do("lose_request", batch=1).do("notice", broker=1)
    assert run.fate(1) is Fate.BUFFERED
    assert not run.can("transmit", batch=1, leader=1)
    run.do("purge_returned", transaction=0)
    assert run.fate(1) is Fate.FAILED
    assert run.can("prepare_abort", transaction=0, **KEPT)


def test_a_refused_record_keeps_its_number_and_the_next_transaction_fails_for_the_gap() -> None:
    run = write(usual(), 0)
    sent(run, 1).do("refuse_for_good", batch=1, leader=1)
    aborted(run, 0, **KEPT)
    sent(run, 2).do("refuse_later", batch=2, leader=1)
    assert (run.fate(2), outcome(run, 1)) == (Fate.FAILED, Outcome.ABORTING)
    assert not run.can("prepare_abort", transaction=1, **KEPT), "now a new epoch is asked for"
    aborted(run, 1, **ANEW)
    assert sequences(run) == [(0, 0, 0)]


def test_transaction_that_timed_out_is_followed_by_a_new_epoch() -> None:
    run = sent(usual(), 0).do("lose_request", batch=0).do("notice", broker=1).do("give_up", batch=0)
    assert outcome(run, 0) is Outcome.ABORTING
    aborted(run, 0, **ANEW).do("initialise")
    write(run, 2)
    assert sequences(run) == [(2, 1, 0)]


@pytest.mark.slow
def test_stored_and_purged_record_gives_its_number_to_a_record_that_is_never_stored() -> None:
    """The buffer is full, and the application aborts; what waited to be retried had been stored.

    ``rd_kafka_toppar_purge_queues`` moves the base of the numbers by all that it purges.
    """
    run = sent(usual(), 0).do("append", batch=0, leader=1).do("lose_response", batch=0).do("notice", broker=1)
    run.do("refuse_send", batch=1).do("begin_abort", transaction=0)
    assert run.value(run.pipeline.producer.next_sequence) == 0
    aborted(run, 0, **KEPT)
    sent(run, 2).do("take_for_another", batch=2, leader=1)
    assert run.fate(2) is Fate.ACKNOWLEDGED
    sent(run, 3).do("append", batch=3, leader=1).do("acknowledge", batch=3, leader=1)
    end(run.do("prepare_commit", transaction=1), 1, commits=True)
    assert sequences(run) == [(0, 0, 0), (3, 0, 1)]
    assert outcome(run, 1) is Outcome.COMMITTED
    assert violates(run, "no-acked-loss")
    assert violates(run, "atomicity")


@pytest.mark.slow
def test_out_of_retries_nothing_fails_but_the_record_and_the_commit() -> None:
    run = begun(retries=1)
    sent(run, 0, 1).do("lose_request", batch=0).do("notice", broker=1)
    run.do("transmit", batch=0, leader=1).do("lose_request", batch=0).do("notice", broker=1)
    assert (run.fate(0), run.fate(1)) == (Fate.FAILED, Fate.BUFFERED)
    assert outcome(run, 0) is Outcome.OPEN
    assert not run.can("prepare_commit", transaction=0)
    run.do("transmit", batch=1, leader=1).do("refuse_later", batch=1, leader=1)
    assert outcome(run, 0) is Outcome.ABORTING


def test_a_fenced_producer_is_replaced() -> None:
    run = write(usual(), 0).do("time_out_transaction")
    end(run, 0, commits=False)
    sent(run, 1).do("reject_old_epoch", batch=1, leader=1)
    assert not run.can("begin_abort", transaction=0), "abort_transaction() returns the fatal error"
    assert not run.can("prepare_abort", transaction=0, **KEPT)
    run.do("replace_producer", transaction=0)
    assert (outcome(run, 0), status(run)) == (Outcome.REFUSED, Status.COMPLETE_ABORT)
    write(run.do("initialise"), 2)
    assert sequences(run)[-1] == (2, 2, 0)


def test_a_fatal_error_leaves_a_transaction_that_the_next_producer_ends() -> None:
    """The broker has lost what it acknowledged: the next record due is out of order."""
    run = write(usual(), 0).do("lose_power", broker=1, kept=0).do("fence", broker=1).do("restart", broker=1)
    run.do("apply_metadata", broker=1)
    sent(run, 1).do("refuse_first_due", batch=1, leader=1)
    assert status(run) is Status.ONGOING
    assert not run.can("begin_abort", transaction=0), "abort_transaction() returns the fatal error"
    run.do("replace_producer", transaction=0).do("fence_former")
    assert outcome(run, 0) is Outcome.REFUSED
    write(end(run, 0, commits=False).do("initialise"), 2)
    assert sequences(run) == [(2, 2, 0)]


@pytest.mark.slow
@pytest.mark.parametrize(("rules", "appended"), [(VERSION_1, True), (VERIFIED, False)])
def test_a_leader_that_asks_the_coordinator_refuses_unknown_transactions(rules: Transactional, appended: bool) -> None:
    run = sent(begun(transactional=rules), 0).do("time_out_transaction")
    assert run.can("append", batch=0, leader=1) is appended
    assert run.can("reject_unverified", batch=0, leader=1) is not appended
    if not appended:
        run.do("reject_unverified", batch=0, leader=1)
        assert outcome(run, 0) is Outcome.ABORTING


@pytest.mark.slow
def test_javas_client_has_none_of_it() -> None:
    of_purging = {"replace_producer", "purge_returned"}
    names = {action.name for action in usual().model.system.actions}
    assert of_purging < names
    assert not {"bump_when_drained", "refuse_after_stop", "refuse_in_transaction", "resolve_sequences"} & names
    assert not of_purging & {action.name for action in begun(sender=OF_JAVA).model.system.actions}
