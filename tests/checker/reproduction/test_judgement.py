"""Judgements: what in the observations shows that a property fails, and what does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checker.reproduction.errors import UnknownOutcome
from checker.reproduction.judgement import JUDGEMENTS, Observed, judge

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
)
"""Observations in which nothing failed."""

FAILURES = {
    "no-acked-loss": {"log": ((5, "record 2"),)},
    "no-silent-loss": {"log": ((5, "record 2"),), "acknowledged": (2,)},
    "no-log-duplicate": {"log": ((5, "record 1"), (6, "record 1"))},
    "no-reprocessing": {"processed": (1, 2, 1)},
    "no-skip": {"processed": (2,)},
    "no-loss": {"processed": (2,)},
    "exactly-once-effect": {"processed": (1, 1, 2)},
    "log-order": {"log": ((5, "record 2"), (6, "record 1"))},
    "processing-order": {"processed": (2, 1)},
    "replica-agreement": {"other_logs": {2: ((5, "record 2"),)}},
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


def test_a_commit_up_to_a_record_does_not_pass_it() -> None:
    assert not judge("no-skip", replace(FINE, processed=(1,), committed=6))


def test_a_property_of_many_runs_is_not_judged_from_one() -> None:
    with pytest.raises(UnknownOutcome):
        judge("recoverability", FINE)
