"""Judgements: what in the observations shows that a property fails, and what does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofka.checker.reproduction.errors import UnknownOutcome
from proofka.checker.reproduction.judgement import JUDGEMENTS, judge
from proofka.checker.reproduction.observed import Observed, Read
from proofka.checker.reproduction.transacting import ABORTED, COMMITTED, OPEN, REFUSED

AGREED = ((5, "record 1", 0), (6, "record 2", 0))
"""A log's entries as several brokers have them."""
FINE = Observed(
    leader=1,
    log=((5, "record 1"), (6, "record 2")),
    sent=(1, 2),
    acknowledged=(1, 2),
    failed=(),
    processed=(1, 2),
    with_workers=(),
    committed=7,
    other_logs={2: ((5, "record 1"), (6, "record 2"))},
    given=(1, 2),
    high_watermark=7,
    last_stable=7,
    about_to_be_acknowledged=(2,),
    min_insync=2,
    read_before={5: Read("record 1", broker=1, step=3)},
    transactions=(((1, 2), COMMITTED),),
    coordinator="CompleteCommit, producer epoch 0",
    entries={1: AGREED, 2: AGREED},
)
"""Observations in which nothing failed."""

FAILURES = {
    "no-acked-loss": {"log": ((5, "record 2"),)},
    "no-silent-loss": {"log": ((5, "record 2"),), "acknowledged": (2,)},
    "no-log-duplicate": {"log": ((5, "record 1"), (6, "record 1")), "transactions": ()},
    "no-reprocessing": {"processed": (1, 2, 1)},
    "no-skip": {"processed": (2,)},
    "no-loss": {"processed": (2,)},
    "exactly-once-effect": {"processed": (1, 1, 2)},
    "log-order": {"log": ((5, "record 2"), (6, "record 1")), "transactions": ()},
    "processing-order": {"processed": (2, 1)},
    "replica-agreement": {"entries": {1: AGREED, 2: ((5, "record 2", 0),)}},
    "atomicity": {"given": (2,)},
    "no-aborted-read": {"transactions": (((1, 2), ABORTED),)},
    "no-uncommitted-read": {"transactions": (((1, 2), OPEN),)},
    "no-hanging-transaction": {"last_stable": 6},
    "no-failed-send": {"acknowledged": (1,), "failed": (2,)},
    "no-stored-failure": {"acknowledged": (1,), "failed": (2,)},
    "no-failed-read": {"acknowledged": (1,), "failed": (2,)},
    "no-dropped-record": {"acknowledged": (1,), "failed": (2,), "log": ((5, "record 1"),)},
    "enough-copies": {"other_logs": {2: ((5, "record 1"),)}},
    "no-gap": {"log": ((5, "record 2"),), "other_logs": {}},
    "read-stability": {"log": ((5, "record 2"),)},
}
"""For each property, a change of the observations with which the property fails."""


@pytest.mark.parametrize("name", sorted(JUDGEMENTS))
def test_nothing_failed_where_all_is_well(name: str) -> None:
    assert not judge(name, FINE)


@pytest.mark.parametrize("name", sorted(JUDGEMENTS))
def test_each_failure_is_seen(name: str) -> None:
    assert judge(name, replace(FINE, **FAILURES[name]))  # type: ignore[arg-type]


def test_a_failure_that_was_reported_is_no_silent_loss() -> None:
    assert not judge("no-silent-loss", replace(FINE, log=((5, "record 2"),), acknowledged=(2,), failed=(1,)))


def test_records_with_workers_side_by_side_are_in_no_order() -> None:
    assert judge("processing-order", replace(FINE, processed=(), with_workers=(1, 2)))
    assert not judge("processing-order", replace(FINE, processed=(1,), with_workers=(2,)))


