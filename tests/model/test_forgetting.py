"""Consequences of a coordinator of transactions that forgets its writes (semantics 11.4), step by step."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import cache

import pytest

from proofka.model.deployment.choices import ProducerId
from proofka.model.deployment.explored import Bounds, FaultBudget
from proofka.model.deployment.transactional import Transactional
from proofka.model.faults import Fault
from proofka.model.pipeline import declared
from proofka.model.state.pipeline import Fate
from proofka.model.state.transactions import EARLIER, Keeping, Outcome, Status
from tests.model.scripted import Scenario, scenario
from tests.model.test_transactions import (
    ABORT,
    COMMIT,
    KEPT,
    VERIFIED,
    VERSION_1,
    VERSION_2,
    end,
    outcome,
    readable,
    status,
    violates,
    write,
)

HANGING, ABORTED_READ, ATOMICITY = "no-hanging-transaction", "no-aborted-read", "atomicity"


BOUNDS = Bounds(records=3, log=5, sends=1, epochs=3, producer_epochs=6)
FAULTS = (Fault.LOST_TRANSACTION_STATE, Fault.PRODUCER_CRASH, Fault.REFUSED_RECORD)
ONE_EACH = replace(VERSION_1, records=1)
"""Every record in a transaction of its own."""


@cache
def _start(rules: Transactional, producer_id: ProducerId) -> Scenario:
    return scenario(
        "idempotent",
        transactional=rules,
        replicas=1,
        min_insync_replicas=1,
        bounds=BOUNDS,
        require=("atomicity", "no-aborted-read", "no-hanging-transaction", "no-silent-loss"),
        producer_id=producer_id,
        faults=FaultBudget(9, tuple((fault.value, 9) for fault in FAULTS)),
    )


def begun(rules: Transactional, producer_id: ProducerId = ProducerId.KNOWN) -> Scenario:
    """Begin a run of a producer with transactions: record 1 in the first, records 2 and 3 in the second."""
    return copy(_start(rules, producer_id))


def at_risk(rules: Transactional = VERSION_1, *written: int) -> Scenario:
    """Write and acknowledge records; later writes of the coordinator can be lost."""
    return write(begun(rules), *written).do("put_at_risk")


def keeping(run: Scenario) -> Keeping:
    own_log = run.pipeline.transactions.own_log
    return Keeping(run.value(own_log.keeping))


def coordinator(run: Scenario) -> tuple[Status, int, int]:
    """Return the coordinator's knowledge: status, producer epoch, transaction."""
    transactions = run.pipeline.transactions
    return status(run), run.value(transactions.epoch), run.value(transactions.current)


def test_earlier_writes_of_the_coordinator_stay() -> None:
    run = at_risk(VERSION_1, 0)
    assert not run.can("lose_end"), "there is nothing to lose yet"
    run.do("prepare_commit", transaction=0)
    end(run, 0, commits=True).do("lose_end")
    assert coordinator(run) == (Status.ONGOING, 0, 0)
    assert keeping(run) is Keeping.LOST
    assert readable(run) == [0], "the partition has its marker"
    assert not run.can("lose_end")


@pytest.mark.parametrize("rules", [VERSION_1, pytest.param(VERSION_2, marks=pytest.mark.slow)])
def test_a_forgotten_commit_is_aborted_in_the_end(rules: Transactional) -> None:
    run = at_risk(rules, 0).do("prepare_commit", transaction=0).do("lose_end")
    assert (outcome(run, 0), coordinator(run)) == (Outcome.COMMITTED, (Status.ONGOING, 0, 0))
    assert not violates(run, "no-silent-loss"), "it may still be committed"
    run.do("abort_forgotten").do("write_marker", leader=1, transaction=0, **ABORT)
    run.do("complete_transaction", leader=1)
    assert readable(run) == []
    assert violates(run, "no-silent-loss")


def test_open_transaction_is_not_aborted_by_its_timeout() -> None:
    """Nothing of an open transaction was forgotten: its time is a fault of its own."""
    run = begun(VERSION_1).do("put_at_risk")
    write(run, 0).do("lose_end")
    assert coordinator(run) == (Status.COMPLETE_COMMIT, 0, EARLIER)
    assert not run.can("abort_forgotten")


