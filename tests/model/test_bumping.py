"""A new epoch in the middle of a transaction, step by step (librdkafka 1.7 and 1.8.0, issue 3575; brokers of 2.5)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofka.model.deployment.explored import Bounds, FaultBudget
from proofka.model.deployment.librdkafka import LIBRARY
from proofka.model.deployment.record_reader import read_record
from proofka.model.deployment.sender import Sender
from proofka.model.faults import Fault
from proofka.model.state.pipeline import Fate
from proofka.model.state.transactions import Outcome, Status
from tests.model.scripted import Scenario, scenario
from tests.model.test_transactions import ABORT, ANEW, VERSION_1, outcome, readable, status, violates

BOUNDS = Bounds(records=3, log=7, sends=1, epochs=6, producer_epochs=6)
ALL_IN_ONE = replace(VERSION_1, records=3)


def sender(version: str) -> Sender:
    record = {
        "kafka": "2.5",
        "producer.client": LIBRARY.name,
        "producer.version": version,
        "producer.transactional.id": "t",
    }
    return read_record(record, name="", file="test", line=1).producer.sender


def refused(version: str) -> Scenario:
    """Record 1 is acknowledged, record 2 refused for want of replicas, and so record 3 for the gap."""
    asked = ("atomicity", "no-acked-loss", "no-hanging-transaction", "no-silent-loss")
    run = scenario(
        "idempotent",
        sender=sender(version),
        transactional=ALL_IN_ONE,
        bounds=BOUNDS,
        require=asked,
        replicas=2,
        min_insync_replicas=2,
        high_watermark_needs_min_isr=False,
        faults=FaultBudget(1, ((Fault.SLOW_FOLLOWER.value, 1),)),
    )
    run.do("send", batch=0).do("transmit", batch=0, leader=1).do("append", batch=0, leader=1)
    run.do("fetch", follower=2, leader=1).do("become_slow", broker=2)
    for batch in (1, 2):
        run.do("send", batch=batch).do("transmit", batch=batch, leader=1)
    run.do("shrink_isr", leader=1, follower=2).do("reject_not_enough_replicas", batch=1, leader=1)
    run.do("recover_speed", broker=2).do("fetch", follower=2, leader=1).do("expand_isr", leader=1, follower=2)
    return run.do("refuse_later", batch=2, leader=1).do("acknowledge", batch=0, leader=1)


@pytest.mark.slow
def test_bump_aborts_acknowledged_records_and_the_commit_succeeds() -> None:
    run = refused("1.8.0")
    assert (run.fate(1), run.fate(2), outcome(run, 0)) == (Fate.BUFFERED, Fate.BUFFERED, Outcome.OPEN)
    assert not run.can("transmit", batch=1, leader=1), "before it has the new epoch"
    end_of_first(run.do("ask_within", transaction=0))
    run.do("go_on_within", transaction=0)
    assert (status(run), outcome(run, 0)) == (Status.EMPTY, Outcome.OPEN)
    for batch in (1, 2):
        run.do("transmit", batch=batch, leader=1).do("append", batch=batch, leader=1).replicate(2, 1)
        run.do("acknowledge", batch=batch, leader=1)
    assert not run.can("prepare_commit", transaction=0), "INVALID_TXN_STATE, if nothing else is in the transaction"
    assert run.can("refuse_unknown_end", transaction=0)
    run.do("add_elsewhere", transaction=0).do("prepare_commit", transaction=0)
    assert not run.can("write_marker", leader=1, transaction=0, commits=1), "this partition is not in it"
    run.do("complete_elsewhere")
    assert (outcome(run, 0), readable(run)) == (Outcome.COMMITTED, [])
    assert violates(run, "no-acked-loss")
    assert violates(run, "no-hanging-transaction")


def end_of_first(run: Scenario) -> Scenario:
    run.do("write_marker", leader=1, transaction=0, **ABORT).replicate(2, 1)
    return run.do("complete_transaction", leader=1)


@pytest.mark.slow
def test_from_1_8_2_on_only_an_abort_is_left() -> None:
    run = refused("1.8.2")
    assert (run.fate(1), run.fate(2), outcome(run, 0)) == (Fate.FAILED, Fate.FAILED, Outcome.ABORTING)
    assert not {"ask_within", "add_elsewhere"} & {action.name for action in run.model.system.actions}
    end_of_first(run.do("prepare_abort", transaction=0, **ANEW))
    leader = run.pipeline.replica(1)
    assert leader.log.entries(run.state)[-1]["producer_epoch"] == 1, "asking for the epoch is what aborts"


@pytest.mark.slow
def test_from_2_0_on_the_abort_comes_before_the_epoch() -> None:
    run = refused("2.0").do("prepare_abort", transaction=0, **ANEW)
    end_of_first(run)
    assert run.pipeline.replica(1).log.entries(run.state)[-1]["producer_epoch"] == 0
