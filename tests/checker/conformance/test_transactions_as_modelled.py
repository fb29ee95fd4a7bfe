"""Runs with transactions in the model's terms: each difference alone, and a run without them as it is."""

from __future__ import annotations

from dataclasses import replace

from proofka.checker.conformance.observations import (
    CoordinatorDecision,
    Done,
    Entry,
    Given,
    Joined,
    Look,
    Observations,
    OfConsumer,
    OfTransactions,
    Request,
    Send,
)
from proofka.checker.conformance.recording import events_of
from proofka.checker.conformance.transactions_as_modelled import CONCURRENT_TRANSACTIONS, OUT_OF_ORDER, as_modelled
from tests.checker.conformance.test_recording import ALL, NOTHING, partition

PRODUCER = (9, 3)
RECORD = Entry(0, 4, PRODUCER, 0)
COMMIT = Entry(None, 4, PRODUCER, -1, "commit")
ABORT_LATER = Entry(None, 4, (9, 4), -1, "abort")


def decided(at: float, status: str, epoch: int = 3) -> CoordinatorDecision:
    return CoordinatorDecision(at, at + 0.05, status, (9, epoch))


def seen(
    *decisions: CoordinatorDecision, committing: tuple[float, ...] = (), entries: tuple[Entry, ...] = ()
) -> Observations:
    looks = (Look(1, (20.0, 20.1), entries),)
    transactions = OfTransactions(PRODUCER, decisions, (), (), committing)
    return replace(NOTHING, producer=PRODUCER, looks=looks, transactions=transactions)


def test_a_run_without_transactions_stays_as_it_is() -> None:
    assert as_modelled(NOTHING) is NOTHING


def test_a_marker_that_is_written_again_is_one_marker() -> None:
    run = replace(
        seen(entries=(RECORD, COMMIT, COMMIT, ABORT_LATER, RECORD)),
        consumer=OfConsumer((Joined(2, (1.0, 2.0)), Joined(4, (3.0, 4.0))), (Given(4, 0, (5.0, 6.0)),), ()),
    )
    found = as_modelled(run)
    assert found.looks[0].entries == (RECORD, COMMIT, ABORT_LATER, RECORD)
    assert found.consumer is not None
    assert [one.position for one in found.consumer.joined] == [2, 3]
    assert [one.offset for one in found.consumer.given] == [3]


def test_a_record_that_was_refused_for_the_transaction_before_was_not_sent() -> None:
    refused = Request(7, 1, (0,), 1.0, 1.1, None, 1.2, CONCURRENT_TRANSACTIONS)
    taken = replace(refused, arrived=1.3, left=1.4, answered=1.5, error=0)
    assert as_modelled(replace(seen(), requests=(refused, taken))).requests == (taken,)


def test_a_record_that_follows_a_refused_one_was_not_sent() -> None:
    refused = Request(7, 1, (0,), 1.0, 1.1, None, 1.2, CONCURRENT_TRANSACTIONS)
    behind = Request(7, 1, (1,), 1.05, 1.15, None, 1.3, OUT_OF_ORDER)
    again = Request(7, 1, (0,), 2.0, 2.1, None, 2.2, 0)
    assert as_modelled(replace(seen(), requests=(refused, behind, again))).requests == (again,)
    assert as_modelled(replace(seen(), requests=(replace(refused, error=0), behind))).requests[1] == behind


def test_a_transaction_without_a_request_is_a_request_that_is_lost_with_its_process() -> None:
    run = replace(
        seen(decided(1.5, "Ongoing"), decided(3.0, "PrepareAbort", 4)),
        sends=(Send(0, (1.0, 1.1)),),
        done=(Done("crash", 0, (2.0, 2.1)),),
        decisions=(partition(0.5, 2, 5, ALL),),
    )
    (request,) = as_modelled(run).requests
    assert (request.broker, request.records, request.answered) == (2, (0,), None)
    kinds = [event.kind for event in events_of(as_modelled(run)) if event.kind in ("requested", "broken")]
    assert kinds == ["requested", "broken"]
    never_added = replace(run, transactions=OfTransactions(PRODUCER, (decided(3.0, "Empty", 4),), (), ()))
    assert as_modelled(never_added).requests == ()
    requested = Request(7, 1, (0,), 1.2, 1.3, None, None, None)
    assert as_modelled(replace(run, requests=(requested,))).requests == (requested,)


def test_a_process_that_commits_ends_with_the_decision() -> None:
    crash = Done("crash", 0, (2.0, 2.1))
    run = replace(seen(decided(5.0, "PrepareCommit"), committing=(2.05,)), done=(crash,))
    assert as_modelled(run).done[0].when == (2.0, 5.05)
    assert as_modelled(replace(seen(decided(5.0, "PrepareCommit")), done=(crash,))).done == (crash,)
    assert as_modelled(replace(seen(committing=(2.05,)), done=(crash,))).done == (crash,)