def test_the_next_transaction_goes_on_with_one_that_was_aborted() -> None:
    """Before TV2, with a client that keeps its epoch after an abort (11.1)."""
    run = begun(VERSION_1).do("send", batch=0).do("transmit", batch=0, leader=1).do("append", batch=0, leader=1)
    run.do("acknowledge", batch=0, leader=1).do("prepare_commit", transaction=0)
    end(run, 0, commits=True)
    write(run, 1).do("send", batch=2).do("transmit", batch=2, leader=1).do("refuse_for_good", batch=2, leader=1)
    run.do("begin_abort", transaction=1).do("put_at_risk").do("prepare_abort", transaction=1, **KEPT)
    run.do("lose_end")
    assert (outcome(run, 1), coordinator(run)) == (Outcome.ABORTED, (Status.ONGOING, 0, 1))
    run.do("begin_later", transaction=2)
    assert coordinator(run) == (Status.ONGOING, 0, 1), "the partition is in it already"
    run.do("prepare_commit", transaction=2)
    assert keeping(run) is Keeping.SAFE
    run.do("write_marker", leader=1, transaction=2, **COMMIT)
    assert violates(run, ABORTED_READ)


def test_epoch_for_each_transaction_fences_the_client() -> None:
    run = at_risk(VERSION_2, 0).do("prepare_commit", transaction=0).do("lose_end").do("send", batch=1)
    assert not run.can("transmit", batch=1, leader=1), "the client has epoch 1, the coordinator 0"
    run.do("find_forgotten", transaction=1)
    assert (outcome(run, 1), run.fate(1)) == (Outcome.REFUSED, Fate.FAILED)
    run.do("fence_former").do("write_marker", leader=1, transaction=0, **ABORT)
    assert violates(run.do("complete_transaction", leader=1), "no-silent-loss")


def test_a_marker_is_written_again_and_ends_part_of_the_next_transaction() -> None:
    run = write(begun(VERSION_1), 0).do("prepare_commit", transaction=0).do("put_at_risk")
    write(end(run, 0, commits=True), 1).do("lose_end")
    assert coordinator(run) == (Status.PREPARE_COMMIT, 0, 0)
    assert not run.can("complete_transaction", leader=1)
    run.do("write_marker", leader=1, transaction=0, **COMMIT)
    assert readable(run) == [0, 2]
    run.do("complete_transaction", leader=1)
    run.do("send", batch=2).do("transmit", batch=2, leader=1).do("append", batch=2, leader=1)
    assert violates(run, ATOMICITY)


@pytest.mark.parametrize(
    ("rules", "refused"),
    [(VERSION_2, False), pytest.param(replace(VERSION_2, strict_markers=True), True, marks=pytest.mark.slow)],
)
def test_a_marker_that_is_written_again_has_the_epoch_of_the_next_transaction(
    rules: Transactional, refused: bool
) -> None:
    """From 4.2 on the leader refuses it (KIP-1228), and the coordinator gives up on it for good."""
    run = write(begun(rules), 0).do("prepare_commit", transaction=0).do("put_at_risk")
    write(end(run, 0, commits=True), 1).do("lose_end")
    assert coordinator(run) == (Status.PREPARE_COMMIT, 1, 0)
    assert run.can("write_marker", leader=1, transaction=0, **COMMIT) is not refused
    assert violates(run, HANGING) is refused


def test_a_commit_is_taken_for_the_one_before() -> None:
    """commitTransaction() returns, and what it was to commit hangs."""
    run = begun(VERSION_1).do("put_at_risk")
    write(run, 0).do("lose_end").do("take_for_earlier_end", transaction=0, **COMMIT)
    assert (outcome(run, 0), readable(run)) == (Outcome.COMMITTED, [])
    assert violates(run, HANGING)


def test_after_initTransactions_there_is_no_commit_before() -> None:
    run = begun(VERSION_1, ProducerId.NEW).do("put_at_risk")
    write(run, 0).do("lose_end")
    assert coordinator(run) == (Status.EMPTY, 0, EARLIER)
    assert not run.can("take_for_earlier_end", transaction=0, **COMMIT)
    assert outcome(run.do("refuse_forgotten_end", transaction=0), 0) is Outcome.REFUSED


def test_TV2_takes_the_same_epoch_for_no_retry() -> None:
    run = begun(VERSION_2).do("put_at_risk")
    write(run, 0).do("lose_end")
    assert run.model.system.action("take_for_earlier_end", {"transaction": 0, "commits": 1}) is None
    assert outcome(run.do("refuse_forgotten_end", transaction=0), 0) is Outcome.REFUSED
    assert violates(run, HANGING)