@pytest.mark.parametrize("other", [(5, "record 1", 2), (5, "record 1 (send 2)", 0)])
def test_one_record_in_entries_of_different_epochs_or_sends_is_no_agreement(other: tuple[int, str, int]) -> None:
    (told,) = judge("replica-agreement", replace(FINE, entries={1: AGREED, 2: (other,)}))
    assert told == (f"offset 5 holds record 1 of epoch 0 at broker 1 and {other[1]} of epoch {other[2]} at broker 2")


def test_entries_that_one_broker_lacks_are_no_disagreement() -> None:
    assert not judge("replica-agreement", replace(FINE, entries={1: AGREED, 2: AGREED[:1]}))


def test_a_commit_up_to_a_record_does_not_pass_it() -> None:
    assert not judge("no-skip", replace(FINE, processed=(1,), committed=6))


def test_a_property_of_many_runs_is_not_judged_from_one() -> None:
    with pytest.raises(UnknownOutcome):
        judge("recoverability", FINE)


def test_a_committed_record_that_the_log_aborts_is_lost() -> None:
    (told,) = judge("no-acked-loss", replace(FINE, log=((5, "record 1"), (6, "aborted record 2"))))
    assert told == "record 2 was reported as stored, and its transaction is aborted in the log of broker 1, which leads"


def test_a_record_that_nobody_reported_is_the_subject_of_its_sentence() -> None:
    (told,) = judge("no-silent-loss", replace(FINE, log=((5, "record 1"),)))
    assert told.endswith("that the send failed, and record 2 is not in the log of broker 1, which leads")
    (told,) = judge("no-silent-loss", replace(FINE, log=((5, "record 1"), (6, "aborted record 2"))))
    assert told.endswith("that the send failed, and its transaction is aborted in the log of broker 1, which leads")


def test_a_transaction_that_the_coordinator_still_ends_does_not_hang() -> None:
    open_record = replace(FINE, last_stable=6)
    for state in ("Ongoing", "PrepareCommit", "PrepareAbort"):
        assert not judge("no-hanging-transaction", replace(open_record, coordinator=f"{state}, producer epoch 0"))
    assert judge("no-hanging-transaction", replace(open_record, coordinator="TRANSACTIONAL_ID_NOT_FOUND"))


def test_an_open_transaction_below_unreplicated_records_is_not_judged_to_hang() -> None:
    assert not judge("no-hanging-transaction", replace(FINE, last_stable=5, high_watermark=6))


def test_a_refused_transaction_is_neither_aborted_nor_open() -> None:
    refused = replace(FINE, transactions=(((1, 2), REFUSED),))
    assert not judge("no-aborted-read", refused)
    assert not judge("no-uncommitted-read", refused)


def test_a_record_that_a_second_send_stored_has_not_failed_for_good() -> None:
    assert not judge("no-failed-send", replace(FINE, failed=(2,)))


def test_a_record_that_another_broker_has_leaves_no_gap() -> None:
    assert not judge("no-gap", replace(FINE, log=((5, "record 2"),)))


def test_a_record_that_an_evicted_member_still_has_is_processed_twice_with_the_next_members() -> None:
    assert judge("no-reprocessing", replace(FINE, late=(2,)))
    assert not judge("no-reprocessing", replace(FINE, processed=(1,), late=(2,)))


def test_records_hidden_by_transactions_do_not_stand_in_the_log() -> None:
    hidden = replace(FINE, log=((5, "record 2"), (6, "record 1"), (7, "record 1")))
    assert not judge("no-log-duplicate", hidden)
    assert not judge("log-order", hidden)
    assert judge("no-log-duplicate", replace(FINE, given=(1, 1, 2)))
    assert judge("log-order", replace(FINE, given=(2, 1)))


def test_a_record_that_was_deleted_before_its_processing_is_lost() -> None:
    assert judge("no-loss", replace(FINE, processed=(2,), committed=None, log_start=6))
    assert not judge("no-loss", replace(FINE, processed=(1,), committed=None, log_start=6))