def test_TV2_leader_adds_the_partition_again() -> None:
    run = begun(VERSION_2).do("put_at_risk").do("send", batch=0).do("transmit", batch=0, leader=1).do("lose_end")
    assert not run.can("append", batch=0, leader=1)
    assert not run.can("reject_unverified", batch=0, leader=1)
    run.do("add_again", batch=0, leader=1).do("append", batch=0, leader=1)
    assert coordinator(run) == (Status.ONGOING, 0, 0)


@pytest.mark.slow
def test_before_TV2_a_leader_that_asks_refuses_a_forgotten_transaction() -> None:
    run = begun(VERIFIED).do("put_at_risk").do("send", batch=0).do("transmit", batch=0, leader=1).do("lose_end")
    assert not run.can("append", batch=0, leader=1)
    assert run.do("reject_unverified", batch=0, leader=1).fate(0) is Fate.FAILED


def test_TV2_abort_of_a_forgotten_transaction_writes_no_marker() -> None:
    run = write(begun(VERSION_2), 0).do("prepare_commit", transaction=0)
    end(run, 0, commits=True).do("put_at_risk")
    write(run, 1).do("send", batch=2).do("transmit", batch=2, leader=1).do("refuse_for_good", batch=2, leader=1)
    run.do("begin_abort", transaction=1).do("lose_end").do("abort_unknown", transaction=1)
    assert (outcome(run, 1), coordinator(run)) == (Outcome.ABORTED, (Status.COMPLETE_ABORT, 2, 1))
    assert violates(run, HANGING)
    run.do("begin_later", transaction=2).do("prepare_commit", transaction=2)
    run.do("write_marker", leader=1, transaction=2, **COMMIT)
    assert violates(run, ABORTED_READ), "what stood there is committed with the next"


@pytest.mark.slow
def test_an_epoch_is_given_once_more() -> None:
    """The new producer's first record has the numbers of the one before it: acknowledged, committed, and not there."""
    run = begun(ONE_EACH).do("put_at_risk").do("send", batch=0).do("crash_producer").do("initialise")
    write(run, 1).do("lose_end")
    assert coordinator(run) == (Status.COMPLETE_COMMIT, 0, EARLIER)
    run.do("find_forgotten", transaction=1).do("initialise").do("send", batch=2).do("transmit", batch=2, leader=1)
    assert run.value(run.pipeline.producer.epoch) == run.value(run.pipeline.transactions.epoch) == 1
    assert not run.can("append", batch=2, leader=1)
    run.do("take_for_another", batch=2, leader=1).do("prepare_commit", transaction=2)
    run.do("write_marker", leader=1, transaction=2, **COMMIT).do("complete_transaction", leader=1)
    assert (outcome(run, 2), readable(run), run.log(1)[:1]) == (Outcome.COMMITTED, [0], [1])
    assert violates(run, "no-silent-loss")


def test_a_marker_with_an_epoch_that_is_too_old_is_refused() -> None:
    run = write(begun(VERSION_1), 0).do("put_at_risk").do("crash_producer").do("fence_former")
    run.do("write_marker", leader=1, transaction=0, **ABORT).do("complete_transaction", leader=1).do("initialise")
    write(run, 1).do("lose_end")
    assert coordinator(run) == (Status.ONGOING, 0, 0)
    run.do("abort_forgotten")
    assert run.value(run.pipeline.transactions.epoch) == 1
    assert not run.can("write_marker", leader=1, transaction=0, **ABORT), "the log has epoch 2"
    assert violates(run, HANGING)


@pytest.mark.parametrize("rules", [VERSION_1, VERSION_2])
def test_another_producer_id_ends_nothing_of_the_first(rules: Transactional) -> None:
    run = write(begun(rules), 0).do("lose_all")
    assert violates(run, HANGING)
    assert outcome(run.do("find_forgotten", transaction=0), 0) is Outcome.REFUSED
    write(run.do("initialise"), 1, 2).do("prepare_commit", transaction=1)
    end(run, 1, commits=True)
    assert violates(run, HANGING)
    assert readable(run) == [], "readers wait behind what is open for good"


def test_model_without_the_fault_has_no_log_of_the_coordinator() -> None:
    deployment = begun(VERSION_1).pipeline.deployment
    transactions = declared(replace(deployment, faults=FaultBudget(9, ((FAULTS[1].value, 9),)))).transactions
    assert transactions is not None and transactions.own_log is None
    assert transactions.status.initial == Status.EMPTY
